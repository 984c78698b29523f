//! Takes the exact content of a work tree into the repository, by an index of the engine's own.
//!
//! In a snapshot are the files that are not ignored, and those that the run's base tracks. The index is kept between
//! snapshots for the file times in it, so an unchanged tree costs no reading of files.

use super::call::{Begun, fields, git, listed, path};
use super::index::Index;
use super::look::Look;
use super::overlay::Overlay;
use super::remove::remove;
use super::stock::Stock;
use super::worktree::Memory;
use super::{Changed, GitError, TreeId, WorkTree, error};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::panic::resume_unwind;
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

/// Calls that wait for the names of the files that differ.
#[derive(Debug)]
pub(super) struct Ready {
    /// Holds the index.
    taking: Begun,
    attributes: Begun,
    overlay: Overlay,
}

/// An index that has been brought to the files.
#[derive(Debug)]
pub(super) struct Staged {
    overlay: Overlay,
    /// The tree, where the index told it already.
    tree: Option<TreeId>,
}

impl Staged {
    fn raw(&self) -> Option<&str> {
        match &self.overlay {
            Overlay::Some(raw) => Some(raw),
            Overlay::None | Overlay::Unsure => None,
        }
    }
}

impl WorkTree {
    /// Takes the content as it is now.
    pub fn snapshot(&self) -> Result<TreeId, GitError> {
        let mut memory = self.memory();
        self.mend()?;
        let staged = self.stage(self.ready()?, None)?;
        self.write(&staged, &mut memory)
    }

    /// Writes the tree of an index and keeps it safe.
    pub(super) fn write(&self, staged: &Staged, memory: &mut Memory) -> Result<TreeId, GitError> {
        let with_raw = |tree: TreeId| tree.with_raw(staged.raw().map(str::to_string));
        if let Some(tree) = staged.tree.clone().map(with_raw)
            && memory.kept.as_ref() == Some(&tree)
        {
            return Ok(tree);
        }
        let writing = git(&self.place().in_passing(), ["write-tree"]).begin()?;
        let keeping = git(&self.repository.objects(), ["update-ref", "--stdin"]).begin()?;
        let tree = with_raw(TreeId::plain(&writing.line()?)?);
        self.keep_safe(&tree, keeping, memory)?;
        Ok(tree)
    }

    /// Keeps a snapshot from garbage collection: a reference of its own leads to each of its trees, with no commit between.
    fn keep_safe(&self, tree: &TreeId, keeping: Begun, memory: &mut Memory) -> Result<(), GitError> {
        if memory.kept.as_ref().is_some_and(|kept| kept == tree) {
            return Ok(());
        }
        let row = |id: &str| format!("update refs/remand/{}/snapshots/{id} {id}\n", self.run);
        // Both are the same where all files are kept raw, and git takes a reference once.
        let ids: BTreeSet<&str> = [Some(tree.tree()), tree.raw()].into_iter().flatten().collect();
        let rows: String = ids.into_iter().map(row).collect();
        keeping.run(rows.into_bytes())?;
        memory.kept = Some(tree.clone());
        Ok(())
    }

    /// Gets ready to take content in, while others still look for what there is. Whatever was cut short is begun anew.
    pub(super) fn ready(&self) -> Result<Ready, GitError> {
        let mut overlay = self.overlay();
        if overlay == Overlay::Unsure || !self.private("index").exists() {
            overlay = Overlay::None;
            self.seed_index()?;
        }
        Ok(Ready { taking: self.begin_taking()?, attributes: self.ask_attributes()?, overlay })
    }

    fn begin_taking(&self) -> Result<Begun, GitError> {
        let words = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
        git(&self.place().in_passing(), words).begin()
    }

    /// Takes the content in. The index beside a stock that was just taken spares git looking at every file.
    pub(super) fn stage(&self, mut ready: Ready, seen: Option<(&Index, &Stock)>) -> Result<Staged, GitError> {
        let compared = seen.map(|(index, stock)| self.compare(index, stock)).transpose()?.flatten();
        let mut look = compared.map_or_else(|| self.look(), Ok);
        // An index that cannot be read, or that was made under other attributes, says nothing of the files.
        if look.as_ref().map_or_else(GitError::is_failed_call, |look| look.names(".gitattributes")) {
            drop(ready);
            self.seed_index()?;
            ready = self.ready()?;
            look = self.look();
        }
        let look = look?;
        let update = self.update(&look)?;
        Ok(Staged { overlay: self.apply(&look, &update, ready)?, tree: look.tree })
    }

    /// What is different between a state and what was taken in.
    pub(super) fn changed_since(&self, state: &TreeId, staged: &Staged) -> Result<Vec<Changed>, GitError> {
        let is_same = |tree: &TreeId| tree.tree() == state.tree() && staged.raw() == state.raw();
        if staged.tree.as_ref().is_some_and(is_same) {
            return Ok(Vec::new());
        }
        self.repository.changed_in(&self.private("index"), staged.raw(), state)
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
    fn apply(&self, look: &Look, update: &Update, ready: Ready) -> Result<Overlay, GitError> {
        let Ready { taking, attributes, overlay } = ready;
        let listed_now = || look.touched.keys().chain(&look.others);
        if look.touched.is_empty() && look.others.is_empty() {
            return Ok(overlay);
        }
        // Until it is known what the filters do to the files, the index may be ahead of the overlay.
        self.note_overlay(&Overlay::Unsure)?;
        let (convertible, taken_in) = thread::scope(|scope| {
            let asked = scope.spawn(|| self.convertible(&update.regular, attributes));
            let taken_in = self.take_in(look, update, taking);
            (asked.join().unwrap_or_else(|panic| resume_unwind(panic)), taken_in)
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

    fn take_in(&self, look: &Look, update: &Update, mut taking: Begun) -> Result<(), GitError> {
        if !update.gone.is_empty() {
            drop(taking);
            self.drop_entries(&update.gone)?;
            taking = self.begin_taking()?;
        }
        taking.run(listed(update.taken.iter().map(PathBuf::as_path)))?;
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
