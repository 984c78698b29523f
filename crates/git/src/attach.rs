//! Attaches a folder to the repository as a work tree, and repairs a damaged attachment.

use super::call::git;
use super::names::lock_of;
use super::remove::remove;
use super::worktree::break_lock;
use super::{GitError, WorkTree, error};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Files in a work tree's git folder that an agent's use of git may leave. They would affect later calls.
const UNFINISHED_OPERATIONS: &[&str] = &[
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "AUTO_MERGE",
    "SQUASH_MSG",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "BISECT_LOG",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "config.worktree",
];

impl WorkTree {
    /// Attaches the folder, or repairs the attachment. The files in the folder stay as they are.
    pub(super) fn attach(&self) -> Result<(), GitError> {
        let private = self.private("index");
        for folder in [Some(self.path()), private.parent()].into_iter().flatten() {
            if !fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir()) {
                remove(folder)?;
                fs::create_dir_all(folder).map_err(error::file("create", folder))?;
            }
        }
        if !self.is_registered() {
            self.register()?;
        }
        let (admin, link) = (self.admin(), self.path().join(".git"));
        write_if_different(&link, &[b"gitdir: ", admin.as_os_str().as_bytes(), b"\n"].concat())?;
        write_if_different(&admin.join("gitdir"), &[link.as_os_str().as_bytes(), b"\n"].concat())?;
        write_if_different(&admin.join("locked"), lock_of(&self.run).as_bytes())?;
        for lock in [admin.join("index.lock"), admin.join("HEAD.lock"), self.private("index.lock")] {
            break_lock(&lock)?;
        }
        for name in UNFINISHED_OPERATIONS {
            remove(&admin.join(name))?;
        }
        Ok(())
    }

    /// Sets a detached HEAD at the commit that the run starts from.
    pub(super) fn detach_head(&self) -> Result<(), GitError> {
        // A HEAD that cannot be read is written again.
        let head = fs::read_to_string(self.admin().join("HEAD")).unwrap_or_default();
        if head.trim() == self.base.as_str() {
            return Ok(());
        }
        let words = ["update-ref", "--no-deref", "HEAD", self.base.as_str()];
        git(&self.public_context(), words).run().map(drop)
    }

    fn is_registered(&self) -> bool {
        let admin = self.admin();
        // Missing or unreadable files mean that the registration is damaged.
        let head = fs::read(admin.join("HEAD")).unwrap_or_default();
        let common = fs::read_to_string(admin.join("commondir")).unwrap_or_default();
        let common = fs::canonicalize(admin.join(common.trim_end()));
        !head.is_empty() && common.is_ok_and(|found| found == self.repository.common_dir())
    }

    /// Registers the work tree at a temporary path first, since git refuses a folder that contains files.
    fn register(&self) -> Result<(), GitError> {
        let scratch = self.scratch();
        remove(&self.admin())?;
        remove(&scratch)?;
        if let Some(parent) = scratch.parent() {
            fs::create_dir_all(parent).map_err(error::file("create", parent))?;
        }
        let lock = lock_of(&self.run);
        let words = [
            "worktree",
            "add",
            "--no-checkout",
            "--detach",
            "--force",
            "--lock",
            "--reason",
            lock.trim_end(),
        ];
        let words = words.iter().map(AsRef::as_ref).chain([scratch.as_os_str(), self.base.as_str().as_ref()]);
        git(&self.repository.objects(), words).run()?;
        remove(&scratch)
    }
}

/// Writes a file unless it already has this content. Replaces a link or folder at its path.
fn write_if_different(file: &Path, content: &[u8]) -> Result<(), GitError> {
    let is_file = fs::symlink_metadata(file).is_ok_and(|found| found.is_file());
    if is_file && fs::read(file).is_ok_and(|found| found == content) {
        return Ok(());
    }
    remove(file)?;
    fs::write(file, content).map_err(error::file("write", file))
}
