//! Reads an index of git's: which files are tracked, and what they looked like when they were taken in.
//!
//! It goes by what git itself goes by, and by parts of a second where git may not. The format is git's `gitformat-index`;
//! what is rare in it is left to git.

use super::call::path;
use super::stock::{Entry, Kind, Stock, Time};
use crate::hex::hex;
use std::fs;
use std::iter;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Before the entries: signature, version, number of entries.
const HEAD: usize = 12;
/// Before the object id of an entry: times, device, inode, mode, owner, size, four bytes each.
const STAT: usize = 40;
/// In the flags of an entry: more flags follow, a merge is under way, or git is told to believe in the file.
const UNUSUAL: u16 = 0xf000;
const LONG_NAME: u16 = 0x0fff;
const SUBMODULE: u32 = 0o160000;

/// The tracked files.
#[derive(Debug)]
pub(super) struct Index {
    /// Sorted by the bytes of the path.
    files: Vec<Tracked>,
    /// The tree of all of them, where it was written since the last of them was taken in.
    pub(super) tree: Option<String>,
    /// When the index was written.
    written: Time,
}

/// What differs between an index and a stock.
#[derive(Debug, Default)]
pub(super) struct Beside<'a> {
    /// The tracked files that are not as they were, or may have changed when the index was being written.
    pub(super) touched: Vec<&'a Tracked>,
    pub(super) untracked: Vec<(&'a Path, &'a Entry)>,
}

/// A file as it was when it was taken in.
#[derive(Debug)]
pub(super) struct Tracked {
    pub(super) path: PathBuf,
    pub(super) mode: u32,
    changed: Time,
    modified: Time,
    inode: u32,
    owner: (u32, u32),
    size: u32,
}

impl Index {
    /// Reads an index whose object ids have so many bytes; none for one that is absent, broken or unusual.
    pub(super) fn read(file: &Path, id: usize) -> Option<Index> {
        let found = fs::metadata(file).ok()?;
        let bytes = fs::read(file).ok()?;
        let (files, rest) = entries(&bytes, id)?;
        let tree = tree(rest, id)?;
        Some(Index { files, tree, written: (found.mtime(), found.mtime_nsec()) })
    }

    /// Goes through the tracked files and a stock side by side.
    pub(super) fn beside<'a>(&'a self, stock: &'a Stock) -> Beside<'a> {
        let is_young = |file: &Tracked| file.modified >= self.written || file.changed >= self.written;
        let mut found = Beside::default();
        let mut stock = stock.iter().peekable();
        for file in &self.files {
            let name = file.path.as_os_str();
            found.untracked.extend(iter::from_fn(|| stock.next_if(|(path, _)| path.as_os_str() < name)));
            let there = stock.next_if(|(path, _)| path.as_os_str() == name);
            if is_young(file) || !there.is_some_and(|(_, entry)| file.is(entry)) {
                found.touched.push(file);
            }
        }
        found.untracked.extend(stock);
        found
    }
}

impl Tracked {
    fn is(&self, entry: &Entry) -> bool {
        let kind = match self.mode {
            0o100644 | 0o100755 => Kind::File,
            _ => Kind::Link,
        };
        let is_executable = |mode: u32| mode & 0o100 != 0;
        // Git keeps the lower half of what does not fit.
        self.inode == entry.inode as u32
            && self.size == entry.size as u32
            && (self.changed, self.modified, self.owner) == (entry.changed, entry.modified, entry.owner)
            && kind == entry.kind
            && (kind == Kind::Link || is_executable(self.mode) == is_executable(entry.mode))
    }
}

/// The files, and what comes after them.
fn entries(bytes: &[u8], id: usize) -> Option<(Vec<Tracked>, &[u8])> {
    let (head, mut rest) = bytes.split_at_checked(HEAD)?;
    let count = match (&head[..4], word(head, 1)?) {
        (b"DIRC", 2 | 3) => word(head, 2)?,
        _ => return None,
    };
    let mut files: Vec<Tracked> = Vec::new();
    for _ in 0..count {
        let flags = u16::from_be_bytes(rest.get(STAT + id..)?.first_chunk().copied()?);
        let length = usize::from(flags & LONG_NAME);
        if flags & UNUSUAL != 0 || length == usize::from(LONG_NAME) {
            return None;
        }
        let begin = STAT + id + 2;
        let name = rest.get(begin..begin + length)?;
        // One to eight zeros make the length a multiple of eight.
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

/// The tree of everything among the extensions; none at all where one of them must not be passed over.
fn tree(mut rest: &[u8], id: usize) -> Option<Option<String>> {
    let mut tree = None;
    // A checksum comes last.
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

/// The first row of the trees: no name, the number of files, that of folders, and the id unless the number is negative.
fn root(rows: &[u8], id: usize) -> Option<String> {
    let end = rows.iter().position(|byte| *byte == b'\n')?;
    let numbers = rows[..end].strip_prefix(b"\0")?;
    let id = rows.get(end + 1..end + 1 + id)?;
    (!numbers.starts_with(b"-")).then(|| hex(id))
}

fn tracked(entry: &[u8], name: &[u8]) -> Option<Tracked> {
    let time = |at: usize| Some((i64::from(word(entry, at)?), i64::from(word(entry, at + 1)?)));
    Some(Tracked {
        path: path(name),
        changed: time(0)?,
        modified: time(2)?,
        inode: word(entry, 5)?,
        mode: word(entry, 6)?,
        owner: (word(entry, 7)?, word(entry, 8)?),
        size: word(entry, 9)?,
    })
}

/// A word of four bytes, by its place.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at * 4..)?.first_chunk().copied().map(u32::from_be_bytes)
}
