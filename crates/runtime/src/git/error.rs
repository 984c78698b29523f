//! What can go wrong with git, and what to do about it.

use super::bounds::SIGNING;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What to do about a signature that is not to be had.
const UNLOCK: &str = "unlock the signing key, name another in `user.signingKey`, or turn it off: \
                      `git config commit.gpgSign false`; then let the run go on";

/// Why git could not do what the engine needs.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git cannot be started")]
    NoGit { source: io::Error },
    #[error("git {found} is too old: {} or later is needed", super::repository::OLDEST)]
    TooOld { found: String },
    #[error("{} is in no git repository", from.display())]
    NotARepository { from: PathBuf },
    #[error("{} belongs to another user, so git refuses to work in it", path.display())]
    NotOwned { path: PathBuf },
    #[error("{} is a bare repository", path.display())]
    Bare { path: PathBuf },
    #[error("{} is inside a git folder, not in a checkout", path.display())]
    InsideGitFolder { path: PathBuf },
    #[error("{} has no commit to start from", path.display())]
    NoCommits { path: PathBuf },
    #[error("`{revision}` names no commit")]
    UnknownRevision { revision: String },
    #[error("`{text}` is no object id of git")]
    NotAnId { text: String },
    #[error("{} holds no id of a repository", path.display())]
    UnfitIdentity { path: PathBuf },
    #[error("run id `{run}` cannot be part of a branch name")]
    UnfitRunId { run: String },
    #[error("run `{run}` has no work trees in this repository")]
    UnknownRun { run: String },
    #[error("run `{run}` exists in this repository with another base")]
    RunTaken { run: String },
    #[error("branch `{branch}` exists and is not of this run")]
    BranchTaken { branch: String },
    #[error("branch `{branch}` is checked out in {}", path.display())]
    BranchInUse { branch: String, path: PathBuf },
    #[error("tag `{tag}` exists and points elsewhere")]
    TagTaken { tag: String },
    #[error("git knows no name and e-mail address for the commit: {detail}")]
    NoIdentity { detail: String },
    #[error("the commit could not be signed: {detail}")]
    SigningFailed { detail: String },
    #[error("a filter of the repository failed: {detail}")]
    FilterFailed { detail: String },
    #[error("`{reference}` was changed by somebody else meanwhile")]
    MovedMeanwhile { reference: String },
    #[error("`{command}` did not end within {} seconds", limit.as_secs())]
    Overdue { command: String, limit: Duration },
    #[error("git could not be started with the programs of its settings: {source}")]
    NotStarted { source: crate::process::SpawnError },
    #[error("cancelled")]
    Cancelled,
    #[error("`{command}` failed with code {code}: {stderr}")]
    Failed { command: String, code: i32, stderr: String },
    #[error("`{command}` answered in a way that is not understood: {detail}")]
    Unreadable { command: String, detail: String },
    #[error("cannot {action} {}", path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },
}

impl GitError {
    /// The remedy, or the next command.
    pub fn hint(&self) -> String {
        match self {
            GitError::NoGit { .. } => "install git and see that it is on the PATH".to_string(),
            GitError::TooOld { .. } => format!("install git {} or later", super::repository::OLDEST),
            GitError::NotARepository { .. } => {
                "change to a checkout, or run `git init` and commit".to_string()
            }
            GitError::NotOwned { path } => {
                format!("run as the owner, or `git config --global --add safe.directory {}`", path.display())
            }
            GitError::Bare { .. } => "clone the repository and run in the clone".to_string(),
            GitError::InsideGitFolder { .. } => "change to the checkout itself".to_string(),
            GitError::NoCommits { .. } => "make a first commit: `git add -A && git commit`".to_string(),
            GitError::UnknownRevision { .. } => "list commits with `git log --oneline --all`".to_string(),
            GitError::NotAnId { .. } => "a state of the run is damaged: see `remand doctor`".to_string(),
            GitError::UnfitIdentity { .. } => {
                "write the id into it again, which is the name of the repository's folder in the state directory, or \
                 remove it to begin without earlier runs"
                    .to_string()
            }
            GitError::UnfitRunId { .. } => "use letters, digits, `-` and `_`".to_string(),
            GitError::UnknownRun { .. } => "list the runs with `remand runs`".to_string(),
            GitError::RunTaken { run } => format!("resume it: `remand resume {run}`"),
            GitError::BranchTaken { branch } => format!("rename it: `git branch -m {branch} other-name`"),
            GitError::BranchInUse { path, .. } => {
                format!("switch to another branch in {} first", path.display())
            }
            GitError::TagTaken { tag } => format!("remove it: `git tag -d {tag}`"),
            GitError::NoIdentity { .. } => {
                "run `git config user.name \"...\"` and `git config user.email \"...\"`, then let the run go on"
                    .to_string()
            }
            GitError::SigningFailed { .. } => UNLOCK.to_string(),
            GitError::FilterFailed { .. } => {
                "install the filter that .gitattributes names, or correct its `filter.*` setting; filters run in \
                 the sandbox of checks: without the network, and writing nowhere but in `sandbox.hooks-write`"
                    .to_string()
            }
            GitError::MovedMeanwhile { .. } => "resume the run".to_string(),
            GitError::Overdue { command, .. } if command == SIGNING => UNLOCK.to_string(),
            GitError::Overdue { command, .. } if command == "git commit" => {
                "see which hook hangs: `git config core.hooksPath`, `.git/hooks`".to_string()
            }
            GitError::Overdue { .. } => {
                "see which filter or merge driver hangs: `git config --get-regexp '^(filter|merge)'`".to_string()
            }
            GitError::NotStarted { .. } => "see `remand doctor`, then let the run go on".to_string(),
            GitError::Cancelled => "resume the run".to_string(),
            GitError::Failed { stderr, .. } if stderr.contains("No space left") => {
                "free disk space, then let the run go on".to_string()
            }
            GitError::Failed { stderr, .. }
                if stderr.contains("index.lock") || stderr.contains("cannot lock ref") =>
            {
                "another git process may be running; when it has ended, resume".to_string()
            }
            GitError::Failed { .. } | GitError::Unreadable { .. } => {
                "see `git fsck`, then let the run go on".to_string()
            }
            GitError::File { path, .. } => {
                format!("check space and permissions of {}, then let the run go on", path.display())
            }
        }
    }

    /// Whether git itself gave up, for a reason that has no name here.
    pub(super) fn is_failed_call(&self) -> bool {
        matches!(self, GitError::Failed { .. })
    }

    /// Reads a failed call: known failures have a name of their own.
    pub(super) fn of_call(command: String, code: i32, stderr: &[u8], place: &Path) -> GitError {
        let stderr = tail(stderr);
        let says = |text: &str| stderr.contains(text);
        if says("dubious ownership") {
            GitError::NotOwned { path: place.to_path_buf() }
        } else if says("not a git repository") {
            GitError::NotARepository { from: place.to_path_buf() }
        } else if says("tell me who you are")
            || says("empty ident name")
            || says("auto-detection is disabled")
        {
            GitError::NoIdentity { detail: last_line(&stderr) }
        } else if says("failed to sign the data") || says("gpg failed") || says("signing failed") {
            GitError::SigningFailed { detail: stderr }
        } else if says("clean filter") || says("smudge filter") || says("external filter") {
            GitError::FilterFailed { detail: stderr }
        } else {
            GitError::Failed { command, code, stderr }
        }
    }
}

/// Names what was being done to a file.
pub(super) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> GitError {
    let path = path.to_path_buf();
    move |source| GitError::File { action, path, source }
}

/// The last two thousand bytes, as text.
fn tail(stderr: &[u8]) -> String {
    let from = stderr.len().saturating_sub(2000);
    String::from_utf8_lossy(&stderr[from..]).trim().to_string()
}

fn last_line(text: &str) -> String {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_string()
}
