//! What differs between the engine's own index and the files of a work tree.
//!
//! Whoever has taken stock already need not ask git: the index says what each file looked like when it was taken in. Git
//! is asked where there is more to it than that, such as repositories inside the tree.

use super::call::{fields, git, listed, path};
use super::index::{Beside, Index};
use super::remove::open_up;
use super::stock::{Kind, Stock};
use super::{GitError, TreeId, WorkTree, error};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

/// What differs between the index and the files.
#[derive(Debug, Default)]
pub(super) struct Look {
    /// Tracked files whose times, size or kind differ, with the mode in the index.
    pub(super) touched: BTreeMap<PathBuf, String>,
    /// Files that are neither tracked nor ignored.
    pub(super) others: BTreeSet<PathBuf>,
    /// The tree, where nothing differs from an index that tells it.
    pub(super) tree: Option<TreeId>,
}

/// What is in the work tree and neither tracked nor ignored.
#[derive(Debug, Default)]
pub(super) struct Others {
    /// Files, those in embedded repositories among them.
    pub(super) files: BTreeSet<PathBuf>,
    /// Folders that are repositories themselves.
    pub(super) embedded: Vec<PathBuf>,
}

/// Whether files that are tracked can be ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tracked {
    /// As git sees it: what is tracked is not ignored.
    Spared,
    /// By the patterns alone.
    LikeOthers,
}

impl Look {
    /// Whether a file of this name is among what differs.
    pub(super) fn names(&self, name: &str) -> bool {
        self.touched
            .keys()
            .chain(&self.others)
            .any(|file| file.file_name().is_some_and(|found| found == name))
    }
}

impl WorkTree {
    /// Looks at the files with git.
    pub(super) fn look(&self) -> Result<Look, GitError> {
        let place = self.place();
        let touched = || {
            let words = ["diff-files", "-z", "--raw", "--no-renames", "--ignore-submodules=dirty"];
            git(&place, words).run()
        };
        let (touched, others) = thread::scope(|scope| {
            let asked = scope.spawn(touched);
            let others = self.others();
            (asked.join().unwrap_or_else(|_| touched()), others)
        });
        let touched = touched?;
        let mut look = Look { others: others?.files, ..Look::default() };
        let mut rows = fields(&touched);
        while let (Some(head), Some(name)) = (rows.next(), rows.next()) {
            let mode = String::from_utf8_lossy(head.get(1..7).unwrap_or_default()).into_owned();
            look.touched.insert(path(name), mode);
        }
        Ok(look)
    }

    /// What the index says, where it is as indexes usually are.
    pub(super) fn index(&self) -> Option<Index> {
        Index::read(&self.private("index"), self.base.as_str().len() / 2)
    }

    /// Compares the index with a stock that was just taken; none where only git can tell.
    pub(super) fn compare(&self, index: &Index, stock: &Stock) -> Result<Option<Look>, GitError> {
        if stock.has_closed() || stock.iter().any(|(_, entry)| entry.kind == Kind::Repository) {
            return Ok(None);
        }
        let Beside { touched, untracked } = index.beside(stock);
        // Build output counts for nothing, if git ignores it.
        let built = |kind: Kind| kind == Kind::Built;
        let unknown = untracked.into_iter().filter(|(_, entry)| entry.is_content() || built(entry.kind));
        let unknown: Vec<PathBuf> = unknown.map(|(path, _)| path.to_path_buf()).collect();
        let ignored = self.ignored(&unknown, Tracked::LikeOthers)?;
        let others: BTreeSet<PathBuf> = unknown.into_iter().filter(|file| !ignored.contains(file)).collect();
        if others.iter().any(|file| stock.get(file).is_some_and(|entry| built(entry.kind))) {
            return Ok(None);
        }
        let touched: BTreeMap<PathBuf, String> =
            touched.into_iter().map(|file| (file.path.clone(), format!("{:06o}", file.mode))).collect();
        let tree = index.tree.as_deref().filter(|_| touched.is_empty() && others.is_empty());
        let tree = tree.map(TreeId::plain).transpose()?;
        let look = Look { touched, others, tree };
        // All files are taken in again where attributes changed, so here their content counts.
        Ok(if look.names(".gitattributes") { None } else { Some(look) })
    }

    /// Lists what is neither tracked nor ignored; git does not look into an embedded repository, so this does.
    pub(super) fn others(&self) -> Result<Others, GitError> {
        let listing = || git(&self.place(), ["ls-files", "-z", "--others", "--exclude-standard"]).answer();
        let mut answer = listing()?;
        if String::from_utf8_lossy(&answer.stderr).contains("could not open directory") {
            open_up(self.path())?;
            answer = listing()?;
        }
        if answer.code != 0 {
            let words = "git ls-files --others".to_string();
            return Err(GitError::of_call(words, answer.code, &answer.stderr, self.path()));
        }
        let mut others = Others::default();
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
        let ignored = self.ignored(&inside, Tracked::LikeOthers)?;
        others.files.extend(inside.into_iter().filter(|file| !ignored.contains(file)));
        Ok(others)
    }

    /// The files among these that are ignored.
    pub(super) fn ignored(&self, files: &[PathBuf], tracked: Tracked) -> Result<BTreeSet<PathBuf>, GitError> {
        if files.is_empty() {
            return Ok(BTreeSet::new());
        }
        // Git reads these as patterns, which no name that begins with a folder is taken for.
        let named: Vec<PathBuf> = files.iter().map(|file| Path::new(".").join(file)).collect();
        let words: &[&str] = match tracked {
            Tracked::Spared => &["check-ignore", "-z", "--stdin"],
            Tracked::LikeOthers => &["check-ignore", "-z", "--stdin", "--no-index"],
        };
        let answer = git(&self.place(), words).input(listed(named.iter().map(PathBuf::as_path))).answer()?;
        match answer.code {
            0 | 1 => Ok(fields(&answer.stdout)
                .map(|name| path(name.strip_prefix(b"./").unwrap_or(name)))
                .collect()),
            // What was put into the folder of a submodule can only be asked for without the index.
            _ if tracked == Tracked::Spared && says_submodule(&answer.stderr) => {
                let listed = git(&self.place(), ["ls-files", "-z"]).run()?;
                let listed: BTreeSet<PathBuf> = fields(&listed).map(path).collect();
                let ignored = self.ignored(files, Tracked::LikeOthers)?;
                Ok(ignored.difference(&listed).cloned().collect())
            }
            code => Err(GitError::of_call(words.join(" "), code, &answer.stderr, self.path())),
        }
    }

    /// All files below a folder, except those of git itself.
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
