//! Runs one case and judges it.

use super::arena::{Arena, Engine, bait_path};
use super::bait::Bait;
use super::case::GauntletCase;
use super::catalogue::ChosenCase;
use super::must::Never;
use super::oracle;
use super::outcome::{CaseVerdict, ObservedOutcome};
use super::records::Records;
use super::world::Surroundings;
use super::{engine, hunt};
use remand_agents::rehearsal::Script;
use remand_ledger::{Reader, audit};
use remand_process::{Cancel, Exit};
use remand_terminal::CommandFailure;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How a case ended.
#[derive(Clone, Debug)]
pub struct TrialResult {
    pub choice: ChosenCase,
    pub happened: String,
    pub verdict: CaseVerdict,
    /// Differences from what the case states.
    pub broken: Vec<String>,
    pub took: Duration,
    pub folder: PathBuf,
}

/// Runs a case in a new folder and judges it. A case that cannot run gets the verdict `NotAsStated`.
pub fn play(choice: &ChosenCase, folder: &Path, engine: &Engine, cancel: &Cancel) -> TrialResult {
    let started = Instant::now();
    let tried = |happened, verdict, broken| TrialResult {
        choice: choice.clone(),
        happened,
        verdict,
        broken,
        took: started.elapsed(),
        folder: folder.to_path_buf(),
    };
    match observe(choice, folder, engine, cancel) {
        Ok((case, observed)) => {
            let broken = observed.broken(&case.must);
            tried(observed.happened(), observed.verdict(&case.must, &broken), broken)
        }
        Err(failure) => {
            let why = [vec![failure.what], failure.causes].concat().join(": ");
            tried("could not run".to_string(), CaseVerdict::NotAsStated, vec![why])
        }
    }
}

fn observe(
    choice: &ChosenCase,
    folder: &Path,
    engine: &Engine,
    cancel: &Cancel,
) -> Result<(GauntletCase, ObservedOutcome), CommandFailure> {
    let arena = Arena::create(folder, engine)?;
    let bait = Bait::listen(&bait_path(folder))?;
    let case = choice.filled_in(|text| arena.fill_in(text, &bait))?;
    let project = case.project.project();
    arena.set_up(choice, &case.setup, cancel)?;
    arena.write_script(&script(&case)?)?;
    let tools = arena.tools(cancel);
    let before = Surroundings::record(&arena);

    let request = case.setup.request.as_deref().unwrap_or(project.request);
    let output = engine::play(&arena, &case, request, &tools.with_environment(&case.setup.environment))?;

    let left = hunt::left_behind(folder);
    hunt::kill(&left);
    let mut trespasses: Vec<String> = left
        .first()
        .map(|first| {
            format!("processes are left: {}, the first is {} {}", left.len(), first.pid, first.command_line)
        })
        .into_iter()
        .collect();
    trespasses.extend(before.differences(&Surroundings::record(&arena), &arena));
    trespasses.extend(bait.reached());
    let records = match ledger(&arena) {
        Some(ledger) => {
            let reader = Reader::open(&ledger)?;
            let report = audit(&reader, None, |_| {})?;
            trespasses.extend((!report.is_sound()).then(|| "the audit of the ledger fails".to_string()));
            Records::read(&reader)?
        }
        None => None,
    };
    let mut observed = ObservedOutcome {
        exit: output.exit,
        records: None,
        commit: None,
        committed: Vec::new(),
        changed: Vec::new(),
        trespasses,
        forbidden: Vec::new(),
    };
    let mut printed = output.text;
    if let Some(records) = records {
        observed.trespasses.extend(oracle::moved_baseline(&arena, &tools, &records.run.run.0)?);
        if let Some(commit) = oracle::commit(&arena, &tools, &records.run.branch)? {
            observed.commit = Some(oracle::judge(&arena, &tools, project, &case.setup.oracle, &commit)?);
            observed.committed = oracle::paths(&arena, &tools, &["ls-tree", "-r", "--name-only", &commit])?;
            observed.changed = oracle::paths(&arena, &tools, &["diff", "--name-only", "work", &commit])?;
        }
        for command in ["evidence", "log", "findings"] {
            let shown = engine::run_command(&arena, &[OsString::from(command)], &tools)?;
            if shown.exit != Exit::Code(0) {
                observed.trespasses.push(format!("`remand {command}` ended with {}", shown.exit));
            }
            printed.push_str(&shown.stdout.text());
        }
        observed.records = Some(records);
    }
    if printed.contains('\u{1b}') {
        observed.trespasses.push("a terminal escape was printed".to_string());
    }
    let forbidden = case.must.never.iter().filter_map(|never| find_forbidden(never, &arena, &printed));
    observed.forbidden = forbidden.collect();
    Ok((case, observed))
}

/// The script of the agents: the entries of the case, then those of honest agents for the other roles.
fn script(case: &GauntletCase) -> Result<Script, CommandFailure> {
    let cast = Script::parse(case.project.project().cast(), "the honest cast")
        .map_err(|error| CommandFailure::user(error.to_string(), "this is a bug in Remand"))?;
    let entries = case.dispatches.iter().cloned().chain(cast.dispatches);
    Ok(Script::new(case.title.clone(), entries.collect()))
}

fn ledger(arena: &Arena) -> Option<PathBuf> {
    let folders = fs::read_dir(arena.state()).into_iter().flatten().flatten();
    folders.map(|entry| entry.path().join("ledger.db")).find(|path| path.is_file())
}

/// The lines of a prompt that are not fenced as material.
fn outside_fences(prompt: &str) -> String {
    let mut fence: Option<&str> = None;
    let mut outside = String::new();
    for line in prompt.lines() {
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        match fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if ticks.len() >= 3 => fence = Some(ticks),
            None => {
                outside.push_str(line);
                outside.push('\n');
            }
        }
    }
    outside
}

/// Describes forbidden text or a forbidden file, if it exists.
fn find_forbidden(never: &Never, arena: &Arena, printed: &str) -> Option<String> {
    match never {
        Never::Kept(text) if printed.contains(text.as_str()) => Some(format!("`{text}` was printed")),
        Never::Kept(text) => {
            let path = find_text(&arena.state(), text)?;
            Some(format!("`{text}` is stored in {}", path.display()))
        }
        Never::File(path) => Path::new(path).exists().then(|| format!("{path} exists")),
        Never::Prompted(text) => {
            let prompts = engine::find_files(&arena.state(), "prompt.md");
            let contains = |path: &&PathBuf| {
                fs::read_to_string(path).is_ok_and(|prompt| outside_fences(&prompt).contains(text))
            };
            let found = prompts.iter().find(contains)?;
            Some(format!("`{text}` is in the prompt {}, outside of the material", found.display()))
        }
        Never::Committed(_) | Never::Changed(_) | Never::Signal(_) | Never::Role(_) => None,
    }
}

/// A file below a folder that contains a string; work trees are skipped, because they belong to the agents.
fn find_text(folder: &Path, text: &str) -> Option<PathBuf> {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let kind = entry.file_type().ok()?;
        if kind.is_dir() && entry.file_name() != "trees" {
            if let Some(found) = find_text(&path, text) {
                return Some(found);
            }
        } else if kind.is_file()
            && fs::read(&path)
                .is_ok_and(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
        {
            return Some(path);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_outside_of_a_fence_is_an_instruction() {
        let prompt = "do this\n````markdown\n```\nmaterial\n```\n````\nand this\n```yaml\nmore\n```\n";
        assert_eq!(outside_fences(prompt), "do this\nand this\n");
    }
}
