//! What a run owns in a repository: references below `refs/remand/<run>/`, a tag, a branch, a main work tree, and a pool of
//! other work trees.
//!
//! `refs/remand/<run>/base` is the commit that the run starts from, `refs/remand/<run>/main` is the end of its main line.
//! The first commit of the run's work or documents, or the hand-over, creates the branch `remand/<run>`.

use super::names::{branch_of, main_reference, tag_of};
use super::stale::{self, BranchFate};
use super::worktree::WorkTreeCache;
use super::{CommitId, GitError, Repository, TreeId, WorkTree};
use remand_process::Cancel;
use remand_process::confine::ContactLog;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The work trees of one run; clones share them. Only one host drives a run, so no other process uses them.
#[derive(Clone, Debug)]
pub struct RunTrees {
    pub(super) repository: Repository,
    pub(super) run: String,
    pub(super) folder: PathBuf,
    base: CommitId,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    caches: Mutex<BTreeMap<String, Arc<Mutex<WorkTreeCache>>>>,
    main: Mutex<()>,
    pool: Mutex<()>,
}

/// A commit of the main line or the branch, with its tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitState {
    pub commit: CommitId,
    pub tree: TreeId,
}

impl RunTrees {
    pub(super) fn new(repository: &Repository, run: &str, folder: PathBuf, base: CommitId) -> RunTrees {
        RunTrees {
            repository: repository.clone(),
            run: run.to_string(),
            folder,
            base,
            shared: Arc::default(),
        }
    }

    /// The same trees for one command: the programs that git starts for it get this marker and end on cancel.
    #[must_use]
    pub fn for_command(&self, marker: String, cancel: &Cancel) -> RunTrees {
        RunTrees { repository: self.repository.for_command(marker, cancel), ..self.clone() }
    }

    /// Removes and returns the warnings about programs that git started.
    pub fn take_warnings(&self) -> Vec<String> {
        self.repository.programs.limits().map(|limits| limits.warnings.take()).unwrap_or_default()
    }

    /// Collects the hosts that programs of this command ask for.
    pub fn contacts(&self) -> ContactLog {
        self.repository.programs.limits().map(|limits| limits.contacts.clone()).unwrap_or_default()
    }

    /// The id of the run.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// The name of the run's branch, which may not exist yet.
    pub fn branch(&self) -> String {
        branch_of(&self.run)
    }

    /// The commit that the run starts from.
    pub fn base(&self) -> &CommitId {
        &self.base
    }

    /// The tree that the run starts from.
    pub fn base_tree(&self) -> Result<TreeId, GitError> {
        self.repository.tree_of(&self.base)
    }

    /// Tags the commit that the run starts from.
    pub fn tag_baseline(&self) -> Result<String, GitError> {
        let tag = tag_of(&self.run);
        let reference = format!("refs/tags/{tag}");
        match self.repository.reference(&reference)? {
            Some(known) if known == self.base => Ok(tag),
            Some(_) => Err(GitError::TagTaken { tag }),
            None => self.repository.move_reference(&reference, None, &self.base).map(|()| tag),
        }
    }

    /// The main work tree.
    pub fn main_tree(&self) -> WorkTree {
        self.work_tree("main")
    }

    /// The current state of the main line.
    pub fn main_state(&self) -> Result<CommitState, GitError> {
        let unknown = || GitError::UnknownRun { run: self.run.clone() };
        let commit = self.repository.reference(&main_reference(&self.run))?.ok_or_else(unknown)?;
        let tree = self.repository.tree_of(&commit)?;
        Ok(CommitState { commit, tree })
    }

    /// Removes the work trees, references and tag of the run, and possibly its branch.
    pub fn discard(&self, branch: BranchFate) -> Result<(), GitError> {
        let _main = self.main_guard();
        let _pool = self.pool_guard();
        stale::discard(&self.repository, &self.run, Some(&self.folder), branch)
    }

    /// Removes the work trees of the run and keeps its references, so its work can still be examined.
    pub fn discard_trees(&self) -> Result<(), GitError> {
        let _main = self.main_guard();
        let _pool = self.pool_guard();
        stale::remove_trees(&self.repository, &self.run, Some(&self.folder))
    }

    /// The work tree with this name.
    pub(super) fn work_tree(&self, name: &str) -> WorkTree {
        let mut caches = self.shared.caches.lock().unwrap_or_else(PoisonError::into_inner);
        let cache = Arc::clone(caches.entry(name.to_string()).or_default());
        WorkTree::new(&self.repository, &self.run, &self.base, (&self.folder, name), cache)
    }

    /// Locks the main line.
    pub(super) fn main_guard(&self) -> MutexGuard<'_, ()> {
        self.shared.main.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the pool.
    pub(super) fn pool_guard(&self) -> MutexGuard<'_, ()> {
        self.shared.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
