//! The run's branch: what stands on it, and the commits that the engine adds by itself, of documents and scaffolds.

use super::call::git;
use super::commit::{OnBranch, on_branch};
use super::remove::remove;
use super::rollback::as_user;
use super::{CommitId, CommitMessage, GitError, RunTrees, State, TreeId};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Files by their path in the repository; `None` is a file that is not there.
pub type Files = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// What a new commit of the run stands on.
pub(super) struct Ground {
    /// Where the branch is, if it exists.
    pub(super) before: Option<CommitId>,
    /// A hand-over is replaced; everything else that the run has put there stays.
    pub(super) parent: CommitId,
}

impl RunTrees {
    /// The end of the run's branch; before there is one, the run's base.
    pub fn tip(&self) -> Result<State, GitError> {
        let commit = self.ground()?.parent;
        Ok(State { tree: self.repository.tree_of(&commit)?, commit })
    }

    /// Commits a tree on the run's branch, on top of what the run has put there. No hook runs: these are words and
    /// scaffolds of the engine's own, and the run's work is committed with hooks.
    pub fn put_on_branch(
        &self,
        tree: &TreeId,
        message: &CommitMessage,
        command: &str,
    ) -> Result<CommitId, GitError> {
        self.put(tree, message, command, |ground| ground)
    }

    /// Lets the run's branch hold one commit alone, on the base, whatever the run has put there before.
    pub fn be_all_of_branch(
        &self,
        tree: &TreeId,
        message: &CommitMessage,
        command: &str,
    ) -> Result<CommitId, GitError> {
        self.put(tree, message, command, |ground| Ground { parent: self.base().clone(), ..ground })
    }

    /// Commits a tree on the ground that is chosen, once for each command.
    fn put(
        &self,
        tree: &TreeId,
        message: &CommitMessage,
        command: &str,
        chosen: impl FnOnce(Ground) -> Ground,
    ) -> Result<CommitId, GitError> {
        let _main = self.main_guard();
        if let Some(made) = self.made_by(command)? {
            return Ok(made);
        }
        let Ground { before, parent } = chosen(self.ground()?);
        let text = self.text(message, command);
        let commit = as_user(&self.repository, tree.tree(), &parent, &text)?;
        let commit = self.signed(commit, &parent)?;
        self.note(command, &commit)?;
        self.repository.move_reference(&self.branch_reference(), before.as_ref(), &commit)?;
        Ok(commit)
    }

    /// A tree in which these files are as given.
    pub fn with_files(&self, tree: &TreeId, files: &Files) -> Result<TreeId, GitError> {
        if files.is_empty() {
            return Ok(tree.clone());
        }
        let index = self.main_tree().private("composed");
        let objects = self.repository.objects();
        let place = objects.clone().with_index(&index);
        remove(&index)?;
        git(&place, ["read-tree", tree.tree()]).run()?;
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
        git(&place, ["update-index", "-z", "--index-info"]).input(rows).run()?;
        let tree = git(&place, ["write-tree"]).line()?;
        remove(&index)?;
        TreeId::plain(&tree)
    }

    /// A tree with a patch applied, or git's words about why it does not apply.
    pub fn patched(&self, tree: &TreeId, patch: &str) -> Result<Result<TreeId, String>, GitError> {
        let index = self.main_tree().private("composed");
        let place = self.repository.objects().with_index(&index);
        remove(&index)?;
        git(&place, ["read-tree", tree.tree()]).run()?;
        let patch = format!("{}\n", patch.trim_end());
        let applied =
            git(&place, ["apply", "--cached", "--recount", "-"]).input(patch.into_bytes()).answer()?;
        if applied.code != 0 {
            remove(&index)?;
            return Ok(Err(String::from_utf8_lossy(&applied.stderr).trim().to_string()));
        }
        let tree = git(&place, ["write-tree"]).line()?;
        remove(&index)?;
        Ok(Ok(TreeId::plain(&tree)?))
    }

    /// Where the next commit goes; a branch with anybody else's commits on it, or in use, is left alone.
    pub(super) fn ground(&self) -> Result<Ground, GitError> {
        let branch = self.branch();
        let before = self.repository.reference(&self.branch_reference())?;
        if before.is_none() {
            return Ok(Ground { before, parent: self.base().clone() });
        }
        let commits = on_branch(&self.repository, &branch, Some(self.base()))?;
        let noted = self.noted()?;
        let is_own = |commit: &OnBranch| commit.run == self.run || noted.contains(&commit.commit);
        if !commits.iter().all(is_own) {
            return Err(GitError::BranchTaken { branch });
        }
        if let Some(path) = self.repository.holder(&branch)? {
            return Err(GitError::BranchInUse { branch, path });
        }
        let standing = commits.into_iter().find(|commit| commit.handed_over.is_empty());
        Ok(Ground { before, parent: standing.map_or_else(|| self.base().clone(), |commit| commit.commit) })
    }

    /// The commits that commands of this run are known to have made, whatever hooks did to their trailers.
    fn noted(&self) -> Result<BTreeSet<CommitId>, GitError> {
        let under = format!("refs/remand/{}/final", self.run);
        let words = ["for-each-ref", "--format=%(objectname)", &under];
        let output = git(&self.repository.objects(), words).run()?;
        String::from_utf8_lossy(&output).lines().map(str::parse).collect()
    }
}
