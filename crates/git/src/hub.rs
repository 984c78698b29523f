//! A hub: a bare repository in which each run has one reference, to the newest entry of its log (`run_log.rs`).
//!
//! A push moves that reference only if the hub still has the value that this machine expects. So a machine that was
//! overtaken cannot push anything.

use super::error::UserProgram;
use super::invocation::{CallMode, CallOutput, GitPaths, Invocation};
use super::open::check_run_id;
use super::program_limits::run_job;
use super::{CommitId, GitError, Repository};
use remand_process::{Cancel, Survivors};
use std::collections::BTreeMap;
use std::time::Duration;

/// Time limit of one exchange. The first push of a run can contain the whole history of a repository.
const TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// The references of runs in a hub.
const PREFIX: &str = "refs/remand-hub/";

/// A bare repository of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hub {
    address: String,
}

impl Hub {
    /// The address is anything that `git fetch` accepts.
    pub fn at(address: &str) -> Hub {
        Hub { address: address.to_string() }
    }

    /// The address without user and password.
    pub fn shown_address(&self) -> String {
        let Some((scheme, rest)) = self.address.split_once("://") else { return self.address.clone() };
        let authority = rest.split('/').next().unwrap_or_default();
        match authority.rsplit_once('@') {
            Some((_, host)) => format!("{scheme}://{host}{}", &rest[authority.len()..]),
            None => self.address.clone(),
        }
    }

    /// The name of a run's reference in the hub.
    pub fn reference_of(run: &str) -> String {
        format!("{PREFIX}{run}")
    }

    /// The runs that the hub has, each with its newest entry.
    pub fn runs(
        &self,
        repository: &Repository,
        cancel: &Cancel,
    ) -> Result<BTreeMap<String, CommitId>, GitError> {
        self.list(repository, &format!("{PREFIX}*"), cancel)
    }

    /// The newest entry of a run; `None` if the hub does not have the run.
    pub fn newest(
        &self,
        repository: &Repository,
        run: &str,
        cancel: &Cancel,
    ) -> Result<Option<CommitId>, GitError> {
        check_run_id(run)?;
        Ok(self.list(repository, &Hub::reference_of(run), cancel)?.remove(run))
    }

    /// Gets an entry of a run, with everything that it contains. Nothing here is moved or removed.
    pub fn fetch(
        &self,
        repository: &Repository,
        run: &str,
        entry: &CommitId,
        cancel: &Cancel,
    ) -> Result<(), GitError> {
        check_run_id(run)?;
        let fetched = format!("+{}:{}", Hub::reference_of(run), super::run_log::fetched_reference(run));
        let words = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-prune",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
            "--refmap=",
            "--",
            &self.address,
            &fetched,
        ];
        self.call_successfully(repository, cancel, &words)?;
        match repository.reference(&super::run_log::fetched_reference(run))? {
            Some(fetched) if fetched == *entry => Ok(()),
            _ => Err(GitError::ReferenceMoved { reference: Hub::reference_of(run) }),
        }
    }

    /// Makes an entry the newest of its run, if the newest one is still the expected one. An error does not mean that the
    /// hub is unchanged: the connection may have ended after the push.
    pub fn push(
        &self,
        repository: &Repository,
        run: &str,
        entry: &CommitId,
        expected: Option<&CommitId>,
        cancel: &Cancel,
    ) -> Result<(), GitError> {
        check_run_id(run)?;
        let reference = Hub::reference_of(run);
        let lease = format!("--force-with-lease={reference}:{}", expected.map_or("", CommitId::as_str));
        let moved = format!("{entry}:{reference}");
        let words = [
            "push",
            "--quiet",
            "--no-verify",
            "--no-follow-tags",
            "--no-signed",
            "--recurse-submodules=no",
            &lease,
            "--",
            &self.address,
            &moved,
        ];
        self.call_successfully(repository, cancel, &words).map(drop)
    }

    fn list(
        &self,
        repository: &Repository,
        pattern: &str,
        cancel: &Cancel,
    ) -> Result<BTreeMap<String, CommitId>, GitError> {
        let words = ["ls-remote", "--quiet", "--refs", "--", &self.address, pattern];
        let output = self.call_successfully(repository, cancel, &words)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let rows = text.lines().filter_map(|line| {
            let (entry, reference) = line.split_once('\t')?;
            let run = reference.strip_prefix(PREFIX).filter(|run| check_run_id(run).is_ok())?;
            Some(entry.parse().map(|entry| (run.to_string(), entry)))
        });
        rows.collect()
    }

    fn call_successfully(
        &self,
        repository: &Repository,
        cancel: &Cancel,
        words: &[&str],
    ) -> Result<CallOutput, GitError> {
        let output = self.call(repository, cancel, words)?;
        match output.code {
            0 => Ok(output),
            _ => Err(GitError::HubFailed {
                address: self.shown_address(),
                detail: self.without_address(&output.stderr),
            }),
        }
    }

    /// Calls git with the user's environment, which may contain how to sign in to the hub, but without the user's hooks.
    /// Nobody can answer a question about a password.
    fn call(&self, repository: &Repository, cancel: &Cancel, words: &[&str]) -> Result<CallOutput, GitError> {
        let paths = GitPaths::objects(repository.common_dir());
        let mut job = Invocation::new(&paths, CallMode::Internal, words).user_job();
        job.environment.extend([
            ("GIT_ASKPASS".into(), "false".into()),
            ("SSH_ASKPASS".into(), "false".into()),
            ("SSH_ASKPASS_REQUIRE".into(), "force".into()),
        ]);
        job.limits.time = TIMEOUT;
        // `ControlPersist` of ssh leaves a connection open for the next call.
        job.survivors = Survivors::Daemons;
        let command = format!("git {}", words.first().unwrap_or(&""));
        run_job(&job, &command, UserProgram::Transport, cancel)
    }

    /// The last lines of git's message, without the password of the address.
    fn without_address(&self, stderr: &[u8]) -> String {
        let text = String::from_utf8_lossy(stderr).replace(&self.address, &self.shown_address());
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(6)..].join("; ")
    }
}
