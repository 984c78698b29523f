//! A temporary checkout of a commit. It is not in git's list of work trees, and no reference or index of the user mentions
//! it.

use super::call::{GitContext, git};
use super::invocation::{fields, path};
use super::private_folder::private_folder;
use super::remove::remove;
use super::{CommitId, GitError, Repository, error};
use rustix::process::{Pid, test_kill_process};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The prefix of the folder names. The pid of the process that created the folder follows.
const NAME_PREFIX: &str = "remand-copy-";

/// Numbers the checkouts of one process.
static CREATED: AtomicU32 = AtomicU32::new(0);

/// A folder with a checkout. It is removed on drop or, if the process dies, when the next one is created next to it.
#[derive(Debug)]
pub struct TemporaryCheckout {
    folder: PathBuf,
}

impl TemporaryCheckout {
    /// Checks out a commit below `within`, one of the engine's folders or the system's temporary folder.
    pub fn of(
        repository: &Repository,
        commit: &CommitId,
        within: &Path,
    ) -> Result<TemporaryCheckout, GitError> {
        remove_orphans(within);
        let number = CREATED.fetch_add(1, Ordering::Relaxed);
        let copy = TemporaryCheckout {
            folder: within.join(format!("{NAME_PREFIX}{}-{number}", std::process::id())),
        };
        remove(&copy.folder)?;
        let tree = copy.tree();
        private_folder(&tree).map_err(error::file("create", &tree))?;
        private_folder(&copy.folder).map_err(error::file("close", &copy.folder))?;
        let index = copy.folder.join("index");
        let context =
            GitContext::work_tree(repository.common_dir(), &tree, &repository.programs).with_index(&index);
        git(&context, ["read-tree", "-u", "--reset", commit.as_str()]).run()?;
        repository.check_out_submodules(
            &repository.tree_of(commit)?,
            &tree,
            &copy.folder.join("submodule"),
        )?;
        Ok(copy)
    }

    /// Makes the checkout a repository with the user's commits, for programs that ask git about the work tree.
    pub fn add_repository(&self, repository: &Repository, commit: &CommitId) -> Result<(), GitError> {
        let (git_dir, objects) = (self.tree().join(".git"), repository.objects());
        let format = git(&objects, ["rev-parse", "--show-object-format"]).line()?;
        let words = ["init", "--quiet", "--bare", "--template=", "--object-format", &format];
        git(&objects, words.iter().map(AsRef::as_ref).chain([git_dir.as_os_str()])).run()?;
        let write = |name: &str, bytes: &[u8]| {
            let file = git_dir.join(name);
            fs::write(&file, bytes).map_err(error::file("write", &file))
        };
        let common = repository.common_dir();
        let alternates = [common.join("objects").as_os_str().as_bytes(), b"\n"].concat();
        write("objects/info/alternates", &alternates)?;
        // The file is optional.
        if let Ok(bytes) = fs::read(common.join("shallow")) {
            write("shallow", &bytes)?;
        }
        let words = ["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags"];
        write("packed-refs", &git(&objects, words).run()?)?;
        write("HEAD", format!("{commit}\n").as_bytes())?;
        git(&GitContext::objects(&git_dir), ["config", "core.bare", "false"]).run()?;
        let (from, to) = (self.folder.join("index"), git_dir.join("index"));
        fs::copy(&from, &to).map(drop).map_err(error::file("copy", &from))
    }

    /// The folder of the checkout. It can also hold other temporary files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of the commit's files.
    pub fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }
}

impl Drop for TemporaryCheckout {
    fn drop(&mut self) {
        // If this fails, the folder is removed when the next checkout is created.
        let _ = remove(&self.folder);
    }
}

/// Removes the checkouts of processes that are gone.
fn remove_orphans(within: &Path) {
    // A folder that cannot be listed is skipped; creating the checkout reports the error.
    for entry in fs::read_dir(within).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let pid = name.strip_prefix(NAME_PREFIX).and_then(|rest| rest.split('-').next()?.parse().ok());
        let is_alive = |pid: i32| Pid::from_raw(pid).is_some_and(|pid| test_kill_process(pid).is_ok());
        if pid.is_some_and(|pid| !is_alive(pid)) {
            // This fails for another user's checkout in a shared temporary folder.
            let _ = remove(&entry.path());
        }
    }
}

impl Repository {
    /// What the checkout contains and git does not track, whether it is ignored or not. A folder without tracked files is
    /// listed as a whole.
    pub fn untracked(&self) -> Result<Vec<PathBuf>, GitError> {
        let listing = git(&self.checkout(), ["ls-files", "-z", "--others", "--directory"]).run()?;
        Ok(fields(&listing).map(|row| path(row.strip_suffix(b"/").unwrap_or(row))).collect())
    }

    /// Returns whether the user's checkout contains exactly the files of a commit, apart from ignored ones.
    pub fn holds_only(&self, commit: &CommitId) -> Result<bool, GitError> {
        if self.head()?.commit != *commit || self.dirty()?.is_some() {
            return Ok(false);
        }
        // Git's status skips files that are marked as assumed unchanged or left out of a sparse checkout.
        let listing = git(&self.checkout(), ["ls-files", "-v", "-z"]).run()?;
        let is_checked = |row: &[u8]| row.starts_with(b"H ");
        Ok(fields(&listing).all(is_checked))
    }
}
