//! Reads a git index: which files are tracked, and their metadata when they were added.
//!
//! Compares the same metadata as git, and always with nanoseconds. The format is described in `gitformat-index`; rare
//! features of it are left to git.

use super::inventory::{FileKind, Inventory, InventoryEntry, Time};
use super::invocation::path;
use remand_notation::hex::hex;
use std::fs;
use std::iter;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Bytes before the entries: signature, version, number of entries.
const HEAD: usize = 12;
/// Bytes before the object id of an entry: times, device, inode, mode, owner, size, four bytes each.
const STAT: usize = 40;
/// Flags of an entry: extended flags follow, a merge is in progress, or the file is assumed unchanged.
const UNUSUAL: u16 = 0xf000;
const LONG_NAME: u16 = 0x0fff;
const SUBMODULE: u32 = 0o160000;

/// The tracked files.
#[derive(Debug)]
pub(super) struct Index {
    /// Sorted by the bytes of the path.
    files: Vec<IndexEntry>,
    /// The tree of all files, if it was written since the last file was added.
    pub(super) tree: Option<String>,
    /// When the index was written.
    written: Time,
}

/// Differences between an index and an inventory.
#[derive(Debug, Default)]
pub(super) struct IndexDiff<'a> {
    /// Tracked files that changed, or may have changed while the index was written.
    pub(super) touched: Vec<&'a IndexEntry>,
    pub(super) untracked: Vec<(&'a Path, &'a InventoryEntry)>,
}

/// A tracked file as it was when it was added.
#[derive(Debug)]
pub(super) struct IndexEntry {
    pub(super) path: PathBuf,
    pub(super) mode: u32,
    changed: Time,
    modified: Time,
    inode: u32,
    owner: (u32, u32),
    size: u32,
}

impl Index {
    /// Reads an index whose object ids have `id` bytes; `None` if it is missing, broken or uses rare features.
    pub(super) fn read(file: &Path, id: usize) -> Option<Index> {
        let found = fs::metadata(file).ok()?;
        let bytes = fs::read(file).ok()?;
        let (files, rest) = entries(&bytes, id)?;
        let tree = tree(rest, id)?;
        Some(Index { files, tree, written: (found.mtime(), found.mtime_nsec()) })
    }

    /// Compares the tracked files with an inventory.
    pub(super) fn compare<'a>(&'a self, inventory: &'a Inventory) -> IndexDiff<'a> {
        let is_young = |file: &IndexEntry| file.modified >= self.written || file.changed >= self.written;
        let mut found = IndexDiff::default();
        let mut inventory = inventory.iter().peekable();
        for file in &self.files {
            let name = file.path.as_os_str();
            found.untracked.extend(iter::from_fn(|| inventory.next_if(|(path, _)| path.as_os_str() < name)));
            let there = inventory.next_if(|(path, _)| path.as_os_str() == name);
            if is_young(file) || !there.is_some_and(|(_, entry)| file.is(entry)) {
                found.touched.push(file);
            }
        }
        found.untracked.extend(inventory);
        found
    }
}

impl IndexEntry {
    fn is(&self, entry: &InventoryEntry) -> bool {
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

/// Parses the entries; returns the rest of the bytes too.
fn entries(bytes: &[u8], id: usize) -> Option<(Vec<IndexEntry>, &[u8])> {
    let (head, mut rest) = bytes.split_at_checked(HEAD)?;
    let count = match (&head[..4], word(head, 1)?) {
        (b"DIRC", 2 | 3) => word(head, 2)?,
        _ => return None,
    };
    let mut files: Vec<IndexEntry> = Vec::new();
    for _ in 0..count {
        let flags = u16::from_be_bytes(rest.get(STAT + id..)?.first_chunk().copied()?);
        let length = usize::from(flags & LONG_NAME);
        if flags & UNUSUAL != 0 || length == usize::from(LONG_NAME) {
            return None;
        }
        let begin = STAT + id + 2;
        let name = rest.get(begin..begin + length)?;
        // One to eight zeros pad the length to a multiple of eight.
        let end = (begin + length) / 8 * 8 + 8;
        if name.contains(&0) || rest.get(begin + length..end)?.iter().any(|byte| *byte != 0) {
            return None;
        }
        let file = tracked(rest, name)?;
        let in_order = files.last().is_none_or(|last| last.path.as_os_str() < file.path.as_os_str());
        if !in_order || file.mode == SUBMODULE {
            return None;
        }
        files.push(file);
        rest = rest.get(end..)?;
    }
    Some((files, rest))
}

/// Finds the root tree in the extensions; `None` if one of them is unknown and mandatory.
fn tree(mut rest: &[u8], id: usize) -> Option<Option<String>> {
    let mut tree = None;
    // The checksum comes last.
    while rest.len() > id {
        let (head, after) = rest.split_at_checked(8)?;
        let (content, next) = after.split_at_checked(usize::try_from(word(head, 1)?).ok()?)?;
        match &head[..4] {
            b"TREE" => tree = root(content, id),
            optional if optional[0].is_ascii_uppercase() => {}
            _ => return None,
        }
        rest = next;
    }
    Some(tree)
}

/// Parses the first row of the tree extension: an empty name, the number of files, the number of folders, and the id
/// unless the first number is negative.
fn root(rows: &[u8], id: usize) -> Option<String> {
    let end = rows.iter().position(|byte| *byte == b'\n')?;
    let numbers = rows[..end].strip_prefix(b"\0")?;
    let id = rows.get(end + 1..end + 1 + id)?;
    (!numbers.starts_with(b"-")).then(|| hex(id))
}

fn tracked(entry: &[u8], name: &[u8]) -> Option<IndexEntry> {
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
