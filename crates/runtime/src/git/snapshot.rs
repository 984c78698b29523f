//! Takes the exact content of a work tree into the repository, by an index of the engine's own.
//!
//! In a snapshot are the files that are not ignored, and those that the run's base tracks. The index is kept between
//! snapshots for the file times in it, so an unchanged tree costs no reading of files.

use super::call::{fields, git, listed, path};
use super::look::Look;
use super::overlay::Overlay;
use super::remove::remove;
use super::stock::Stock;
use super::worktree::Memory;
use super::{GitError, TreeId, WorkTree, error};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

/// What is to be done to the index.
#[derive(Debug, Default)]
struct Update {
    taken: Vec<PathBuf>,
    gone: Vec<PathBuf>,
    /// Regular files among the taken.
    regular: Vec<PathBuf>,
    /// Files that could change once more without any of their times showing it.
    suspect: Vec<PathBuf>,
}

impl WorkTree {
    /// Takes the content as it is now.
    pub fn snapshot(&self) -> Result<TreeId, GitError> {
        let mut memory = self.memory();
        self.mend()?;
        let tree = self.stage(None)?;
        self.keep_safe(&tree, &mut memory)?;
        Ok(tree)
    }

    /// Keeps a snapshot from garbage collection: a reference of its own leads to each of its trees, with no commit between.
    pub(super) fn keep_safe(&self, tree: &TreeId, memory: &mut Memory) -> Result<(), GitError> {
        if memory.kept.as_ref().is_some_and(|kept| kept == tree) {
            return Ok(());
        }
        let row = |id: &str| format!("update refs/remand/{}/snapshots/{id} {id}\n", self.run);
        // Both are the same where all files are kept raw, and git takes a reference once.
        let ids: BTreeSet<&str> = [Some(tree.tree()), tree.raw()].into_iter().flatten().collect();
        let rows: String = ids.into_iter().map(row).collect();
        git(&self.repository.objects(), ["update-ref", "--stdin"]).input(rows.into_bytes()).run()?;
        memory.kept = Some(tree.clone());
        Ok(())
    }

    /// Takes the content in. A stock that was just taken spares git looking at every file.
    pub(super) fn stage(&self, stock: Option<&Stock>) -> Result<TreeId, GitError> {
        let index = self.private("index");
        let mut overlay = self.overlay();
        if overlay == Overlay::Unsure || !index.exists() {
            overlay = Overlay::None;
            self.seed_index()?;
        }
        let mut look = match stock.map(|stock| self.compare(stock)).transpose()?.flatten() {
            Some(look) => Ok(look),
            None => self.look(),
        };
        // An index that cannot be read, or that was made under other attributes, says nothing of the files.
        if look.as_ref().map_or_else(GitError::is_failed_call, |look| look.names(".gitattributes")) {
            overlay = Overlay::None;
            self.seed_index()?;
            look = self.look();
        }
        let look = look?;
        let update = self.update(&look)?;
        overlay = self.apply(&look, &update, overlay)?;
        let tree = match look.tree {
            Some(tree) => tree,
            None => TreeId::plain(&git(&self.place().syncing_later(), ["write-tree"]).line()?)?,
        };
        Ok(match overlay {
            Overlay::Some(raw) => tree.with_raw(Some(raw)),
            Overlay::None | Overlay::Unsure => tree,
        })
    }

    /// Starts an index that knows what the base tracks and nothing of the files.
    fn seed_index(&self) -> Result<(), GitError> {
        remove(&self.private("index"))?;
        self.note_overlay(&Overlay::None)?;
        git(&self.place(), ["read-tree", self.base.as_str()]).run().map(drop)
    }

    fn update(&self, look: &Look) -> Result<Update, GitError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        let mut update = Update::default();
        let mut folders = BTreeMap::new();
        let touched = look.touched.iter().map(|(file, mode)| (file, mode == "160000"));
        for (file, is_submodule) in touched.chain(look.others.iter().map(|file| (file, false))) {
            match self.found(file, &mut folders) {
                Some(found) if found.is_dir() && is_submodule => update.taken.push(file.clone()),
                Some(found) if found.is_symlink() => update.taken.push(file.clone()),
                Some(found) if found.is_file() => {
                    make_readable(&self.path().join(file), &found)?;
                    // Git looks at the content again when the time of change is as young as the index. It does not
                    // ask how young the change of the inode is, which alone shows a file put in with an old time.
                    if found.mtime() < found.ctime() && found.ctime() + 1 >= now {
                        update.suspect.push(file.clone());
                    }
                    update.regular.push(file.clone());
                    update.taken.push(file.clone());
                }
                Some(_) | None => update.gone.push(file.clone()),
            }
        }
        Ok(update)
    }

    /// What is at a path, if all above it are real folders.
    fn found(&self, file: &Path, folders: &mut BTreeMap<PathBuf, bool>) -> Option<Metadata> {
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
        let above = self.is_real(folder.parent().unwrap_or(Path::new("")), folders);
        let real = above && fs::symlink_metadata(self.path().join(folder)).is_ok_and(|found| found.is_dir());
        folders.insert(folder.to_path_buf(), real);
        real
    }

    /// Brings the index to the files, and gives the overlay that goes with it.
    fn apply(&self, look: &Look, update: &Update, overlay: Overlay) -> Result<Overlay, GitError> {
        let listed_now = || look.touched.keys().chain(&look.others);
        if look.touched.is_empty() && look.others.is_empty() {
            return Ok(overlay);
        }
        // Until it is known what the filters do to the files, the index may be ahead of the overlay.
        self.note_overlay(&Overlay::Unsure)?;
        let (convertible, taken_in) = thread::scope(|scope| {
            let asked = scope.spawn(|| self.convertible(&update.regular));
            let taken_in = self.take_in(look, update);
            (asked.join().unwrap_or_else(|_| self.convertible(&update.regular)), taken_in)
        });
        taken_in?;
        let (convertible, laid_over) = (convertible?, self.overlaid(&overlay)?);
        let concerned = !convertible.is_empty() || listed_now().any(|file| laid_over.contains_key(file));
        if !concerned {
            self.note_overlay(&overlay)?;
            return Ok(overlay);
        }
        let mut raw = laid_over;
        raw.retain(|file, _| !look.touched.contains_key(file) && !look.others.contains(file));
        let staged = self.regular_entries()?;
        let candidates: Vec<PathBuf> = convertible.into_iter().filter(|file| staged.contains(file)).collect();
        raw.extend(self.unfaithful(&candidates)?);
        let overlay = self.overlay_of(&raw)?;
        self.note_overlay(&overlay)?;
        Ok(overlay)
    }

    fn take_in(&self, look: &Look, update: &Update) -> Result<(), GitError> {
        self.drop_entries(&update.gone)?;
        if !update.taken.is_empty() {
            let words = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
            let input = listed(update.taken.iter().map(PathBuf::as_path));
            git(&self.place().syncing_later(), words).input(input).run()?;
        }
        if look.names(".gitignore") {
            self.drop_ignored()?;
        }
        self.forget_times(&update.suspect)
    }

    /// Takes paths out of the index.
    pub(super) fn drop_entries(&self, paths: &[PathBuf]) -> Result<(), GitError> {
        if paths.is_empty() {
            return Ok(());
        }
        let rows: Vec<Vec<u8>> = paths.iter().map(|path| self.absent_row(path)).collect();
        git(&self.place(), ["update-index", "-z", "--index-info"]).input(rows.concat()).run().map(drop)
    }

    /// The row that takes a path out of an index.
    fn absent_row(&self, path: &Path) -> Vec<u8> {
        let zeros = "0".repeat(self.base.as_str().len());
        [format!("0 {zeros}\t").as_bytes(), path.as_os_str().as_bytes(), b"\0"].concat()
    }

    /// Takes out files that became ignored since they were taken in, unless the base tracks them.
    fn drop_ignored(&self) -> Result<(), GitError> {
        let words = ["ls-files", "-z", "--cached", "--ignored", "--exclude-standard"];
        let output = git(&self.place(), words).run()?;
        let ignored: Vec<PathBuf> = fields(&output).map(path).collect();
        if ignored.is_empty() {
            return Ok(());
        }
        let words = ["ls-tree", "-r", "-z", "--name-only", self.base.as_str()];
        let tracked = git(&self.repository.objects(), words).run()?;
        let tracked: BTreeSet<&[u8]> = fields(&tracked).collect();
        let out: Vec<PathBuf> =
            ignored.into_iter().filter(|file| !tracked.contains(file.as_os_str().as_bytes())).collect();
        self.drop_entries(&out)
    }

    /// Makes git compare the content of these files next time.
    fn forget_times(&self, files: &[PathBuf]) -> Result<(), GitError> {
        if files.is_empty() {
            return Ok(());
        }
        let files: BTreeSet<&[u8]> = files.iter().map(|file| file.as_os_str().as_bytes()).collect();
        let output = git(&self.place(), ["ls-files", "--stage", "-z"]).run()?;
        let mut rows = Vec::new();
        for row in fields(&output) {
            let name = row.iter().position(|byte| *byte == b'\t').map(|tab| &row[tab + 1..]);
            if name.is_some_and(|name| files.contains(name)) {
                rows.extend_from_slice(row);
                rows.push(0);
            }
        }
        git(&self.place(), ["update-index", "-z", "--index-info"]).input(rows).run().map(drop)
    }

    /// The regular files in the index.
    fn regular_entries(&self) -> Result<BTreeSet<PathBuf>, GitError> {
        let output = git(&self.place(), ["ls-files", "--stage", "-z"]).run()?;
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
