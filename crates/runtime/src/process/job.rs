//! A process to be run: what, where, with what, and how long.

use crate::confine::Policy;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// One process to run with everything it may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The program by path, relative to `folder`, or by name on the `PATH` of `environment`; then its arguments.
    pub argv: Vec<OsString>,
    pub folder: PathBuf,
    /// Exactly this and the marker: nothing is inherited.
    pub environment: BTreeMap<OsString, OsString>,
    pub stdin: Vec<u8>,
    pub limits: Limits,
    /// Names the job in the environment of all its processes; parts are separated by `/`.
    pub marker: String,
    pub confine: Option<Confined>,
    pub leaves: Leaves,
}

/// What may be alive after a job that ended by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leaves {
    #[default]
    Nothing,
    /// What has gone away from it, such as an agent that keeps keys. At a limit or on cancel it is killed too.
    Daemons,
}

impl Job {
    /// Makes a job with an empty environment and the default limits.
    pub fn new(
        argv: impl IntoIterator<Item = impl Into<OsString>>,
        folder: impl Into<PathBuf>,
        marker: impl Into<String>,
    ) -> Job {
        Job {
            argv: argv.into_iter().map(Into::into).collect(),
            folder: folder.into(),
            environment: BTreeMap::new(),
            stdin: Vec::new(),
            limits: Limits::default(),
            marker: marker.into(),
            confine: None,
            leaves: Leaves::Nothing,
        }
    }

    /// Makes a job that belongs to no run: its marker is its own, since whoever carries a marker ends with its job.
    pub fn apart(
        argv: impl IntoIterator<Item = impl Into<OsString>>,
        folder: impl Into<PathBuf>,
        name: &str,
    ) -> Job {
        static JOBS: AtomicU64 = AtomicU64::new(0);
        let number = JOBS.fetch_add(1, Ordering::Relaxed);
        Job::new(argv, folder, format!("{name}/{}/{number}", std::process::id()))
    }

    /// The folders that it may write.
    pub(super) fn writable(&self) -> Vec<PathBuf> {
        match &self.confine {
            Some(confined) => confined.policy.read_write.clone(),
            None => vec![self.folder.clone()],
        }
    }

    /// Copies the named variables from the engine's own environment, those that are set.
    #[must_use]
    pub fn inherit(mut self, names: &[&str]) -> Job {
        for name in names {
            if let Some(value) = std::env::var_os(name) {
                self.environment.insert(name.into(), value);
            }
        }
        self
    }
}

/// What a job may use before it is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub time: Duration,
    /// The longest time without a byte of output.
    pub silence: Option<Duration>,
    /// The time that it may take to end once it said its last.
    pub linger: Duration,
    /// The time between the request to end and the kill.
    pub grace: Duration,
    /// Bytes kept of each stream; beyond them its middle is left out.
    pub output: usize,
    /// Bytes of private writable memory of each process.
    pub memory: Option<u64>,
    /// Bytes of memory of all processes together.
    pub memory_of_all: Option<u64>,
    /// Processes at the same time.
    pub processes: Option<u64>,
    /// Bytes by which the folders that it may write can grow.
    pub disk: Option<u64>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            time: Duration::from_secs(600),
            silence: None,
            linger: Duration::from_secs(10),
            grace: Duration::from_secs(2),
            output: 1024 * 1024,
            memory: None,
            memory_of_all: None,
            processes: None,
            disk: None,
        }
    }
}

/// Starts the job inside a sandbox, through the program's own hidden command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confined {
    /// The program that knows `confine --policy JSON -- argv`.
    pub exe: PathBuf,
    pub policy: Policy,
}
