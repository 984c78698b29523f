//! Trees that a run may need again, by the digest under which the kernel knows them, safe from garbage collection.

use super::call::{Place, git};
use super::chain::{Kind, one_line};
use super::{CommitId, GitError, Repository, RunTrees, TreeId};
use remand_kernel::change::Digest;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A tree with the state of the main line that it was made on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub tree: TreeId,
    pub base: CommitId,
}

/// What three trees make together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merging {
    Clean(TreeId),
    Conflict { paths: Vec<PathBuf> },
}

impl RunTrees {
    /// Keeps a tree that was made on a state of the main line, under the digest by which the kernel knows it. The latest
    /// such state counts.
    pub fn keep(&self, digest: Digest, tree: &TreeId, base: &CommitId) -> Result<(), GitError> {
        let commit = self.repository.commit_tree(tree.tree(), Some(base), &format!("{tree}\n"))?;
        self.point(&kept_reference(&self.run, digest), &commit)?;
        if let Some(raw) = tree.raw() {
            let commit = self.repository.commit_tree(raw, None, "Raw bytes\n")?;
            self.point(&format!("{}-raw", kept_reference(&self.run, digest)), &commit)?;
        }
        Ok(())
    }

    /// The tree that was kept under this digest.
    pub fn kept(&self, digest: Digest) -> Result<Option<Kept>, GitError> {
        self.kept_by(&self.run, digest)
    }

    /// The tree that any run of the repository kept under this digest, while it keeps it.
    pub fn kept_by(&self, run: &str, digest: Digest) -> Result<Option<Kept>, GitError> {
        let Some(commit) = self.repository.reference(&kept_reference(run, digest))? else {
            return Ok(None);
        };
        let said = self.repository.format(&commit, "%P%n%s")?;
        let (base, tree) = said.split_once('\n').unwrap_or((said.as_str(), ""));
        Ok(Some(Kept { tree: tree.trim().parse()?, base: base.trim().parse()? }))
    }

    /// Keeps a tree under a name of the caller's.
    pub fn remember(&self, name: &str, tree: &TreeId) -> Result<(), GitError> {
        let commit = self.repository.commit_tree(tree.tree(), None, &format!("{tree}\n"))?;
        self.point(&self.named_reference(name), &commit)
    }

    /// The tree of this name.
    pub fn remembered(&self, name: &str) -> Result<Option<TreeId>, GitError> {
        let commit = self.repository.reference(&self.named_reference(name))?;
        commit.map(|commit| self.repository.tree_of(&commit)).transpose()
    }

    /// A tree in which some paths are as in another, or absent as there.
    pub fn with_paths(
        &self,
        tree: &TreeId,
        other: &TreeId,
        paths: &BTreeSet<PathBuf>,
    ) -> Result<TreeId, GitError> {
        let index = self.main_tree().private("composed");
        TreeId::plain(&self.repository.with_paths_of(tree.tree(), other.tree(), paths, &index)?)
    }

    /// The state of the main line that a task's work in a batch began on.
    pub fn lane_base(&self, task: &str, batch: u16) -> Result<Option<CommitId>, GitError> {
        self.repository.reference(&self.lane_reference(task, batch))
    }

    pub fn set_lane_base(&self, task: &str, batch: u16, base: &CommitId) -> Result<(), GitError> {
        self.point(&self.lane_reference(task, batch), base)
    }

    /// Tells whether the main line has work of a task that was merged after this state of it and not taken back.
    pub fn merged_since(&self, task: &str, base: &CommitId) -> Result<bool, GitError> {
        let links = self.links()?;
        let undone: Vec<&str> = links.iter().flat_map(|link| link.undid.iter().map(String::as_str)).collect();
        // The latest comes first.
        let later = links.iter().take_while(|link| link.state.commit != *base);
        let merged = later.filter(|link| link.kind == Kind::Merge.name() && link.task == one_line(task));
        Ok(merged.into_iter().any(|link| !undone.contains(&link.command.as_str())))
    }

    /// Merges three trees, and touches nothing.
    pub fn merge_trees(&self, base: &CommitId, ours: &TreeId, theirs: &TreeId) -> Result<Merging, GitError> {
        let from = self.repository.tree_of(base)?;
        let merged = self.three_way(from.tree(), ours.tree(), theirs.tree())?;
        if merged.conflicts.is_empty() {
            Ok(Merging::Clean(TreeId::plain(&merged.tree)?))
        } else {
            Ok(Merging::Conflict { paths: merged.conflicts.into_iter().collect() })
        }
    }

    fn point(&self, name: &str, to: &CommitId) -> Result<(), GitError> {
        let now = self.repository.reference(name)?;
        if now.as_ref() == Some(to) { Ok(()) } else { self.repository.move_reference(name, now.as_ref(), to) }
    }

    fn named_reference(&self, name: &str) -> String {
        format!("refs/remand/{}/named/{name}", self.run)
    }

    /// Task ids can be anything, so the name is made from their hash.
    fn lane_reference(&self, task: &str, batch: u16) -> String {
        let hash = blake3::hash(task.as_bytes()).to_hex();
        format!("refs/remand/{}/lanes/{batch}-{}", self.run, &hash[..16])
    }
}

fn kept_reference(run: &str, digest: Digest) -> String {
    format!("refs/remand/{run}/trees/{:016x}", digest.0)
}

impl Repository {
    /// What a commit says of itself, by a format of `git log`.
    pub(super) fn format(&self, commit: &CommitId, format: &str) -> Result<String, GitError> {
        let place = Place::objects(self.common_dir());
        let words = ["log", "-1", "--no-show-signature", &format!("--format={format}"), commit.as_str()];
        Ok(String::from_utf8_lossy(&git(&place, words).run()?).into_owned())
    }
}
