//! Stores the exact content of a work tree in the repository, through the engine's index.
//!
//! A snapshot contains the files that are not ignored, and those that the run's base tracks. The index is kept between
//! snapshots with its file times, so unchanged files are not read again.

use super::call::{PendingCall, git};
use super::differences::Differences;
use super::index::Index;
use super::invocation::{fields, nul_terminated, path};
use super::overlay::Overlay;
use super::remove::remove;
use super::scan::TreeScan;
use super::worktree::WorkTreeCache;
use super::{ChangedPath, GitError, TreeId, WorkTree, error};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

/// Changes to make to the index.
#[derive(Debug, Default)]
struct IndexUpdate {
    added: Vec<PathBuf>,
    removed: Vec<PathBuf>,
    /// The regular files among those to add.
    regular: Vec<PathBuf>,
    /// Files that could change again while their times stay the same.
    suspect: Vec<PathBuf>,
}

/// Started calls that wait for the names of the files that differ.
#[derive(Debug)]
pub(super) struct PreparedCalls {
    /// Updates the index, and holds its lock.
    updating: PendingCall,
    attributes: PendingCall,
    overlay: Overlay,
}

/// An index that matches the files.
#[derive(Debug)]
pub(super) struct StagedIndex {
    overlay: Overlay,
    /// The tree of the index, if the index contained the tree's id.
    tree: Option<TreeId>,
}

impl StagedIndex {
    fn raw(&self) -> Option<&str> {
        match &self.overlay {
            Overlay::Some(raw) => Some(raw),
            Overlay::None | Overlay::Unknown => None,
        }
    }
}

impl WorkTree {
    /// Takes a snapshot of the current content.
    pub fn snapshot(&self) -> Result<TreeId, GitError> {
        let mut cache = self.cache();
        self.attach()?;
        let prepared = self.prepare()?;
        let index = self.index_or_list()?;
        let scan = self.scan_within_limits(&mut cache, &index.output_folders(), &index, None)?;
        let staged = self.stage(prepared, index.has_times.then_some((&index, &scan)))?;
        self.write(&staged, &mut cache)
    }

    /// Writes the tree of an index and protects it from garbage collection.
    pub(super) fn write(&self, staged: &StagedIndex, cache: &mut WorkTreeCache) -> Result<TreeId, GitError> {
        let with_raw = |tree: TreeId| tree.with_raw(staged.raw().map(str::to_string));
        if let Some(tree) = staged.tree.clone().map(with_raw)
            && cache.protected.as_ref() == Some(&tree)
        {
            return Ok(tree);
        }
        let writing = git(&self.context().without_sync(), ["write-tree"]).start()?;
        let protecting = git(&self.repository.objects(), ["update-ref", "--stdin"]).start()?;
        let tree = with_raw(TreeId::plain(&writing.line()?)?);
        self.protect(&tree, protecting, cache)?;
        Ok(tree)
    }

    /// Protects a snapshot from garbage collection, with a reference directly to each of its trees.
    fn protect(
        &self,
        tree: &TreeId,
        protecting: PendingCall,
        cache: &mut WorkTreeCache,
    ) -> Result<(), GitError> {
        if cache.protected.as_ref().is_some_and(|protected| protected == tree) {
            return Ok(());
        }
        let row = |id: &str| format!("update refs/remand/{}/snapshots/{id} {id}\n", self.run);
        // Both ids are the same if all files are raw, and git rejects an update that names a reference twice.
        let ids: BTreeSet<&str> = [Some(tree.tree()), tree.raw()].into_iter().flatten().collect();
        let rows: String = ids.into_iter().map(row).collect();
        protecting.run(rows.into_bytes())?;
        cache.protected = Some(tree.clone());
        Ok(())
    }

    /// Starts the calls that a snapshot needs, so they run while the files are being listed. Creates a new index after an
    /// interrupted update.
    pub(super) fn prepare(&self) -> Result<PreparedCalls, GitError> {
        let mut overlay = self.overlay();
        if overlay == Overlay::Unknown || !self.private("index").exists() {
            overlay = Overlay::None;
            self.seed_index()?;
        }
        Ok(PreparedCalls {
            updating: self.start_update()?,
            attributes: self.start_listing_attributes()?,
            overlay,
        })
    }

    fn start_update(&self) -> Result<PendingCall, GitError> {
        let words = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
        git(&self.context().without_sync(), words).start()
    }

    /// Updates the index from the files. With the index and a fresh scan, git need not look at every file.
    pub(super) fn stage(
        &self,
        mut prepared: PreparedCalls,
        scanned: Option<(&Index, &TreeScan)>,
    ) -> Result<StagedIndex, GitError> {
        let compared =
            scanned.map(|(index, scan)| self.differences_by_scan(index, scan)).transpose()?.flatten();
        let mut found = compared.map_or_else(|| self.differences_by_git(), Ok);
        // A broken index, or one that was written with other attributes, cannot be compared with the files.
        if found
            .as_ref()
            .map_or_else(GitError::is_failed_call, |found| found.has_file_named(".gitattributes"))
        {
            drop(prepared);
            self.seed_index()?;
            prepared = self.prepare()?;
            found = self.differences_by_git();
        }
        let found = found?;
        let update = self.update(&found)?;
        Ok(StagedIndex { overlay: self.apply(&found, &update, prepared)?, tree: found.tree })
    }

    /// The changes from a state to the staged content.
    pub(super) fn changed_since(
        &self,
        state: &TreeId,
        staged: &StagedIndex,
    ) -> Result<Vec<ChangedPath>, GitError> {
        let is_same = |tree: &TreeId| tree.tree() == state.tree() && staged.raw() == state.raw();
        if staged.tree.as_ref().is_some_and(is_same) {
            return Ok(Vec::new());
        }
        self.repository.changed_in(&self.private("index"), staged.raw(), state)
    }

    /// Creates an index with the base's files and without file times.
    fn seed_index(&self) -> Result<(), GitError> {
        remove(&self.private("index"))?;
        self.record_overlay(&Overlay::None)?;
        git(&self.context(), ["read-tree", self.base.as_str()]).run().map(drop)
    }

    fn update(&self, found: &Differences) -> Result<IndexUpdate, GitError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        let mut update = IndexUpdate::default();
        let mut folders = BTreeMap::new();
        let touched = found.touched.iter().map(|(file, mode)| (file, mode == "160000"));
        for (file, is_submodule) in touched.chain(found.others.iter().map(|file| (file, false))) {
            match self.metadata(file, &mut folders) {
                Some(found) if found.is_dir() && is_submodule => update.added.push(file.clone()),
                Some(found) if found.is_symlink() => update.added.push(file.clone()),
                Some(found) if found.is_file() => {
                    make_readable(&self.path().join(file), &found)?;
                    // Git compares the content again if the modification time is not older than the index. For a new file
                    // with an old modification time, only the inode change time is new, and git does not check that.
                    if found.mtime() < found.ctime() && found.ctime() + 1 >= now {
                        update.suspect.push(file.clone());
                    }
                    update.regular.push(file.clone());
                    update.added.push(file.clone());
                }
                Some(_) | None => update.removed.push(file.clone()),
            }
        }
        Ok(update)
    }

    /// The metadata of a path, if all its parents are real folders.
    fn metadata(&self, file: &Path, folders: &mut BTreeMap<PathBuf, bool>) -> Option<Metadata> {
        let parent = file.parent().unwrap_or(Path::new(""));
        if !self.is_real(parent, folders) {
            return None;
        }
        fs::symlink_metadata(self.path().join(file)).ok()
    }

    fn is_real(&self, folder: &Path, folders: &mut BTreeMap<PathBuf, bool>) -> bool {
        if folder.as_os_str().is_empty() {
            return true;
        }
        if let Some(known) = folders.get(folder) {
            return *known;
        }
        let has_real_parent = self.is_real(folder.parent().unwrap_or(Path::new("")), folders);
        let is_real = has_real_parent
            && fs::symlink_metadata(self.path().join(folder)).is_ok_and(|found| found.is_dir());
        folders.insert(folder.to_path_buf(), is_real);
        is_real
    }

    /// Updates the index, and returns the matching overlay.
    fn apply(
        &self,
        found: &Differences,
        update: &IndexUpdate,
        prepared: PreparedCalls,
    ) -> Result<Overlay, GitError> {
        let PreparedCalls { updating, attributes, overlay } = prepared;
        let differing = || found.touched.keys().chain(&found.others);
        if found.touched.is_empty() && found.others.is_empty() {
            return Ok(overlay);
        }
        // Until the effect of the filters is known, the index may be newer than the overlay.
        self.record_overlay(&Overlay::Unknown)?;
        let (convertible, updated) = thread::scope(|scope| {
            let convertible = scope.spawn(|| self.convertible(&update.regular, attributes));
            let updated = self.update_index(found, update, updating);
            (convertible.join().unwrap_or_else(|panic| resume_unwind(panic)), updated)
        });
        updated?;
        let (convertible, mut raw) = (convertible?, self.overlay_files(&overlay)?);
        let is_affected = !convertible.is_empty() || differing().any(|file| raw.contains_key(file));
        if !is_affected {
            self.record_overlay(&overlay)?;
            return Ok(overlay);
        }
        raw.retain(|file, _| !found.touched.contains_key(file) && !found.others.contains(file));
        let staged = self.regular_entries()?;
        let candidates: Vec<PathBuf> = convertible.into_iter().filter(|file| staged.contains(file)).collect();
        raw.extend(self.altered_by_filters(&candidates)?);
        let overlay = self.overlay_tree(&raw)?;
        self.record_overlay(&overlay)?;
        Ok(overlay)
    }

    fn update_index(
        &self,
        found: &Differences,
        update: &IndexUpdate,
        mut updating: PendingCall,
    ) -> Result<(), GitError> {
        if !update.removed.is_empty() {
            drop(updating);
            self.drop_entries(&update.removed)?;
            updating = self.start_update()?;
        }
        updating.run(nul_terminated(update.added.iter().map(PathBuf::as_path)))?;
        if found.has_file_named(".gitignore") {
            self.drop_ignored()?;
        }
        self.forget_times(&update.suspect)
    }

    /// Removes paths from the index.
    pub(super) fn drop_entries(&self, paths: &[PathBuf]) -> Result<(), GitError> {
        if paths.is_empty() {
            return Ok(());
        }
        let rows: Vec<Vec<u8>> = paths.iter().map(|path| self.removal_row(path)).collect();
        git(&self.context(), ["update-index", "-z", "--index-info"]).input(rows.concat()).run().map(drop)
    }

    /// The row for `update-index` that removes a path.
    fn removal_row(&self, path: &Path) -> Vec<u8> {
        let zeros = "0".repeat(self.base.as_str().len());
        [format!("0 {zeros}\t").as_bytes(), path.as_os_str().as_bytes(), b"\0"].concat()
    }

    /// Removes files from the index that have become ignored, unless the base tracks them.
    fn drop_ignored(&self) -> Result<(), GitError> {
        let words = ["ls-files", "-z", "--cached", "--ignored", "--exclude-standard"];
        let output = git(&self.context(), words).run()?;
        let ignored: Vec<PathBuf> = fields(&output).map(path).collect();
        if ignored.is_empty() {
            return Ok(());
        }
        let words = ["ls-tree", "-r", "-z", "--name-only", self.base.as_str()];
        let tracked = git(&self.repository.objects(), words).run()?;
        let tracked: BTreeSet<&[u8]> = fields(&tracked).collect();
        let dropped: Vec<PathBuf> =
            ignored.into_iter().filter(|file| !tracked.contains(file.as_os_str().as_bytes())).collect();
        self.drop_entries(&dropped)
    }

    /// Removes the times of files from the index, so git compares their content next time.
    fn forget_times(&self, files: &[PathBuf]) -> Result<(), GitError> {
        if files.is_empty() {
            return Ok(());
        }
        let files: BTreeSet<&[u8]> = files.iter().map(|file| file.as_os_str().as_bytes()).collect();
        let output = git(&self.context(), ["ls-files", "--stage", "-z"]).run()?;
        let mut rows = Vec::new();
        for row in fields(&output) {
            let name = row.iter().position(|byte| *byte == b'\t').map(|tab| &row[tab + 1..]);
            if name.is_some_and(|name| files.contains(name)) {
                rows.extend_from_slice(row);
                rows.push(0);
            }
        }
        git(&self.context(), ["update-index", "-z", "--index-info"]).input(rows).run().map(drop)
    }

    /// The regular files in the index.
    fn regular_entries(&self) -> Result<BTreeSet<PathBuf>, GitError> {
        let output = git(&self.context(), ["ls-files", "--stage", "-z"]).run()?;
        let rows = fields(&output).filter(|row| row.starts_with(b"100"));
        Ok(rows
            .filter_map(|row| row.iter().position(|byte| *byte == b'\t').map(|tab| path(&row[tab + 1..])))
            .collect())
    }
}

fn make_readable(file: &Path, found: &Metadata) -> Result<(), GitError> {
    let mode = found.permissions().mode();
    if mode & 0o400 == 0 {
        let readable = fs::Permissions::from_mode(mode | 0o600);
        fs::set_permissions(file, readable).map_err(error::file("open", file))?;
    }
    Ok(())
}
