//! Ties a folder to the repository as a work tree, and mends the tie whatever has happened to it.

use super::call::git;
use super::remove::remove;
use super::worktree::break_lock;
use super::{GitError, WorkTree, error};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What an agent's own use of git may leave in a work tree's git folder, and what would mislead later calls.
const LEFT_BEHIND: &[&str] = &[
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
    /// Makes the tie, or mends it; files in the folder stay as they are.
    pub(super) fn mend(&self) -> Result<(), GitError> {
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
        write_if_other(&link, &[b"gitdir: ", admin.as_os_str().as_bytes(), b"\n"].concat())?;
        write_if_other(&admin.join("gitdir"), &[link.as_os_str().as_bytes(), b"\n"].concat())?;
        write_if_other(&admin.join("locked"), self.reason().as_bytes())?;
        for lock in [admin.join("index.lock"), admin.join("HEAD.lock"), self.private("index.lock")] {
            break_lock(&lock)?;
        }
        for left in LEFT_BEHIND {
            remove(&admin.join(left))?;
        }
        Ok(())
    }

    /// Puts HEAD on the commit that the run starts from, detached.
    pub(super) fn point_head(&self) -> Result<(), GitError> {
        let head = fs::read_to_string(self.admin().join("HEAD")).unwrap_or_default();
        if head.trim() == self.base.as_str() {
            return Ok(());
        }
        let words = ["update-ref", "--no-deref", "HEAD", self.base.as_str()];
        git(&self.public_place(), words).run().map(drop)
    }

    /// Why git must not prune the work tree.
    fn reason(&self) -> String {
        format!("remand run {}\n", self.run)
    }

    fn is_registered(&self) -> bool {
        let admin = self.admin();
        let head = fs::read(admin.join("HEAD")).unwrap_or_default();
        let common = fs::read_to_string(admin.join("commondir")).unwrap_or_default();
        let common = fs::canonicalize(admin.join(common.trim_end()));
        !head.is_empty() && common.is_ok_and(|found| found == self.repository.common_dir())
    }

    /// Has git register a work tree at a scratch place, since it refuses a folder that has files in it.
    fn register(&self) -> Result<(), GitError> {
        let scratch = self.scratch();
        remove(&self.admin())?;
        remove(&scratch)?;
        if let Some(parent) = scratch.parent() {
            fs::create_dir_all(parent).map_err(error::file("create", parent))?;
        }
        let reason = self.reason();
        let words = [
            "worktree",
            "add",
            "--no-checkout",
            "--detach",
            "--force",
            "--lock",
            "--reason",
            reason.trim_end(),
        ];
        let words = words.iter().map(AsRef::as_ref).chain([scratch.as_os_str(), self.base.as_str().as_ref()]);
        git(&self.repository.objects(), words).run()?;
        remove(&scratch)
    }
}

/// Writes a file unless it is just that file already; links and folders in its place are removed.
fn write_if_other(file: &Path, content: &[u8]) -> Result<(), GitError> {
    let is_file = fs::symlink_metadata(file).is_ok_and(|found| found.is_file());
    if is_file && fs::read(file).is_ok_and(|found| found == content) {
        return Ok(());
    }
    remove(file)?;
    fs::write(file, content).map_err(error::file("write", file))
}
