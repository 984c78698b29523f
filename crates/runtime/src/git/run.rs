//! What a run owns in a repository: two references, a main work tree, a pool of others, and a branch name.
//!
//! `refs/remand/<run>/base` is where the run started, `refs/remand/<run>/main` the chain of its own commits. The branch
//! `remand/<run>` is made by the commits of the run's work and documents or by the hand-over, and by nothing else.

use super::worktree::{Memory, break_lock};
use super::{CommitId, GitError, Repository, TreeId, WorkTree, error};
use crate::process::Cancel;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The work trees of one run; copies share them. One host drives a run, so no other process works here.
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
    memories: Mutex<BTreeMap<String, Arc<Mutex<Memory>>>>,
    main: Mutex<()>,
    pool: Mutex<()>,
}

/// Where the main line of a run stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub commit: CommitId,
    pub tree: TreeId,
}

/// What becomes of the run's branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchFate {
    /// It stays if it has commits that no other branch has.
    KeepIfItHoldsWork,
    Delete,
}

impl RunTrees {
    /// Sets up a run; what is there already stays.
    pub fn begin(
        repository: &Repository,
        run: &str,
        folder: &Path,
        base: &CommitId,
    ) -> Result<RunTrees, GitError> {
        refuse_unfit(run)?;
        let names = (base_reference(run), main_reference(run));
        match repository.reference(&names.0)? {
            Some(known) if known != *base => return Err(GitError::RunTaken { run: run.to_string() }),
            Some(_) => {}
            None => {
                for branch in ["remand".to_string(), branch_of(run)] {
                    if repository.branch_exists(&branch)? {
                        return Err(GitError::BranchTaken { branch });
                    }
                }
                repository.move_reference(&names.0, None, base)?;
            }
        }
        if repository.reference(&names.1)?.is_none() {
            repository.move_reference(&names.1, None, base)?;
        }
        RunTrees::open(repository, run, folder)
    }

    /// Takes up a run that was set up before, and mends what a kill has left.
    pub fn open(repository: &Repository, run: &str, folder: &Path) -> Result<RunTrees, GitError> {
        refuse_unfit(run)?;
        let references = repository.common_dir().join("refs/remand").join(run);
        break_locks(&references)?;
        let unknown = || GitError::UnknownRun { run: run.to_string() };
        let base = repository.reference(&base_reference(run))?.ok_or_else(unknown)?;
        fs::create_dir_all(folder).map_err(error::file("create", folder))?;
        let folder = fs::canonicalize(folder).map_err(error::file("find", folder))?;
        let trees = RunTrees {
            repository: repository.clone(),
            run: run.to_string(),
            folder,
            base,
            shared: Arc::default(),
        };
        super::stale::mark(repository, run, &trees.folder)?;
        super::inherit::make_own(&trees)?;
        let main = trees.main_tree();
        main.mend()?;
        // The index is written when all files are: without it the checkout was cut short.
        if !main.private("index").exists() {
            main.restore(&trees.main_state()?.tree)?;
        }
        Ok(trees)
    }

    /// The same trees for one command: what git starts for it carries this marker, and ends when it is cancelled.
    #[must_use]
    pub fn for_command(&self, marker: String, cancel: &Cancel) -> RunTrees {
        RunTrees { repository: self.repository.for_command(marker, cancel), ..self.clone() }
    }

    /// What is to be known of programs that git started, and is taken out by this.
    pub fn remarks(&self) -> Vec<String> {
        self.repository.programs.bounds().map(|bounds| bounds.remarks.take()).unwrap_or_default()
    }

    /// The id of the run.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// The name of the run's branch, whether it exists or not.
    pub fn branch(&self) -> String {
        branch_of(&self.run)
    }

    /// The commit that the run starts from.
    pub fn base(&self) -> &CommitId {
        &self.base
    }

    /// The content that the run starts from.
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

    /// Where the main line stands.
    pub fn main_state(&self) -> Result<State, GitError> {
        let unknown = || GitError::UnknownRun { run: self.run.clone() };
        let commit = self.repository.reference(&main_reference(&self.run))?.ok_or_else(unknown)?;
        let tree = self.repository.tree_of(&commit)?;
        Ok(State { commit, tree })
    }

    /// Removes work trees, references and the tag of the run, and its branch if that is wanted.
    pub fn discard(&self, branch: BranchFate) -> Result<(), GitError> {
        let _main = self.main_guard();
        let _pool = self.pool_guard();
        super::stale::discard(&self.repository, &self.run, Some(&self.folder), branch)
    }

    /// Removes the work trees of the run and keeps its references: what it did can still be looked at.
    pub fn discard_trees(&self) -> Result<(), GitError> {
        let _main = self.main_guard();
        let _pool = self.pool_guard();
        super::stale::remove_trees(&self.repository, &self.run, Some(&self.folder))
    }

    /// A handle of a work tree by name.
    pub(super) fn work_tree(&self, name: &str) -> WorkTree {
        let mut memories = self.shared.memories.lock().unwrap_or_else(PoisonError::into_inner);
        let memory = Arc::clone(memories.entry(name.to_string()).or_default());
        WorkTree::new(&self.repository, &self.run, &self.base, (&self.folder, name), memory)
    }

    /// Keeps others from moving the main line.
    pub(super) fn main_guard(&self) -> MutexGuard<'_, ()> {
        self.shared.main.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps others from lending.
    pub(super) fn pool_guard(&self) -> MutexGuard<'_, ()> {
        self.shared.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn branch_of(run: &str) -> String {
    format!("remand/{run}")
}

pub(super) fn tag_of(run: &str) -> String {
    format!("pipeline-baseline-{run}")
}

pub(super) fn base_reference(run: &str) -> String {
    format!("refs/remand/{run}/base")
}

pub(super) fn main_reference(run: &str) -> String {
    format!("refs/remand/{run}/main")
}

/// Breaks the locks that a killed git left on references in a folder and below it.
fn break_locks(folder: &Path) -> Result<(), GitError> {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            break_locks(&entry.path())?;
        } else if entry.path().extension().is_some_and(|extension| extension == "lock") {
            break_lock(&entry.path())?;
        }
    }
    Ok(())
}

/// A run id is part of branch, tag, folder and work-tree names.
fn refuse_unfit(run: &str) -> Result<(), GitError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let sound = !run.is_empty() && run.len() <= 100 && !run.starts_with('-') && run.bytes().all(plain);
    if sound { Ok(()) } else { Err(GitError::UnfitRunId { run: run.to_string() }) }
}
