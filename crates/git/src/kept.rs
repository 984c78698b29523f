//! Keeps trees that a run may need again, under the kernel's digest or a name, and protects them from garbage collection.

use super::call::{GitContext, git};
use super::chain::{LinkKind, one_line};
use super::{CommitId, GitError, Repository, RunTrees, TreeId};
use remand_kernel::change::Digest;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A tree with the main-line commit that it was based on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptTree {
    pub tree: TreeId,
    pub base: CommitId,
}

/// The result of merging three trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeMerge {
    Clean(TreeId),
    Conflict { paths: Vec<PathBuf> },
}

impl RunTrees {
    /// Keeps a tree under the kernel's digest, with the main-line commit that it was based on. A later call with the same
    /// digest replaces the base.
    pub fn keep(&self, digest: Digest, tree: &TreeId, base: &CommitId) -> Result<(), GitError> {
        let commit = self.repository.commit_tree(tree.tree(), Some(base), &format!("{tree}\n"))?;
        self.set_reference(&kept_reference(&self.run, digest), &commit)?;
        if let Some(raw) = tree.raw() {
            let commit = self.repository.commit_tree(raw, None, "Raw bytes\n")?;
            self.set_reference(&format!("{}-raw", kept_reference(&self.run, digest)), &commit)?;
        }
        Ok(())
    }

    /// The tree that this run kept under a digest.
    pub fn kept(&self, digest: Digest) -> Result<Option<KeptTree>, GitError> {
        self.kept_by(&self.run, digest)
    }

    /// The tree that a run of the repository kept under a digest, as long as the run's references exist.
    pub fn kept_by(&self, run: &str, digest: Digest) -> Result<Option<KeptTree>, GitError> {
        let Some(commit) = self.repository.reference(&kept_reference(run, digest))? else {
            return Ok(None);
        };
        let text = self.repository.format(&commit, "%P%n%s")?;
        let (base, tree) = text.split_once('\n').unwrap_or((text.as_str(), ""));
        Ok(Some(KeptTree { tree: tree.trim().parse()?, base: base.trim().parse()? }))
    }

    /// Keeps a tree under a name that the caller chooses.
    pub fn remember(&self, name: &str, tree: &TreeId) -> Result<(), GitError> {
        let commit = self.repository.commit_tree(tree.tree(), None, &format!("{tree}\n"))?;
        self.set_reference(&self.named_reference(name), &commit)
    }

    /// The tree that was kept under a name.
    pub fn remembered(&self, name: &str) -> Result<Option<TreeId>, GitError> {
        let commit = self.repository.reference(&self.named_reference(name))?;
        commit.map(|commit| self.repository.tree_of(&commit)).transpose()
    }

    /// Returns a tree in which some paths are as in another tree. A path that the other tree lacks is removed.
    pub fn with_paths(
        &self,
        tree: &TreeId,
        other: &TreeId,
        paths: &BTreeSet<PathBuf>,
    ) -> Result<TreeId, GitError> {
        let index = self.composed_index();
        TreeId::plain(&self.repository.with_paths_of(tree.tree(), other.tree(), paths, &index)?)
    }

    /// The path of a git index for composing a tree. Each call returns a new one, since lanes compose trees simultaneously.
    pub(super) fn composed_index(&self) -> PathBuf {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        self.main_tree().private(&format!("composed-{number}"))
    }

    /// The main-line commit that a task's work in a batch started from.
    pub fn lane_base(&self, task: &str, batch: u16) -> Result<Option<CommitId>, GitError> {
        self.repository.reference(&self.lane_reference(task, batch))
    }

    pub fn set_lane_base(&self, task: &str, batch: u16, base: &CommitId) -> Result<(), GitError> {
        self.set_reference(&self.lane_reference(task, batch), base)
    }

    /// Whether work of a task was merged into the main line after a commit, and has not been undone since.
    pub fn merged_since(&self, task: &str, base: &CommitId) -> Result<bool, GitError> {
        let links = self.links()?;
        let undone: Vec<&str> = links.iter().flat_map(|link| link.undid.iter().map(String::as_str)).collect();
        // The latest link comes first.
        let later = links.iter().take_while(|link| link.state.commit != *base);
        let merged = later.filter(|link| link.kind == LinkKind::Merge.name() && link.task == one_line(task));
        Ok(merged.into_iter().any(|link| !undone.contains(&link.state.commit.as_str())))
    }

    /// Merges three trees without changing the main line or any work tree.
    pub fn merge_trees(
        &self,
        base: &CommitId,
        ours: &TreeId,
        theirs: &TreeId,
    ) -> Result<TreeMerge, GitError> {
        let from = self.repository.tree_of(base)?;
        let merged = self.three_way(from.tree(), ours.tree(), theirs.tree())?;
        if merged.conflicts.is_empty() {
            Ok(TreeMerge::Clean(TreeId::plain(&merged.tree)?))
        } else {
            Ok(TreeMerge::Conflict { paths: merged.conflicts.into_iter().collect() })
        }
    }

    fn set_reference(&self, name: &str, to: &CommitId) -> Result<(), GitError> {
        let from = self.repository.reference(name)?;
        if from.as_ref() == Some(to) {
            return Ok(());
        }
        self.repository.move_reference(name, from.as_ref(), to)
    }

    fn named_reference(&self, name: &str) -> String {
        format!("refs/remand/{}/named/{name}", self.run)
    }

    /// The name contains a hash of the task id, since a task id can contain any character.
    fn lane_reference(&self, task: &str, batch: u16) -> String {
        let hash = blake3::hash(task.as_bytes()).to_hex();
        format!("refs/remand/{}/lanes/{batch}-{}", self.run, &hash[..16])
    }
}

fn kept_reference(run: &str, digest: Digest) -> String {
    format!("refs/remand/{run}/trees/{:016x}", digest.0)
}

impl Repository {
    /// Describes a commit in a format of `git log`.
    pub(super) fn format(&self, commit: &CommitId, format: &str) -> Result<String, GitError> {
        let context = GitContext::objects(self.common_dir());
        let words = ["log", "-1", "--no-show-signature", &format!("--format={format}"), commit.as_str()];
        Ok(String::from_utf8_lossy(&git(&context, words).run()?).into_owned())
    }
}
