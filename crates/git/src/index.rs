//! Reads a git index: which files are tracked, and their metadata when they were added.
//!
//! The comparison uses the same metadata as git, always with nanoseconds. `gitformat-index` describes the format; an index
//! with rare features is left to git.

use super::invocation::path;
use super::scan::{FileKind, ScanEntry, Time, TreeScan, is_build_output};
use remand_notation::hex::hex;
use std::collections::BTreeSet;
use std::fs;
use std::iter;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Bytes before the entries: signature, version, number of entries.
const HEADER: usize = 12;
/// Bytes before the object id of an entry: times, device, inode, mode, owner and size, in fields of four bytes.
const STAT: usize = 40;
/// Flags of entries that are left to git: extended flags follow, a merge is in progress, or the file is assumed
/// unchanged.
const RARE_FLAGS: u16 = 0xf000;
/// The length field of a name that is longer than the field can express.
const LONG_NAME: u16 = 0x0fff;
const SUBMODULE: u32 = 0o160000;

/// The tracked files.
#[derive(Debug)]
pub(super) struct Index {
    /// Sorted by the bytes of the path.
    files: Vec<IndexEntry>,
    /// The id of the tree of all files, if the tree was written after the last file was added.
    pub(super) tree: Option<String>,
    /// When the index was written.
    written: Time,
    /// Whether the times of the files are known, so that files can be compared with a scan.
    pub(super) has_times: bool,
}

/// Differences between an index and a scan.
#[derive(Debug, Default)]
pub(super) struct IndexDiff<'a> {
    /// Tracked files that changed, or that may have changed while the index was written.
    pub(super) touched: Vec<&'a IndexEntry>,
    pub(super) untracked: Vec<(&'a Path, &'a ScanEntry)>,
}

/// A tracked file, with its metadata when it was added.
#[derive(Debug)]
pub(super) struct IndexEntry {
    pub(super) path: PathBuf,
    pub(super) mode: u32,
    changed: Time,
    modified: Time,
    inode: u32,
    owner: (u32, u32),
    pub(super) size: u32,
}

impl Index {
    /// Reads an index whose object ids have `id` bytes; `None` if it is missing, broken or uses rare features.
    pub(super) fn read(file: &Path, id: usize) -> Option<Index> {
        let found = fs::metadata(file).ok()?;
        let bytes = fs::read(file).ok()?;
        let (files, rest) = entries(&bytes, id)?;
        let tree = tree(rest, id)?;
        Some(Index { files, tree, written: (found.mtime(), found.mtime_nsec()), has_times: true })
    }

    /// The tracked files as git lists them, with their sizes and without times.
    pub(super) fn of_files(files: impl IntoIterator<Item = (PathBuf, u64)>) -> Index {
        let entry = |(path, size): (PathBuf, u64)| IndexEntry {
            path,
            mode: 0,
            changed: (0, 0),
            modified: (0, 0),
            inode: 0,
            owner: (0, 0),
            size: u32::try_from(size).unwrap_or(u32::MAX),
        };
        let mut files: Vec<IndexEntry> = files.into_iter().map(entry).collect();
        files.sort_by(|one, other| one.path.as_os_str().cmp(other.path.as_os_str()));
        Index { files, tree: None, written: (0, 0), has_times: false }
    }

    /// The number of tracked files.
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    pub(super) fn contains(&self, path: &Path) -> bool {
        self.files.binary_search_by(|file| file.path.as_os_str().cmp(path.as_os_str())).is_ok()
    }

    /// Returns whether a folder contains tracked files.
    pub(super) fn has_below(&self, folder: &Path) -> bool {
        let prefix = [folder.as_os_str().as_bytes(), b"/"].concat();
        let from = self.files.partition_point(|file| file.path.as_os_str().as_bytes() < prefix.as_slice());
        self.files.get(from).is_some_and(|file| file.path.as_os_str().as_bytes().starts_with(&prefix))
    }

    /// The largest number of names in the path of a tracked file, and the length of the longest path.
    pub(super) fn extent(&self) -> (usize, usize) {
        let slashes = |path: &[u8]| path.iter().filter(|byte| **byte == b'/').count() + 1;
        let paths = self.files.iter().map(|file| file.path.as_os_str().as_bytes());
        paths.fold((0, 0), |(depth, length), path| (depth.max(slashes(path)), length.max(path.len())))
    }

    /// Folders that are named like build output but contain tracked files.
    pub(super) fn output_folders(&self) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let mut last: Option<&Path> = None;
        for parent in self.files.iter().filter_map(|file| file.path.parent()) {
            if last.replace(parent) != Some(parent) {
                let is_output = |folder: &&Path| folder.file_name().is_some_and(is_build_output);
                found.extend(parent.ancestors().filter(is_output).map(Path::to_path_buf));
            }
        }
        found
    }

    /// Compares the tracked files with a scan.
    pub(super) fn compare<'a>(&'a self, scan: &'a TreeScan) -> IndexDiff<'a> {
        let is_newer_than_index =
            |file: &IndexEntry| file.modified >= self.written || file.changed >= self.written;
        let mut found = IndexDiff::default();
        let mut scan = scan.iter().peekable();
        for file in &self.files {
            let name = file.path.as_os_str();
            found.untracked.extend(iter::from_fn(|| scan.next_if(|(path, _)| path.as_os_str() < name)));
            let found_entry = scan.next_if(|(path, _)| path.as_os_str() == name);
            if is_newer_than_index(file) || !found_entry.is_some_and(|(_, entry)| file.matches(entry)) {
                found.touched.push(file);
            }
        }
        found.untracked.extend(scan);
        found
    }
}

impl IndexEntry {
    fn matches(&self, entry: &ScanEntry) -> bool {
        let kind = match self.mode {
            0o100644 | 0o100755 => FileKind::File,
            _ => FileKind::Link,
        };
        let is_executable = |mode: u32| mode & 0o100 != 0;
        // Git stores only the lower 32 bits.
        self.inode == entry.inode as u32
            && self.size == entry.size as u32
            && (self.changed, self.modified, self.owner) == (entry.changed, entry.modified, entry.owner)
            && kind == entry.kind
            && (kind == FileKind::Link || is_executable(self.mode) == is_executable(entry.mode))
    }
}

/// Parses the entries. Also returns the remaining bytes.
fn entries(bytes: &[u8], id: usize) -> Option<(Vec<IndexEntry>, &[u8])> {
    let (head, mut rest) = bytes.split_at_checked(HEADER)?;
    let count = match (&head[..4], word(head, 1)?) {
        (b"DIRC", 2 | 3) => word(head, 2)?,
        _ => return None,
    };
    let mut files: Vec<IndexEntry> = Vec::new();
    for _ in 0..count {
        let flags = u16::from_be_bytes(rest.get(STAT + id..)?.first_chunk().copied()?);
        let length = usize::from(flags & LONG_NAME);
        if flags & RARE_FLAGS != 0 || length == usize::from(LONG_NAME) {
            return None;
        }
        let begin = STAT + id + 2;
        let name = rest.get(begin..begin + length)?;
        // One to eight zeros pad the length to a multiple of eight.
        let end = (begin + length) / 8 * 8 + 8;
        if name.contains(&0) || rest.get(begin + length..end)?.iter().any(|byte| *byte != 0) {
            return None;
        }
        let file = parse_entry(rest, name)?;
        let in_order = files.last().is_none_or(|last| last.path.as_os_str() < file.path.as_os_str());
        if !in_order || file.mode == SUBMODULE {
            return None;
        }
        files.push(file);
        rest = rest.get(end..)?;
    }
    Some((files, rest))
}

/// Finds the id of the root tree in the extensions; `None` if an unknown extension is mandatory.
fn tree(mut rest: &[u8], id: usize) -> Option<Option<String>> {
    let mut tree = None;
    // The checksum comes last.
    while rest.len() > id {
        let (head, after) = rest.split_at_checked(8)?;
        let (content, next) = after.split_at_checked(usize::try_from(word(head, 1)?).ok()?)?;
        match &head[..4] {
            b"TREE" => tree = root_tree(content, id),
            optional if optional[0].is_ascii_uppercase() => {}
            _ => return None,
        }
        rest = next;
    }
    Some(tree)
}

/// Parses the first row of the tree extension: an empty name, the number of files, the number of folders, and the id of
/// the tree. The id is missing if the first number is negative.
fn root_tree(rows: &[u8], id: usize) -> Option<String> {
    let end = rows.iter().position(|byte| *byte == b'\n')?;
    let numbers = rows[..end].strip_prefix(b"\0")?;
    let id = rows.get(end + 1..end + 1 + id)?;
    (!numbers.starts_with(b"-")).then(|| hex(id))
}

fn parse_entry(entry: &[u8], name: &[u8]) -> Option<IndexEntry> {
    let time = |at: usize| Some((i64::from(word(entry, at)?), i64::from(word(entry, at + 1)?)));
    Some(IndexEntry {
        path: path(name),
        changed: time(0)?,
        modified: time(2)?,
        inode: word(entry, 5)?,
        mode: word(entry, 6)?,
        owner: (word(entry, 7)?, word(entry, 8)?),
        size: word(entry, 9)?,
    })
}

/// Reads the big-endian four-byte word at this index.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at * 4..)?.first_chunk().copied().map(u32::from_be_bytes)
}
