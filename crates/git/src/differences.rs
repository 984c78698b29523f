//! Differences between the engine's own index and the files of a work tree.
//!
//! With an inventory at hand they can be found without git, since the index has the metadata of each file. Git is asked in
//! more complicated cases, such as repositories inside the tree.

use super::call::git;
use super::index::{Index, IndexDiff};
use super::inventory::{FileKind, Inventory};
use super::invocation::{fields, listed, path};
use super::remove::open_up;
use super::{GitError, TreeId, WorkTree, error};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

/// Differences between the index and the files.
#[derive(Debug, Default)]
pub(super) struct Differences {
    /// Tracked files whose times, size or kind differ, with the mode in the index.
    pub(super) touched: BTreeMap<PathBuf, String>,
    /// Files that are neither tracked nor ignored.
    pub(super) others: BTreeSet<PathBuf>,
    /// The tree, if nothing differs and the index contains its id.
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
    Spared,
    /// Only the patterns decide.
    LikeOthers,
}

impl Differences {
    /// Returns whether a file with this name differs.
    pub(super) fn names(&self, name: &str) -> bool {
        self.touched
            .keys()
            .chain(&self.others)
            .any(|file| file.file_name().is_some_and(|found| found == name))
    }
}

impl WorkTree {
    /// Asks git for the differences.
    pub(super) fn differences_by_git(&self) -> Result<Differences, GitError> {
        let context = self.context();
        let touched = || {
            let words = ["diff-files", "-z", "--raw", "--no-renames", "--ignore-submodules=dirty"];
            git(&context, words).run()
        };
        let (touched, others) = thread::scope(|scope| {
            let asked = scope.spawn(touched);
            let others = self.untracked_files();
            (asked.join().unwrap_or_else(|panic| resume_unwind(panic)), others)
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

    /// Compares the index with a fresh inventory; `None` if only git can tell.
    pub(super) fn differences_by_inventory(
        &self,
        index: &Index,
        inventory: &Inventory,
    ) -> Result<Option<Differences>, GitError> {
        if inventory.has_unreadable() || inventory.iter().any(|(_, entry)| entry.kind == FileKind::Repository)
        {
            return Ok(None);
        }
        let IndexDiff { touched, untracked } = index.compare(inventory);
        // Build output does not matter if git ignores it.
        let is_build_output = |kind: FileKind| kind == FileKind::BuildOutput;
        let unknown =
            untracked.into_iter().filter(|(_, entry)| entry.is_content() || is_build_output(entry.kind));
        let unknown: Vec<PathBuf> = unknown.map(|(path, _)| path.to_path_buf()).collect();
        let ignored = self.ignored(&unknown, TrackedFiles::LikeOthers)?;
        let others: BTreeSet<PathBuf> = unknown.into_iter().filter(|file| !ignored.contains(file)).collect();
        if others.iter().any(|file| inventory.get(file).is_some_and(|entry| is_build_output(entry.kind))) {
            return Ok(None);
        }
        let touched: BTreeMap<PathBuf, String> =
            touched.into_iter().map(|file| (file.path.clone(), format!("{:06o}", file.mode))).collect();
        let tree = index.tree.as_deref().filter(|_| touched.is_empty() && others.is_empty());
        let tree = tree.map(TreeId::plain).transpose()?;
        let found = Differences { touched, others, tree };
        // If attributes changed, all files have to be added again, so metadata is not enough.
        Ok(if found.names(".gitattributes") { None } else { Some(found) })
    }

    /// Lists files that are neither tracked nor ignored, including those in embedded repositories, which git skips.
    pub(super) fn untracked_files(&self) -> Result<UntrackedFiles, GitError> {
        let listing = || git(&self.context(), ["ls-files", "-z", "--others", "--exclude-standard"]).answer();
        let mut answer = listing()?;
        if String::from_utf8_lossy(&answer.stderr).contains("could not open directory") {
            open_up(self.path())?;
            answer = listing()?;
        }
        if answer.code != 0 {
            let words = "git ls-files --others".to_string();
            return Err(GitError::from_call(words, answer.code, &answer.stderr, self.path()));
        }
        let mut others = UntrackedFiles::default();
        let mut inside = Vec::new();
        for name in fields(&answer.stdout) {
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

    /// The files among these that are ignored.
    pub(super) fn ignored(
        &self,
        files: &[PathBuf],
        tracked: TrackedFiles,
    ) -> Result<BTreeSet<PathBuf>, GitError> {
        if files.is_empty() {
            return Ok(BTreeSet::new());
        }
        // Git reads these as pathspecs. With the prefix `./` no name has a special meaning.
        let named: Vec<PathBuf> = files.iter().map(|file| Path::new(".").join(file)).collect();
        let words: &[&str] = match tracked {
            TrackedFiles::Spared => &["check-ignore", "-z", "--stdin"],
            TrackedFiles::LikeOthers => &["check-ignore", "-z", "--stdin", "--no-index"],
        };
        let answer =
            git(&self.context(), words).input(listed(named.iter().map(PathBuf::as_path))).answer()?;
        match answer.code {
            0 | 1 => Ok(fields(&answer.stdout)
                .map(|name| path(name.strip_prefix(b"./").unwrap_or(name)))
                .collect()),
            // Git refuses paths inside a submodule unless it ignores the index.
            _ if tracked == TrackedFiles::Spared && says_submodule(&answer.stderr) => {
                let listed = git(&self.context(), ["ls-files", "-z"]).run()?;
                let listed: BTreeSet<PathBuf> = fields(&listed).map(path).collect();
                let ignored = self.ignored(files, TrackedFiles::LikeOthers)?;
                Ok(ignored.difference(&listed).cloned().collect())
            }
            code => Err(GitError::from_call(words.join(" "), code, &answer.stderr, self.path())),
        }
    }

    /// Collects all files below a folder, except git's own.
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

fn says_submodule(stderr: &[u8]) -> bool {
    String::from_utf8_lossy(stderr).contains("is in submodule")
}
