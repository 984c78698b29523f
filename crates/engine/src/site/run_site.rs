//! The site of one run: its pinned workflow, its trees, its folders, and the tools that its commands share.

use super::settings::Settings;
use super::trouble::Trouble;
use crate::lock::DriverLock;
use crate::pinned::{Pinned, PinnedAgent};
use crate::store::Store;
use remand_agents::driver::{AgentRow, CliDriver, Driver, RehearsalDriver};
use remand_git::{CommitId, Repository, RunTrees};
use remand_ledger::fact::RunOpening;
use remand_ledger::{Blob, BlobId, Reader, RunId};
use remand_process::{Cancel, kill_marked};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Everything that the commands of one run work with.
pub struct Site {
    pub run: RunId,
    pub opened: RunOpening,
    pub pinned: Pinned,
    pub trees: RunTrees,
    drivers: BTreeMap<String, Box<dyn Driver>>,
    settings: Arc<Settings>,
    /// Held by the command that works on the run's main tree.
    main: Mutex<()>,
}

impl std::fmt::Debug for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Site").field("run", &self.run).finish_non_exhaustive()
    }
}

impl Site {
    /// Opens the site of a run. `stop` stops programs that git starts there outside of the run's commands.
    pub fn open(settings: &Arc<Settings>, run: &RunId, stop: &Cancel) -> Result<Site, Trouble> {
        let reader = settings.store.reader()?;
        let unknown = || Trouble::denied(format!("the journal has no start of run {run}"));
        let opened = reader.run_opening(run)?.ok_or_else(unknown)?;
        let pinned: Pinned =
            serde_json::from_slice(&settings.store.blob(opened.pinned)?).map_err(|error| {
                Trouble::denied(format!("the pinned data of the run cannot be read: {error}"))
            })?;
        let base: CommitId =
            opened.base.parse().map_err(|_| Trouble::denied(format!("`{}` is not a commit", opened.base)))?;
        let folder = settings.home.trees_of(run);
        if !folder.exists() {
            inherit_trees(settings, &reader, run);
        }
        remand_git::private_folder(&folder)?;
        let repository =
            settings.repository.with_program_limits(super::sandbox::git_program_limits(settings, run, stop));
        let trees = RunTrees::begin(&repository, &run.0, &folder, &base)?;
        let drivers = drivers(settings, run, &pinned)?;
        let (run, settings) = (run.clone(), Arc::clone(settings));
        Ok(Site { run, opened, pinned, trees, drivers, settings, main: Mutex::new(()) })
    }

    /// The text of the subject at the start of the run, with secrets removed.
    pub fn subject(&self) -> Result<String, Trouble> {
        Ok(self.redact(&self.original()?))
    }

    /// The text of the subject with its secrets. Use it only for files that go back into the repository. The author of a
    /// given change may have named it, so only the words of the user who has it judged count.
    pub fn original(&self) -> Result<String, Trouble> {
        if let Some(change) = &self.pinned.change {
            return Ok(change.purpose.clone());
        }
        let Some(file) = &self.opened.file else { return Ok(self.opened.request.clone()) };
        let bytes = self.repository().read(&self.trees.base_tree()?, Path::new(file))?;
        let missing = || Trouble::denied(format!("{file} is not in the commit that the run started from"));
        Ok(String::from_utf8_lossy(&bytes.ok_or_else(missing)?).into_owned())
    }

    /// The driver of one of the run's agents.
    pub fn driver(&self, agent: &str) -> Result<&dyn Driver, Trouble> {
        let unknown = || Trouble::denied(format!("the run is not pinned to an agent `{agent}`"));
        self.drivers.get(agent).map(Box::as_ref).ok_or_else(unknown)
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub fn repository(&self) -> &Repository {
        &self.settings.repository
    }

    /// The store of the run.
    pub fn store(&self) -> &dyn Store {
        &*self.settings.store
    }

    /// A connection for queries.
    pub fn reader(&self) -> Result<Reader, Trouble> {
        Ok(self.store().reader()?)
    }

    /// The folder of the run, with its files for people.
    pub fn folder(&self) -> PathBuf {
        self.settings.home.run(&self.run)
    }

    pub fn redact(&self, text: &str) -> String {
        self.settings.redactor.redact(text).into_owned()
    }

    /// A blob of this text with secrets removed.
    pub fn blob(&self, text: &str) -> Blob {
        let bytes = self.redact(text).into_bytes();
        Blob { id: BlobId::of(&bytes), bytes }
    }

    pub fn blob_of_bytes(&self, bytes: &[u8]) -> Blob {
        let bytes = self.settings.redactor.redact_bytes(bytes).into_owned();
        Blob { id: BlobId::of(&bytes), bytes }
    }

    /// Keeps other commands away from the main tree while the guard exists.
    pub fn hold_main(&self) -> MutexGuard<'_, ()> {
        self.main.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives a new run the trees of the latest run that is over and has no driving process. If there is no such run, trees
/// are created later, which only takes longer.
fn inherit_trees(settings: &Settings, reader: &Reader, run: &RunId) {
    let home = &settings.home;
    let folders = std::fs::read_dir(home.trees()).into_iter().flatten().flatten();
    let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
    let is_over = |name: &String| reader.run(name).is_ok_and(|row| row.run.0 == *name && row.stage.is_over());
    let mut over: Vec<RunId> = names.filter(is_over).map(RunId).collect();
    over.sort();
    for last in over.into_iter().rev().filter(|last| last != run) {
        let Ok(_lock) = DriverLock::take(&home.run(&last), &last) else { continue };
        // The engine of that run may have been killed before it could kill its processes.
        kill_marked(&last.0);
        let (from, to) = (home.trees_of(&last), home.trees_of(run));
        let inherited = remand_git::inherit(&settings.repository, (&last.0, &from), (&run.0, &to));
        if inherited.is_err() || inherited.is_ok_and(|inherited| inherited) {
            break;
        }
    }
}

fn drivers(
    settings: &Settings,
    run: &RunId,
    pinned: &Pinned,
) -> Result<BTreeMap<String, Box<dyn Driver>>, Trouble> {
    let folder = settings.home.run(run);
    remand_git::private_folder(&folder)?;
    let mut drivers: BTreeMap<String, Box<dyn Driver>> = BTreeMap::new();
    for (index, (name, agent)) in pinned.agents.iter().enumerate() {
        let driver: Box<dyn Driver> = match agent {
            PinnedAgent::Rehearsal(script) => {
                let path = folder.join(format!("rehearsal-{index}.yaml"));
                std::fs::write(&path, &script.text)?;
                let shown_path = script.name.clone();
                Box::new(RehearsalDriver { program: settings.program.clone(), script: path, shown_path })
            }
            PinnedAgent::Cli(row) => Box::new(CliDriver { name: name.clone(), row: AgentRow::clone(row) }),
        };
        drivers.insert(name.clone(), driver);
    }
    Ok(drivers)
}
