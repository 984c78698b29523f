//! The site of one run: its pinned law, its trees, its folders, and the tools that work on it has in common.

use super::Trouble;
use super::parts::Parts;
use super::places::Places;
use crate::checks::Tools;
use crate::config::Sandbox;
use crate::confine::Enforcement;
use crate::driver::{Cli, Driver, Rehearsal, Row};
use crate::git::{self, CommitId, Repository, RunTrees};
use crate::home::Home;
use crate::host::{Ending, Reply};
use crate::lock::DriverLock;
use crate::pinned::{Pinned, PinnedAgent};
use crate::process::{Cancel, kill_marked};
use crate::redact::Redactor;
use remand_kernel::Outcome;
use remand_kernel::signal::Failure;
use remand_ledger::fact::Opened;
use remand_ledger::{Blob, BlobId, Facts, Reader, RunId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What all runs of a process have in common.
#[derive(Debug)]
pub struct Settings {
    pub home: Home,
    pub repository: Repository,
    /// This program: it plays rehearsals and sets up the sandbox.
    pub program: PathBuf,
    /// What agents and checks inherit of the environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// What agents see of it besides.
    pub agent_environment: BTreeMap<OsString, OsString>,
    pub sandbox: Sandbox,
    /// The user's home, where toolchains keep their caches; checks see it, agents do not.
    pub user_home: OsString,
    pub redactor: Redactor,
    /// What this machine enforces.
    pub enforcement: Enforcement,
    /// For agents at work.
    pub places: Places,
    /// Versions of the tools of checks.
    pub tools: Tools,
}

/// Everything that commands of one run work with.
pub struct Site {
    pub run: RunId,
    pub opened: Opened,
    pub pinned: Pinned,
    pub trees: RunTrees,
    drivers: BTreeMap<String, Box<dyn Driver>>,
    settings: Arc<Settings>,
    /// Held by whoever works on the run's main tree.
    main: Mutex<()>,
    parts: Mutex<Parts>,
}

impl std::fmt::Debug for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Site").field("run", &self.run).finish_non_exhaustive()
    }
}

impl Site {
    /// Opens the site of a run; what git starts there besides the run's commands ends with the token.
    pub fn open(settings: &Arc<Settings>, run: &RunId, stop: &Cancel) -> Result<Site, Trouble> {
        let reader = Reader::open(&settings.home.ledger())?;
        let row = reader.run(&run.0)?;
        let opened = Opened {
            request: row.request,
            file: row.file,
            slug: row.slug,
            base: row.base,
            branch: row.branch,
            pinned: row.pinned,
            version: row.version,
        };
        let pinned: Pinned = serde_json::from_slice(&reader.blob(opened.pinned)?)
            .map_err(|error| Trouble::denied(format!("what the run is pinned to cannot be read: {error}")))?;
        let base: CommitId =
            opened.base.parse().map_err(|_| Trouble::denied(format!("`{}` is no commit", opened.base)))?;
        let folder = settings.home.trees_of(run);
        if !folder.exists() {
            inherit_trees(settings, &reader, run);
        }
        crate::home::private_folder(&folder)?;
        let repository = settings.repository.bounded(super::sandbox::bounds(settings, run, stop));
        let trees = RunTrees::begin(&repository, &run.0, &folder, &base)?;
        let drivers = drivers(settings, run, &pinned)?;
        let parts = Mutex::new(Parts::of(&reader.artifacts(run)?));
        let (run, settings) = (run.clone(), Arc::clone(settings));
        Ok(Site { run, opened, pinned, trees, drivers, settings, main: Mutex::new(()), parts })
    }

    /// Hands an ending over. Parts of an artifact are put together in the order in which they are handed over.
    /// No text leaves here with a secret in it.
    pub(super) fn hand_over(&self, mut ending: Ending, reply: Reply) {
        self.without_secrets(&mut ending);
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.put_together(&mut ending);
        reply.send(ending);
    }

    /// Takes secrets out of every text that the ledger is about to keep, whoever said it (EP-30).
    fn without_secrets(&self, ending: &mut Ending) {
        let redactor = &self.settings.redactor;
        let kept = redacted(redactor, &ending.outcome).zip(redacted(redactor, &ending.facts));
        let unkept = || {
            let detail = "what it said cannot be kept without a secret in it".to_string();
            (Outcome::Failed { failure: Failure::Denied, detail, in_a_row: 0 }, Facts::default())
        };
        (ending.outcome, ending.facts) = kept.unwrap_or_else(unkept);
    }

    /// The words of the subject as the run began with them.
    pub fn subject(&self) -> Result<String, Trouble> {
        Ok(self.redact(&self.original()?))
    }

    /// The same with the secrets that its file holds: for what goes back into the repository, and nothing else.
    pub fn original(&self) -> Result<String, Trouble> {
        let Some(file) = &self.opened.file else { return Ok(self.opened.request.clone()) };
        let bytes = self.repository().read(&self.trees.base_tree()?, Path::new(file))?;
        let lost = || Trouble::denied(format!("{file} is not in the commit that the run began with"));
        Ok(String::from_utf8_lossy(&bytes.ok_or_else(lost)?).into_owned())
    }

    /// The driver of one of the run's agents.
    pub fn driver(&self, agent: &str) -> Result<&dyn Driver, Trouble> {
        let unknown = || Trouble::denied(format!("the run is pinned to no agent `{agent}`"));
        self.drivers.get(agent).map(Box::as_ref).ok_or_else(unknown)
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub fn repository(&self) -> &Repository {
        &self.settings.repository
    }

    pub fn reader(&self) -> Result<Reader, Trouble> {
        Ok(Reader::open(&self.settings.home.ledger())?)
    }

    /// The folder that people look into.
    pub fn folder(&self) -> PathBuf {
        self.settings.home.run(&self.run)
    }

    pub fn redact(&self, text: &str) -> String {
        self.settings.redactor.redact(text).into_owned()
    }

    /// A blob of this text, secrets taken out (EP-30).
    pub fn blob(&self, text: &str) -> Blob {
        let bytes = self.redact(text).into_bytes();
        Blob { id: BlobId::of(&bytes), bytes }
    }

    pub fn blob_of_bytes(&self, bytes: &[u8]) -> Blob {
        let bytes = self.settings.redactor.redact_bytes(bytes).into_owned();
        Blob { id: BlobId::of(&bytes), bytes }
    }

    /// Keeps others away from the main tree for as long as the guard lives.
    pub fn hold_main(&self) -> MutexGuard<'_, ()> {
        self.main.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run that begins takes over the trees of one that is over and that nobody drives, the latest first. Without any it
/// makes its own; that takes longer, and nothing else.
fn inherit_trees(settings: &Settings, reader: &Reader, run: &RunId) {
    let home = &settings.home;
    let folders = std::fs::read_dir(home.trees()).into_iter().flatten().flatten();
    let named = folders.filter_map(|entry| entry.file_name().into_string().ok());
    let is_over = |name: &String| reader.run(name).is_ok_and(|row| row.run.0 == *name && row.stage.is_over());
    let mut over: Vec<RunId> = named.filter(is_over).map(RunId).collect();
    over.sort();
    for last in over.into_iter().rev().filter(|last| last != run) {
        let Ok(_lock) = DriverLock::take(&home.run(&last), &last) else { continue };
        // Its engine may have been killed before it could end what it had started.
        kill_marked(&last.0);
        let (from, to) = (home.trees_of(&last), home.trees_of(run));
        let given = git::inherit(&settings.repository, (&last.0, &from), (&run.0, &to));
        if given.is_err() || given.is_ok_and(|given| given) {
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
    crate::home::private_folder(&folder)?;
    let mut drivers: BTreeMap<String, Box<dyn Driver>> = BTreeMap::new();
    for (at, (name, agent)) in pinned.agents.iter().enumerate() {
        let driver: Box<dyn Driver> = match agent {
            PinnedAgent::Rehearsal(script) => {
                let path = folder.join(format!("rehearsal-{at}.yaml"));
                std::fs::write(&path, &script.text)?;
                let named = script.name.clone();
                Box::new(Rehearsal { program: settings.program.clone(), script: path, named })
            }
            PinnedAgent::Cli(row) => Box::new(Cli { name: name.clone(), row: Row::clone(row) }),
        };
        drivers.insert(name.clone(), driver);
    }
    Ok(drivers)
}

/// The value with secrets taken out of its texts; none when it is no such value any more without them.
fn redacted<T: Clone + Serialize + DeserializeOwned>(redactor: &Redactor, value: &T) -> Option<T> {
    let mut json = serde_json::to_value(value).ok()?;
    let said = json.clone();
    redactor.redact_value(&mut json);
    if json == said { Some(value.clone()) } else { serde_json::from_value(json).ok() }
}
