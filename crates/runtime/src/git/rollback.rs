//! Takes back what a run committed, by a commit that undoes it on the run's branch.

use super::call::{Call, Manner, Place};
use super::commit::{OnBranch, on_branch};
use super::programs::{Programs, Writes};
use super::run::{base_reference, branch_of};
use super::{CommitId, GitError, Repository, RunTrees};
use std::path::PathBuf;

/// The commits of a run, from the first to the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    pub first: CommitId,
    pub last: CommitId,
}

/// What was done about the commits of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rollback {
    /// The branch now ends with a commit that undoes them.
    Reverted { commits: Committed, by: CommitId },
    /// That had been done before.
    AlreadyReverted { commits: Committed, by: CommitId },
    /// The user has the branch checked out, so the engine keeps off it.
    CheckedOut { commits: Committed, path: PathBuf },
    /// Later commits on the branch changed the same lines.
    Conflict { commits: Committed, paths: Vec<PathBuf> },
    /// The run has no commit on its branch.
    NothingCommitted,
}

impl Rollback {
    /// The command that undoes the commits on any other branch that has them.
    pub fn command(&self) -> Option<String> {
        match self {
            Rollback::Reverted { commits, .. }
            | Rollback::AlreadyReverted { commits, .. }
            | Rollback::CheckedOut { commits, .. }
            | Rollback::Conflict { commits, .. } => Some(commits.revert()),
            Rollback::NothingCommitted => None,
        }
    }
}

impl Committed {
    fn revert(&self) -> String {
        let Committed { first, last } = self;
        if first == last { format!("git revert {last}") } else { format!("git revert {first}^..{last}") }
    }
}

impl RunTrees {
    /// Undoes the run's commits on its branch.
    pub fn rollback(&self) -> Result<Rollback, GitError> {
        let _main = self.main_guard();
        rollback(&self.repository, &self.run)
    }
}

/// Tells whether a run has commits on its branch, undone or not.
pub fn has_committed(repository: &Repository, run: &str) -> Result<bool, GitError> {
    let branch = branch_of(run);
    if repository.reference(&format!("refs/heads/{branch}"))?.is_none() {
        return Ok(false);
    }
    let base = repository.reference(&base_reference(run))?;
    Ok(of_run(&on_branch(repository, &branch, base.as_ref())?, run).is_some())
}

/// The first and the last commit of a run; what was handed over is none of its.
fn of_run<'b>(on_branch: &'b [OnBranch], run: &str) -> Option<(&'b OnBranch, &'b OnBranch)> {
    let is_of_run =
        |commit: &&OnBranch| commit.run == run && commit.handed_over.is_empty() && commit.reverts.is_empty();
    let last = on_branch.iter().find(is_of_run)?;
    Some((on_branch.iter().rfind(is_of_run)?, last))
}

/// Undoes a run's commits on its branch, whether the run's work trees are still there or not.
pub fn rollback(repository: &Repository, run: &str) -> Result<Rollback, GitError> {
    let branch = branch_of(run);
    let reference = format!("refs/heads/{branch}");
    let Some(tip) = repository.reference(&reference)? else { return Ok(Rollback::NothingCommitted) };
    let base = repository.reference(&base_reference(run))?;
    let on_branch = on_branch(repository, &branch, base.as_ref())?;
    let Some((first, last)) = of_run(&on_branch, run) else { return Ok(Rollback::NothingCommitted) };
    let commits = Committed { first: first.commit.clone(), last: last.commit.clone() };
    if let Some(by) = on_branch.iter().find(|later| later.reverts == last.commit.as_str()) {
        return Ok(Rollback::AlreadyReverted { commits, by: by.commit.clone() });
    }
    if let Some(path) = repository.holder(&branch)? {
        return Ok(Rollback::CheckedOut { commits, path });
    }
    let before = match first.parent.split(' ').next().filter(|parent| !parent.is_empty()) {
        Some(parent) => repository.tree_of(&parent.parse()?)?.tree().to_string(),
        None => repository.empty_tree()?,
    };
    let now = repository.tree_of(&tip)?;
    // No file is checked out that a merge driver of the user's could be found among.
    let place = repository.objects().starting(&Programs::default(), Writes::Nothing);
    let back = repository.three_way(&place, last.tree.tree(), now.tree(), &before)?;
    if !back.conflicts.is_empty() {
        return Ok(Rollback::Conflict { commits, paths: back.conflicts.into_iter().collect() });
    }
    let what = if first.commit == last.commit {
        format!("commit {}", last.commit)
    } else {
        format!("the commits from {} to {}", first.commit, last.commit)
    };
    let text = format!(
        "Revert \"{}\"\n\nThis reverts {what}.\n\nRemand-Run: {run}\nRemand-Reverts: {}\n",
        last.subject, last.commit
    );
    let by = as_user(repository, &back.tree, &tip, &text)?;
    repository.move_reference(&reference, Some(&tip), &by)?;
    Ok(Rollback::Reverted { commits, by })
}

/// Commits in the name of the user, who asked for it; no hook runs and nothing is signed.
pub(super) fn as_user(
    repository: &Repository,
    tree: &str,
    parent: &CommitId,
    text: &str,
) -> Result<CommitId, GitError> {
    let place = Place::objects(repository.common_dir());
    let words = ["commit-tree", tree, "-p", parent.as_str(), "-F", "-"];
    Call::new(&place, Manner::AsUser, words).input(text.as_bytes().to_vec()).line()?.parse()
}
