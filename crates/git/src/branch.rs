//! The run's branch: its tip, and the engine's commits of documents and scaffolds.

use super::branch_log::{BranchCommit, branch_commits};
use super::call::git;
use super::remove::remove;
use super::{CommitId, CommitMessage, CommitState, GitError, RunTrees, TreeId};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// File contents by path in the repository; `None` means that the file does not exist.
pub type FileContents = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// Where the next commit on the run's branch goes.
pub(super) struct CommitPoint {
    /// The current tip of the branch, if it exists.
    pub(super) before: Option<CommitId>,
    /// The parent of the next commit. It is never a hand-over, since the next commit replaces a hand-over.
    pub(super) parent: CommitId,
}

impl RunTrees {
    /// The last commit of the run's branch that is not a hand-over; without a branch, the run's base.
    pub fn tip(&self) -> Result<CommitState, GitError> {
        let commit = self.next_commit_point()?.parent;
        Ok(CommitState { tree: self.repository.tree_of(&commit)?, commit })
    }

    /// Commits a tree on top of the run's branch, without hooks. This is for the engine's documents and scaffolds; the run's
    /// work is committed with hooks.
    pub fn commit_on_branch(
        &self,
        tree: &TreeId,
        message: &CommitMessage,
        command: &str,
    ) -> Result<CommitId, GitError> {
        self.commit_at(tree, message, command, |point| point)
    }

    /// Replaces the run's branch with a single commit on the base.
    pub fn replace_branch(
        &self,
        tree: &TreeId,
        message: &CommitMessage,
        command: &str,
    ) -> Result<CommitId, GitError> {
        self.commit_at(tree, message, command, |point| CommitPoint { parent: self.base().clone(), ..point })
    }

    /// Commits a tree at the chosen point, once per command.
    fn commit_at(
        &self,
        tree: &TreeId,
        message: &CommitMessage,
        command: &str,
        choose: impl FnOnce(CommitPoint) -> CommitPoint,
    ) -> Result<CommitId, GitError> {
        let _main = self.main_guard();
        if let Some(made) = self.commit_of_command(command)? {
            return Ok(made);
        }
        let CommitPoint { before, parent } = choose(self.next_commit_point()?);
        let text = self.commit_text(message, command);
        let commit = self.repository.commit_as_user(tree.tree(), &parent, &text)?;
        let commit = self.sign_if_configured(commit, &parent)?;
        self.record_commit(command, &commit)?;
        self.repository.move_reference(&self.branch_reference(), before.as_ref(), &commit)?;
        Ok(commit)
    }

    /// Returns the tree with these files replaced, added or removed.
    pub fn with_files(&self, tree: &TreeId, files: &FileContents) -> Result<TreeId, GitError> {
        if files.is_empty() {
            return Ok(tree.clone());
        }
        let index = self.composed_index();
        let objects = self.repository.objects();
        let context = objects.clone().with_index(&index);
        remove(&index)?;
        git(&context, ["read-tree", tree.tree()]).run()?;
        let mut rows: Vec<u8> = Vec::new();
        for (path, bytes) in files {
            let row = match bytes {
                Some(bytes) => {
                    let blob = git(&objects, ["hash-object", "-w", "--stdin"]).input(bytes.clone()).line()?;
                    format!("100644 {blob}\t")
                }
                None => format!("0 {}\t", "0".repeat(tree.tree().len())),
            };
            rows.extend_from_slice(row.as_bytes());
            rows.extend_from_slice(path.as_os_str().as_bytes());
            rows.push(0);
        }
        git(&context, ["update-index", "-z", "--index-info"]).input(rows).run()?;
        let tree = git(&context, ["write-tree"]).line()?;
        remove(&index)?;
        TreeId::plain(&tree)
    }

    /// Returns the tree with a patch applied, or git's message about why it does not apply.
    pub fn patched(&self, tree: &TreeId, patch: &str) -> Result<Result<TreeId, String>, GitError> {
        let index = self.composed_index();
        let context = self.repository.objects().with_index(&index);
        remove(&index)?;
        git(&context, ["read-tree", tree.tree()]).run()?;
        let patch = format!("{}\n", patch.trim_end());
        let applied = git(&context, ["apply", "--cached", "--recount", "-"])
            .input(patch.into_bytes())
            .run_unchecked()?;
        if applied.code != 0 {
            remove(&index)?;
            return Ok(Err(String::from_utf8_lossy(&applied.stderr).trim().to_string()));
        }
        let tree = git(&context, ["write-tree"]).line()?;
        remove(&index)?;
        Ok(Ok(TreeId::plain(&tree)?))
    }

    /// Determines where the next commit goes. Fails if the branch has commits of others, or is checked out.
    pub(super) fn next_commit_point(&self) -> Result<CommitPoint, GitError> {
        let branch = self.branch();
        let before = self.repository.reference(&self.branch_reference())?;
        if before.is_none() {
            return Ok(CommitPoint { before, parent: self.base().clone() });
        }
        let commits = branch_commits(&self.repository, &branch, Some(self.base()))?;
        let recorded_commits = self.recorded_commits()?;
        let is_of_run =
            |commit: &BranchCommit| commit.run == self.run || recorded_commits.contains(&commit.commit);
        if !commits.iter().all(is_of_run) {
            return Err(GitError::BranchTaken { branch });
        }
        if let Some(path) = self.repository.checkout_of(&branch)? {
            return Err(GitError::BranchInUse { branch, path });
        }
        let last = commits.into_iter().find(|commit| commit.handed_over.is_empty());
        Ok(CommitPoint { before, parent: last.map_or_else(|| self.base().clone(), |commit| commit.commit) })
    }

    /// The commits that were recorded for this run's commands, even if hooks removed their trailers.
    fn recorded_commits(&self) -> Result<BTreeSet<CommitId>, GitError> {
        let prefix = format!("refs/remand/{}/final", self.run);
        let words = ["for-each-ref", "--format=%(objectname)", &prefix];
        let output = git(&self.repository.objects(), words).run()?;
        String::from_utf8_lossy(&output).lines().map(str::parse).collect()
    }
}
