//! The user's hooks: their folder, and the files that are added to the work tree for them.

use super::call::Call;
use super::invocation::{CallMode, path};
use super::remove::{remove_inside, remove_with_empty_parents};
use super::{GitError, Repository, RunTrees, TreeId, error};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// Files that are provided for hooks, and removed after the hooks have run.
#[derive(Clone, Debug, Default)]
pub struct HookFiles {
    /// Paths that were added, relative to the work tree.
    pub added: Vec<PathBuf>,
    /// Paths outside the work tree that hooks may read.
    pub reads: Vec<PathBuf>,
}

/// Adds files to a work tree for hooks.
pub type SetUpHooks<'f> = &'f dyn Fn(&Path) -> io::Result<HookFiles>;

/// The hooks that `git commit` runs.
const COMMIT_HOOKS: [&str; 4] = ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"];

impl Repository {
    /// The names of the user's hooks that run on a commit.
    pub fn commit_hooks(&self) -> Result<Vec<&'static str>, GitError> {
        let words = ["config", "--type=path", "--get", "core.hooksPath"];
        let output = Call::new(&self.checkout(), CallMode::AsUser, words).run_unchecked()?;
        let value = output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout);
        let folder = match value.is_empty() {
            true => self.common_dir().join("hooks"),
            false => self.root().join(path(value)),
        };
        Ok(COMMIT_HOOKS.into_iter().filter(|name| folder.join(name).is_file()).collect())
    }
}

impl RunTrees {
    /// Returns the folder of the user's hooks, for a commit in the main work tree. Copies an untracked folder, such as that
    /// of a package manager, from the checkout, since its hooks may use paths relative to the tracked files.
    pub(super) fn hooks_folder(&self, state: &TreeId, files: &mut HookFiles) -> Result<PathBuf, GitError> {
        let user = &self.repository.checkout();
        let words = ["config", "--type=path", "--get", "core.hooksPath"];
        let output = Call::new(user, CallMode::AsUser, words).run_unchecked()?;
        let value = output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout);
        if value.is_empty() {
            return Ok(self.repository.common_dir().join("hooks"));
        }
        let (folder, main) = (path(value), self.main_tree());
        let in_checkout = self.repository.root().join(&folder);
        let is_inside =
            folder.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        // The tree decides whether the folder is tracked: a folder in the work tree may be left from an interrupted commit.
        let is_name = |part: &Component<'_>| matches!(part, Component::Normal(_));
        let normalized: PathBuf = folder.components().filter(is_name).collect();
        let is_tracked = || -> Result<bool, GitError> {
            let is_root = normalized.as_os_str().is_empty();
            Ok(is_root || !self.repository.names_in(state, &normalized.to_string_lossy())?.is_empty())
        };
        if is_inside && is_tracked()? {
            return Ok(folder);
        }
        if !in_checkout.is_dir() {
            let warning = format!(
                "core.hooksPath is set to `{}`, which does not exist; no hooks ran",
                folder.display()
            );
            let limits = self.repository.programs.limits();
            limits.into_iter().for_each(|limits| limits.warnings.add(warning.clone()));
            return Ok(folder);
        }
        let has_linked_parent =
            folder.ancestors().skip(1).any(|parent| main.path().join(parent).is_symlink());
        if !is_inside || has_linked_parent {
            files.reads.push(in_checkout.clone());
            return Ok(in_checkout);
        }
        super::create_parents(main.path(), &folder)?;
        remove_inside(main.path(), &folder)?;
        let target = main.path().join(&folder);
        copy(&in_checkout, &target).map_err(error::file("write", &target))?;
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
    pub(super) fn exclude_lines(&self) -> Vec<u8> {
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
