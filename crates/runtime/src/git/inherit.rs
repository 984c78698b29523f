//! A run begins in the work trees that a finished one left, so that its checkout is a difference.
//!
//! The folder of trees changes hands in one move, with a mark in it that stays until nothing of the run before is left.

use super::remove::remove;
use super::worktree::write_whole;
use super::{GitError, Repository, RunTrees, TreeId, WorkTree, error, stale};
use std::fs;
use std::path::Path;

/// All that the folder of a run's trees holds.
const PARTS: [&str; 4] = ["main", "pool", "scratch", "private"];

/// What the engine keeps of a tree besides its files: the index, which bytes no filter gives back, and what it put into
/// submodules.
const OF_FILES: [&str; 3] = ["index", "raw", "modules"];

/// The pool begins with no more trees than these; each takes the room of a checkout.
const TREES: usize = 4;

/// Says whose trees these were, until they are the run's own.
const MARK: &str = "inherited";

/// Gives the trees that a run left to a run that has none yet, and tells whether that was possible. Nobody else may be
/// at work in either of them.
pub fn inherit(repository: &Repository, from: (&str, &Path), to: (&str, &Path)) -> Result<bool, GitError> {
    let ((last, left), (run, folder)) = (from, to);
    if fs::symlink_metadata(folder).is_ok() || !is_whole(repository, left)? {
        return Ok(false);
    }
    write_whole(&left.join("private").join(MARK), last.as_bytes())?;
    stale::mark(repository, run, left)?;
    fs::rename(left, folder).map_err(error::file("move", left))?;
    stale::remove_trees(repository, last, None).map(|()| true)
}

/// Whether a folder holds trees of this repository and nothing else.
fn is_whole(repository: &Repository, folder: &Path) -> Result<bool, GitError> {
    let is_part = |entry: fs::DirEntry| PARTS.iter().any(|part| entry.file_name() == *part);
    let is_folder = |at: &Path| fs::symlink_metadata(at).is_ok_and(|found| found.is_dir());
    let holds_trees = is_folder(folder)
        && is_folder(&folder.join("main"))
        && folder.join("private/main.index").is_file()
        && fs::read_dir(folder).is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(is_part)));
    Ok(holds_trees && stale::marked(repository, folder)?.is_some())
}

/// Makes inherited trees the run's own: in each there is the state of its main line and nothing else. Of one that cannot be
/// brought there nothing is kept.
pub(super) fn make_own(trees: &RunTrees) -> Result<(), GitError> {
    let mark = trees.folder.join("private").join(MARK);
    let Ok(last) = fs::read_to_string(&mark) else {
        return Ok(());
    };
    stale::remove_trees(&trees.repository, &last, None)?;
    remove(&trees.folder.join("scratch"))?;
    let names = names(trees);
    forget_others(trees, &names)?;
    let state = trees.main_state()?.tree;
    for name in &names {
        let tree = trees.work_tree(name);
        if !tree.make_own(&state).unwrap_or(false) {
            remove(tree.path())?;
            OF_FILES.iter().try_for_each(|extension| remove(&tree.private(extension)))?;
        }
    }
    remove(&mark)
}

/// The main tree, and as many of the pool as are taken.
fn names(trees: &RunTrees) -> Vec<String> {
    let pool = fs::read_dir(trees.folder.join("pool")).into_iter().flatten().flatten();
    let mut numbers: Vec<u32> = pool
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|number| *number > 0)
        .collect();
    numbers.sort_unstable();
    let numbers = numbers.iter().take(TREES).map(u32::to_string);
    std::iter::once("main".to_string()).chain(numbers).collect()
}

/// Removes every other tree, and all that was noted of trees but what goes with their files.
fn forget_others(trees: &RunTrees, names: &[String]) -> Result<(), GitError> {
    let is_kept = |name: &str| names.iter().any(|kept| kept == name);
    for entry in fs::read_dir(trees.folder.join("pool")).into_iter().flatten().flatten() {
        if !entry.file_name().to_str().is_some_and(is_kept) {
            remove(&entry.path())?;
        }
    }
    for entry in fs::read_dir(trees.folder.join("private")).into_iter().flatten().flatten() {
        let file = entry.path();
        let part = |part: Option<&std::ffi::OsStr>| {
            part.and_then(|part| part.to_str()).unwrap_or_default().to_string()
        };
        let (stem, extension) = (part(file.file_stem()), part(file.extension()));
        let is_own = extension.is_empty() && ["run", MARK].contains(&stem.as_str());
        let goes_along = is_kept(&stem) && OF_FILES.contains(&extension.as_str());
        if !is_own && !goes_along {
            remove(&file)?;
        }
    }
    Ok(())
}

impl WorkTree {
    /// Brings an inherited tree to a state, and tells whether there is nothing else in it.
    fn make_own(&self, state: &TreeId) -> Result<bool, GitError> {
        if !self.private("index").is_file() {
            return Ok(false);
        }
        self.restore(state)?;
        self.holds_only(state)
    }
}
