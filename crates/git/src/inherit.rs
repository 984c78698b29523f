//! Lets a run start in the work trees of a finished run, so only differing files have to be written.
//!
//! The folder of trees is moved in one step. It contains a marker file until all traces of the earlier run are removed.

use super::remove::remove;
use super::worktree::write_atomically;
use super::{GitError, Repository, RunTrees, TreeId, WorkTree, error, stale};
use std::fs;
use std::path::Path;

/// Everything that the folder of a run's trees contains.
const PARTS: [&str; 4] = ["main", "pool", "scratch", "private"];

/// Extensions of the engine's records about the files of a tree: the index, the raw bytes, and the content of submodules.
const FILE_RECORDS: [&str; 3] = ["index", "raw", "modules"];

/// The maximum number of inherited pool trees. Each takes the disk space of a checkout.
const MAX_POOL_TREES: usize = 4;

/// The marker file, which names the earlier run until the trees are clean.
const MARKER_FILE: &str = "inherited";

/// Moves the trees of a finished run to a run that has none yet, and returns whether that was possible. No other process
/// may use either run.
pub fn inherit(repository: &Repository, from: (&str, &Path), to: (&str, &Path)) -> Result<bool, GitError> {
    let ((earlier_run, earlier_folder), (run, folder)) = (from, to);
    if fs::symlink_metadata(folder).is_ok() || !is_inheritable(repository, earlier_folder)? {
        return Ok(false);
    }
    write_atomically(&earlier_folder.join("private").join(MARKER_FILE), earlier_run.as_bytes())?;
    stale::label_folder(repository, run, earlier_folder)?;
    fs::rename(earlier_folder, folder).map_err(error::file("move", earlier_folder))?;
    stale::remove_trees(repository, earlier_run, None).map(|()| true)
}

/// Returns whether a folder contains trees of this repository and nothing else.
fn is_inheritable(repository: &Repository, folder: &Path) -> Result<bool, GitError> {
    let is_part = |entry: fs::DirEntry| PARTS.iter().any(|part| entry.file_name() == *part);
    let is_folder = |at: &Path| fs::symlink_metadata(at).is_ok_and(|found| found.is_dir());
    let holds_trees = is_folder(folder)
        && is_folder(&folder.join("main"))
        && folder.join("private/main.index").is_file()
        && fs::read_dir(folder).is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(is_part)));
    Ok(holds_trees && stale::run_of_folder(repository, folder)?.is_some())
}

/// Cleans inherited trees. Afterwards, each contains exactly the state of the run's main line. A tree that cannot be
/// cleaned is removed.
pub(super) fn clean_inherited(trees: &RunTrees) -> Result<(), GitError> {
    let marker = trees.folder.join("private").join(MARKER_FILE);
    let Ok(earlier_run) = fs::read_to_string(&marker) else {
        return Ok(());
    };
    stale::remove_trees(&trees.repository, &earlier_run, None)?;
    remove(&trees.folder.join("scratch"))?;
    let names = inherited_names(trees);
    remove_others(trees, &names)?;
    let state = trees.main_state()?.tree;
    for name in &names {
        let tree = trees.work_tree(name);
        // A tree that cannot be cleaned, for whatever reason, is created from scratch.
        if !tree.clean_inherited(&state).unwrap_or(false) {
            remove(tree.path())?;
            FILE_RECORDS.iter().try_for_each(|extension| remove(&tree.private(extension)))?;
        }
    }
    remove(&marker)
}

/// The names of the trees that are inherited: the main tree and some pool trees.
fn inherited_names(trees: &RunTrees) -> Vec<String> {
    // A run that lent no trees has no pool.
    let pool = fs::read_dir(trees.folder.join("pool")).into_iter().flatten().flatten();
    let mut numbers: Vec<u32> = pool
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|number| *number > 0)
        .collect();
    numbers.sort_unstable();
    let numbers = numbers.iter().take(MAX_POOL_TREES).map(u32::to_string);
    std::iter::once("main".to_string()).chain(numbers).collect()
}

/// Removes all other trees, and all records about trees except those about the files of inherited ones.
fn remove_others(trees: &RunTrees, names: &[String]) -> Result<(), GitError> {
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
        let is_marker = extension.is_empty() && ["run", MARKER_FILE].contains(&stem.as_str());
        let is_inherited = is_kept(&stem) && FILE_RECORDS.contains(&extension.as_str());
        if !is_marker && !is_inherited {
            remove(&file)?;
        }
    }
    Ok(())
}

impl WorkTree {
    /// Restores an inherited tree to a state, and returns whether it contains nothing else.
    fn clean_inherited(&self, state: &TreeId) -> Result<bool, GitError> {
        if !self.private("index").is_file() {
            return Ok(false);
        }
        self.restore(state)?;
        self.holds_only(state)
    }
}
