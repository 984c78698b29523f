//! What is in a work tree, path by path, as the file system tells it. Nothing is read, and git is not asked.

use super::oddity::Strange;
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

/// Folders of this name hold what tools make, if nothing in them is tracked.
const BUILT: &[&str] = &[
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

/// So many look at once: most of a look is waiting for the kernel.
const WALKERS: usize = 4;

/// All paths below the root of a work tree, without those of git itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stock {
    /// Sorted by the bytes of the path, as git sorts them.
    entries: Vec<(PathBuf, Entry)>,
    /// Paths that could not be looked at.
    closed: Vec<PathBuf>,
}

/// What some folders hold, and the folders in them that are still to be looked into.
#[derive(Debug, Default)]
struct Part {
    stock: Stock,
    below: Vec<PathBuf>,
}

/// What is at one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    pub(super) mode: u32,
    links: u64,
    pub(super) owner: (u32, u32),
    pub(super) inode: u64,
    pub(super) size: u64,
    pub(super) modified: Time,
    /// The time of the inode, which nobody but the kernel sets.
    pub(super) changed: Time,
}

/// Seconds and nanoseconds.
pub(super) type Time = (i64, i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Link,
    /// Build output, not looked into.
    Built,
    /// A `.git` below the root.
    Repository,
    Fifo,
    Socket,
    Device,
}

impl WorkTree {
    /// Looks at everything but build output, which is named like it and holds nothing `tracked`.
    pub(super) fn stock(&self, tracked: &BTreeSet<PathBuf>) -> Result<Stock, GitError> {
        let mut stock = Stock::default();
        let mut open = vec![PathBuf::new()];
        while !open.is_empty() {
            let share = open.len().div_ceil(WALKERS);
            let parts: Vec<Result<Part, GitError>> = thread::scope(|scope| {
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
                stock.entries.extend(part.stock.entries);
                stock.closed.extend(part.stock.closed);
                open.extend(part.below);
            }
        }
        // The parts are in order each, which this sort makes use of.
        stock.entries.sort_by(in_order);
        Ok(stock)
    }

    /// Looks at what is right in these folders.
    fn list(&self, folders: &[PathBuf], tracked: &BTreeSet<PathBuf>) -> Result<Part, GitError> {
        let mut part = Part::default();
        for folder in folders {
            let at = self.path().join(folder);
            let Ok(entries) = fs::read_dir(&at) else {
                // A closed folder is told by its mode.
                part.stock.closed.push(folder.clone());
                continue;
            };
            for entry in entries {
                let entry = entry.map_err(error::file("list", &at))?;
                let name = entry.file_name();
                let inside = folder.join(&name);
                let Ok(metadata) = entry.metadata() else {
                    part.stock.closed.push(inside);
                    continue;
                };
                let mut kind = Kind::of(&metadata);
                if name == ".git" {
                    if folder.as_os_str().is_empty() {
                        continue;
                    }
                    kind = Kind::Repository;
                } else if kind == Kind::Folder && is_built(&name) && !tracked.contains(&inside) {
                    kind = Kind::Built;
                } else if kind == Kind::Folder {
                    part.below.push(inside.clone());
                }
                part.stock.entries.push((inside, Entry::of(&metadata, kind)));
            }
        }
        part.stock.entries.sort_unstable_by(in_order);
        Ok(part)
    }
}

impl Stock {
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Path, &Entry)> {
        self.entries.iter().map(|(path, entry)| (path.as_path(), entry))
    }

    pub(super) fn get(&self, path: &Path) -> Option<&Entry> {
        let found = self.entries.binary_search_by(|(one, _)| one.as_os_str().cmp(path.as_os_str()));
        found.ok().map(|at| &self.entries[at].1)
    }

    /// Goes through this stock and a later one side by side: each path with what was there and what is.
    pub(super) fn beside<'a>(
        &'a self,
        later: &'a Stock,
    ) -> impl Iterator<Item = (&'a Path, Option<&'a Entry>, Option<&'a Entry>)> {
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

    /// Whether a folder has anything below it that is not a folder.
    pub(super) fn is_filled(&self, folder: &Path) -> bool {
        let from = self.entries.partition_point(|(one, _)| one.as_os_str() <= folder.as_os_str());
        // Names such as `folder-2` and `folder.txt` can lie between a folder and what is in it.
        let beside = |path: &Path| path.as_os_str().as_bytes().starts_with(folder.as_os_str().as_bytes());
        let below = self.entries[from..].iter().take_while(|(path, _)| beside(path));
        below.into_iter().any(|(path, entry)| entry.kind != Kind::Folder && path.starts_with(folder))
    }

    /// Whether there is what could not be looked at.
    pub(super) fn has_closed(&self) -> bool {
        !self.closed.is_empty()
    }
}

impl Entry {
    fn of(found: &Metadata, kind: Kind) -> Entry {
        Entry {
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
        matches!(self.kind, Kind::File | Kind::Link)
    }

    pub(super) fn differs(&self, other: &Entry) -> bool {
        (self.kind, self.inode, self.size, self.changed)
            != (other.kind, other.inode, other.size, other.changed)
    }

    /// In what way this is odd, given what was there before, and whether a change of its content is told elsewhere.
    pub(super) fn strange(&self, was: Option<&Entry>, told: bool) -> Option<Strange> {
        let privileged = |was: Option<&Entry>| self.mode & 0o7000 != was.map_or(0, |was| was.mode & 0o7000);
        match self.kind {
            Kind::Fifo => Some(Strange::Fifo),
            Kind::Socket => Some(Strange::Socket),
            Kind::Device => Some(Strange::Device),
            Kind::Repository => was.is_none().then_some(Strange::Repository),
            Kind::File if self.links > 1 => Some(Strange::HardLink),
            Kind::File if self.mode & 0o7000 != 0 => Some(Strange::Privileged(self.mode)),
            // A folder takes its set-group bit from the one above it.
            Kind::Folder if privileged(was) && self.mode & 0o5000 != 0 => {
                Some(Strange::Privileged(self.mode))
            }
            Kind::File | Kind::Folder => {
                let was = was.filter(|was| was.kind == self.kind && was.mode != self.mode && !told)?;
                Some(Strange::Mode(was.mode, self.mode))
            }
            Kind::Link | Kind::Built => None,
        }
    }
}

impl Kind {
    fn of(found: &Metadata) -> Kind {
        let kind = found.file_type();
        if kind.is_dir() {
            Kind::Folder
        } else if kind.is_file() {
            Kind::File
        } else if kind.is_symlink() {
            Kind::Link
        } else if kind.is_fifo() {
            Kind::Fifo
        } else if kind.is_socket() {
            Kind::Socket
        } else {
            Kind::Device
        }
    }
}

fn in_order((one, _): &(PathBuf, Entry), (other, _): &(PathBuf, Entry)) -> Ordering {
    one.as_os_str().cmp(other.as_os_str())
}

/// Whether a folder of this name holds what tools make.
pub(super) fn is_built(name: impl AsRef<std::ffi::OsStr>) -> bool {
    BUILT.iter().any(|built| name.as_ref() == *built)
}
