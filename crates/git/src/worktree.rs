//! A work tree of a run: a folder of files, and the engine's index, which agents cannot access through git.

use super::call::GitContext;
use super::diff::ChangedPath;
use super::names::work_tree_prefix;
use super::{CommitId, GitError, Repository, TreeId, TreeLimits, error};
use remand_kernel::change::Change;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// How long to wait for a git process that outlived its engine to release a lock file.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// A handle to one work tree. Clones share it, and their calls wait for each other.
#[derive(Clone, Debug)]
pub struct WorkTree {
    pub(super) repository: Repository,
    pub(super) run: String,
    pub(super) base: CommitId,
    pub(super) cache: Arc<Mutex<WorkTreeCache>>,
    name: String,
    folder: PathBuf,
    path: PathBuf,
}

/// Cached facts about a work tree.
#[derive(Debug, Default)]
pub(super) struct WorkTreeCache {
    /// The last snapshot that was protected from garbage collection.
    pub(super) protected: Option<TreeId>,
    /// Whether no program has worked in the tree since it was found to be within its limits.
    pub(super) is_within_limits: bool,
}

impl WorkTree {
    /// Creates a handle; creates nothing on disk.
    pub(super) fn new(
        repository: &Repository,
        run: &str,
        base: &CommitId,
        location: (&Path, &str),
        cache: Arc<Mutex<WorkTreeCache>>,
    ) -> WorkTree {
        let (folder, name) = location;
        let inside = if name == "main" { PathBuf::from(name) } else { Path::new("pool").join(name) };
        WorkTree {
            repository: repository.clone(),
            run: run.to_string(),
            base: base.clone(),
            cache,
            name: name.to_string(),
            folder: folder.to_path_buf(),
            path: folder.join(inside),
        }
    }

    /// The folder of the files.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `main`, or the tree's number in the pool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same work tree, with limits on files and bytes that are multiplied by this factor.
    #[must_use]
    pub fn with_more_generous_limits(mut self, factor: u64) -> WorkTree {
        let TreeLimits { files, file_size, size, .. } = &mut self.repository.tree_limits;
        for limit in [files, file_size, size] {
            *limit = limit.saturating_mul(factor);
        }
        self
    }

    /// The changes between two trees.
    pub fn changed(&self, before: &TreeId, after: &TreeId) -> Result<Vec<ChangedPath>, GitError> {
        if before == after { Ok(Vec::new()) } else { self.repository.changed(before, after) }
    }

    /// The difference in the format of the detectors.
    pub fn change(&self, before: &TreeId, after: &TreeId) -> Result<Change, GitError> {
        self.repository.change(before, after)
    }

    /// The difference as a patch for `git apply`.
    pub fn patch(&self, before: &TreeId, after: &TreeId) -> Result<Vec<u8>, GitError> {
        self.repository.patch(before, after)
    }

    /// The content of a file in a tree.
    pub fn read(&self, tree: &TreeId, file: &Path) -> Result<Option<Vec<u8>>, GitError> {
        self.repository.read(tree, file)
    }

    /// The name under which git lists the work tree.
    pub(super) fn id(&self) -> String {
        format!("{}{}", work_tree_prefix(&self.run), self.name)
    }

    /// Git's administrative folder for the work tree.
    pub(super) fn admin(&self) -> PathBuf {
        self.repository.common_dir().join("worktrees").join(self.id())
    }

    /// A temporary folder.
    pub(super) fn scratch(&self) -> PathBuf {
        self.folder.join("scratch").join(self.id())
    }

    /// The folder of paths that were moved out of the work tree and are being deleted.
    pub(super) fn discarded(&self) -> PathBuf {
        self.folder.join("discarded").join(self.id())
    }

    /// One of the engine's private files for this work tree.
    pub(super) fn private(&self, extension: &str) -> PathBuf {
        self.folder.join("private").join(format!("{}.{extension}", self.name))
    }

    /// The work tree with the engine's index.
    pub(super) fn context(&self) -> GitContext {
        self.public_context().with_index(&self.private("index"))
    }

    /// The work tree with git's index.
    pub(super) fn public_context(&self) -> GitContext {
        self.context_of(&self.admin())
    }

    /// The files of the work tree with the given git folder.
    pub(super) fn context_of(&self, git_dir: &Path) -> GitContext {
        GitContext::work_tree(git_dir, &self.path, &self.repository.programs)
    }

    /// Locks the work tree, and returns its cache.
    pub(super) fn cache(&self) -> MutexGuard<'_, WorkTreeCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a lock file that a killed git left. A recent lock may belong to a git process that is still running, so this
/// first waits for the lock to disappear.
pub(super) fn break_lock(lock: &Path) -> Result<(), GitError> {
    let started = Instant::now();
    loop {
        let Ok(found) = fs::symlink_metadata(lock) else { return Ok(()) };
        // A lock with a modification time in the future counts as old.
        let age = found.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        if age.is_none_or(|age| age > LOCK_TIMEOUT) || started.elapsed() > LOCK_TIMEOUT {
            return match fs::remove_file(lock) {
                Err(source) if source.kind() != ErrorKind::NotFound => {
                    Err(error::file("remove", lock)(source))
                }
                Ok(()) | Err(_) => Ok(()),
            };
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Writes a small file atomically. The temporary file has the whole name of the file, because the private files of a
/// work tree differ only in their extensions.
pub(super) fn write_atomically(file: &Path, content: &[u8]) -> Result<(), GitError> {
    let mut temporary = file.to_path_buf();
    temporary.as_mut_os_string().push(".new");
    fs::write(&temporary, content).map_err(error::file("write", &temporary))?;
    fs::rename(&temporary, file).map_err(error::file("write", file))
}
