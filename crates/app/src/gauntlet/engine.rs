//! This program as the engine of a trial: a child with a home, a state directory and an environment of its own.

use super::arena::Arena;
use super::case::{Case, Strike};
use super::tool::Tools;
use crate::exit::Failure;
use remand_runtime::process::{Ended, Exit};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const LOOK: Duration = Duration::from_millis(10);

/// All that the engine said, over all commands of a trial.
#[derive(Debug, Default)]
pub struct Said {
    /// How the last command ended.
    pub exit: Option<Exit>,
    pub text: String,
}

/// Plays a case: the run, and the commands that follow it.
pub fn play(arena: &Arena, case: &Case, request: &str, tools: &Tools) -> Result<Said, Failure> {
    let mut words: Vec<OsString> =
        ["run", request, "--workflow", &case.workflow, "--agent"].map(OsString::from).to_vec();
    words.push(format!("rehearsal:{}", arena.rehearsal().display()).into());
    words.extend(case.setup.flags.iter().map(OsString::from));
    let mut said = Said::default();
    match case.strike {
        None => said.hear(&start(arena, &words, tools)?),
        Some(strike) => said.hear(&struck(arena, &words, tools, strike)?),
    }
    for words in &case.then {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        said.hear(&start(arena, &words, tools)?);
    }
    Ok(said)
}

/// Runs one command of this program in the checkout.
pub fn start(arena: &Arena, words: &[OsString], tools: &Tools) -> Result<Ended, Failure> {
    let mut argv = vec![arena.program().as_os_str().to_os_string()];
    argv.push("--state".into());
    argv.push(arena.state().into_os_string());
    argv.extend_from_slice(words);
    tools.run(&argv, &arena.checkout())
}

impl Said {
    fn hear(&mut self, ended: &Ended) {
        self.exit = Some(ended.exit);
        self.text.push_str(&ended.stdout.text());
        self.text.push_str(&ended.stderr.text());
    }
}

/// Runs a command and strikes once an agent has started.
fn struck(arena: &Arena, words: &[OsString], tools: &Tools, strike: Strike) -> Result<Ended, Failure> {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let striker = scope.spawn(|| {
            while found(&arena.state(), "started").is_empty() {
                if over.load(Ordering::SeqCst) {
                    return Ok(());
                }
                std::thread::sleep(LOOK);
            }
            arena.write(&arena.root().join("struck"), "")?;
            match strike {
                Strike::KillEngine => {
                    if let Some(pid) = driver(arena) {
                        let _ = kill_process(pid, Signal::KILL);
                    }
                    Ok(())
                }
                Strike::Cancel => {
                    start(arena, &[OsString::from("cancel"), OsString::from("latest")], tools).map(drop)
                }
            }
        });
        let ended = start(arena, words, tools);
        over.store(true, Ordering::SeqCst);
        match striker.join() {
            Ok(struck) => struck.and(ended),
            Err(_) => ended,
        }
    })
}

/// The process that drives the run, as its lock names it.
fn driver(arena: &Arena) -> Option<Pid> {
    let lock = found(&arena.state(), "driver").pop()?;
    let text = fs::read_to_string(lock).ok()?;
    Pid::from_raw(text.strip_prefix("process ")?.split(',').next()?.parse().ok()?)
}

/// All files of this name below a folder.
pub fn found(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files.extend(found(&path, name)),
            Ok(kind) if kind.is_file() && entry.file_name() == name => files.push(path),
            Ok(_) | Err(_) => {}
        }
    }
    files
}
