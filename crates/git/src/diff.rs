//! Differences between two states of a work tree: as a list, as hunks, as a patch.

use super::call::git;
use super::invocation::{fields, path};
use super::{GitError, Repository, TreeId};
use remand_kernel::change::{Change, FileChange, Hunk};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A path that differs between two states.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangedPath {
    /// Relative to the root of the work tree, with the exact bytes on disk.
    pub path: PathBuf,
    pub kind: ChangeKind,
}

/// How a path differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    Added,
    Modified,
    Deleted,
    /// Only the executable bit.
    Mode,
    /// A symbolic link with another target, or a change between file and symbolic link.
    Symlink,
    /// The commit of a submodule.
    Submodule,
}

/// The kind of a path in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    Absent,
    File,
    Executable,
    Symlink,
    Submodule,
}

const EXECUTABLE: &str = "100755";
const SYMLINK: &str = "120000";
const SUBMODULE: &str = "160000";

/// Options that list all differences, even if the repository's settings ignore submodules.
const RAW_DIFF: &[&str] = &["-z", "--raw", "--full-index", "--no-renames", "--ignore-submodules=none"];

/// One row of a raw diff.
struct DiffRow {
    path: PathBuf,
    modes: (String, String),
    blobs: (String, String),
    status: char,
}

impl Repository {
    /// Lists the paths that differ, sorted.
    pub fn changed(&self, before: &TreeId, after: &TreeId) -> Result<Vec<ChangedPath>, GitError> {
        self.changes((before.raw(), after.raw()), self.rows(before.tree(), after.tree())?)
    }

    /// Lists the paths that differ between a state and an index. `raw` is the tree of raw bytes that belongs to the index.
    pub(super) fn changed_in(
        &self,
        index: &Path,
        raw: Option<&str>,
        before: &TreeId,
    ) -> Result<Vec<ChangedPath>, GitError> {
        let words = ["diff-index", "--cached"].iter().chain(RAW_DIFF).copied().chain([before.tree()]);
        let output = git(&self.objects().with_index(index), words).run()?;
        self.changes((before.raw(), raw), rows(&output)?)
    }

    /// Combines the rows of a diff with the differences between the trees of raw bytes.
    fn changes(
        &self,
        raw: (Option<&str>, Option<&str>),
        rows: Vec<DiffRow>,
    ) -> Result<Vec<ChangedPath>, GitError> {
        let mut found: BTreeMap<PathBuf, ChangeKind> = BTreeMap::new();
        let (before, after) = raw;
        if before != after {
            // Files that differ only in raw bytes have the same blob, so the rows do not list them.
            for raw in [before, after].into_iter().flatten() {
                let other = if Some(raw) == before { after } else { before };
                let other = other.map_or_else(|| self.empty_tree(), |tree| Ok(tree.to_string()))?;
                let rows = self.rows(raw, &other)?;
                found.extend(rows.into_iter().map(|row| (row.path, ChangeKind::Modified)));
            }
        }
        found.extend(rows.into_iter().map(|row| {
            let kind = row.kind();
            (row.path, kind)
        }));
        Ok(found.into_iter().map(|(path, kind)| ChangedPath { path, kind }).collect())
    }

    /// The kind of a path in a tree. A folder counts as absent, since git tracks only files.
    pub fn path_kind(&self, tree: &TreeId, file: &Path) -> Result<PathKind, GitError> {
        let words = ["ls-tree", "-z", "--full-tree", "--format=%(objectmode)", tree.tree(), "--"];
        let words = words.iter().map(AsRef::as_ref).chain([file.as_os_str()]);
        let output = git(&self.objects(), words).run()?;
        Ok(match fields(&output).next().map(String::from_utf8_lossy).as_deref() {
            None | Some("040000") => PathKind::Absent,
            Some(EXECUTABLE) => PathKind::Executable,
            Some(SYMLINK) => PathKind::Symlink,
            Some(SUBMODULE) => PathKind::Submodule,
            Some(_) => PathKind::File,
        })
    }

    /// Returns the hunks, without context lines; a binary file has none.
    pub fn change(&self, before: &TreeId, after: &TreeId) -> Result<Change, GitError> {
        // Nobody writes larger files by hand, and no detector compares them.
        let words = [
            "-c",
            "core.bigFileThreshold=1m",
            "diff-tree",
            "-r",
            "-p",
            "-U0",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--no-indent-heuristic",
        ];
        let words = words.into_iter().chain([before.tree(), after.tree()]);
        let patch = git(&self.objects(), words).run()?;
        let mut sections = sections(&patch).into_iter();
        let mut files: Vec<FileChange> = Vec::new();
        for row in self.rows(before.tree(), after.tree())? {
            let mut hunks = sections.next().map(hunks).unwrap_or_default();
            if row.status == 'T' {
                // Git shows a change of type as a removal and an addition.
                hunks.extend(sections.next().map(self::hunks).unwrap_or_default());
            }
            let generated = is_generated(&row.path);
            files.push(FileChange { path: row.path.to_string_lossy().into_owned(), hunks, generated });
        }
        Ok(Change { tree: after.digest(), files, ..Change::default() })
    }

    /// Returns a patch for `git apply`.
    pub fn patch(&self, before: &TreeId, after: &TreeId) -> Result<Vec<u8>, GitError> {
        let words = [
            "diff-tree",
            "-r",
            "-p",
            "-M",
            "--binary",
            "--full-index",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
        ];
        git(&self.objects(), words.into_iter().chain([before.tree(), after.tree()])).run()
    }

    /// Returns the difference of two texts as a patch with this name; empty if they are equal.
    pub fn text_difference(&self, name: &str, before: &str, after: &str) -> Result<String, GitError> {
        let blob = |text: &str| {
            git(&self.objects(), ["hash-object", "-w", "--stdin"]).input(text.as_bytes().to_vec()).line()
        };
        let words = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--text"];
        let (before, after) = (blob(before)?, blob(after)?);
        let patch = git(&self.objects(), words.into_iter().chain([before.as_str(), after.as_str()])).run()?;
        // git names the two sides by their ids.
        let patch = String::from_utf8_lossy(&patch).into_owned();
        let hunks: Vec<&str> = patch.lines().skip_while(|line| !line.starts_with("@@")).collect();
        if hunks.is_empty() {
            return Ok(String::new());
        }
        Ok(format!("--- {name} as you judged it\n+++ {name} now\n{}\n", hunks.join("\n")))
    }

    fn rows(&self, before: &str, after: &str) -> Result<Vec<DiffRow>, GitError> {
        let words = ["diff-tree", "-r"].iter().chain(RAW_DIFF).copied().chain([before, after]);
        rows(&git(&self.objects(), words).run()?)
    }

    /// The id of the empty tree.
    pub(super) fn empty_tree(&self) -> Result<String, GitError> {
        git(&self.objects(), ["mktree"]).input(Vec::new()).line()
    }
}

impl DiffRow {
    fn kind(&self) -> ChangeKind {
        let modes = [self.modes.0.as_str(), self.modes.1.as_str()];
        if modes.contains(&SUBMODULE) {
            return ChangeKind::Submodule;
        }
        match self.status {
            'A' => ChangeKind::Added,
            'D' => ChangeKind::Deleted,
            _ if modes.contains(&SYMLINK) => ChangeKind::Symlink,
            _ if self.blobs.0 == self.blobs.1 => ChangeKind::Mode,
            _ => ChangeKind::Modified,
        }
    }
}

/// Parses a raw diff.
fn rows(output: &[u8]) -> Result<Vec<DiffRow>, GitError> {
    let mut found = Vec::new();
    let mut parts = fields(output);
    while let (Some(head), Some(name)) = (parts.next(), parts.next()) {
        let head = String::from_utf8_lossy(head).into_owned();
        let words: Vec<&str> = head.trim_start_matches(':').split(' ').collect();
        let [from_mode, to_mode, from, to, status] = words[..] else {
            return Err(GitError::Unreadable { command: "git diff --raw".to_string(), detail: head });
        };
        found.push(DiffRow {
            path: path(name),
            modes: (from_mode.to_string(), to_mode.to_string()),
            blobs: (from.to_string(), to.to_string()),
            status: status.chars().next().unwrap_or('M'),
        });
    }
    Ok(found)
}

/// Splits a patch at its file headers. Content lines start with a sign, so they cannot look like a header.
fn sections(patch: &[u8]) -> Vec<Vec<&[u8]>> {
    let mut found: Vec<Vec<&[u8]>> = Vec::new();
    for line in patch.split(|byte| *byte == b'\n') {
        if line.starts_with(b"diff --git ") {
            found.push(Vec::new());
        } else if let Some(section) = found.last_mut() {
            section.push(line);
        }
    }
    found
}

fn hunks(section: Vec<&[u8]>) -> Vec<Hunk> {
    let mut found: Vec<Hunk> = Vec::new();
    for line in section {
        if line.starts_with(b"@@ ") {
            found.push(Hunk::default());
            continue;
        }
        let Some(hunk) = found.last_mut() else { continue };
        match line.split_first() {
            Some((b'-', text)) => hunk.removed.push(String::from_utf8_lossy(text).into_owned()),
            Some((b'+', text)) => hunk.added.push(String::from_utf8_lossy(text).into_owned()),
            Some(_) | None => {}
        }
    }
    found
}

/// Returns whether a file is generated or prose. Changes of such files do not show whether an agent goes in circles.
fn is_generated(file: &Path) -> bool {
    const NAMES: &[&str] = &[
        "package-lock.json",
        "npm-shrinkwrap.json",
        "pnpm-lock.yaml",
        "bun.lockb",
        "go.sum",
        "packages.lock.json",
        "Package.resolved",
    ];
    const SUFFIXES: &[&str] = &[
        ".lock",
        ".log",
        ".md",
        ".markdown",
        ".mdx",
        ".rst",
        ".adoc",
        ".snap",
        ".map",
        ".min.js",
        ".min.css",
        ".pb.go",
        "_pb2.py",
        ".g.dart",
        ".orig",
        ".tsbuildinfo",
    ];
    const FOLDERS: &[&str] = &["node_modules", "__snapshots__", "__pycache__", "generated"];
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let in_folder = file.parent().is_some_and(|parent| {
        parent.components().any(|part| FOLDERS.iter().any(|folder| part.as_os_str() == *folder))
    });
    in_folder || NAMES.contains(&name.as_str()) || SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}
