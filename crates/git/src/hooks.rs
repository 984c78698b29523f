//! The user's hooks: where they are, and which files are added to the work tree for them.

use super::call::Call;
use super::invocation::{CallMode, path};
use super::remove::{remove_inside, remove_with_empty_parents};
use super::{GitError, RunTrees, TreeId, error};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// Files that are available to hooks while they run, and removed before the commit is evaluated.
#[derive(Clone, Debug, Default)]
pub struct HookFiles {
    /// Paths that were added, relative to the work tree.
    pub added: Vec<PathBuf>,
    /// Paths outside of it that hooks may read.
    pub reads: Vec<PathBuf>,
}

/// Adds files to a work tree for hooks.
pub type SetUpHooks<'f> = &'f dyn Fn(&Path) -> io::Result<HookFiles>;

impl RunTrees {
    /// The folder of the user's hooks, for a commit in the main work tree. An untracked folder, as package managers create
    /// it, is copied from the checkout, since its hooks may use paths relative to the tracked files.
    pub(super) fn hooks_folder(&self, state: &TreeId, files: &mut HookFiles) -> Result<PathBuf, GitError> {
        let user = &self.repository.checkout();
        let asked = ["config", "--type=path", "--get", "core.hooksPath"];
        let answer = Call::new(user, CallMode::AsUser, asked).answer()?;
        let said = answer.stdout.strip_suffix(b"\n").unwrap_or(&answer.stdout);
        if said.is_empty() {
            return Ok(self.repository.common_dir().join("hooks"));
        }
        let (folder, main) = (path(said), self.main_tree());
        let kept = self.repository.root().join(&folder);
        let is_below =
            folder.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        // An untracked folder in the work tree may be left over from an interrupted commit.
        let is_name = |part: &Component<'_>| matches!(part, Component::Normal(_));
        let named: PathBuf = folder.components().filter(is_name).collect();
        let is_tracked = || -> Result<bool, GitError> {
            let is_root = named.as_os_str().is_empty();
            Ok(is_root || !self.repository.names_in(state, &named.to_string_lossy())?.is_empty())
        };
        if is_below && is_tracked()? {
            return Ok(folder);
        }
        if !kept.is_dir() {
            let text = format!(
                "core.hooksPath is set to `{}`, which does not exist; no hooks ran",
                folder.display()
            );
            self.repository.programs.bounds().into_iter().for_each(|bounds| bounds.remarks.add(text.clone()));
            return Ok(folder);
        }
        let has_linked_parent = folder.ancestors().skip(1).any(|above| main.path().join(above).is_symlink());
        if !is_below || has_linked_parent {
            files.reads.push(kept.clone());
            return Ok(kept);
        }
        super::clear_way(main.path(), &folder)?;
        remove_inside(main.path(), &folder)?;
        let target = main.path().join(&folder);
        copy(&kept, &target).map_err(error::file("write", &target))?;
        files.added.push(folder.clone());
        Ok(folder)
    }

    /// Removes the files that were added for hooks, even if hooks changed them.
    pub(super) fn remove_hook_files(&self, files: &HookFiles) -> Result<(), GitError> {
        let main = self.main_tree();
        files.added.iter().try_for_each(|added| remove_with_empty_parents(main.path(), added))
    }
}

impl HookFiles {
    /// Lines for git's exclude file that ignore the added paths.
    pub(super) fn ignored(&self) -> Vec<u8> {
        let mut lines = Vec::new();
        for added in &self.added {
            lines.push(b'/');
            for byte in added.as_os_str().as_bytes() {
                if b"\\*?[ ".contains(byte) {
                    lines.push(b'\\');
                }
                lines.push(*byte);
            }
            lines.push(b'\n');
        }
        lines
    }
}

/// Copies a folder with file modes; links keep their targets.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target, kind) = (entry.path(), to.join(entry.file_name()), entry.file_type()?);
        if kind.is_dir() {
            copy(&source, &target)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&source)?, &target)?;
        } else if kind.is_file() {
            fs::copy(&source, &target)?;
        }
    }
    Ok(())
}
