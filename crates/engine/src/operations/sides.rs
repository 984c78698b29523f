//! The sides of a change: trees that combine the production code of one version with the tests of the other.

use crate::site::{Job, Trouble};
use remand_checks::{BaseFile, BaseSources, ChangedFile, FileVersion, Half, Sides};
use remand_git::{FileContents, GitError, Repository, TreeId};
use remand_source::Language;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Larger files are not read: nobody writes them by hand.
const MAX_FILE: usize = 2 * 1024 * 1024;
/// The total size of the code of the base that is read.
const MAX_CODE: usize = 64 * 1024 * 1024;

/// A change, with the side of each file.
#[derive(Clone, Debug)]
pub struct SidedChange {
    pub base: TreeId,
    pub head: TreeId,
    pub sides: Sides,
}

/// A tree with the production code of one version and the tests of the other.
pub struct ExchangedTree {
    pub tree: TreeId,
    /// Tests without a place in the production code: their file, and their name in it.
    pub unplaced: Vec<(String, String)>,
}

impl SidedChange {
    /// Finds the sides of the files that differ between two trees.
    pub fn find(job: &Job, base: &TreeId, head: &TreeId) -> Result<SidedChange, Trouble> {
        let repository = job.site.repository();
        let paths: Vec<PathBuf> =
            repository.changed(base, head)?.into_iter().map(|change| change.path).collect();
        let versions = |tree: &TreeId| -> Result<Vec<FileVersion>, Trouble> {
            let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
            Ok(repository.read_all(tree, &paths)?.into_iter().map(version).collect())
        };
        let (before, after) = (versions(base)?, versions(head)?);
        let changed = paths
            .iter()
            .zip(before.into_iter().zip(after))
            .map(|(path, (base, head))| ChangedFile { path: path.display().to_string(), base, head });
        let sources = TreeSources::new(repository, base);
        let sides = Sides::find(changed.collect(), &job.site.pinned.checks, &sources);
        sources.finish()?;
        Ok(SidedChange { base: base.clone(), head: head.clone(), sides })
    }

    /// The source files of the base.
    pub fn code(&self, job: &Job) -> Result<Vec<BaseFile>, Trouble> {
        let sources = TreeSources::new(job.site.repository(), &self.base);
        let code = sources.code();
        sources.finish()?;
        Ok(code)
    }

    /// The production code of the head with the tests of the base, or of the base with the tests of the head. `None` if
    /// the change does not touch the side of the tests.
    pub fn with_tests_of(&self, job: &Job, tests: Half) -> Result<Option<ExchangedTree>, Trouble> {
        let composition = self.sides.with_tests_of(tests);
        if composition.is_empty() && composition.unplaced.is_empty() {
            return Ok(None);
        }
        let (code, source) = match tests {
            Half::Base => (&self.head, &self.base),
            Half::Head => (&self.base, &self.head),
        };
        let tree = if composition.whole.is_empty() {
            code.clone()
        } else {
            job.trees.with_paths(code, source, &composition.whole)?
        };
        let mixed: FileContents =
            composition.mixed.into_iter().map(|(path, text)| (path, Some(text.into_bytes()))).collect();
        let tree = job.trees.with_files(&tree, &mixed)?;
        Ok(Some(ExchangedTree { tree, unplaced: composition.unplaced }))
    }
}

/// The sources of a tree. The first error is kept until the end, since callers of `BaseSources` expect none.
struct TreeSources<'t> {
    repository: &'t Repository,
    tree: &'t TreeId,
    files: OnceCell<BTreeSet<PathBuf>>,
    error: RefCell<Option<GitError>>,
}

impl<'t> TreeSources<'t> {
    fn new(repository: &'t Repository, tree: &'t TreeId) -> TreeSources<'t> {
        TreeSources { repository, tree, files: OnceCell::new(), error: RefCell::new(None) }
    }

    fn finish(self) -> Result<(), Trouble> {
        self.error.into_inner().map_or(Ok(()), |error| Err(error.into()))
    }

    fn files(&self) -> &BTreeSet<PathBuf> {
        self.files.get_or_init(|| {
            self.kept(self.repository.files(self.tree)).unwrap_or_default().into_iter().collect()
        })
    }

    fn kept<T>(&self, result: Result<T, GitError>) -> Option<T> {
        result.map_err(|error| self.error.borrow_mut().get_or_insert(error).to_string()).ok()
    }
}

impl BaseSources for TreeSources<'_> {
    fn text(&self, path: &str) -> Option<String> {
        if !self.files().contains(Path::new(path)) {
            return None;
        }
        let bytes = self.kept(self.repository.read(self.tree, Path::new(path)))?;
        String::from_utf8(bytes?).ok()
    }

    fn code(&self) -> Vec<BaseFile> {
        let is_code = |path: &&PathBuf| Language::of(path).is_some_and(Language::is_code);
        let paths: Vec<&Path> = self.files().iter().filter(is_code).map(PathBuf::as_path).collect();
        let contents = self.kept(self.repository.read_all(self.tree, &paths)).unwrap_or_default();
        let mut left = MAX_CODE;
        let mut code = Vec::new();
        for (path, bytes) in paths.iter().zip(contents) {
            let FileVersion::Text(text) = version(bytes) else { continue };
            if text.len() <= left {
                left -= text.len();
                code.push(BaseFile { path: path.display().to_string(), text });
            }
        }
        code
    }
}

fn version(bytes: Option<Vec<u8>>) -> FileVersion {
    match bytes.map(String::from_utf8) {
        None => FileVersion::Absent,
        Some(Ok(text)) if text.len() <= MAX_FILE => FileVersion::Text(text),
        Some(_) => FileVersion::Other,
    }
}
