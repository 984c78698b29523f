//! Merges a task's work into the main line with a three-way merge, without a work tree.

use super::call::{GitContext, git};
use super::chain::{LinkKind, NewLink, one_line};
use super::invocation::{fields, path};
use super::programs::Writes;
use super::{CommitId, CommitState, GitError, Repository, RunTrees, TreeId};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// How a merge ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskMerge {
    Merged(CommitState),
    /// The main line is unchanged; these paths were changed both by the task and by others.
    Conflict {
        paths: Vec<PathBuf>,
    },
}

/// A merged tree, and the paths in it that conflict.
pub(super) struct MergedTree {
    pub(super) tree: String,
    pub(super) conflicts: BTreeSet<PathBuf>,
}

impl RunTrees {
    /// Merges the tree that a task made from the main-line commit `base`.
    pub fn merge(
        &self,
        task: &str,
        base: &CommitId,
        tree: &TreeId,
        command: &str,
    ) -> Result<TaskMerge, GitError> {
        let _main = self.main_guard();
        let state = match self.link_made_by(command)? {
            Some(link) => link.state,
            None => {
                let from = self.repository.tree_of(base)?;
                let now = self.main_state()?.tree;
                let merged = self.three_way(from.tree(), now.tree(), tree.tree())?;
                if !merged.conflicts.is_empty() {
                    return Ok(TaskMerge::Conflict { paths: merged.conflicts.into_iter().collect() });
                }
                let message = format!("Merge task {}", one_line(task));
                let trailers = vec![("Remand-Task", one_line(task))];
                self.append(
                    &merged.tree,
                    &NewLink { kind: LinkKind::Merge, message: &message, command, trailers },
                )?
            }
        };
        self.restore_main_tree(&self.main_state()?)?;
        Ok(TaskMerge::Merged(state))
    }

    /// Merges trees with the attributes of the main work tree.
    pub(super) fn three_way(&self, base: &str, ours: &str, theirs: &str) -> Result<MergedTree, GitError> {
        let main = self.main_tree();
        main.attach()?;
        let context = main.public_context().starting(&self.repository.programs, Writes::Tree);
        self.repository.three_way(&context, base, ours, theirs)
    }
}

impl Repository {
    /// Merges three trees with the merge drivers of the context. Makes commits of the trees, since git before 2.40 finds the
    /// base only in the history.
    pub(super) fn three_way(
        &self,
        context: &GitContext,
        base: &str,
        ours: &str,
        theirs: &str,
    ) -> Result<MergedTree, GitError> {
        let base = self.commit_tree(base, None, "Base\n")?;
        let ours = self.commit_tree(ours, Some(&base), "Ours\n")?;
        let theirs = self.commit_tree(theirs, Some(&base), "Theirs\n")?;
        let words = [
            "merge-tree",
            "--write-tree",
            "-z",
            "--name-only",
            "--no-messages",
            ours.as_str(),
            theirs.as_str(),
        ];
        let output = git(context, words).run_unchecked()?;
        let mut parts = fields(&output.stdout);
        match (output.code, parts.next()) {
            (0 | 1, Some(tree)) => {
                let tree = String::from_utf8_lossy(tree).trim().to_string();
                Ok(MergedTree { tree, conflicts: parts.map(path).collect() })
            }
            (code, _) => Err(GitError::from_call(words.join(" "), code, &output.stderr, self.common_dir())),
        }
    }
}
