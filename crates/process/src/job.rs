//! A process to run: program, folder, environment, input and limits.

use crate::confine::Policy;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// One process to run, with everything that it may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessJob {
    /// The program by path, relative to `folder`, or by name on the `PATH` of `environment`; then its arguments.
    pub argv: Vec<OsString>,
    pub folder: PathBuf,
    /// The whole environment except for the marker; nothing is inherited.
    pub environment: BTreeMap<OsString, OsString>,
    pub stdin: Vec<u8>,
    pub limits: ProcessLimits,
    /// Identifies the job in the environment of all its processes. `/` separates the parts of a marker.
    pub marker: String,
    pub confine: Option<Confinement>,
    pub survivors: Survivors,
}

/// The processes that may stay alive after a job that was not killed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Survivors {
    #[default]
    None,
    /// Daemons that started their own session, such as a key agent. At a limit or on cancel they are killed too.
    Daemons,
}

impl ProcessJob {
    /// Creates a job with an empty environment and the default limits.
    pub fn new(
        argv: impl IntoIterator<Item = impl Into<OsString>>,
        folder: impl Into<PathBuf>,
        marker: impl Into<String>,
    ) -> ProcessJob {
        ProcessJob {
            argv: argv.into_iter().map(Into::into).collect(),
            folder: folder.into(),
            environment: BTreeMap::new(),
            stdin: Vec::new(),
            limits: ProcessLimits::default(),
            marker: marker.into(),
            confine: None,
            survivors: Survivors::None,
        }
    }

    /// Creates a job outside of any run. It gets a unique marker, because all processes with a marker are killed when
    /// their job ends.
    pub fn standalone(
        argv: impl IntoIterator<Item = impl Into<OsString>>,
        folder: impl Into<PathBuf>,
        name: &str,
    ) -> ProcessJob {
        static JOBS: AtomicU64 = AtomicU64::new(0);
        let number = JOBS.fetch_add(1, Ordering::Relaxed);
        ProcessJob::new(argv, folder, format!("{name}/{}/{number}", std::process::id()))
    }

    /// The limits of the job and of its sandbox, whichever are stricter.
    pub(super) fn strictest_limits(&self) -> ProcessLimits {
        let Some(Confinement { policy, .. }) = &self.confine else { return self.limits };
        let stricter = |one: Option<u64>, other: Option<u64>| [one, other].into_iter().flatten().min();
        ProcessLimits {
            memory: stricter(self.limits.memory, policy.memory),
            memory_of_all: stricter(self.limits.memory_of_all, policy.memory_of_all),
            processes: stricter(self.limits.processes, policy.processes),
            disk: stricter(self.limits.disk, policy.disk),
            ..self.limits
        }
    }

    /// The folders that the job may write to.
    pub(super) fn writable(&self) -> Vec<PathBuf> {
        match &self.confine {
            Some(Confinement { policy, .. }) => {
                let private = policy.private.iter().map(|private| private.storage.clone());
                let storage =
                    private.filter(|storage| !policy.read_write.iter().any(|own| storage.starts_with(own)));
                policy.read_write.iter().cloned().chain(storage).collect()
            }
            None => vec![self.folder.clone()],
        }
    }

    /// Copies these variables from the engine's environment, if they are set there.
    #[must_use]
    pub fn inherit(mut self, names: &[&str]) -> ProcessJob {
        for name in names {
            if let Some(value) = std::env::var_os(name) {
                self.environment.insert(name.into(), value);
            }
        }
        self
    }
}

/// The limits of a job. It is killed when it reaches one, except for `output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessLimits {
    pub time: Duration,
    /// The maximum time without output.
    pub silence: Option<Duration>,
    /// How long the job may keep running after its last line.
    pub linger: Duration,
    /// The time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// The maximum number of bytes kept of each stream; the middle of longer output is dropped.
    pub output: usize,
    /// Bytes of memory per process.
    pub memory: Option<u64>,
    /// Bytes of memory of all processes together.
    pub memory_of_all: Option<u64>,
    /// Number of concurrent processes.
    pub processes: Option<u64>,
    /// Bytes by which the folders that the job may write to can grow.
    pub disk: Option<u64>,
}

impl Default for ProcessLimits {
    fn default() -> ProcessLimits {
        ProcessLimits {
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

/// The sandbox of a job, which the hidden command `remand confine` sets up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confinement {
    /// The executable that implements `confine --policy JSON -- argv`.
    pub exe: PathBuf,
    pub policy: Policy,
}
