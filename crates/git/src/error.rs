//! Errors of git, with hints about what to do.

use super::Excess;
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What to do if signing fails.
const SIGNING_HINT: &str = "unlock the signing key, set another one in `user.signingKey`, or turn signing off: \
                            `git config commit.gpgSign false`; then resume the run";

/// The oldest git that has `merge-tree --write-tree`.
pub(super) const OLDEST_GIT: &str = "2.38";

/// A program that git starts because of the user's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserProgram {
    Hook,
    FilterOrMergeDriver,
    Signer,
}

/// Why git could not do what the engine needs.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git cannot be started")]
    NoGit { source: io::Error },
    #[error("git {found} is too old: version {} or later is required", OLDEST_GIT)]
    TooOld { found: String },
    #[error("{} is not in a git repository", from.display())]
    NotARepository { from: PathBuf },
    #[error("{} belongs to another user, so git refuses to work in it", path.display())]
    NotOwned { path: PathBuf },
    #[error("{} is a bare repository", path.display())]
    Bare { path: PathBuf },
    #[error("{} is inside a git folder, not in a checkout", path.display())]
    InsideGitFolder { path: PathBuf },
    #[error("{} has no commits to start from", path.display())]
    NoCommits { path: PathBuf },
    #[error("`{revision}` is not a commit")]
    UnknownRevision { revision: String },
    #[error("`{text}` is not a git object id")]
    NotAnId { text: String },
    #[error("{} does not contain a valid repository id", path.display())]
    InvalidIdentity { path: PathBuf },
    #[error("run id `{run}` cannot be part of a branch name")]
    InvalidRunId { run: String },
    #[error("run `{run}` has no work trees in this repository")]
    UnknownRun { run: String },
    #[error("run `{run}` already exists in this repository with another base")]
    RunTaken { run: String },
    #[error("branch `{branch}` exists and does not belong to this run")]
    BranchTaken { branch: String },
    #[error("branch `{branch}` is checked out in {}", path.display())]
    BranchInUse { branch: String, path: PathBuf },
    #[error("tag `{tag}` exists and points elsewhere")]
    TagTaken { tag: String },
    #[error("git has no name and e-mail address for the commit: {detail}")]
    NoIdentity { detail: String },
    #[error("the commit could not be signed: {detail}")]
    SigningFailed { detail: String },
    #[error("a filter of the repository failed: {detail}")]
    FilterFailed { detail: String },
    #[error("another process changed `{reference}` in the meantime")]
    ReferenceMoved { reference: String },
    #[error("`{command}` did not end within {} seconds", limit.as_secs())]
    TimedOut { command: String, limit: Duration, program: UserProgram },
    #[error("git could not be started with the programs from its settings: {source}")]
    NotStarted {
        #[from]
        source: remand_process::SpawnError,
    },
    /// A program left more in a work tree than its limits allow.
    #[error("too much was left in the work tree: {}", list(excess))]
    Excess { excess: Vec<Excess> },
    #[error("cancelled")]
    Cancelled,
    #[error("`{command}` failed with code {code}: {stderr}")]
    Failed { command: String, code: i32, stderr: String },
    #[error("the output of `{command}` has an unknown format: {detail}")]
    Unreadable { command: String, detail: String },
    #[error("cannot {action} {}", path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },
}

impl GitError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            GitError::NoGit { .. } => "install git and make sure that it is on the PATH".to_string(),
            GitError::TooOld { .. } => format!("install git {} or later", OLDEST_GIT),
            GitError::NotARepository { .. } => {
                "change to a repository, or make one here: `git init`, then commit".to_string()
            }
            GitError::NotOwned { path } => {
                let path = path.display().to_string();
                // A path cannot contain NUL, the only character that cannot be quoted.
                let path = shlex::try_quote(&path).unwrap_or(Cow::Borrowed(&path));
                format!("run as the owner, or run `git config --global --add safe.directory {path}`")
            }
            GitError::Bare { .. } => "clone the repository and use the clone".to_string(),
            GitError::InsideGitFolder { .. } => "run the command in the checkout, outside its git folder".to_string(),
            GitError::NoCommits { .. } => "make a first commit: `git add -A && git commit`".to_string(),
            GitError::UnknownRevision { .. } => "list commits with `git log --oneline --all`".to_string(),
            GitError::NotAnId { .. } => "the run's data is damaged: see `remand doctor`".to_string(),
            GitError::InvalidIdentity { .. } => {
                "restore the id, which is the name of the repository's folder in the state directory, or delete the file to \
                 start without the earlier runs"
                    .to_string()
            }
            GitError::InvalidRunId { .. } => "use letters, digits, `-` and `_`".to_string(),
            GitError::UnknownRun { .. } => "list the runs with `remand runs`".to_string(),
            GitError::RunTaken { run } => format!("resume it: `remand resume {run}`"),
            GitError::BranchTaken { branch } => format!("rename it: `git branch -m {branch} other-name`"),
            GitError::BranchInUse { path, .. } => {
                format!("switch to another branch in {} first", path.display())
            }
            GitError::TagTaken { tag } => format!("remove it: `git tag -d {tag}`"),
            GitError::NoIdentity { .. } => {
                "run `git config user.name \"...\"` and `git config user.email \"...\"`, then resume the run"
                    .to_string()
            }
            GitError::SigningFailed { .. } => SIGNING_HINT.to_string(),
            GitError::FilterFailed { .. } => {
                "install the filter named in .gitattributes, or correct its `filter.*` setting; filters run in the same \
                 sandbox as checks: without network access, and they can write only to `sandbox.hooks-write`"
                    .to_string()
            }
            GitError::ReferenceMoved { .. } => "resume the run".to_string(),
            GitError::TimedOut { program: UserProgram::Signer, .. } => SIGNING_HINT.to_string(),
            GitError::TimedOut { program: UserProgram::Hook, .. } => {
                "find the hook that hangs: `git config core.hooksPath`, `.git/hooks`".to_string()
            }
            GitError::TimedOut { program: UserProgram::FilterOrMergeDriver, .. } => {
                "find the filter or merge driver that hangs: `git config --get-regexp '^(filter|merge)'`".to_string()
            }
            GitError::NotStarted { .. } => "run `remand doctor`, then resume the run".to_string(),
            GitError::Excess { .. } => {
                "leave less, have git ignore it, or raise the limit in `[changes]` of the configuration".to_string()
            }
            GitError::Cancelled => "resume the run".to_string(),
            GitError::Failed { stderr, .. } if stderr.contains("No space left") => {
                "free disk space, then resume the run".to_string()
            }
            GitError::Failed { stderr, .. }
                if stderr.contains("index.lock") || stderr.contains("cannot lock ref") =>
            {
                "another git process may be running; resume the run once it has ended".to_string()
            }
            GitError::Failed { .. } | GitError::Unreadable { .. } => {
                "run `git fsck`, then resume the run".to_string()
            }
            GitError::File { path, .. } => {
                format!("check the disk space and the permissions of {}, then resume the run", path.display())
            }
        }
    }

    /// Returns whether the files of a work tree can be the reason why git failed.
    pub fn is_about_files(&self) -> bool {
        match self {
            GitError::Failed { stderr, .. } => {
                !["No space left", "index.lock", "cannot lock ref"].iter().any(|text| stderr.contains(text))
            }
            GitError::File { source, .. } => source.kind() != io::ErrorKind::StorageFull,
            _ => false,
        }
    }

    /// Returns whether git failed for a reason that has no other variant.
    pub(super) fn is_failed_call(&self) -> bool {
        matches!(self, GitError::Failed { .. })
    }

    /// Classifies a failed call by git's error output.
    pub(super) fn from_call(command: String, code: i32, stderr: &[u8], folder: &Path) -> GitError {
        let stderr = tail(stderr);
        let has = |text: &str| stderr.contains(text);
        if has("dubious ownership") {
            GitError::NotOwned { path: folder.to_path_buf() }
        } else if has("not a git repository") {
            GitError::NotARepository { from: folder.to_path_buf() }
        } else if has("tell me who you are") || has("empty ident name") || has("auto-detection is disabled") {
            GitError::NoIdentity { detail: last_line(&stderr) }
        } else if has("failed to sign the data") || has("gpg failed") || has("signing failed") {
            GitError::SigningFailed { detail: stderr }
        } else if has("clean filter") || has("smudge filter") || has("external filter") {
            GitError::FilterFailed { detail: stderr }
        } else {
            GitError::Failed { command, code, stderr }
        }
    }
}

fn list(excess: &[Excess]) -> String {
    excess.iter().map(Excess::to_string).collect::<Vec<_>>().join("; ")
}

/// Adds the action and the path to an I/O error.
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
