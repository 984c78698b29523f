//! Leaves unfinished work on the run's branch, where the user can take or discard it.

use super::branch::CommitPoint;
use super::branch_log::branch_commits;
use super::chain::one_line;
use super::{CommitId, GitError, RunTrees};
use std::path::PathBuf;

/// Where the work is, and the commands to take or discard it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandOver {
    /// The commit with the work. It has the trailer `Remand-Handed-Over`, and no hooks ran for it.
    pub commit: CommitId,
    pub branch: String,
    /// The run's main work tree, which contains the same files.
    pub work_tree: PathBuf,
    /// The command that takes the work.
    pub take: String,
    /// The command that discards the work.
    pub discard: String,
}

impl RunTrees {
    /// Puts the main line on the run's branch as work in progress.
    pub fn hand_over(&self, command: &str) -> Result<HandOver, GitError> {
        let _main = self.main_guard();
        let state = self.main_state()?;
        let reference = self.branch_reference();
        let (run, command) = (&self.run, one_line(command));
        let made = match self.repository.reference(&reference)? {
            Some(_) => branch_commits(&self.repository, &self.branch(), Some(self.base()))?,
            None => Vec::new(),
        };
        let made = made
            .into_iter()
            .find(|commit| commit.run == *run && commit.command == command && commit.tree == state.tree);
        let commit = match made {
            Some(made) => made.commit,
            None => {
                let CommitPoint { before, parent } = self.next_commit_point()?;
                let text = format!(
                    "Work in progress of run {run}\n\nThe run did not finish this work; `remand evidence {run}` says why.\n\n\
                     Remand-Run: {run}\nRemand-Command: {command}\nRemand-Handed-Over: yes\n"
                );
                let commit = self.repository.commit_tree(state.tree.tree(), Some(&parent), &text)?;
                self.repository.move_reference(&reference, before.as_ref(), &commit)?;
                commit
            }
        };
        self.restore_main_tree(&state)?;
        let branch = self.branch();
        Ok(HandOver {
            commit,
            take: format!("git merge --squash {branch}"),
            discard: format!("git branch -D {branch}"),
            branch,
            work_tree: self.main_tree().path().to_path_buf(),
        })
    }
}
