//! A scan of a work tree: the file metadata of every path. It reads no file content and does not call git.

use super::leftover::LeftoverKind;
use super::remove::make_folder_accessible;
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

/// The number of threads. They spend most of their time waiting for the file system.
const THREADS: usize = 4;

/// All paths in a work tree, except `.git` at its root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TreeScan {
    /// Sorted by the bytes of the path, as git sorts them.
    entries: Vec<(PathBuf, ScanEntry)>,
    /// Paths that could not be read.
    unreadable: Vec<PathBuf>,
    /// Folders beyond the reach of the scan, whose content is not listed.
    cut: Vec<PathBuf>,
}

/// How far a scan goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScanReach {
    /// The number of names in the path of a folder that is listed.
    pub(super) depth: usize,
    /// The bytes of its path.
    pub(super) path_length: usize,
    /// The number of entries after which no more folders are listed.
    pub(super) entries: usize,
}

impl ScanReach {
    /// For trees that are known to be within their limits.
    pub(super) const EVERYTHING: ScanReach =
        ScanReach { depth: usize::MAX, path_length: usize::MAX, entries: usize::MAX };

    fn includes(&self, folder: &Path, listed: usize) -> bool {
        listed <= self.entries
            && folder.as_os_str().len() <= self.path_length
            && folder.components().count() < self.depth
    }
}

/// The entries of some folders, and the folders in them that are still to be listed.
#[derive(Debug, Default)]
struct PartialScan {
    scan: TreeScan,
    subfolders: Vec<PathBuf>,
}

/// The metadata of one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScanEntry {
    pub(super) kind: FileKind,
    pub(super) mode: u32,
    links: u64,
    pub(super) owner: (u32, u32),
    pub(super) inode: u64,
    pub(super) size: u64,
    /// In units of 512 bytes.
    blocks: u64,
    pub(super) modified: Time,
    /// The inode change time, which only the operating system can set.
    pub(super) changed: Time,
}

/// Seconds and nanoseconds.
pub(super) type Time = (i64, i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    File,
    Folder,
    Link,
    /// A folder of build output. Its content is not listed.
    BuildOutput,
    /// A `.git` below the root.
    Repository,
    Fifo,
    Socket,
    Device,
}

impl WorkTree {
    /// Lists all paths except the content of build output folders. `tracked` are folders that are named like build output
    /// but contain tracked files.
    pub(super) fn scan(&self, tracked: &BTreeSet<PathBuf>, reach: &ScanReach) -> Result<TreeScan, GitError> {
        let mut scan = TreeScan::default();
        self.scan_below(&mut scan, vec![PathBuf::new()], tracked, reach)?;
        Ok(scan)
    }

    /// Adds the content of build output folders to a scan.
    pub(super) fn scan_output(
        &self,
        scan: &mut TreeScan,
        folders: Vec<PathBuf>,
        tracked: &BTreeSet<PathBuf>,
        reach: &ScanReach,
    ) -> Result<(), GitError> {
        for (path, entry) in &mut scan.entries {
            if entry.kind == FileKind::BuildOutput && folders.contains(path) {
                entry.kind = FileKind::Folder;
            }
        }
        let (listed, cut): (Vec<PathBuf>, Vec<PathBuf>) =
            folders.into_iter().partition(|folder| reach.includes(folder, scan.entries.len()));
        scan.cut.extend(cut);
        self.scan_below(scan, listed, tracked, reach)
    }

    /// Adds everything below some folders to a scan.
    fn scan_below(
        &self,
        scan: &mut TreeScan,
        mut pending: Vec<PathBuf>,
        tracked: &BTreeSet<PathBuf>,
        reach: &ScanReach,
    ) -> Result<(), GitError> {
        while !pending.is_empty() {
            let share = pending.len().div_ceil(THREADS);
            let parts: Vec<Result<PartialScan, GitError>> = thread::scope(|scope| {
                let (first, others) = pending.split_at(share);
                let others: Vec<_> = others
                    .chunks(share)
                    .map(|folders| scope.spawn(move || self.list(folders, tracked)))
                    .collect();
                let first = self.list(first, tracked);
                let joined =
                    others.into_iter().map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic)));
                iter::once(first).chain(joined).collect()
            });
            pending.clear();
            for part in parts {
                let part = part?;
                scan.entries.extend(part.scan.entries);
                scan.unreadable.extend(part.scan.unreadable);
                let listed = scan.entries.len();
                let (within, cut): (Vec<PathBuf>, Vec<PathBuf>) =
                    part.subfolders.into_iter().partition(|folder| reach.includes(folder, listed));
                pending.extend(within);
                scan.cut.extend(cut);
            }
        }
        // Each part is already sorted, so this sort is fast.
        scan.entries.sort_by(by_path);
        Ok(())
    }

    /// Lists the direct children of these folders.
    fn list(&self, folders: &[PathBuf], tracked: &BTreeSet<PathBuf>) -> Result<PartialScan, GitError> {
        let mut part = PartialScan::default();
        for folder in folders {
            let at = self.path().join(folder);
            // The folder's entry keeps the mode that made it inaccessible.
            let accessible =
                |_| make_folder_accessible(&at).ok().and_then(|()| fs::read_dir(&at).ok()).ok_or(());
            let Ok(entries) = fs::read_dir(&at).or_else(accessible) else {
                part.scan.unreadable.push(folder.clone());
                continue;
            };
            for entry in entries {
                let entry = entry.map_err(error::file("list", &at))?;
                let name = entry.file_name();
                let inside = folder.join(&name);
                let Ok(metadata) = entry.metadata() else {
                    part.scan.unreadable.push(inside);
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
                    part.subfolders.push(inside.clone());
                }
                part.scan.entries.push((inside, ScanEntry::of(&metadata, kind)));
            }
        }
        part.scan.entries.sort_unstable_by(by_path);
        Ok(part)
    }
}

impl TreeScan {
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Path, &ScanEntry)> {
        self.entries.iter().map(|(path, entry)| (path.as_path(), entry))
    }

    pub(super) fn get(&self, path: &Path) -> Option<&ScanEntry> {
        let found = self.entries.binary_search_by(|(one, _)| one.as_os_str().cmp(path.as_os_str()));
        found.ok().map(|at| &self.entries[at].1)
    }

    /// Pairs the entries of this scan with those of a later one, by path.
    pub(super) fn paired_with<'a>(
        &'a self,
        later: &'a TreeScan,
    ) -> impl Iterator<Item = (&'a Path, Option<&'a ScanEntry>, Option<&'a ScanEntry>)> {
        let (mut was, mut now) = (self.entries.iter().peekable(), later.entries.iter().peekable());
        iter::from_fn(move || {
            let order = match (was.peek(), now.peek()) {
                (Some(was), Some(now)) => by_path(was, now),
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
        let has_prefix = |path: &Path| path.as_os_str().as_bytes().starts_with(folder.as_os_str().as_bytes());
        let candidates = self.entries[from..].iter().take_while(|(path, _)| has_prefix(path));
        candidates.into_iter().any(|(path, entry)| entry.kind != FileKind::Folder && path.starts_with(folder))
    }

    /// The folders whose content is not listed because it is beyond the reach of the scan.
    pub(super) fn cut(&self) -> &[PathBuf] {
        &self.cut
    }

    /// The folders of build output whose content is not listed.
    pub(super) fn output_folders(&self) -> impl Iterator<Item = &Path> {
        self.iter().filter(|(_, entry)| entry.kind == FileKind::BuildOutput).map(|(path, _)| path)
    }

    /// Returns whether a path is a folder of build output.
    pub(super) fn has_output(&self, path: &Path) -> bool {
        self.get(path).is_some_and(|entry| entry.kind == FileKind::BuildOutput)
    }

    /// Returns whether files with ignore rules differ from those of a later scan.
    pub(super) fn ignore_files_differ(&self, later: &TreeScan) -> bool {
        self.paired_with(later).any(|(path, was, now)| {
            path.file_name().is_some_and(|name| name == ".gitignore")
                && match (was, now) {
                    (Some(was), Some(now)) => was.differs(now),
                    (Some(_), None) | (None, Some(_)) => true,
                    (None, None) => false,
                }
        })
    }

    /// Returns whether some paths could not be read.
    pub(super) fn has_unreadable(&self) -> bool {
        !self.unreadable.is_empty()
    }
}

impl ScanEntry {
    fn of(found: &Metadata, kind: FileKind) -> ScanEntry {
        ScanEntry {
            kind,
            mode: found.mode() & 0o7777,
            links: found.nlink(),
            owner: (found.uid(), found.gid()),
            inode: found.ino(),
            size: found.size(),
            blocks: found.blocks(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }

    /// The bytes that the file has on disk.
    pub(super) fn allocated(&self) -> u64 {
        self.blocks.saturating_mul(512)
    }

    pub(super) fn is_content(&self) -> bool {
        matches!(self.kind, FileKind::File | FileKind::Link)
    }

    pub(super) fn differs(&self, other: &ScanEntry) -> bool {
        (self.kind, self.inode, self.size, self.changed)
            != (other.kind, other.inode, other.size, other.changed)
    }

    /// Returns the kind of leftover that this entry is, if it is one. `was` is the earlier entry; `is_reported` says whether
    /// the path is already reported as changed.
    pub(super) fn leftover_kind(&self, was: Option<&ScanEntry>, is_reported: bool) -> Option<LeftoverKind> {
        let has_new_bits =
            |was: Option<&ScanEntry>| self.mode & 0o7000 != was.map_or(0, |was| was.mode & 0o7000);
        match self.kind {
            FileKind::Fifo => Some(LeftoverKind::Fifo),
            FileKind::Socket => Some(LeftoverKind::Socket),
            FileKind::Device => Some(LeftoverKind::Device),
            FileKind::Repository => was.is_none().then_some(LeftoverKind::Repository),
            FileKind::File if self.links > 1 => Some(LeftoverKind::HardLink),
            FileKind::File if self.mode & 0o7000 != 0 => Some(LeftoverKind::Privileged(self.mode)),
            // A folder inherits the set-group bit from its parent, so that bit alone does not count.
            FileKind::Folder if has_new_bits(was) && self.mode & 0o5000 != 0 => {
                Some(LeftoverKind::Privileged(self.mode))
            }
            FileKind::File | FileKind::Folder => {
                let was = was.filter(|was| was.kind == self.kind && was.mode != self.mode && !is_reported)?;
                Some(LeftoverKind::Mode(was.mode, self.mode))
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

fn by_path((one, _): &(PathBuf, ScanEntry), (other, _): &(PathBuf, ScanEntry)) -> Ordering {
    one.as_os_str().cmp(other.as_os_str())
}

/// Returns whether folders with this name usually contain build output.
pub(super) fn is_build_output(name: impl AsRef<std::ffi::OsStr>) -> bool {
    BUILD_OUTPUT.iter().any(|known| name.as_ref() == *known)
}
