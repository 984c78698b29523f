//! An inventory of a work tree: the file metadata of every path. Reads no file content and does not ask git.

use super::oddity::OddityKind;
use super::{GitError, WorkTree, error};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::iter;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

/// Names of folders with build output, unless they contain tracked files.
const BUILD_OUTPUT: &[&str] = &[
    "target",
    "build",
    "dist",
    "out",
    "bin",
    "obj",
    "node_modules",
    ".venv",
    "venv",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".tox",
    ".nox",
    ".eggs",
    ".gradle",
    ".next",
    ".nuxt",
    ".turbo",
    ".cache",
    ".parcel-cache",
    ".vite",
    "coverage",
    "htmlcov",
    "CMakeFiles",
];

/// The number of threads; most of the time is spent waiting for the kernel.
const THREADS: usize = 4;

/// All paths below the root of a work tree, except git's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Inventory {
    /// Sorted by the bytes of the path, as git sorts them.
    entries: Vec<(PathBuf, InventoryEntry)>,
    /// Paths that could not be read.
    unreadable: Vec<PathBuf>,
}

/// The entries of some folders, and the folders in them that are still to be listed.
#[derive(Debug, Default)]
struct PartialInventory {
    inventory: Inventory,
    below: Vec<PathBuf>,
}

/// The metadata of one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InventoryEntry {
    pub(super) kind: FileKind,
    pub(super) mode: u32,
    links: u64,
    pub(super) owner: (u32, u32),
    pub(super) inode: u64,
    pub(super) size: u64,
    pub(super) modified: Time,
    /// The inode change time, which only the kernel can set.
    pub(super) changed: Time,
}

/// Seconds and nanoseconds.
pub(super) type Time = (i64, i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    File,
    Folder,
    Link,
    /// A folder of build output, whose content is not listed.
    BuildOutput,
    /// A `.git` below the root.
    Repository,
    Fifo,
    Socket,
    Device,
}

impl WorkTree {
    /// Lists everything except the content of build output: folders with such a name that are not in `tracked`.
    pub(super) fn inventory(&self, tracked: &BTreeSet<PathBuf>) -> Result<Inventory, GitError> {
        let mut inventory = Inventory::default();
        let mut open = vec![PathBuf::new()];
        while !open.is_empty() {
            let share = open.len().div_ceil(THREADS);
            let parts: Vec<Result<PartialInventory, GitError>> = thread::scope(|scope| {
                let (own, others) = open.split_at(share);
                let others: Vec<_> = others
                    .chunks(share)
                    .map(|folders| scope.spawn(move || self.list(folders, tracked)))
                    .collect();
                let own = self.list(own, tracked);
                let joined =
                    others.into_iter().map(|part| part.join().unwrap_or_else(|it| resume_unwind(it)));
                iter::once(own).chain(joined).collect()
            });
            open.clear();
            for part in parts {
                let part = part?;
                inventory.entries.extend(part.inventory.entries);
                inventory.unreadable.extend(part.inventory.unreadable);
                open.extend(part.below);
            }
        }
        // Each part is already sorted, which this sort takes advantage of.
        inventory.entries.sort_by(in_order);
        Ok(inventory)
    }

    /// Lists the direct children of these folders.
    fn list(&self, folders: &[PathBuf], tracked: &BTreeSet<PathBuf>) -> Result<PartialInventory, GitError> {
        let mut part = PartialInventory::default();
        for folder in folders {
            let at = self.path().join(folder);
            let Ok(entries) = fs::read_dir(&at) else {
                // The mode of an inaccessible folder shows up in its own entry.
                part.inventory.unreadable.push(folder.clone());
                continue;
            };
            for entry in entries {
                let entry = entry.map_err(error::file("list", &at))?;
                let name = entry.file_name();
                let inside = folder.join(&name);
                let Ok(metadata) = entry.metadata() else {
                    part.inventory.unreadable.push(inside);
                    continue;
                };
                let mut kind = FileKind::of(&metadata);
                if name == ".git" {
                    if folder.as_os_str().is_empty() {
                        continue;
                    }
                    kind = FileKind::Repository;
                } else if kind == FileKind::Folder && is_build_output(&name) && !tracked.contains(&inside) {
                    kind = FileKind::BuildOutput;
                } else if kind == FileKind::Folder {
                    part.below.push(inside.clone());
                }
                part.inventory.entries.push((inside, InventoryEntry::of(&metadata, kind)));
            }
        }
        part.inventory.entries.sort_unstable_by(in_order);
        Ok(part)
    }
}

impl Inventory {
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Path, &InventoryEntry)> {
        self.entries.iter().map(|(path, entry)| (path.as_path(), entry))
    }

    pub(super) fn get(&self, path: &Path) -> Option<&InventoryEntry> {
        let found = self.entries.binary_search_by(|(one, _)| one.as_os_str().cmp(path.as_os_str()));
        found.ok().map(|at| &self.entries[at].1)
    }

    /// Pairs the entries of this inventory with those of a later one, by path.
    pub(super) fn paired_with<'a>(
        &'a self,
        later: &'a Inventory,
    ) -> impl Iterator<Item = (&'a Path, Option<&'a InventoryEntry>, Option<&'a InventoryEntry>)> {
        let (mut was, mut now) = (self.entries.iter().peekable(), later.entries.iter().peekable());
        iter::from_fn(move || {
            let order = match (was.peek(), now.peek()) {
                (Some(was), Some(now)) => in_order(was, now),
                (Some(_), None) => Ordering::Less,
                (None, _) => Ordering::Greater,
            };
            let was = if order.is_le() { was.next() } else { None };
            let now = if order.is_ge() { now.next() } else { None };
            let (path, _) = now.or(was)?;
            Some((path.as_path(), was.map(|(_, entry)| entry), now.map(|(_, entry)| entry)))
        })
    }

    /// Returns whether a folder contains anything that is not a folder, at any depth.
    pub(super) fn is_filled(&self, folder: &Path) -> bool {
        let from = self.entries.partition_point(|(one, _)| one.as_os_str() <= folder.as_os_str());
        // Names such as `folder-2` and `folder.txt` can sort between a folder and its content.
        let beside = |path: &Path| path.as_os_str().as_bytes().starts_with(folder.as_os_str().as_bytes());
        let below = self.entries[from..].iter().take_while(|(path, _)| beside(path));
        below.into_iter().any(|(path, entry)| entry.kind != FileKind::Folder && path.starts_with(folder))
    }

    /// Returns whether some paths could not be read.
    pub(super) fn has_unreadable(&self) -> bool {
        !self.unreadable.is_empty()
    }
}

impl InventoryEntry {
    fn of(found: &Metadata, kind: FileKind) -> InventoryEntry {
        InventoryEntry {
            kind,
            mode: found.mode() & 0o7777,
            links: found.nlink(),
            owner: (found.uid(), found.gid()),
            inode: found.ino(),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }

    pub(super) fn is_content(&self) -> bool {
        matches!(self.kind, FileKind::File | FileKind::Link)
    }

    pub(super) fn differs(&self, other: &InventoryEntry) -> bool {
        (self.kind, self.inode, self.size, self.changed)
            != (other.kind, other.inode, other.size, other.changed)
    }

    /// Returns why this entry is odd, if it is. `was` is the earlier entry; `is_reported` says whether a change of its content is
    /// already reported elsewhere.
    pub(super) fn oddity_kind(&self, was: Option<&InventoryEntry>, is_reported: bool) -> Option<OddityKind> {
        let privileged =
            |was: Option<&InventoryEntry>| self.mode & 0o7000 != was.map_or(0, |was| was.mode & 0o7000);
        match self.kind {
            FileKind::Fifo => Some(OddityKind::Fifo),
            FileKind::Socket => Some(OddityKind::Socket),
            FileKind::Device => Some(OddityKind::Device),
            FileKind::Repository => was.is_none().then_some(OddityKind::Repository),
            FileKind::File if self.links > 1 => Some(OddityKind::HardLink),
            FileKind::File if self.mode & 0o7000 != 0 => Some(OddityKind::Privileged(self.mode)),
            // A folder inherits the set-group bit from its parent, so that bit alone does not count.
            FileKind::Folder if privileged(was) && self.mode & 0o5000 != 0 => {
                Some(OddityKind::Privileged(self.mode))
            }
            FileKind::File | FileKind::Folder => {
                let was = was.filter(|was| was.kind == self.kind && was.mode != self.mode && !is_reported)?;
                Some(OddityKind::Mode(was.mode, self.mode))
            }
            FileKind::Link | FileKind::BuildOutput => None,
        }
    }
}

impl FileKind {
    fn of(found: &Metadata) -> FileKind {
        let kind = found.file_type();
        if kind.is_dir() {
            FileKind::Folder
        } else if kind.is_file() {
            FileKind::File
        } else if kind.is_symlink() {
            FileKind::Link
        } else if kind.is_fifo() {
            FileKind::Fifo
        } else if kind.is_socket() {
            FileKind::Socket
        } else {
            FileKind::Device
        }
    }
}

fn in_order((one, _): &(PathBuf, InventoryEntry), (other, _): &(PathBuf, InventoryEntry)) -> Ordering {
    one.as_os_str().cmp(other.as_os_str())
}

/// Returns whether folders with this name usually contain build output.
pub(super) fn is_build_output(name: impl AsRef<std::ffi::OsStr>) -> bool {
    BUILD_OUTPUT.iter().any(|built| name.as_ref() == *built)
}
