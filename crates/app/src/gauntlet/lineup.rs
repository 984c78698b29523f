//! Plays cases, some at once, each in a folder of its own.

use super::case::Case;
use super::catalogue::Choice;
use super::trial::{self, Tried};
use crate::exit::Failure;
use crate::progress::Stop;
use crate::workplace::internal;
use remand_runtime::clock;
use remand_runtime::process::Cancel;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Is told what happens while cases are played.
pub trait Watcher: Sync {
    fn started(&self, choice: &Choice);
    fn ended(&self, tried: &Tried);
}

/// Where and how cases are played.
#[derive(Debug)]
pub struct Lineup {
    folder: PathBuf,
    program: PathBuf,
    fate: Fate,
    at_once: usize,
}

/// What becomes of the folders of the trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Kept,
    Removed,
}

impl Lineup {
    /// Plays below a new folder that is kept, or below a temporary one that is not.
    pub fn new(keep: Option<&Path>, at_once: usize) -> Result<Lineup, Failure> {
        let program =
            std::env::current_exe().map_err(|error| internal("this program cannot find itself", &error))?;
        let (folder, fate) = match keep {
            Some(folder) => (folder.to_path_buf(), Fate::Kept),
            None => (
                std::env::temp_dir().join(format!("remand-gauntlet-{}", clock::new_run_id("gauntlet"))),
                Fate::Removed,
            ),
        };
        if folder.exists() {
            let what = format!("{} exists already", folder.display());
            return Err(Failure::user(what, "name a folder that does not exist yet"));
        }
        // Agents are told paths without links, as the sandbox sees them.
        let made = fs::create_dir_all(&folder).and_then(|()| folder.canonicalize());
        let folder = made.map_err(|error| {
            Failure::user(format!("{} cannot be made", folder.display()), "name another folder with `--keep`")
                .caused_by(error.to_string())
        })?;
        Ok(Lineup { folder, program, fate, at_once: at_once.max(1) })
    }

    /// Plays all cases, and gives how they ended in the order in which they were given. None when told to stop.
    pub fn play(&self, choices: &[Choice], stop: &Stop, watcher: &dyn Watcher) -> Option<Vec<Tried>> {
        // The long ones first, so that none of them is left alone at the end.
        let mut order: Vec<usize> = (0..choices.len()).collect();
        order.sort_by_key(|at| choices[*at].case.workflow == Case::QUICK);
        let next = AtomicUsize::new(0);
        let ended: Mutex<Vec<(usize, Tried)>> = Mutex::default();
        let work = |cancel: &Cancel| loop {
            let turn = next.fetch_add(1, Ordering::SeqCst);
            let Some(at) = order.get(turn).copied().filter(|_| !stop.is_set()) else {
                return;
            };
            let choice = &choices[at];
            watcher.started(choice);
            let tried = self.one(choice, cancel);
            watcher.ended(&tried);
            ended.lock().unwrap_or_else(PoisonError::into_inner).push((at, tried));
        };
        stop.heeded_by(|cancel| {
            std::thread::scope(|scope| (0..self.at_once).for_each(|_| _ = scope.spawn(|| work(cancel))));
        });
        let mut ended = ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        ended.sort_by_key(|(at, _)| *at);
        (!stop.is_set()).then(|| ended.into_iter().map(|(_, tried)| tried).collect())
    }

    fn one(&self, choice: &Choice, cancel: &Cancel) -> Tried {
        let folder = self.folder.join(choice.name.replace('/', "-"));
        let tried = trial::play(choice, &folder, &self.program, cancel);
        if self.fate == Fate::Removed {
            remove(&folder);
        }
        tried
    }
}

impl Drop for Lineup {
    fn drop(&mut self) {
        if self.fate == Fate::Removed {
            remove(&self.folder);
        }
    }
}

/// Removes a folder, also where an agent took permissions away.
fn remove(folder: &Path) {
    if fs::remove_dir_all(folder).is_err() {
        open_up(folder);
        let _ = fs::remove_dir_all(folder);
    }
}

fn open_up(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}
