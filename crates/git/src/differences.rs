//! Differences between the engine's index and the files of a work tree.
//!
//! A scan is enough to find them, since the index has the metadata of each file. Git is called only in complicated cases,
//! such as repositories inside the tree.

use super::call::git;
use super::index::{Index, IndexDiff};
use super::invocation::{fields, nul_terminated, path};
use super::remove::make_accessible;
use super::scan::{FileKind, TreeScan};
use super::{GitError, TreeId, WorkTree, error};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

/// Differences between the index and the files.
#[derive(Debug, Default)]
pub(super) struct Differences {
    /// Tracked files whose times, size or kind differ, each with its mode in the index.
    pub(super) touched: BTreeMap<PathBuf, String>,
    /// Files that are neither tracked nor ignored.
    pub(super) others: BTreeSet<PathBuf>,
    /// The tree of the files, if nothing differs and the index contains the tree's id.
    pub(super) tree: Option<TreeId>,
}

/// Files in the work tree that are neither tracked nor ignored.
#[derive(Debug, Default)]
pub(super) struct UntrackedFiles {
    /// All files, including those in embedded repositories.
    pub(super) files: BTreeSet<PathBuf>,
    /// Folders that are repositories.
    pub(super) embedded: Vec<PathBuf>,
}

/// Whether tracked files can count as ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TrackedFiles {
    /// Like git: a tracked file is never ignored.
    NeverIgnored,
    /// Only the ignore patterns decide.
    LikeOthers,
}

impl Differences {
    /// Returns whether a file with this name differs.
    pub(super) fn has_file_named(&self, name: &str) -> bool {
        self.touched
            .keys()
            .chain(&self.others)
            .any(|file| file.file_name().is_some_and(|found| found == name))
    }
}

impl WorkTree {
    /// Finds the differences with git.
    pub(super) fn differences_by_git(&self) -> Result<Differences, GitError> {
        let context = self.context();
        let touched = || {
            let words = ["diff-files", "-z", "--raw", "--no-renames", "--ignore-submodules=dirty"];
            git(&context, words).run()
        };
        let (touched, others) = thread::scope(|scope| {
            let touched = scope.spawn(touched);
            let others = self.untracked_files();
            (touched.join().unwrap_or_else(|panic| resume_unwind(panic)), others)
        });
        let touched = touched?;
        let mut found = Differences { others: others?.files, ..Differences::default() };
        let mut rows = fields(&touched);
        while let (Some(head), Some(name)) = (rows.next(), rows.next()) {
            let mode = String::from_utf8_lossy(head.get(1..7).unwrap_or_default()).into_owned();
            found.touched.insert(path(name), mode);
        }
        Ok(found)
    }

    /// Reads the engine's index; `None` if only git can read it.
    pub(super) fn index(&self) -> Option<Index> {
        Index::read(&self.private("index"), self.base.as_str().len() / 2)
    }

    /// Finds the differences by comparing the index with a fresh scan; `None` if only git can find them.
    pub(super) fn differences_by_scan(
        &self,
        index: &Index,
        scan: &TreeScan,
    ) -> Result<Option<Differences>, GitError> {
        if scan.has_unreadable() || scan.iter().any(|(_, entry)| entry.kind == FileKind::Repository) {
            return Ok(None);
        }
        let IndexDiff { touched, untracked } = index.compare(scan);
        // Build output is of no interest if git ignores it.
        let is_build_output = |kind: FileKind| kind == FileKind::BuildOutput;
        let unknown =
            untracked.into_iter().filter(|(_, entry)| entry.is_content() || is_build_output(entry.kind));
        let unknown: Vec<PathBuf> = unknown.map(|(path, _)| path.to_path_buf()).collect();
        let ignored = self.ignored(&unknown, TrackedFiles::LikeOthers)?;
        let others: BTreeSet<PathBuf> = unknown.into_iter().filter(|file| !ignored.contains(file)).collect();
        if others.iter().any(|file| scan.get(file).is_some_and(|entry| is_build_output(entry.kind))) {
            return Ok(None);
        }
        let touched: BTreeMap<PathBuf, String> =
            touched.into_iter().map(|file| (file.path.clone(), format!("{:06o}", file.mode))).collect();
        let tree = index.tree.as_deref().filter(|_| touched.is_empty() && others.is_empty());
        let tree = tree.map(TreeId::plain).transpose()?;
        let found = Differences { touched, others, tree };
        // If attributes changed, all files have to be added again, so metadata is not enough.
        Ok(if found.has_file_named(".gitattributes") { None } else { Some(found) })
    }

    /// Lists files that are neither tracked nor ignored, including those in embedded repositories, which git skips.
    pub(super) fn untracked_files(&self) -> Result<UntrackedFiles, GitError> {
        let list =
            || git(&self.context(), ["ls-files", "-z", "--others", "--exclude-standard"]).run_unchecked();
        let mut output = list()?;
        if String::from_utf8_lossy(&output.stderr).contains("could not open directory") {
            make_accessible(self.path())?;
            output = list()?;
        }
        if output.code != 0 {
            let command = "git ls-files --others".to_string();
            return Err(GitError::from_call(command, output.code, &output.stderr, self.path()));
        }
        let mut others = UntrackedFiles::default();
        let mut inside = Vec::new();
        for name in fields(&output.stdout) {
            match name.strip_suffix(b"/").map(path) {
                Some(folder) => {
                    self.walk(&folder, &mut inside)?;
                    others.embedded.push(folder);
                }
                None => drop(others.files.insert(path(name))),
            }
        }
        let ignored = self.ignored(&inside, TrackedFiles::LikeOthers)?;
        others.files.extend(inside.into_iter().filter(|file| !ignored.contains(file)));
        Ok(others)
    }

    /// Returns the files that are ignored.
    pub(super) fn ignored(
        &self,
        files: &[PathBuf],
        tracked: TrackedFiles,
    ) -> Result<BTreeSet<PathBuf>, GitError> {
        if files.is_empty() {
            return Ok(BTreeSet::new());
        }
        // Git reads these names as pathspecs. With the prefix `./`, no name has a special meaning.
        let prefixed: Vec<PathBuf> = files.iter().map(|file| Path::new(".").join(file)).collect();
        let words: &[&str] = match tracked {
            TrackedFiles::NeverIgnored => &["check-ignore", "-z", "--stdin"],
            TrackedFiles::LikeOthers => &["check-ignore", "-z", "--stdin", "--no-index"],
        };
        let output = git(&self.context(), words)
            .input(nul_terminated(prefixed.iter().map(PathBuf::as_path)))
            .run_unchecked()?;
        match output.code {
            0 | 1 => Ok(fields(&output.stdout)
                .map(|name| path(name.strip_prefix(b"./").unwrap_or(name)))
                .collect()),
            // Git refuses paths inside a submodule unless it ignores the index.
            _ if tracked == TrackedFiles::NeverIgnored && is_submodule_error(&output.stderr) => {
                let tracked = git(&self.context(), ["ls-files", "-z"]).run()?;
                let tracked: BTreeSet<PathBuf> = fields(&tracked).map(path).collect();
                let ignored = self.ignored(files, TrackedFiles::LikeOthers)?;
                Ok(ignored.difference(&tracked).cloned().collect())
            }
            code => Err(GitError::from_call(words.join(" "), code, &output.stderr, self.path())),
        }
    }

    /// Collects all files below a folder, except those in `.git`.
    fn walk(&self, folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), GitError> {
        let at = self.path().join(folder);
        for entry in fs::read_dir(&at).map_err(error::file("list", &at))? {
            let entry = entry.map_err(error::file("list", &at))?;
            let inside = folder.join(entry.file_name());
            let kind = entry.file_type().map_err(error::file("look at", &at))?;
            if entry.file_name() == ".git" {
                continue;
            } else if kind.is_dir() {
                self.walk(&inside, found)?;
            } else if kind.is_file() || kind.is_symlink() {
                found.push(inside);
            }
        }
        Ok(())
    }
}

fn is_submodule_error(stderr: &[u8]) -> bool {
    String::from_utf8_lossy(stderr).contains("is in submodule")
}
