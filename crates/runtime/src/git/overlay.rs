//! Bytes that the repository's filters do not give back: kept beside a tree, so that a restore is exact all the same.
//!
//! A file with mixed line endings under `core.autocrlf`, or a large file under a pointer filter, is not the same after
//! it went in and came out. Such files, and only they, are kept a second time without any filter.

use super::call::{Begun, Place, fields, git, listed, path};
use super::remove::remove;
use super::repository::LineEndings;
use super::worktree::write_whole;
use super::{GitError, WorkTree, error};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Attributes that make git change bytes on their way in or out.
const CONVERTING: &[&str] = &["text", "crlf", "eol", "filter", "ident", "working-tree-encoding"];

/// What is known of the raw bytes in a work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Overlay {
    None,
    /// The tree of raw bytes.
    Some(String),
    /// A change of it was cut short: nothing that the index says can be relied on.
    Unsure,
}

impl WorkTree {
    /// What was noted last.
    pub(super) fn overlay(&self) -> Overlay {
        match fs::read_to_string(self.private("raw")) {
            Ok(text) if text == "?" => Overlay::Unsure,
            Ok(text) => Overlay::Some(text),
            Err(_) => Overlay::None,
        }
    }

    /// Notes the raw bytes that are in the work tree now.
    pub(super) fn note_overlay(&self, overlay: &Overlay) -> Result<(), GitError> {
        let file = self.private("raw");
        match overlay {
            Overlay::None => remove(&file),
            Overlay::Some(tree) => write_whole(&file, tree.as_bytes()),
            Overlay::Unsure => write_whole(&file, b"?"),
        }
    }

    /// The call that tells of files whose bytes git may change.
    pub(super) fn ask_attributes(&self) -> Result<Begun, GitError> {
        git(&self.place(), ["check-attr", "-z", "--stdin"].iter().chain(CONVERTING)).begin()
    }

    /// The files among these whose bytes git may change.
    pub(super) fn convertible(&self, files: &[PathBuf], asked: Begun) -> Result<Vec<PathBuf>, GitError> {
        if files.is_empty() || self.repository.line_endings()? == LineEndings::Converted {
            return Ok(files.to_vec());
        }
        let output = asked.run(listed(files.iter().map(PathBuf::as_path)))?;
        let rows: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
        let set = rows.chunks_exact(3).filter(|row| !matches!(row[2], b"unspecified" | b"unset"));
        let named: BTreeSet<&[u8]> = set.map(|row| row[0]).collect();
        Ok(named.into_iter().map(path).collect())
    }

    /// Takes files out and compares: gives the raw bytes of those that do not come back the same.
    pub(super) fn unfaithful(&self, files: &[PathBuf]) -> Result<BTreeMap<PathBuf, String>, GitError> {
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
        let tree = git(&self.place(), ["write-tree"]).line()?;
        let input = listed(files.iter().map(PathBuf::as_path));
        git(&self.place(), words).with_attributes_of(&tree).input(input).run()?;
        for file in files {
            let source = self.path().join(file);
            let bytes = fs::read(&source).map_err(error::file("read", &source))?;
            if fs::read(out.join(file)).ok().as_ref() != Some(&bytes) {
                let words = ["hash-object", "-w", "--no-filters", "--stdin"];
                raw.insert(file.clone(), git(&self.repository.objects(), words).input(bytes).line()?);
            }
        }
        remove(&self.scratch())?;
        Ok(raw)
    }

    /// The files of an overlay with their blobs.
    pub(super) fn overlaid(&self, overlay: &Overlay) -> Result<BTreeMap<PathBuf, String>, GitError> {
        let tree = match overlay {
            Overlay::Some(tree) => tree,
            Overlay::None | Overlay::Unsure => return Ok(BTreeMap::new()),
        };
        let output = git(&self.repository.objects(), ["ls-tree", "-r", "-z", tree]).run()?;
        Ok(fields(&output).filter_map(entry).collect())
    }

    /// Writes an overlay as a tree.
    pub(super) fn overlay_of(&self, files: &BTreeMap<PathBuf, String>) -> Result<Overlay, GitError> {
        if files.is_empty() {
            return Ok(Overlay::None);
        }
        let mut rows = Vec::new();
        for (file, blob) in files {
            rows.extend_from_slice(format!("100644 {blob} 0\t").as_bytes());
            rows.extend(listed([file.as_path()]));
        }
        let index = self.private("overlay");
        let place = self.repository.objects().with_index(&index);
        write_tree_of(&place, &index, rows).map(Overlay::Some)
    }

    /// Puts raw bytes into files that were just checked out.
    pub(super) fn lay_over(&self, files: &BTreeMap<PathBuf, String>) -> Result<(), GitError> {
        for (file, blob) in files {
            let target = self.path().join(file);
            let bytes = git(&self.repository.objects(), ["cat-file", "blob", blob]).run()?;
            fs::write(&target, bytes).map_err(error::file("write", &target))?;
        }
        Ok(())
    }
}

fn write_tree_of(place: &Place, index: &Path, rows: Vec<u8>) -> Result<String, GitError> {
    remove(index)?;
    git(place, ["update-index", "-z", "--index-info"]).input(rows).run()?;
    let tree = git(place, ["write-tree"]).line()?;
    remove(index)?;
    Ok(tree)
}

/// Path and blob of one row of `ls-tree`.
fn entry(row: &[u8]) -> Option<(PathBuf, String)> {
    let tab = row.iter().position(|byte| *byte == b'\t')?;
    let blob = std::str::from_utf8(&row[..tab]).ok()?.split(' ').nth(2)?;
    Some((path(&row[tab + 1..]), blob.to_string()))
}
