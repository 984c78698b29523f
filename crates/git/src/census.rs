//! A census of a work tree: everything that a snapshot does not contain, such as modes, links, empty folders, ignored
//! files, and git's own files about the tree.
//!
//! Comparing a census from before a dispatch with one from after it shows what the dispatch left. Folders of build output
//! are not searched.

use super::call::git;
use super::differences::TrackedFiles;
use super::inventory::{FileKind, Inventory, InventoryEntry, is_build_output};
use super::invocation::{fields, path};
use super::oddity::{Oddity, OddityKind};
use super::remove::{prune_empty, remove, remove_inside, remove_with_empty_parents};
use super::worktree::write_whole;
use super::{ChangedPath, GitError, TreeId, WorkTree, error};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

/// What a census covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Tree,
    /// Also the hooks and settings of the repository, which only a sandbox protects from an agent.
    Repository,
}

/// Which ignored files are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepIgnored {
    Nothing,
    BuildOutput,
}

/// What a work tree contained at one point in time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Census {
    inventory: Inventory,
    /// Folders that are named like build output but contain tracked files.
    tracked: BTreeSet<PathBuf>,
    /// Git's own files by their absolute paths; `None` if the path is not a plain, readable file.
    git: BTreeMap<PathBuf, Option<Vec<u8>>>,
}

/// What a dispatch changed or left in a work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aftermath {
    pub tree: TreeId,
    /// The changed paths.
    pub changes: Vec<ChangedPath>,
    pub oddities: Vec<Oddity>,
}

impl WorkTree {
    /// Removes leftovers that no state contains, and takes a census.
    pub fn begin(&self, keep: KeepIgnored, reach: Reach) -> Result<Census, GitError> {
        self.remove_ignored(keep)?;
        let found = self.census(&self.tracked_output()?, reach)?;
        let odd = found.never_valid();
        if odd.is_empty() {
            return Ok(found);
        }
        self.undo_oddities(&found, &odd)?;
        self.census(&found.tracked, reach)
    }

    /// Compares the work tree with an earlier census and state. Records git's own files and then repairs them, and takes a
    /// snapshot.
    pub fn aftermath(&self, before: &Census, state: &TreeId, reach: Reach) -> Result<Aftermath, GitError> {
        let mut cache = self.cache();
        let git = self.git_contents(reach);
        self.attach()?;
        let prepared = self.prepare()?;
        let (inventory, index) = thread::scope(|scope| {
            let index = scope.spawn(|| self.index());
            (self.inventory(&before.tracked), index.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        let found = Census { inventory: inventory?, tracked: before.tracked.clone(), git };
        let staged = self.stage(prepared, index.as_ref().map(|index| (index, &found.inventory)))?;
        thread::scope(|scope| {
            let seen = scope.spawn(|| {
                let changes = self.changed_since(state, &staged)?;
                let oddities = self.oddities(before, &found, &changes)?;
                Ok::<_, GitError>((changes, oddities))
            });
            let tree = self.write(&staged, &mut cache)?;
            let (changes, oddities) = seen.join().unwrap_or_else(|panic| resume_unwind(panic))?;
            Ok(Aftermath { tree, changes, oddities })
        })
    }

    /// Differences between two censuses that are not changes of content.
    fn oddities(
        &self,
        before: &Census,
        after: &Census,
        changes: &[ChangedPath],
    ) -> Result<Vec<Oddity>, GitError> {
        let changed: BTreeSet<&Path> = changes.iter().map(|change| change.path.as_path()).collect();
        let mut odd = after.git_oddities(before, self.path());
        odd.extend(self.submodule_oddities());
        let submodules = self.submodule_folders();
        let in_submodule =
            |path: &Path| submodules.iter().any(|folder| path != folder && path.starts_with(folder));
        let (mut unexplained, mut tools) = (Vec::new(), Vec::new());
        for (path, was, now) in before.inventory.paired_with(&after.inventory) {
            if in_submodule(path) && now.is_none_or(|now| now.kind != FileKind::Repository) {
                continue;
            }
            let is_reported = was != now && changed.contains(path);
            let Some(now) = now else {
                if was.is_some_and(InventoryEntry::is_content) && !is_reported {
                    unexplained.push(path.to_path_buf());
                }
                continue;
            };
            let mut found = now.oddity_kind(was, is_reported);
            if now.kind == FileKind::Folder && was.is_none() && !after.inventory.is_filled(path) {
                found = Some(OddityKind::EmptyFolder);
            }
            match found {
                Some(what @ (OddityKind::HardLink | OddityKind::Fifo | OddityKind::Socket)) => {
                    unexplained.push(path.to_path_buf());
                    tools.push(Oddity { path: path.to_path_buf(), what });
                }
                Some(what) => odd.push(Oddity { path: path.to_path_buf(), what }),
                None if now.is_content() && !is_reported && was.is_none_or(|was| was.differs(now)) => {
                    unexplained.push(path.to_path_buf());
                }
                None => {}
            }
        }
        let ignored = self.ignored(&unexplained, TrackedFiles::Spared)?;
        // Compilers and servers leave these among their own files, which git ignores.
        odd.extend(tools.into_iter().filter(|odd| !ignored.contains(&odd.path)));
        odd.extend(ignored.into_iter().map(|path| Oddity { path, what: OddityKind::Ignored }));
        odd.sort();
        Ok(odd)
    }

    /// Undoes oddities: removes what no state contains, resets modes, and breaks hard links.
    pub fn undo_oddities(&self, before: &Census, oddities: &[Oddity]) -> Result<(), GitError> {
        for Oddity { path, what } in oddities {
            let at = self.path().join(path);
            match what {
                OddityKind::Fifo
                | OddityKind::Socket
                | OddityKind::Device
                | OddityKind::Ignored
                | OddityKind::Repository => {
                    remove_with_empty_parents(self.path(), path)?;
                }
                OddityKind::EmptyFolder => prune_empty(&at),
                OddityKind::HardLink => break_hard_link(&at)?,
                OddityKind::Privileged(mode) => {
                    let was = before.inventory.get(path).map_or(mode & 0o777, |entry| entry.mode & 0o777);
                    set_mode(&at, was)?;
                }
                OddityKind::Mode(was, _) => set_mode(&at, *was)?,
                OddityKind::Git(was, _) if path.is_absolute() => restore_git_file(path, was.as_deref())?,
                // The next use of the work tree repairs its attachment.
                OddityKind::Git(..) | OddityKind::Submodule | OddityKind::InSubmodule => {}
            }
        }
        if oddities.iter().any(|odd| matches!(odd.what, OddityKind::Submodule | OddityKind::InSubmodule)) {
            self.refill_submodules()?;
        }
        Ok(())
    }

    /// Removes what no state contains, and returns whether the rest is exactly what a fresh checkout of the state would
    /// contain: content, modes and folders.
    pub(super) fn holds_only(&self, state: &TreeId) -> Result<bool, GitError> {
        let found = self.begin(KeepIgnored::Nothing, Reach::Tree)?;
        let prepared = self.prepare()?;
        let Some(index) = self.index() else {
            return Ok(false);
        };
        let is_way = |(path, entry): (&Path, &InventoryEntry)| {
            entry.kind == FileKind::Folder && found.inventory.is_filled(path)
        };
        if found.inventory.has_unreadable()
            || !index.compare(&found.inventory).untracked.into_iter().all(is_way)
        {
            return Ok(false);
        }
        // A new file shows the default permissions.
        let fresh = self.private("fresh");
        remove(&fresh)?;
        fs::write(&fresh, "").map_err(error::file("write", &fresh))?;
        let usual =
            fs::metadata(&fresh).map_err(error::file("look at", &fresh))?.permissions().mode() & 0o666;
        remove(&fresh)?;
        let is_usual = |entry: &InventoryEntry| entry.kind == FileKind::Link || entry.mode & 0o666 == usual;
        if !found.inventory.iter().all(|(_, entry)| is_usual(entry)) {
            return Ok(false);
        }
        let staged = self.stage(prepared, Some((&index, &found.inventory)))?;
        Ok(self.changed_since(state, &staged)?.is_empty())
    }

    /// Passes the tree to a holder. If it is a new one, removes the ignored files of the previous holder.
    pub(super) fn pass_to(&self, holder: &str) -> Result<(), GitError> {
        let holder_file = self.private("holder");
        if fs::read(&holder_file).is_ok_and(|held| held == holder.as_bytes()) {
            return Ok(());
        }
        self.remove_ignored(KeepIgnored::Nothing)?;
        write_whole(&holder_file, holder.as_bytes())
    }

    /// Removes ignored files, which would otherwise pass unnoticed from one role to the next.
    fn remove_ignored(&self, keep: KeepIgnored) -> Result<(), GitError> {
        let words = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
        let output = git(&self.context(), words).run()?;
        for name in fields(&output) {
            let inside = path(name.strip_suffix(b"/").unwrap_or(name));
            if keep == KeepIgnored::Nothing || !inside.iter().any(is_build_output) {
                remove_with_empty_parents(self.path(), &inside)?;
            }
        }
        Ok(())
    }

    /// Folders that are named like build output but contain tracked files.
    fn tracked_output(&self) -> Result<BTreeSet<PathBuf>, GitError> {
        let output = git(&self.context(), ["ls-files", "-z"]).run()?;
        let files = fields(&output).map(path);
        let above = |file: PathBuf| file.ancestors().skip(1).map(Path::to_path_buf).collect::<Vec<_>>();
        Ok(files.flat_map(above).filter(|folder| folder.file_name().is_some_and(is_build_output)).collect())
    }

    fn census(&self, tracked: &BTreeSet<PathBuf>, reach: Reach) -> Result<Census, GitError> {
        let git = self.git_contents(reach);
        Ok(Census { inventory: self.inventory(tracked)?, tracked: tracked.clone(), git })
    }

    fn git_contents(&self, reach: Reach) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let content = |file: PathBuf| {
            let plain = fs::symlink_metadata(&file).is_ok_and(|found| found.is_file());
            let content = if plain { fs::read(&file).ok() } else { None };
            (file, content)
        };
        self.git_files(reach).into_iter().map(content).collect()
    }

    /// The files that attach the tree to its repository and, with `Reach::Repository`, those that configure git there.
    fn git_files(&self, reach: Reach) -> Vec<PathBuf> {
        let plain = |folder: &Path| -> Vec<PathBuf> {
            // The folders `hooks` and `info` need not exist.
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries
                .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()))
                .map(|e| e.path())
                .collect()
        };
        let admin = self.admin();
        let mut files = vec![self.path().join(".git")];
        files.extend(plain(&admin).into_iter().filter(|file| {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            // Git rewrites its index on many occasions, and the engine has its own.
            !name.starts_with("index")
        }));
        if reach == Reach::Repository {
            let common = self.repository.common_dir();
            files.push(common.join("config"));
            files.extend(["hooks", "info"].iter().flat_map(|folder| plain(&common.join(folder))));
        }
        files
    }
}

impl Census {
    /// Entries that no state of a tree can contain.
    fn never_valid(&self) -> Vec<Oddity> {
        let oddity_kind = |(path, entry): (&Path, &InventoryEntry)| {
            entry.oddity_kind(None, false).map(|what| Oddity { path: path.to_path_buf(), what })
        };
        self.inventory.iter().filter_map(oddity_kind).collect()
    }

    fn git_oddities(&self, before: &Census, root: &Path) -> Vec<Oddity> {
        let names: BTreeSet<&PathBuf> = self.git.keys().chain(before.git.keys()).collect();
        let differs = |file: &&PathBuf| self.git.get(*file) != before.git.get(*file);
        let odd = |file: &PathBuf| {
            let content = |census: &Census| census.git.get(file).cloned().flatten();
            let path = file.strip_prefix(root).unwrap_or(file).to_path_buf();
            Oddity { path, what: OddityKind::Git(content(before), content(self)) }
        };
        names.into_iter().filter(differs).map(odd).collect()
    }
}

/// Gives a file its own inode with the same content and mode.
fn break_hard_link(file: &Path) -> Result<(), GitError> {
    let temporary = file.with_extension("parted");
    let parted = || {
        remove(&temporary).map_err(std::io::Error::other)?;
        fs::copy(file, &temporary)?;
        fs::rename(&temporary, file)
    };
    parted().map_err(error::file("break the hard link of", file))
}

fn set_mode(file: &Path, mode: u32) -> Result<(), GitError> {
    match fs::symlink_metadata(file) {
        Ok(found) if !found.is_symlink() => {
            fs::set_permissions(file, fs::Permissions::from_mode(mode)).map_err(error::file("open", file))
        }
        // A link has no mode of its own, and a file that is gone needs none.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Restores one of git's own files.
fn restore_git_file(file: &Path, was: Option<&[u8]>) -> Result<(), GitError> {
    match was {
        Some(content) => {
            let parent = file.parent().unwrap_or(Path::new("/"));
            let name = file.file_name().map(PathBuf::from).unwrap_or_default();
            if !fs::symlink_metadata(file).is_ok_and(|found| found.is_file()) {
                remove_inside(parent, &name)?;
            }
            fs::write(file, content).map_err(error::file("write", file))
        }
        None => remove(file),
    }
}
