//! A work tree of a run: a folder of files, with an index of the engine's own that no agent can reach by git.

use super::call::Place;
use super::diff::Changed;
use super::{CommitId, GitError, Repository, TreeId, error};
use remand_kernel::change::Change;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// How long a lock file may be in use by a git process that outlived its engine.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);

/// A handle of one work tree; copies share it, and their calls wait for each other.
#[derive(Clone, Debug)]
pub struct WorkTree {
    pub(super) repository: Repository,
    pub(super) run: String,
    pub(super) base: CommitId,
    pub(super) memory: Arc<Mutex<Memory>>,
    name: String,
    folder: PathBuf,
    path: PathBuf,
}

/// What need not be asked of git again.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// The last snapshot that is safe from garbage collection.
    pub(super) kept: Option<TreeId>,
}

impl WorkTree {
    /// A handle; nothing is made yet.
    pub(super) fn new(
        repository: &Repository,
        run: &str,
        base: &CommitId,
        place: (&Path, &str),
        memory: Arc<Mutex<Memory>>,
    ) -> WorkTree {
        let (folder, name) = place;
        let inside = if name == "main" { PathBuf::from(name) } else { Path::new("pool").join(name) };
        WorkTree {
            repository: repository.clone(),
            run: run.to_string(),
            base: base.clone(),
            memory,
            name: name.to_string(),
            folder: folder.to_path_buf(),
            path: folder.join(inside),
        }
    }

    /// The folder of the files.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `main`, or the number in the pool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is different between two states.
    pub fn changed(&self, before: &TreeId, after: &TreeId) -> Result<Vec<Changed>, GitError> {
        if before == after { Ok(Vec::new()) } else { self.repository.changed(before, after) }
    }

    /// The difference as the detectors need it.
    pub fn change(&self, before: &TreeId, after: &TreeId) -> Result<Change, GitError> {
        self.repository.change(before, after)
    }

    /// The difference as a patch that git can apply.
    pub fn patch(&self, before: &TreeId, after: &TreeId) -> Result<Vec<u8>, GitError> {
        self.repository.patch(before, after)
    }

    /// The content of a file in a state.
    pub fn read(&self, tree: &TreeId, file: &Path) -> Result<Option<Vec<u8>>, GitError> {
        self.repository.read(tree, file)
    }

    /// The name under which git lists the work tree.
    pub(super) fn id(&self) -> String {
        format!("{}{}", super::stale::prefix(&self.run), self.name)
    }

    /// Where git keeps what it knows of the work tree.
    pub(super) fn admin(&self) -> PathBuf {
        self.repository.common_dir().join("worktrees").join(self.id())
    }

    /// A folder for things in the making.
    pub(super) fn scratch(&self) -> PathBuf {
        self.folder.join("scratch").join(self.id())
    }

    /// A file of the engine's own about this work tree.
    pub(super) fn private(&self, extension: &str) -> PathBuf {
        self.folder.join("private").join(format!("{}.{extension}", self.name))
    }

    /// The work tree, seen with the engine's own index.
    pub(super) fn place(&self) -> Place {
        self.public_place().with_index(&self.private("index"))
    }

    /// The work tree, seen with the index that git itself uses there.
    pub(super) fn public_place(&self) -> Place {
        self.place_of(&self.admin())
    }

    /// The files of the work tree, seen from any git folder.
    pub(super) fn place_of(&self, git_dir: &Path) -> Place {
        Place::work_tree(git_dir, &self.path, &self.repository.programs)
    }

    /// Keeps others out until the guard is dropped.
    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a lock file that a killed git left behind. A young one may belong to a git that is still at work, so it
/// is given time to go by itself.
pub(super) fn break_lock(lock: &Path) -> Result<(), GitError> {
    let started = Instant::now();
    loop {
        let Ok(found) = fs::symlink_metadata(lock) else { return Ok(()) };
        let age = found.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        if age.is_none_or(|age| age > LOCK_PATIENCE) || started.elapsed() > LOCK_PATIENCE {
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

/// Writes a small file of ours as a whole or not at all.
pub(super) fn write_whole(file: &Path, content: &[u8]) -> Result<(), GitError> {
    let aside = file.with_extension("new");
    fs::write(&aside, content).map_err(error::file("write", &aside))?;
    fs::rename(&aside, file).map_err(error::file("write", file))
}
