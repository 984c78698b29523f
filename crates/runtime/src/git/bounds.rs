//! What bounds programs of the user's that git starts, such as hooks and filters: their code may be an agent's.

use super::{GitError, error};
use crate::confine::Policy;
use crate::process::{self, Cancel, Confined, Ended, Exit, Job, SpawnError};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long one call of git may take with all that it starts.
const MAY_TAKE: Duration = Duration::from_secs(20 * 60);

/// Bytes kept of what such a call says: no list of paths is longer.
const OUTPUT: usize = 256 * 1024 * 1024;

/// What programs of the user's see and may do when git starts them for a run.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The program that knows `confine --policy JSON -- argv`.
    pub program: PathBuf,
    pub environment: BTreeMap<OsString, OsString>,
    /// The sandbox; what a call needs is added.
    pub policy: Policy,
    /// Settings of git's that hold a secret: git itself reads them, and what it starts does not.
    pub secret: Vec<PathBuf>,
    /// A folder for folders that are thrown away.
    pub scratch: PathBuf,
    /// By which their processes are known.
    pub marker: String,
    pub cancel: Cancel,
    pub remarks: Remarks,
}

/// What is to be known of programs that failed although git went on.
#[derive(Clone, Debug, Default)]
pub struct Remarks {
    texts: Arc<Mutex<Vec<String>>>,
}

impl Remarks {
    /// Takes out what has come together, each text once.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.texts.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn add(&self, text: String) {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
}

impl Bounds {
    /// Runs a call of git inside the sandbox, with all that it starts. It may write in some folders and read others. One
    /// that is made again finds the same around it.
    pub(super) fn confined(
        &self,
        mut job: Job,
        writes: &[&Path],
        reads: &[PathBuf],
    ) -> Result<Ended, GitError> {
        let scratch = self.begin(&mut job, "git")?;
        job.marker = self.marker.clone();
        let policy = self.policy_for(&scratch, writes, reads);
        job.confine = Some(Confined { exe: self.program.clone(), policy });
        self.finish(&job, &scratch)
    }

    /// Runs a call of git that has its programs started inside the sandbox, by `confine` and these settings of it.
    pub(super) fn around(
        &self,
        mut job: Job,
        writes: &[&Path],
        reads: &[PathBuf],
        settings: [&str; 2],
    ) -> Result<Ended, GitError> {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        let number = CALLS.fetch_add(1, Ordering::Relaxed);
        let scratch = self.begin(&mut job, &format!("git-{}-{number}", std::process::id()))?;
        // Whoever carries a marker ends with its job, and a command has several calls at once.
        job.marker = format!("{}/git/{number}", self.marker);
        let mut policy = self.policy_for(&scratch, writes, reads);
        policy.hidden.extend(self.secret.iter().cloned());
        let policy = policy.to_json().map_err(|source| not_started(SpawnError::Confine { source }))?;
        let [program, bounds] = settings.map(OsString::from);
        job.environment.extend([(program, self.program.clone().into_os_string()), (bounds, policy.into())]);
        self.finish(&job, &scratch)
    }

    /// Gives a job environment, time and a folder to throw away.
    fn begin(&self, job: &mut Job, name: &str) -> Result<PathBuf, GitError> {
        let scratch = self.scratch.join(name);
        super::remove(&scratch)?;
        fs::create_dir_all(&scratch).map_err(error::file("create", &scratch))?;
        let of_git = std::mem::take(&mut job.environment);
        job.environment = self.environment.clone();
        job.environment.insert("TMPDIR".into(), scratch.clone().into_os_string());
        job.environment.extend(of_git);
        job.limits.time = MAY_TAKE;
        job.limits.output = OUTPUT;
        Ok(scratch)
    }

    fn policy_for(&self, scratch: &Path, writes: &[&Path], reads: &[PathBuf]) -> Policy {
        let mut policy = self.policy.clone();
        policy.read_write.extend([scratch.to_path_buf(), "/dev/null".into()]);
        policy.read_write.extend(writes.iter().map(|path| path.to_path_buf()));
        policy.shown.extend_from_slice(reads);
        policy
    }

    fn finish(&self, job: &Job, scratch: &Path) -> Result<Ended, GitError> {
        let ended = process::run(job, &self.cancel).map_err(not_started);
        super::remove(scratch)?;
        ended
    }
}

/// The code that a call ended with, as a shell tells it.
pub(super) fn code(command: &str, ended: &Ended) -> Result<i32, GitError> {
    match ended.exit {
        Exit::Code(code) => Ok(code),
        Exit::Signal(signal) => Ok(128 + signal),
        Exit::TimedOut | Exit::Silent | Exit::Lingered => {
            Err(GitError::Overdue { command: command.to_string(), limit: MAY_TAKE })
        }
        Exit::Cancelled => Err(GitError::Cancelled),
    }
}

fn not_started(source: SpawnError) -> GitError {
    GitError::NotStarted { source }
}
