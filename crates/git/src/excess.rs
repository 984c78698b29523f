//! Finds what exceeds the limits of a work tree. File metadata shows it, before git lists or reads the files.
//!
//! A program can leave files that git takes minutes for, or runs out of memory with: sparse giants, folders within
//! folders, or very many files.

use super::call::git;
use super::differences::TrackedFiles;
use super::index::Index;
use super::invocation::{fields, path};
use super::remove::{has_real_parents, make_folder_accessible, remove};
use super::scan::{FileKind, ScanReach, TreeScan};
use super::tree_limits::{Excess, ExcessKind, TreeLimits};
use super::worktree::WorkTreeCache;
use super::{GitError, WorkTree, error};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

/// The maximum number of entries that a scan lists in addition to the tracked ones. Ignored output of tools never has
/// more entries than this.
const MAX_MORE_ENTRIES: usize = 1_000_000;

/// How much longer a path may be than a name.
const NAMES_IN_PATH: usize = 10;

/// The maximum number of examples of one kind of excess.
const MAX_EXAMPLES: usize = 3;

/// The result of comparing a scan with the index.
#[derive(Debug, Default)]
struct Growth {
    excess: Vec<Excess>,
    /// New paths that are not folders.
    new: Vec<PathBuf>,
    /// Whether a limit is exceeded to which files count unless they are ignored.
    counts_files: bool,
}

impl WorkTree {
    /// Scans the tree, including build output that git does not ignore. Fails with `GitError::Excess` if the tree has more
    /// than the index and the limits allow. `before` is an earlier scan that has shown which build output is ignored.
    pub(super) fn scan_within_limits(
        &self,
        cache: &mut WorkTreeCache,
        tracked: &BTreeSet<PathBuf>,
        index: &Index,
        before: Option<&TreeScan>,
    ) -> Result<TreeScan, GitError> {
        let scan = self.limited_scan(tracked, index, before);
        cache.is_within_limits = scan.is_ok();
        scan
    }

    fn limited_scan(
        &self,
        tracked: &BTreeSet<PathBuf>,
        index: &Index,
        before: Option<&TreeScan>,
    ) -> Result<TreeScan, GitError> {
        let limits = self.repository.tree_limits;
        let reach = reach(index, &limits);
        let mut scan = self.scan(tracked, &reach)?;
        let mut excess = self.excess(index, &scan)?;
        let ignore_rules_differ = before.is_none_or(|before| before.ignore_files_differ(&scan));
        let mut checked = BTreeSet::new();
        while excess.is_empty() {
            let is_unknown = |path: &Path| {
                let is_old = before.is_some_and(|before| before.has_output(path));
                (ignore_rules_differ || !is_old) && !checked.contains(path)
            };
            let output: Vec<PathBuf> =
                scan.output_folders().filter(|path| is_unknown(path)).map(Path::to_path_buf).collect();
            let ignored = self.ignored(&output, TrackedFiles::LikeOthers)?;
            checked.extend(output.iter().cloned());
            let open: Vec<PathBuf> = output.into_iter().filter(|path| !ignored.contains(path)).collect();
            if open.is_empty() {
                return Ok(scan);
            }
            self.scan_output(&mut scan, open, tracked, &reach)?;
            excess = self.excess(index, &scan)?;
        }
        Err(GitError::Excess { excess })
    }

    /// Makes sure that git can work in the tree: if it exceeds its limits, discards everything that is not tracked, except
    /// ignored build output. Does nothing if the tree is known to be within its limits.
    pub(super) fn discard_excess(&self, cache: &mut WorkTreeCache) -> Result<(), GitError> {
        while !cache.is_within_limits {
            let index = self.index_or_list()?;
            match self.scan_within_limits(cache, &index.output_folders(), &index, None) {
                Ok(_) => return Ok(()),
                Err(GitError::Excess { .. }) => {}
                Err(other) => return Err(other),
            }
            let limits = self.repository.tree_limits;
            let scan = self.scan(&index.output_folders(), &reach(&index, &limits))?;
            let output: Vec<PathBuf> = scan.output_folders().map(Path::to_path_buf).collect();
            let ignored_output = self.ignored(&output, TrackedFiles::LikeOthers)?;
            let submodules = self.submodule_folders();
            let mut discarded = Discarded::new(self)?;
            let mut last: Option<&Path> = None;
            for (path, entry) in scan.iter() {
                let is_inside_last = last.is_some_and(|last| path.starts_with(last));
                let is_tracked = index.contains(path) || index.has_below(path);
                let is_kept = is_tracked
                    || ignored_output.contains(path)
                    || submodules.iter().any(|folder| path.starts_with(folder));
                if is_inside_last || is_kept || entry.kind == FileKind::Repository {
                    continue;
                }
                discarded.add(path)?;
                last = Some(path);
            }
            for path in scan.cut() {
                discarded.add(path)?;
            }
            // What is left then is tracked, and only its size exceeds a limit.
            cache.is_within_limits = discarded.number == 0;
            discarded.delete();
        }
        Ok(())
    }

    /// The engine's index. If only git can read it, git lists its files.
    pub(super) fn index_or_list(&self) -> Result<Index, GitError> {
        if let Some(index) = self.index() {
            return Ok(index);
        }
        let format = "--format=%(objectsize) %(path)";
        let output = match git(&self.context(), ["ls-files", "-z", format]).run() {
            // A broken index is about to be created again from the base.
            Err(GitError::Failed { .. }) => {
                let words = ["ls-tree", "-r", "-z", format, self.base.as_str()];
                git(&self.repository.objects(), words).run()?
            }
            listed => listed?,
        };
        let file = |row: &[u8]| {
            let space = row.iter().position(|byte| *byte == b' ')?;
            let size = std::str::from_utf8(&row[..space]).ok()?.parse().unwrap_or(0);
            Some((path(&row[space + 1..]), size))
        };
        Ok(Index::of_files(fields(&output).filter_map(file)))
    }

    fn excess(&self, index: &Index, scan: &TreeScan) -> Result<Vec<Excess>, GitError> {
        let growth = self.growth(index, scan, &BTreeSet::new());
        if !growth.counts_files {
            return Ok(growth.excess);
        }
        let ignored = self.ignored(&growth.new, TrackedFiles::LikeOthers)?;
        Ok(if ignored.is_empty() { growth.excess } else { self.growth(index, scan, &ignored).excess })
    }

    fn growth(&self, index: &Index, scan: &TreeScan, ignored: &BTreeSet<PathBuf>) -> Growth {
        let limits = self.repository.tree_limits;
        let submodules = self.submodule_folders();
        let mut growth = Growth::default();
        let (mut files, mut folders, mut size): (i64, u64, i128) = (0, 0, 0);
        let mut add = |kind: ExcessKind, path: &Path| {
            let is_same =
                |excess: &&Excess| std::mem::discriminant(&excess.kind) == std::mem::discriminant(&kind);
            if growth.excess.iter().filter(is_same).count() < MAX_EXAMPLES {
                growth.excess.push(Excess { kind, path: path.to_path_buf() });
            }
        };
        for path in scan.cut() {
            let is_deep = path.components().count() >= limits.depth;
            let limit = limits.name_length * NAMES_IN_PATH;
            add(
                if is_deep {
                    ExcessKind::Depth { limit: limits.depth }
                } else {
                    ExcessKind::PathLength { limit }
                },
                path,
            );
        }
        let diff = index.compare(scan);
        for (path, entry) in diff.untracked {
            let is_folder = matches!(entry.kind, FileKind::Folder | FileKind::BuildOutput);
            if is_folder && index.has_below(path) || submodules.iter().any(|folder| path.starts_with(folder))
            {
                continue;
            }
            let name = path.file_name().map_or(0, |name| name.len());
            if name > limits.name_length {
                add(ExcessKind::NameLength { found: name, limit: limits.name_length }, path);
            }
            if path.components().count() > limits.depth {
                add(ExcessKind::Depth { limit: limits.depth }, path);
            }
            if is_folder {
                folders += 1;
                continue;
            }
            growth.new.push(path.to_path_buf());
            if ignored.contains(path) {
                continue;
            }
            let used = entry.size.max(entry.allocated());
            files += 1;
            size += i128::from(used);
            if used > limits.file_size {
                growth.counts_files = true;
                add(ExcessKind::FileSize { found: used, limit: limits.file_size }, path);
            }
        }
        for file in diff.touched {
            let was = u64::from(file.size);
            let Some(entry) = scan.get(&file.path) else {
                files -= 1;
                size -= i128::from(was);
                continue;
            };
            size += i128::from(entry.size) - i128::from(was);
            if entry.kind == FileKind::File && entry.size > limits.file_size.max(was) {
                add(ExcessKind::FileSize { found: entry.size, limit: limits.file_size }, &file.path);
            }
        }
        let (files, size) = (u64::try_from(files).unwrap_or(0), u64::try_from(size).unwrap_or(0));
        if files > limits.files {
            growth.counts_files = true;
            add(ExcessKind::Files { found: files, limit: limits.files }, Path::new(""));
        }
        if size > limits.size {
            growth.counts_files = true;
            add(ExcessKind::Size { found: size, limit: limits.size }, Path::new(""));
        }
        if folders > limits.files {
            add(ExcessKind::Folders { found: folders, limit: limits.files }, Path::new(""));
        }
        growth
    }
}

/// Paths moved out of a work tree. Their deletion can take long and nobody waits for it.
struct Discarded<'t> {
    tree: &'t WorkTree,
    folder: PathBuf,
    number: usize,
    /// Folders left by an engine that was killed.
    earlier: Vec<PathBuf>,
}

impl Discarded<'_> {
    fn new(tree: &WorkTree) -> Result<Discarded<'_>, GitError> {
        let parent = tree.discarded();
        let earlier: Vec<PathBuf> =
            fs::read_dir(&parent).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        let folder = (0..).map(|number: u64| parent.join(number.to_string())).find(|folder| !folder.exists());
        let folder = folder.unwrap_or(parent);
        fs::create_dir_all(&folder).map_err(error::file("create", &folder))?;
        Ok(Discarded { tree, folder, number: 0, earlier })
    }

    /// Moves a path out of the tree. Does nothing if one of its parents is missing or a symbolic link.
    fn add(&mut self, inside: &Path) -> Result<(), GitError> {
        let path = self.tree.path().join(inside);
        if has_real_parents(self.tree.path(), inside) && fs::symlink_metadata(&path).is_ok() {
            path.parent().map_or(Ok(()), make_folder_accessible)?;
            let to = self.folder.join(self.number.to_string());
            fs::rename(&path, to).map_err(error::file("move away", &path))?;
            self.number += 1;
        }
        Ok(())
    }

    /// Deletes the paths in a thread. If the process ends before, the next deletion includes them.
    fn delete(mut self) {
        self.earlier.push(self.folder);
        thread::spawn(move || {
            for folder in self.earlier {
                // Nothing depends on the deletion, and it is tried again.
                let _ = remove(&folder);
            }
        });
    }
}

/// How far to scan a tree: somewhat beyond what is tracked and what may be added.
fn reach(index: &Index, limits: &TreeLimits) -> ScanReach {
    let (depth, path_length) = index.extent();
    ScanReach {
        depth: limits.depth.max(depth),
        path_length: path_length.max(limits.name_length * NAMES_IN_PATH),
        entries: index.len() * 2 + MAX_MORE_ENTRIES,
    }
}
