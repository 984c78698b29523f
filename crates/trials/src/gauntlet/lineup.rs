//! Runs cases in parallel, each in its own folder.

use super::arena::Engine;
use super::case::GauntletCase;
use super::catalogue::ChosenCase;
use super::runners::TestRunners;
use super::trial::{self, TrialResult};
use remand_engine::clock;
use remand_process::Cancel;
use remand_terminal::{CommandFailure, Stop};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Observes the running cases.
pub trait Watcher: Sync {
    fn started(&self, choice: &ChosenCase);
    fn ended(&self, tried: &TrialResult);
}

/// Runs cases, each in a subfolder of one folder.
#[derive(Debug)]
pub struct Lineup {
    folder: PathBuf,
    engine: Engine,
    folders: Folders,
    parallel: usize,
}

/// Whether the folders of the trials are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Folders {
    Kept,
    Removed,
}

impl Lineup {
    /// Creates the folder for the cases: `keep`, which must not exist yet and is kept, or a temporary one.
    pub fn new(
        keep: Option<&Path>,
        parallel: usize,
        inherited: BTreeMap<OsString, OsString>,
        runners: TestRunners,
    ) -> Result<Lineup, CommandFailure> {
        let program = std::env::current_exe().map_err(|error| {
            CommandFailure::internal_error("the path of this program cannot be determined", &error)
        })?;
        let (folder, folders) = match keep {
            Some(folder) => (folder.to_path_buf(), Folders::Kept),
            None => (
                std::env::temp_dir().join(format!("remand-gauntlet-{}", clock::new_run_id("gauntlet"))),
                Folders::Removed,
            ),
        };
        if folder.exists() {
            let what = format!("{} already exists", folder.display());
            return Err(CommandFailure::user(what, "name a folder that does not exist yet"));
        }
        // Agents and the sandbox see paths with symbolic links resolved.
        let created = fs::create_dir_all(&folder).and_then(|()| folder.canonicalize());
        let folder = created.map_err(|error| {
            CommandFailure::user(
                format!("{} cannot be created", folder.display()),
                "name another folder with `--keep`",
            )
            .caused_by(error.to_string())
        })?;
        Ok(Lineup {
            folder,
            engine: Engine { program, inherited, runners },
            folders,
            parallel: parallel.max(1),
        })
    }

    /// Runs all cases and returns their results in the given order; `None` after a signal.
    pub fn play(
        &self,
        choices: &[ChosenCase],
        stop: &Stop,
        watcher: &dyn Watcher,
    ) -> Option<Vec<TrialResult>> {
        self.each(choices, stop, |choice, folder, cancel| {
            watcher.started(choice);
            let tried = trial::play(choice, folder, &self.engine, cancel);
            watcher.ended(&tried);
            tried
        })
    }

    /// The lineup of the same engine in a subfolder.
    pub fn below(&self, name: &str) -> Lineup {
        Lineup { folder: self.folder.join(name), engine: self.engine.clone(), ..*self }
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Does something with each case in a folder of its own, and returns the results in the given order; `None` after a
    /// signal.
    pub fn each<T: Send>(
        &self,
        choices: &[ChosenCase],
        stop: &Stop,
        work: impl Fn(&ChosenCase, &Path, &Cancel) -> T + Sync,
    ) -> Option<Vec<T>> {
        // Long cases first, so that none of them runs alone at the end.
        let mut order: Vec<usize> = (0..choices.len()).collect();
        order.sort_by_key(|index| choices[*index].case.workflow == GauntletCase::QUICK);
        let next = AtomicUsize::new(0);
        let ended: Mutex<Vec<(usize, T)>> = Mutex::default();
        let worker = |cancel: &Cancel| loop {
            let turn = next.fetch_add(1, Ordering::SeqCst);
            let Some(index) = order.get(turn).copied().filter(|_| !stop.is_set()) else {
                return;
            };
            let choice = &choices[index];
            // Paths of sockets must be short, so the kind is left out.
            let folder = self.folder.join(format!("{}-{}", choice.family().name(), choice.short()));
            let done = work(choice, &folder, cancel);
            if self.folders == Folders::Removed {
                remove(&folder);
            }
            ended.lock().unwrap_or_else(PoisonError::into_inner).push((index, done));
        };
        stop.run_cancellable(|cancel| {
            std::thread::scope(|scope| (0..self.parallel).for_each(|_| _ = scope.spawn(|| worker(cancel))));
        });
        let mut ended = ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        ended.sort_by_key(|(index, _)| *index);
        (!stop.is_set()).then(|| ended.into_iter().map(|(_, tried)| tried).collect())
    }
}

impl Drop for Lineup {
    fn drop(&mut self) {
        if self.folders == Folders::Removed {
            remove(&self.folder);
        }
    }
}

/// Removes a folder, even if an agent removed permissions.
fn remove(folder: &Path) {
    if fs::remove_dir_all(folder).is_err() {
        restore_permissions(folder);
        let _ = fs::remove_dir_all(folder);
    }
}

fn restore_permissions(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            restore_permissions(&entry.path());
        }
    }
}
