//! The user's hooks: where they are, and what they find in the tree of a commit besides its files.

use super::call::{Call, Manner, path};
use super::remove::{remove_inside, remove_with_empty_parents};
use super::{GitError, RunTrees, TreeId, error};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// What is there for hooks while they run, and is gone when the commit is looked at.
#[derive(Clone, Debug, Default)]
pub struct Fittings {
    /// Paths in the tree, relative to it.
    pub put: Vec<PathBuf>,
    /// What may be read outside of it.
    pub reads: Vec<PathBuf>,
}

/// Puts things into a tree for hooks.
pub type Fit<'f> = &'f dyn Fn(&Path) -> io::Result<Fittings>;

impl RunTrees {
    /// Where the user's hooks are, for a commit in the main work tree. A folder that git does not track, as package managers
    /// make it, is put into the tree as it is in the checkout: its hooks go by their place beside the tracked files.
    pub(super) fn hooks_folder(&self, state: &TreeId, fittings: &mut Fittings) -> Result<PathBuf, GitError> {
        let user = &self.repository.checkout();
        let asked = ["config", "--type=path", "--get", "core.hooksPath"];
        let answer = Call::new(user, Manner::AsUser, asked).answer()?;
        let said = answer.stdout.strip_suffix(b"\n").unwrap_or(&answer.stdout);
        if said.is_empty() {
            return Ok(self.repository.common_dir().join("hooks"));
        }
        let (folder, main) = (path(said), self.main_tree());
        let kept = self.repository.root().join(&folder);
        let is_below =
            folder.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        // What lies there and is not tracked may be left of a commit that was cut short.
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
                "hooks are set up in `{}` (core.hooksPath), which is not there: none ran",
                folder.display()
            );
            self.repository.programs.bounds().into_iter().for_each(|bounds| bounds.remarks.add(text.clone()));
            return Ok(folder);
        }
        let is_led_away = folder.ancestors().skip(1).any(|above| main.path().join(above).is_symlink());
        if !is_below || is_led_away {
            fittings.reads.push(kept.clone());
            return Ok(kept);
        }
        super::clear_way(main.path(), &folder)?;
        remove_inside(main.path(), &folder)?;
        let target = main.path().join(&folder);
        copy(&kept, &target).map_err(error::file("write", &target))?;
        fittings.put.push(folder.clone());
        Ok(folder)
    }

    /// Takes out what was put into the main work tree for hooks, whatever they have made of it.
    pub(super) fn take_out(&self, fittings: &Fittings) -> Result<(), GitError> {
        let main = self.main_tree();
        fittings.put.iter().try_for_each(|put| remove_with_empty_parents(main.path(), put))
    }
}

impl Fittings {
    /// The lines by which git ignores what was put into the tree.
    pub(super) fn ignored(&self) -> Vec<u8> {
        let mut lines = Vec::new();
        for put in &self.put {
            lines.push(b'/');
            for byte in put.as_os_str().as_bytes() {
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

/// Copies files with their modes; links lead where they did.
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
