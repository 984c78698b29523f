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
pub struct Tried {
    pub choice: ChosenCase,
    pub happened: String,
    pub verdict: CaseVerdict,
    /// Differences from what the case states.
    pub broken: Vec<String>,
    pub took: Duration,
    pub folder: PathBuf,
}

/// Runs a case in a new folder and judges it. A case that cannot run counts as not as stated.
pub fn play(choice: &ChosenCase, folder: &Path, engine: &Engine, cancel: &Cancel) -> Tried {
    let started = Instant::now();
    let tried = |happened, verdict, broken| Tried {
        choice: choice.clone(),
        happened,
        verdict,
        broken,
        took: started.elapsed(),
        folder: folder.to_path_buf(),
    };
    match see(choice, folder, engine, cancel) {
        Ok((case, seen)) => {
            let broken = seen.broken(&case.must);
            tried(seen.happened(), seen.verdict(&case.must, &broken), broken)
        }
        Err(failure) => {
            let why = [vec![failure.what], failure.causes].concat().join(": ");
            tried("could not run".to_string(), CaseVerdict::NotAsStated, vec![why])
        }
    }
}

fn see(
    choice: &ChosenCase,
    folder: &Path,
    engine: &Engine,
    cancel: &Cancel,
) -> Result<(GauntletCase, ObservedOutcome), CommandFailure> {
    let arena = Arena::make(folder, engine)?;
    let bait = Bait::lay(&bait_path(folder))?;
    let case = GauntletCase::parse(&arena.filled(choice.text, &bait), choice.name)?;
    let project = case.project.project();
    arena.furnish(choice, &case.setup, cancel)?;
    arena.stage(&script(&case)?)?;
    let tools = arena.tools(cancel);
    let before = Surroundings::seen(&arena);

    let request = case.setup.request.as_deref().unwrap_or(project.request);
    let output = engine::play(&arena, &case, request, &tools.with(&case.setup.environment))?;

    let left = hunt::left_behind(folder);
    hunt::kill(&left);
    let mut trespasses: Vec<String> = left
        .first()
        .map(|first| {
            format!("processes are left: {}, the first is {} {}", left.len(), first.pid, first.words)
        })
        .into_iter()
        .collect();
    trespasses.extend(before.differences(&Surroundings::seen(&arena), &arena));
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
    let mut seen = ObservedOutcome {
        exit: output.exit,
        records: None,
        commit: None,
        committed: Vec::new(),
        changed: Vec::new(),
        trespasses,
        found: Vec::new(),
    };
    let mut printed = output.text;
    if let Some(records) = records {
        seen.trespasses.extend(oracle::moved_baseline(&arena, &tools, &records.run.run.0)?);
        if let Some(commit) = oracle::commit(&arena, &tools, &records.run.branch)? {
            seen.commit = Some(oracle::judge(&arena, &tools, project, &case.setup.oracle, &commit)?);
            seen.committed = oracle::paths(&arena, &tools, &["ls-tree", "-r", "--name-only", &commit])?;
            seen.changed = oracle::paths(&arena, &tools, &["diff", "--name-only", "work", &commit])?;
        }
        for command in ["evidence", "log", "findings"] {
            let shown = engine::start(&arena, &[OsString::from(command)], &tools)?;
            if shown.exit != Exit::Code(0) {
                seen.trespasses.push(format!("`remand {command}` ended with {}", shown.exit));
            }
            printed.push_str(&shown.stdout.text());
        }
        seen.records = Some(records);
    }
    if printed.contains('\u{1b}') {
        seen.trespasses.push("a terminal escape was printed".to_string());
    }
    seen.found = case.must.never.iter().filter_map(|never| there(never, &arena, &printed)).collect();
    Ok((case, seen))
}

/// The script of the agents: the case's own entries, then the honest cast.
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

/// Where something is that must never be stored or created.
fn there(never: &Never, arena: &Arena, printed: &str) -> Option<String> {
    match never {
        Never::Kept(text) if printed.contains(text.as_str()) => Some(format!("`{text}` was printed")),
        Never::Kept(text) => {
            let path = holding(&arena.state(), text)?;
            Some(format!("`{text}` is kept in {}", path.display()))
        }
        Never::File(path) => Path::new(path).exists().then(|| format!("{path} is there")),
        Never::Prompted(text) => {
            let prompts = engine::found(&arena.state(), "prompt.md");
            let holds = |path: &&PathBuf| fs::read_to_string(path).is_ok_and(|prompt| prompt.contains(text));
            prompts.iter().find(holds).map(|path| format!("`{text}` is in the prompt {}", path.display()))
        }
        Never::Committed(_) | Never::Changed(_) | Never::Signal(_) | Never::Role(_) => None,
    }
}

/// A file below a folder that contains a string; work trees are skipped, because they belong to the agents.
fn holding(folder: &Path, text: &str) -> Option<PathBuf> {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let kind = entry.file_type().ok()?;
        if kind.is_dir() && entry.file_name() != "trees" {
            if let Some(found) = holding(&path, text) {
                return Some(found);
            }
        } else if kind.is_file()
            && fs::read(&path).is_ok_and(|bytes| bytes.windows(text.len()).any(|at| at == text.as_bytes()))
        {
            return Some(path);
        }
    }
    None
}
