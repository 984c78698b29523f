//! One case, played and judged.

use super::arena::{Arena, bait_path};
use super::bait::Bait;
use super::case::Case;
use super::catalogue::Choice;
use super::must::Never;
use super::oracle;
use super::outcome::{Seen, Verdict};
use super::records::Records;
use super::tool::Tools;
use super::world::World;
use super::{engine, hunt};
use crate::exit::Failure;
use crate::workplace::of_ledger;
use remand_ledger::{Reader, audit};
use remand_runtime::process::{Cancel, Exit};
use remand_runtime::rehearsal::Script;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How a case ended.
#[derive(Clone, Debug)]
pub struct Tried {
    pub choice: Choice,
    pub happened: String,
    pub verdict: Verdict,
    /// What is not as stated.
    pub broken: Vec<String>,
    pub took: Duration,
    pub folder: PathBuf,
}

/// Plays a case in a new folder and judges it. What cannot be played counts as not as stated.
pub fn play(choice: &Choice, folder: &Path, program: &Path, cancel: &Cancel) -> Tried {
    let started = Instant::now();
    let tried = |happened, verdict, broken| Tried {
        choice: choice.clone(),
        happened,
        verdict,
        broken,
        took: started.elapsed(),
        folder: folder.to_path_buf(),
    };
    match see(choice, folder, program, cancel) {
        Ok((case, seen)) => {
            let broken = seen.broken(&case.must);
            tried(seen.happened(), seen.verdict(&case.must, &broken), broken)
        }
        Err(failure) => {
            let why = [vec![failure.what], failure.causes].concat().join(": ");
            tried("could not be played".to_string(), Verdict::NotAsStated, vec![why])
        }
    }
}

fn see(choice: &Choice, folder: &Path, program: &Path, cancel: &Cancel) -> Result<(Case, Seen), Failure> {
    let arena = Arena::make(folder, program)?;
    let bait = Bait::lay(&bait_path(folder))?;
    let case = Case::parse(&arena.filled(choice.text, &bait), choice.name)?;
    let project = case.project.project();
    arena.furnish(choice, &case.setup, cancel)?;
    arena.stage(&script(&case)?)?;
    let tools = Tools::new(&arena, cancel);
    let before = World::seen(&arena);

    let request = case.setup.request.as_deref().unwrap_or(project.request);
    let said = engine::play(&arena, &case, request, &tools.with(&case.setup.environment))?;

    let left = hunt::left_behind(folder);
    hunt::kill(&left);
    let mut trespasses: Vec<String> = left
        .first()
        .map(|first| {
            format!("processes are left: {}, the first is {} {}", left.len(), first.pid, first.words)
        })
        .into_iter()
        .collect();
    trespasses.extend(before.differences(&World::seen(&arena), &arena));
    trespasses.extend(bait.reached());
    let records = match ledger(&arena) {
        Some(ledger) => {
            let reader = Reader::open(&ledger).map_err(|error| of_ledger(&error))?;
            let report = audit(&reader, None, |_| {}).map_err(|error| of_ledger(&error))?;
            trespasses.extend((!report.is_sound()).then(|| "the ledger is not sound".to_string()));
            Records::read(&reader)?
        }
        None => None,
    };
    let mut seen = Seen {
        exit: said.exit,
        records: None,
        commit: None,
        committed: Vec::new(),
        changed: Vec::new(),
        trespasses,
        found: Vec::new(),
    };
    let mut printed = said.text;
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

/// What the agents do: the case's own entries, and behind them the honest cast.
fn script(case: &Case) -> Result<Script, Failure> {
    let cast = Script::parse(case.project.project().cast(), "the honest cast")
        .map_err(|error| Failure::user(error.to_string(), "this is a defect of remand"))?;
    let entries = case.dispatches.iter().cloned().chain(cast.dispatches);
    Ok(Script::new(case.title.clone(), entries.collect()))
}

fn ledger(arena: &Arena) -> Option<PathBuf> {
    let folders = fs::read_dir(arena.state()).into_iter().flatten().flatten();
    folders.map(|entry| entry.path().join("ledger.db")).find(|path| path.is_file())
}

/// Says where something is that must never be kept or made.
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

/// A file below a folder that holds a text; work trees are the agents' own.
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
