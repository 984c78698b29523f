//! Reverts a run's commits on its branch.

use super::branch_log::{BranchCommit, branch_commits};
use super::names::{base_reference, branch_of};
use super::programs::{Programs, Writes};
use super::{CommitId, GitError, Repository, RunTrees};
use std::path::PathBuf;

/// The commits of a run, from the first to the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunCommits {
    pub first: CommitId,
    pub last: CommitId,
}

/// The result of a rollback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RollbackResult {
    /// The branch now ends with a commit that reverts the run's commits.
    Reverted { commits: RunCommits, by: CommitId },
    /// An earlier rollback reverted the commits.
    AlreadyReverted { commits: RunCommits, by: CommitId },
    /// The branch is checked out, so the engine does not change it.
    CheckedOut { commits: RunCommits, path: PathBuf },
    /// Later commits on the branch changed the same lines.
    Conflict { commits: RunCommits, paths: Vec<PathBuf> },
    /// The run has no commit on its branch.
    NothingCommitted,
}

impl RollbackResult {
    /// The command that reverts the commits on another branch that contains them.
    pub fn command(&self) -> Option<String> {
        match self {
            RollbackResult::Reverted { commits, .. }
            | RollbackResult::AlreadyReverted { commits, .. }
            | RollbackResult::CheckedOut { commits, .. }
            | RollbackResult::Conflict { commits, .. } => Some(commits.revert_command()),
            RollbackResult::NothingCommitted => None,
        }
    }
}

impl RunCommits {
    fn revert_command(&self) -> String {
        let RunCommits { first, last } = self;
        if first == last { format!("git revert {last}") } else { format!("git revert {first}^..{last}") }
    }
}

impl RunTrees {
    /// Reverts the run's commits on its branch.
    pub fn rollback(&self) -> Result<RollbackResult, GitError> {
        let _main = self.main_guard();
        rollback(&self.repository, &self.run)
    }
}

/// Returns whether a run has commits on its branch, reverted or not.
pub fn has_committed(repository: &Repository, run: &str) -> Result<bool, GitError> {
    let branch = branch_of(run);
    if repository.reference(&format!("refs/heads/{branch}"))?.is_none() {
        return Ok(false);
    }
    let base = repository.reference(&base_reference(run))?;
    Ok(first_and_last(&branch_commits(repository, &branch, base.as_ref())?, run).is_some())
}

/// The first and the last commit of a run, without hand-overs and reverts.
fn first_and_last<'b>(
    branch_commits: &'b [BranchCommit],
    run: &str,
) -> Option<(&'b BranchCommit, &'b BranchCommit)> {
    let is_of_run = |commit: &&BranchCommit| {
        commit.run == run && commit.handed_over.is_empty() && commit.reverts.is_empty()
    };
    let last = branch_commits.iter().find(is_of_run)?;
    Some((branch_commits.iter().rfind(is_of_run)?, last))
}

/// Reverts a run's commits on its branch, even if the run's work trees are gone.
pub fn rollback(repository: &Repository, run: &str) -> Result<RollbackResult, GitError> {
    let branch = branch_of(run);
    let reference = format!("refs/heads/{branch}");
    let Some(tip) = repository.reference(&reference)? else { return Ok(RollbackResult::NothingCommitted) };
    let base = repository.reference(&base_reference(run))?;
    let branch_commits = branch_commits(repository, &branch, base.as_ref())?;
    let Some((first, last)) = first_and_last(&branch_commits, run) else {
        return Ok(RollbackResult::NothingCommitted);
    };
    let commits = RunCommits { first: first.commit.clone(), last: last.commit.clone() };
    if let Some(by) = branch_commits.iter().find(|later| later.reverts == last.commit.as_str()) {
        return Ok(RollbackResult::AlreadyReverted { commits, by: by.commit.clone() });
    }
    if let Some(path) = repository.checkout_of(&branch)? {
        return Ok(RollbackResult::CheckedOut { commits, path });
    }
    let before = match first.parent.split(' ').next().filter(|parent| !parent.is_empty()) {
        Some(parent) => repository.tree_of(&parent.parse()?)?.tree().to_string(),
        None => repository.empty_tree()?,
    };
    let now = repository.tree_of(&tip)?;
    // With the default programs, git starts no merge driver: without a checkout, it could not find the driver anyway.
    let context = repository.objects().starting(&Programs::default(), Writes::Nothing);
    let reverted = repository.three_way(&context, last.tree.tree(), now.tree(), &before)?;
    if !reverted.conflicts.is_empty() {
        return Ok(RollbackResult::Conflict { commits, paths: reverted.conflicts.into_iter().collect() });
    }
    let range = if first.commit == last.commit {
        format!("commit {}", last.commit)
    } else {
        format!("the commits from {} to {}", first.commit, last.commit)
    };
    let text = format!(
        "Revert \"{}\"\n\nThis reverts {range}.\n\nRemand-Run: {run}\nRemand-Reverts: {}\n",
        last.subject, last.commit
    );
    let by = repository.commit_as_user(&reverted.tree, &tip, &text)?;
    repository.move_reference(&reference, Some(&tip), &by)?;
    Ok(RollbackResult::Reverted { commits, by })
}
