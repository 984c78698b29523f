//! Limits for the user's programs that git starts, such as hooks and filters. Agents may have written their code.

use super::GitError;
use super::error::{self, UserProgram};
use super::invocation::{CallOutput, Invocation};
use super::remove::remove;
use remand_process::confine::{ContactLog, Contacts, Policy, PrivateFolders};
use remand_process::{Cancel, Confinement, Exit, JobEnd, ProcessJob, SpawnError, Survivors};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Time limit for one call of git, including the programs that it starts.
const TIMEOUT: Duration = Duration::from_secs(20 * 60);

/// Time limit for signing, during which the user may have to type a passphrase.
const SIGNING_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// Time limit for a call that restores a tree after a cancel.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(20);

/// Maximum output of one call, in bytes. It is more than any list of paths needs.
const MAX_OUTPUT: usize = 256 * 1024 * 1024;

/// The limits of the user's programs that git starts for a run.
#[derive(Clone, Debug)]
pub struct GitProgramLimits {
    /// The program that implements `confine --policy JSON -- argv`.
    pub program: PathBuf,
    pub environment: BTreeMap<OsString, OsString>,
    /// The basic sandbox policy; each call adds what it needs.
    pub policy: Policy,
    /// Folders that only the hooks of a commit use, such as a home in which they may write.
    pub private_to_hooks: Option<PrivateFolders>,
    /// Git settings files that contain secrets. Git may read them; the programs that it starts may not.
    pub secret: Vec<PathBuf>,
    /// The parent of the temporary folders of calls.
    pub scratch: PathBuf,
    /// The marker of the programs' processes.
    pub marker: String,
    pub cancel: Cancel,
    pub warnings: ProgramWarnings,
    /// Collects the hosts that the programs ask for.
    pub contacts: ContactLog,
}

/// Warnings about programs that failed although git continued.
#[derive(Clone, Debug, Default)]
pub struct ProgramWarnings {
    messages: Arc<Mutex<Vec<String>>>,
}

impl ProgramWarnings {
    /// Removes and returns the collected warnings, each once.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.messages.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn add(&self, message: String) {
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        if !messages.contains(&message) {
            messages.push(message);
        }
    }
}

impl GitProgramLimits {
    /// Runs `git commit` with its hooks inside the sandbox. It may write to `writes` and read `reads`. The temporary folder
    /// has the same path each time, so hooks behave the same when a commit is repeated.
    pub(super) fn commit(
        &self,
        invocation: Invocation,
        writes: &[&Path],
        reads: &[PathBuf],
    ) -> Result<CallOutput, GitError> {
        let mut job = invocation.job();
        let scratch = self.prepare(&mut job, "git")?;
        job.marker = self.marker.clone();
        let mut policy = self.policy_for(&scratch, writes, reads);
        let storage = scratch.join("private");
        let private = self.private_to_hooks.clone();
        policy.private = private.map(|private| PrivateFolders { storage, ..private });
        let contacts = self.scratch.join("git.hosts");
        policy.contacts = Some(contacts.clone());
        job.confine = Some(Confinement { exe: self.program.clone(), policy });
        let output = run_job(&job, "git commit", UserProgram::Hook, &self.cancel);
        Contacts::read(&contacts).into_iter().for_each(|read| self.contacts.add("a hook", read));
        remove(&scratch)?;
        remove(&contacts)?;
        output
    }

    /// Runs git outside the sandbox and the programs that it starts inside, through `confine`. `variables` are the names of
    /// the environment variables for the program and the policy. After a cancel, calls still run with a short time limit,
    /// since the tree has to be restored.
    pub(super) fn confine_started_programs(
        &self,
        invocation: Invocation,
        writes: &[&Path],
        reads: &[PathBuf],
        variables: [&str; 2],
    ) -> Result<CallOutput, GitError> {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        let number = CALLS.fetch_add(1, Ordering::Relaxed);
        let (command, mut job) = (invocation.command_line().to_string(), invocation.job());
        let name = format!("git-{}-{number}", std::process::id());
        let scratch = self.prepare(&mut job, &name)?;
        // The programs can write to the folder, but not beside it.
        let [contacts, failures] =
            ["hosts", "failures"].map(|kind| self.scratch.join(format!("{name}.{kind}")));
        // A job kills all processes with its marker when it ends, and one command can run several calls concurrently.
        job.marker = format!("{}/git/{number}", self.marker);
        let mut policy = self.policy_for(&scratch, writes, reads);
        policy.hidden.extend(self.secret.iter().cloned());
        policy.private =
            Some(PrivateFolders { storage: scratch.join("private"), ..PrivateFolders::default() });
        (policy.contacts, policy.failures) = (Some(contacts.clone()), Some(failures.clone()));
        let policy = policy.to_json().map_err(|source| SpawnError::Confine { source })?;
        (job.limits.memory, job.limits.memory_of_all) = (self.policy.memory, self.policy.memory_of_all);
        job.limits.processes = self.policy.processes;
        let [program_variable, policy_variable] = variables.map(OsString::from);
        let program = self.program.clone().into_os_string();
        job.environment.extend([(program_variable, program), (policy_variable, policy.into())]);
        let cancel = match self.cancel.is_cancelled() {
            true => {
                job.limits.time = CLEANUP_TIMEOUT;
                Cancel::new()
            }
            false => self.cancel.clone(),
        };
        let output = run_job(&job, &command, UserProgram::FilterOrMergeDriver, &cancel);
        let title = "a filter or merge driver";
        Contacts::read(&contacts).into_iter().for_each(|read| self.contacts.add(title, read));
        let why = fs::read_to_string(&failures).unwrap_or_default();
        [&scratch, &contacts, &failures].into_iter().try_for_each(|path| remove(path))?;
        // Git continues without a filter, and takes a merge driver that does not start for a conflict.
        match why.trim() {
            "" => output,
            why => Err(SpawnError::Unconfined { program: title.to_string(), why: why.to_string() }.into()),
        }
    }

    /// Runs a git call that signs, with the user's environment and outside the sandbox, since no code of an agent is
    /// involved. The call may wait for a passphrase, so it ends on cancel and at its time limit.
    pub(super) fn sign(&self, invocation: Invocation) -> Result<CallOutput, GitError> {
        let mut job = invocation.user_job();
        job.marker = format!("{}/git/signing", self.marker);
        job.limits.time = SIGNING_TIMEOUT;
        job.survivors = Survivors::Daemons;
        run_job(&job, "git commit-tree -S", UserProgram::Signer, &self.cancel)
    }

    /// Sets the environment and the limits of a job, and creates its temporary folder.
    fn prepare(&self, job: &mut ProcessJob, name: &str) -> Result<PathBuf, GitError> {
        let scratch = self.scratch.join(name);
        remove(&scratch)?;
        fs::create_dir_all(&scratch).map_err(error::file("create", &scratch))?;
        let git_variables = std::mem::take(&mut job.environment);
        job.environment = self.environment.clone();
        job.environment.insert("TMPDIR".into(), scratch.clone().into_os_string());
        job.environment.extend(git_variables);
        job.limits.time = TIMEOUT;
        job.limits.output = MAX_OUTPUT;
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

/// Runs a job until it ends, is cancelled, or reaches its time limit.
fn run_job(
    job: &ProcessJob,
    command: &str,
    program: UserProgram,
    cancel: &Cancel,
) -> Result<CallOutput, GitError> {
    let JobEnd { exit, stdout, mut stderr, exceeded, .. } = remand_process::run(job, cancel)?;
    if let Some(exceeded) = &exceeded {
        stderr.bytes.extend(format!("\n{}\n", exceeded.explain()).into_bytes());
    }
    let code = match exit {
        // Whoever wrote the program is at fault, as if it had refused.
        _ if exceeded.is_some() => 1,
        Exit::Code(code) => code,
        Exit::Signal(signal) => 128 + signal,
        Exit::TimedOut | Exit::Silent | Exit::Lingered => {
            let command = command.to_string();
            return Err(GitError::TimedOut { command, limit: job.limits.time, program });
        }
        Exit::Cancelled => return Err(GitError::Cancelled),
    };
    Ok(CallOutput { code, stdout: stdout.bytes, stderr: stderr.bytes })
}
