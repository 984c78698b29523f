//! The change that a command line names: where it starts, and the commits that it consists of.

use remand_engine::given_change::{ChangePart, GivenChange};
use remand_git::{CheckoutHead, CommitId, Repository, TreeId};
use remand_reports::{ChangeSource, TestRelease};
use remand_terminal::CommandFailure;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A change, as the command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeArg {
    /// The current branch.
    Current,
    /// A branch, a commit, or a range of commits.
    Revision(String),
    Staged,
    Uncommitted,
    /// A file with a patch; `-` is standard input.
    Patch(PathBuf),
    MergeOf(Vec<String>),
}

/// What the user says about the change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// The revision that the change is compared with, if not the usual one.
    pub base: Option<String>,
    pub purpose: String,
    pub releases: Vec<String>,
    /// The user who releases tests.
    pub by: String,
}

/// A change with the commit that it starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BasedChange {
    pub base: CommitId,
    pub change: GivenChange,
}

/// Finds the base and the commits of a change. Content that nobody committed becomes a commit of the engine; copies of the
/// index are made in `within`.
pub fn resolve(
    repository: &Repository,
    arg: &ChangeArg,
    declared: &Declared,
    here: &Path,
    within: &Path,
) -> Result<BasedChange, CommandFailure> {
    let head = repository.head()?;
    let given = |base: CommitId, source: ChangeSource, parts: Vec<ChangePart>| BasedChange {
        base,
        change: GivenChange {
            source,
            parts,
            checked_out: Some(head.commit.clone()),
            purpose: declared.purpose.clone(),
            releases: declared
                .releases
                .iter()
                .map(|test| TestRelease {
                    test: test.clone(),
                    by: declared.by.clone(),
                    why: "released on the command line".to_string(),
                })
                .collect(),
        },
    };
    let part = |name: &str, commit: CommitId| ChangePart { name: name.to_string(), commit };
    let base = declared.base.as_deref().map(|base| repository.commit(base)).transpose()?;
    let from_head =
        |tree: &TreeId, source: ChangeSource, base: &CommitId| -> Result<BasedChange, CommandFailure> {
            let name = source.describe();
            let commit = repository.commit_of(tree, &head.commit, &name)?;
            let from = start(repository, (base.as_str(), base), (&name, &commit))?;
            Ok(given(from, source, vec![part(&name, commit)]))
        };
    let on_head =
        |tree: &TreeId, source: ChangeSource| from_head(tree, source, base.as_ref().unwrap_or(&head.commit));
    match arg {
        ChangeArg::Staged => {
            let index = std::env::var_os("GIT_INDEX_FILE").map(PathBuf::from);
            on_head(&repository.staged(index.as_deref(), within)?, ChangeSource::Staged)
        }
        ChangeArg::Uncommitted => {
            let base = match &base {
                Some(base) => base.clone(),
                None => usual_start(repository, &head)?.unwrap_or_else(|| head.commit.clone()),
            };
            from_head(&repository.uncommitted(within)?, ChangeSource::Uncommitted, &base)
        }
        ChangeArg::Patch(file) => {
            let source = ChangeSource::Patch { file: file.display().to_string() };
            let before = repository.tree_of(&head.commit)?;
            let patch = read(file, here)?;
            // Git refuses an empty patch, which `git diff` prints if nothing differs.
            if patch.trim_ascii().is_empty() {
                return on_head(&before, source);
            }
            match repository.with_patch(&before, &patch, within)? {
                Ok(tree) => on_head(&tree, source),
                Err(why) => {
                    let what = format!("{} does not apply to the current commit", source.describe());
                    Err(CommandFailure::user(
                        what,
                        "make it from this commit, or switch to the commit that it is made from",
                    )
                    .caused_by(why))
                }
            }
        }
        ChangeArg::MergeOf(branches) => {
            let commits = branches.iter().map(|name| Ok(part(name, repository.commit(name)?)));
            let parts = commits.collect::<Result<Vec<ChangePart>, CommandFailure>>()?;
            let base = match base {
                Some(base) => base,
                None => default_tip(repository)?.1,
            };
            Ok(given(base, ChangeSource::Merge { branches: branches.clone() }, parts))
        }
        ChangeArg::Revision(text) => {
            if let Some((from, to)) = text.split_once("...").or_else(|| text.split_once("..")) {
                let or_head =
                    |name: &str| if name.is_empty() { "HEAD".to_string() } else { name.to_string() };
                let (from, to) = (or_head(from), or_head(to));
                let (older, newer) = (repository.commit(&from)?, repository.commit(&to)?);
                let source = ChangeSource::Range { text: text.clone() };
                let base = start(repository, (&from, &older), (&to, &newer))?;
                return Ok(given(base, source, vec![part(text, newer)]));
            }
            let commit = repository.commit(text)?;
            let from = match base {
                Some(base) => base,
                None => default_start(repository, text, &commit)?,
            };
            let source = ChangeSource::Branch { name: text.clone() };
            let from = start(repository, (from.as_str(), &from), (text, &commit))?;
            Ok(given(from, source, vec![part(text, commit)]))
        }
        ChangeArg::Current => {
            let name = head.branch.clone().unwrap_or_else(|| head.commit.as_str()[..12].to_string());
            let from = match base {
                Some(base) => base,
                None => usual_start(repository, &head)?.ok_or_else(|| {
                    let what =
                        format!("`{name}` is the default branch and follows no other, so it has no base");
                    CommandFailure::user(
                        what,
                        "name a range: `remand vet HEAD~1..HEAD`, or `remand vet --staged`",
                    )
                })?,
            };
            let source = ChangeSource::Branch { name: name.clone() };
            let from = start(repository, (from.as_str(), &from), (&name, &head.commit))?;
            Ok(given(from, source, vec![part(&name, head.commit.clone())]))
        }
    }
}

/// The tip of the local default branch, or else of the remote one.
pub fn default_tip(repository: &Repository) -> Result<(String, CommitId), CommandFailure> {
    repository.default_tips()?.into_iter().next().ok_or_else(no_default)
}

/// Where the work on the current branch started: the upstream of the default branch, or where another branch left the
/// default branch. `None` for a default branch without upstream.
fn usual_start(repository: &Repository, head: &CheckoutHead) -> Result<Option<CommitId>, CommandFailure> {
    match &head.branch {
        Some(branch) if repository.default_branch()?.as_ref() == Some(branch) => {
            Ok(repository.upstream(branch)?)
        }
        Some(branch) => default_start(repository, branch, &head.commit).map(Some),
        None => default_start(repository, "HEAD", &head.commit).map(Some),
    }
}

/// The latest commit that a commit shares with the default branch, local or remote.
fn default_start(repository: &Repository, name: &str, commit: &CommitId) -> Result<CommitId, CommandFailure> {
    let mut latest: Option<CommitId> = None;
    let tips = repository.default_tips()?;
    for (_, tip) in &tips {
        let Some(shared) = repository.merge_base(tip, commit)? else { continue };
        let is_later = match &latest {
            Some(known) => repository.contains(&shared, known)?,
            None => true,
        };
        if is_later {
            latest = Some(shared);
        }
    }
    latest.ok_or_else(|| match tips.first() {
        Some((default, _)) => unrelated(default, name),
        None => no_default(),
    })
}

fn no_default() -> CommandFailure {
    CommandFailure::user(
        "the default branch is unknown, so the change has no base",
        "name the base: `remand vet BASE..HEAD`, or `--base BASE`",
    )
}

/// Where a change starts: the last commit that both sides share. Both have a name for messages.
fn start(
    repository: &Repository,
    (from_name, from): (&str, &CommitId),
    (to_name, to): (&str, &CommitId),
) -> Result<CommitId, CommandFailure> {
    repository.merge_base(from, to)?.ok_or_else(|| unrelated(from_name, to_name))
}

fn unrelated(one: &str, other: &str) -> CommandFailure {
    CommandFailure::user(
        format!("`{one}` and `{other}` have no commit in common, so the change has no base"),
        "name two commits of one history; in a shallow clone, fetch the rest: `git fetch --unshallow`",
    )
}

fn read(file: &Path, here: &Path) -> Result<Vec<u8>, CommandFailure> {
    let read = || {
        if file == Path::new("-") {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes)?;
            return Ok(bytes);
        }
        std::fs::read(here.join(file))
    };
    read().map_err(|error: std::io::Error| {
        CommandFailure::user(format!("{} cannot be read", file.display()), "name a file with a patch")
            .caused_by(error.to_string())
    })
}
