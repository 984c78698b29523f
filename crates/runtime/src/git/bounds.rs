//! What bounds programs of the user's that git starts, such as hooks and filters: their code may be an agent's.

use super::call::{Answer, Call};
use super::{GitError, error};
use crate::confine::Policy;
use crate::process::{self, Cancel, Confined, Ended, Exit, Job, Leaves, SpawnError};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long one call of git may take with all that it starts.
const MAY_TAKE: Duration = Duration::from_secs(20 * 60);

/// How long signing may take, which may mean that somebody types a passphrase.
const SIGNING_MAY_TAKE: Duration = Duration::from_secs(5 * 60);

/// How long a call may take that puts a tree in order after a cancel.
const ORDER_MAY_TAKE: Duration = Duration::from_secs(20);

/// The call that signs, as errors name it.
pub(super) const SIGNING: &str = "git commit-tree -S";

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
    /// Runs `git commit` inside the sandbox, with the hooks that it starts. It may write in some folders and read others.
    /// When it is made again, hooks find the same around them.
    pub(super) fn commit(&self, call: Call, writes: &[&Path], reads: &[PathBuf]) -> Result<Answer, GitError> {
        let mut job = call.job();
        let scratch = self.begin(&mut job, "git")?;
        job.marker = self.marker.clone();
        let policy = self.policy_for(&scratch, writes, reads);
        job.confine = Some(Confined { exe: self.program.clone(), policy });
        let answered = answered(&job, "git commit", &self.cancel);
        super::remove(&scratch)?;
        answered
    }

    /// Runs a call of git that has its programs started inside the sandbox, by `confine` and these settings of it. Once
    /// its command is cancelled, there is still a tree to be put in order, for which there is not much time.
    pub(super) fn around(
        &self,
        call: Call,
        writes: &[&Path],
        reads: &[PathBuf],
        settings: [&str; 2],
    ) -> Result<Answer, GitError> {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        let number = CALLS.fetch_add(1, Ordering::Relaxed);
        let (command, mut job) = (call.words().to_string(), call.job());
        let scratch = self.begin(&mut job, &format!("git-{}-{number}", std::process::id()))?;
        // Whoever carries a marker ends with its job, and a command has several calls at once.
        job.marker = format!("{}/git/{number}", self.marker);
        let mut policy = self.policy_for(&scratch, writes, reads);
        policy.hidden.extend(self.secret.iter().cloned());
        let policy = policy.to_json().map_err(|source| not_started(SpawnError::Confine { source }))?;
        let [program, bounds] = settings.map(OsString::from);
        job.environment.extend([(program, self.program.clone().into_os_string()), (bounds, policy.into())]);
        let cancel = match self.cancel.is_cancelled() {
            true => {
                job.limits.time = ORDER_MAY_TAKE;
                Cancel::new()
            }
            false => self.cancel.clone(),
        };
        let answered = answered(&job, &command, &cancel);
        super::remove(&scratch)?;
        answered
    }

    /// Runs a call of git that signs, with the environment of the user and outside of the sandbox: no code of an agent's is
    /// near it. It may wait for somebody who is not there, so it ends with its command, and after a while by itself.
    pub(super) fn sign(&self, call: Call) -> Result<Answer, GitError> {
        let mut job = call.job_of_user();
        job.marker = format!("{}/git/signing", self.marker);
        job.limits.time = SIGNING_MAY_TAKE;
        job.leaves = Leaves::Daemons;
        answered(&job, SIGNING, &self.cancel)
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
}

/// Runs a job until it ends, or is cancelled, or its time is over.
fn answered(job: &Job, command: &str, cancel: &Cancel) -> Result<Answer, GitError> {
    let Ended { exit, stdout, stderr, .. } = process::run(job, cancel).map_err(not_started)?;
    let code = match exit {
        Exit::Code(code) => code,
        Exit::Signal(signal) => 128 + signal,
        Exit::TimedOut | Exit::Silent | Exit::Lingered => {
            return Err(GitError::Overdue { command: command.to_string(), limit: job.limits.time });
        }
        Exit::Cancelled => return Err(GitError::Cancelled),
    };
    Ok(Answer { code, stdout: stdout.bytes, stderr: stderr.bytes })
}

fn not_started(source: SpawnError) -> GitError {
    GitError::NotStarted { source }
}
