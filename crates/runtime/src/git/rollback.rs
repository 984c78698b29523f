//! Takes back the final commit of a run, by a commit that undoes it on the run's branch.

use super::call::{Call, Manner, Place};
use super::commit::{OnBranch, on_branch};
use super::run::{base_reference, branch_of};
use super::{CommitId, GitError, Repository, RunTrees};
use std::path::PathBuf;

/// What was done about a run's commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rollback {
    /// The branch now ends with a commit that undoes it.
    Reverted { commit: CommitId, by: CommitId },
    /// That had been done before.
    AlreadyReverted { commit: CommitId, by: CommitId },
    /// The user has the branch checked out, so the engine keeps off it.
    CheckedOut { commit: CommitId, path: PathBuf },
    /// Later commits on the branch changed the same lines.
    Conflict { commit: CommitId, paths: Vec<PathBuf> },
    /// The run has no commit on its branch.
    NothingCommitted,
}

impl Rollback {
    /// The command that undoes the commit on any other branch that has it.
    pub fn command(&self) -> Option<String> {
        match self {
            Rollback::Reverted { commit, .. }
            | Rollback::AlreadyReverted { commit, .. }
            | Rollback::CheckedOut { commit, .. }
            | Rollback::Conflict { commit, .. } => Some(format!("git revert {commit}")),
            Rollback::NothingCommitted => None,
        }
    }
}

impl RunTrees {
    /// Undoes the run's commit on its branch.
    pub fn rollback(&self) -> Result<Rollback, GitError> {
        let _main = self.main_guard();
        rollback(&self.repository, &self.run)
    }
}

/// Undoes a run's commit on its branch, whether the run's work trees are still there or not.
pub fn rollback(repository: &Repository, run: &str) -> Result<Rollback, GitError> {
    let branch = branch_of(run);
    let reference = format!("refs/heads/{branch}");
    let Some(tip) = repository.reference(&reference)? else { return Ok(Rollback::NothingCommitted) };
    let base = repository.reference(&base_reference(run))?;
    let commits = on_branch(repository, &branch, base.as_ref())?;
    let of_run = |commit: &&OnBranch| commit.run == run && commit.unverified.is_empty();
    let Some(made) = commits.iter().rfind(|commit| of_run(commit) && commit.reverts.is_empty()) else {
        return Ok(Rollback::NothingCommitted);
    };
    let commit = made.commit.clone();
    if let Some(by) = commits.iter().find(|later| later.reverts == commit.as_str()) {
        return Ok(Rollback::AlreadyReverted { commit, by: by.commit.clone() });
    }
    if let Some(path) = repository.holder(&branch)? {
        return Ok(Rollback::CheckedOut { commit, path });
    }
    let before = match made.parent.split(' ').next().filter(|parent| !parent.is_empty()) {
        Some(parent) => repository.tree_of(&parent.parse()?)?.tree().to_string(),
        None => repository.empty_tree()?,
    };
    let now = repository.tree_of(&tip)?;
    let back = repository.three_way(&repository.objects(), made.tree.tree(), now.tree(), &before)?;
    if !back.conflicts.is_empty() {
        return Ok(Rollback::Conflict { commit, paths: back.conflicts.into_iter().collect() });
    }
    let text = format!(
        "Revert \"{}\"\n\nThis reverts commit {commit}.\n\nRemand-Run: {run}\nRemand-Reverts: {commit}\n",
        made.subject
    );
    let by = as_user(repository, &back.tree, &tip, &text)?;
    repository.move_reference(&reference, Some(&tip), &by)?;
    Ok(Rollback::Reverted { commit, by })
}

/// Commits in the name of the user, who asked for it; no hook runs and nothing is signed.
fn as_user(repository: &Repository, tree: &str, parent: &CommitId, text: &str) -> Result<CommitId, GitError> {
    let place = Place::objects(repository.common_dir());
    let words = ["commit-tree", tree, "-p", parent.as_str(), "-F", "-"];
    Call::new(&place, Manner::AsUser, words).input(text.as_bytes().to_vec()).line()?.parse()
}
