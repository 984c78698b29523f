//! The overlay of a tree: the raw bytes of files that the repository's filters do not reproduce. It makes a restore exact.
//!
//! For example, a file with mixed line endings under `core.autocrlf`, or a large file with a pointer filter, changes when it
//! is added and checked out again. Only such files are stored a second time, unfiltered.

use super::call::{GitContext, PendingCall, git};
use super::invocation::{fields, nul_terminated, path};
use super::remove::remove;
use super::repository::LineEndings;
use super::worktree::write_atomically;
use super::{GitError, WorkTree, error};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Attributes that make git convert the content of files.
const CONVERTING: &[&str] = &["text", "crlf", "eol", "filter", "ident", "working-tree-encoding"];

/// What is known about the raw bytes in a work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Overlay {
    None,
    /// The tree of raw bytes.
    Some(String),
    /// An update was interrupted, so the index cannot be trusted.
    Unknown,
}

impl WorkTree {
    /// The overlay that was recorded last.
    pub(super) fn overlay(&self) -> Overlay {
        match fs::read_to_string(self.private("raw")) {
            Ok(text) if text == "?" => Overlay::Unknown,
            Ok(text) => Overlay::Some(text),
            Err(missing) if missing.kind() == ErrorKind::NotFound => Overlay::None,
            // Without the record, nothing is known about the raw bytes.
            Err(_) => Overlay::Unknown,
        }
    }

    /// Records the overlay of the work tree.
    pub(super) fn record_overlay(&self, overlay: &Overlay) -> Result<(), GitError> {
        let file = self.private("raw");
        match overlay {
            Overlay::None => remove(&file),
            Overlay::Some(tree) => write_atomically(&file, tree.as_bytes()),
            Overlay::Unknown => write_atomically(&file, b"?"),
        }
    }

    /// Starts a call that lists the converting attributes of files.
    pub(super) fn start_listing_attributes(&self) -> Result<PendingCall, GitError> {
        git(&self.context(), ["check-attr", "-z", "--stdin"].iter().chain(CONVERTING)).start()
    }

    /// Returns the files whose content git may convert. `attributes` is the call that lists their attributes.
    pub(super) fn convertible(
        &self,
        files: &[PathBuf],
        attributes: PendingCall,
    ) -> Result<Vec<PathBuf>, GitError> {
        if files.is_empty() || self.repository.line_endings()? == LineEndings::Converted {
            return Ok(files.to_vec());
        }
        let output = attributes.run(nul_terminated(files.iter().map(PathBuf::as_path)))?;
        let rows: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
        let set = rows.chunks_exact(3).filter(|row| !matches!(row[2], b"unspecified" | b"unset"));
        let files: BTreeSet<&[u8]> = set.map(|row| row[0]).collect();
        Ok(files.into_iter().map(path).collect())
    }

    /// Checks files out to a temporary folder, and returns the raw blobs of those that come back different.
    pub(super) fn altered_by_filters(
        &self,
        files: &[PathBuf],
    ) -> Result<BTreeMap<PathBuf, String>, GitError> {
        let mut raw = BTreeMap::new();
        if files.is_empty() {
            return Ok(raw);
        }
        let out = self.scratch().join("out");
        remove(&out)?;
        fs::create_dir_all(&out).map_err(error::file("create", &out))?;
        let prefix = [b"--prefix=", out.as_os_str().as_bytes(), b"/"].concat();
        let words = [
            Path::new("checkout-index"),
            Path::new("-f"),
            Path::new("-z"),
            Path::new("--stdin"),
            &path(&prefix),
        ];
        let tree = git(&self.context(), ["write-tree"]).line()?;
        let input = nul_terminated(files.iter().map(PathBuf::as_path));
        git(&self.context(), words).with_attributes_of(&tree).input(input).run()?;
        for file in files {
            let source = self.path().join(file);
            let bytes = fs::read(&source).map_err(error::file("read", &source))?;
            // A file that was not checked out counts as different.
            if fs::read(out.join(file)).ok().as_ref() != Some(&bytes) {
                let words = ["hash-object", "-w", "--no-filters", "--stdin"];
                raw.insert(file.clone(), git(&self.repository.objects(), words).input(bytes).line()?);
            }
        }
        remove(&self.scratch())?;
        Ok(raw)
    }

    /// The files of an overlay with their blobs.
    pub(super) fn overlay_files(&self, overlay: &Overlay) -> Result<BTreeMap<PathBuf, String>, GitError> {
        let tree = match overlay {
            Overlay::Some(tree) => tree,
            Overlay::None | Overlay::Unknown => return Ok(BTreeMap::new()),
        };
        let output = git(&self.repository.objects(), ["ls-tree", "-r", "-z", tree]).run()?;
        Ok(fields(&output).filter_map(entry).collect())
    }

    /// Writes the tree of an overlay.
    pub(super) fn overlay_tree(&self, files: &BTreeMap<PathBuf, String>) -> Result<Overlay, GitError> {
        if files.is_empty() {
            return Ok(Overlay::None);
        }
        let mut rows = Vec::new();
        for (file, blob) in files {
            rows.extend_from_slice(format!("100644 {blob} 0\t").as_bytes());
            rows.extend(nul_terminated([file.as_path()]));
        }
        let index = self.private("overlay");
        let context = self.repository.objects().with_index(&index);
        write_tree(&context, &index, rows).map(Overlay::Some)
    }

    /// Writes the raw bytes of files that were just checked out.
    pub(super) fn write_overlay(&self, files: &BTreeMap<PathBuf, String>) -> Result<(), GitError> {
        for (file, blob) in files {
            let target = self.path().join(file);
            let bytes = git(&self.repository.objects(), ["cat-file", "blob", blob]).run()?;
            fs::write(&target, bytes).map_err(error::file("write", &target))?;
        }
        Ok(())
    }
}

fn write_tree(context: &GitContext, index: &Path, rows: Vec<u8>) -> Result<String, GitError> {
    remove(index)?;
    git(context, ["update-index", "-z", "--index-info"]).input(rows).run()?;
    let tree = git(context, ["write-tree"]).line()?;
    remove(index)?;
    Ok(tree)
}

/// Parses the path and blob of one row of `ls-tree`.
fn entry(row: &[u8]) -> Option<(PathBuf, String)> {
    let tab = row.iter().position(|byte| *byte == b'\t')?;
    let blob = std::str::from_utf8(&row[..tab]).ok()?.split(' ').nth(2)?;
    Some((path(&row[tab + 1..]), blob.to_string()))
}
