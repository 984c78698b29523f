//! A copy of the files of a commit that is thrown away: no reference, no index of the user's and no work tree of git's
//! knows of it.

use super::call::{Place, fields, git};
use super::remove::remove;
use super::{CommitId, GitError, Repository, error};
use crate::home::private_folder;
use rustix::process::{Pid, test_kill_process};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// How the names of copies begin; the process that made one follows.
const NAME: &str = "remand-copy-";

/// Tells the copies of one process apart.
static MADE: AtomicU32 = AtomicU32::new(0);

/// A folder that goes with the value, or with the next copy beside it where the process died.
#[derive(Debug)]
pub struct Copy {
    folder: PathBuf,
}

impl Copy {
    /// A copy inside a folder of ours or of the system's.
    pub fn of(repository: &Repository, commit: &CommitId, within: &Path) -> Result<Copy, GitError> {
        remove_orphans(within);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let copy = Copy { folder: within.join(format!("{NAME}{}-{number}", std::process::id())) };
        remove(&copy.folder)?;
        let tree = copy.tree();
        private_folder(&tree).map_err(error::file("create", &tree))?;
        private_folder(&copy.folder).map_err(error::file("close", &copy.folder))?;
        let index = copy.folder.join("index");
        let place = Place::work_tree(repository.common_dir(), &tree, &repository.programs).with_index(&index);
        git(&place, ["read-tree", "-u", "--reset", commit.as_str()]).run()?;
        Ok(copy)
    }

    /// For other things that go with it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The files.
    pub fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = remove(&self.folder);
    }
}

/// Removes what processes left that are gone.
fn remove_orphans(within: &Path) {
    for entry in fs::read_dir(within).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.strip_prefix(NAME).and_then(|rest| rest.split('-').next()?.parse().ok());
        let is_alive =
            |process: i32| Pid::from_raw(process).is_some_and(|pid| test_kill_process(pid).is_ok());
        if process.is_some_and(|process| !is_alive(process)) {
            // Where others may write too, it may be of another user's.
            let _ = remove(&entry.path());
        }
    }
}

impl Repository {
    /// Tells whether the checkout holds the files of a commit, all of them, and no others but ignored ones.
    pub fn holds_only(&self, commit: &CommitId) -> Result<bool, GitError> {
        if self.head()?.commit != *commit || self.dirty()?.is_some() {
            return Ok(false);
        }
        // Git is told not to look at files that are left out or taken for unchanged.
        let listing = git(&self.checkout(), ["ls-files", "-v", "-z"]).run()?;
        let is_looked_at = |row: &[u8]| row.starts_with(b"H ");
        Ok(fields(&listing).all(is_looked_at))
    }
}
