//! The inventory of a work tree: the metadata of its paths, and the content of the git files that belong to it. Unlike a
//! snapshot, it shows modes, hard links, empty folders and ignored files.
//!
//! A comparison of the inventories before and after a dispatch shows what the dispatch left behind. Folders of build output
//! are not searched.

use super::call::git;
use super::differences::TrackedFiles;
use super::invocation::{fields, path};
use super::leftover::{Leftover, LeftoverKind};
use super::remove::{prune_empty, remove, remove_inside, remove_with_empty_parents};
use super::scan::{FileKind, ScanEntry, ScanReach, TreeScan, is_build_output};
use super::worktree::write_atomically;
use super::{ChangedPath, GitError, TreeId, WorkTree, error};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

/// What an inventory covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Tree,
    /// The tree, and the hooks and settings of the repository, which only a sandbox protects from an agent.
    Repository,
}

/// Which ignored files a cleanup keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepIgnored {
    Nothing,
    BuildOutput,
}

/// What a work tree contained at one point in time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    scan: TreeScan,
    /// Folders that are named like build output but contain tracked files.
    tracked: BTreeSet<PathBuf>,
    /// The content of git's files by absolute path; `None` if the path is not a readable regular file.
    git: BTreeMap<PathBuf, Option<Vec<u8>>>,
}

/// What a dispatch changed or left in a work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aftermath {
    pub tree: TreeId,
    pub changes: Vec<ChangedPath>,
    pub leftovers: Vec<Leftover>,
}

impl WorkTree {
    /// Removes everything that a snapshot cannot contain, and takes an inventory of the rest.
    pub fn clean_up(&self, keep: KeepIgnored, reach: Reach) -> Result<Inventory, GitError> {
        let mut cache = self.cache();
        self.discard_excess(&mut cache)?;
        self.remove_ignored(keep)?;
        let mut found = self.inventory(&self.tracked_output()?, reach)?;
        let leftovers = found.invalid_entries();
        if !leftovers.is_empty() {
            self.undo_leftovers(&found, &leftovers)?;
            found = self.inventory(&found.tracked, reach)?;
        }
        // The caller starts a program in the tree.
        cache.is_within_limits = false;
        Ok(found)
    }

    /// Fails if a program has left more in the tree than its limits allow.
    pub fn check_limits(&self) -> Result<(), GitError> {
        let mut cache = self.cache();
        let index = self.index_or_list()?;
        self.scan_within_limits(&mut cache, &index.output_folders(), &index, None).map(drop)
    }

    /// Compares the work tree with an earlier inventory and state, and takes a snapshot. Reads git's files before it repairs
    /// them, so their changes are reported.
    pub fn aftermath(&self, before: &Inventory, state: &TreeId, reach: Reach) -> Result<Aftermath, GitError> {
        let mut cache = self.cache();
        let git = self.git_contents(reach);
        self.attach()?;
        let prepared = self.prepare()?;
        let index = self.index_or_list()?;
        let scan = self.scan_within_limits(&mut cache, &before.tracked, &index, Some(&before.scan))?;
        let found = Inventory { scan, tracked: before.tracked.clone(), git };
        let staged = self.stage(prepared, index.has_times.then_some((&index, &found.scan)))?;
        thread::scope(|scope| {
            let comparison = scope.spawn(|| {
                let changes = self.changed_since(state, &staged)?;
                let leftovers = self.leftovers(before, &found, &changes)?;
                Ok::<_, GitError>((changes, leftovers))
            });
            let tree = self.write(&staged, &mut cache)?;
            let (changes, leftovers) = comparison.join().unwrap_or_else(|panic| resume_unwind(panic))?;
            Ok(Aftermath { tree, changes, leftovers })
        })
    }

    /// The differences between two inventories that are not changes of content.
    fn leftovers(
        &self,
        before: &Inventory,
        after: &Inventory,
        changes: &[ChangedPath],
    ) -> Result<Vec<Leftover>, GitError> {
        let changed: BTreeSet<&Path> = changes.iter().map(|change| change.path.as_path()).collect();
        let mut leftovers = after.git_leftovers(before, self.path());
        leftovers.extend(self.submodule_leftovers());
        let submodules = self.submodule_folders();
        let in_submodule =
            |path: &Path| submodules.iter().any(|folder| path != folder && path.starts_with(folder));
        let (mut unexplained, mut special) = (Vec::new(), Vec::new());
        for (path, was, now) in before.scan.paired_with(&after.scan) {
            if in_submodule(path) && now.is_none_or(|now| now.kind != FileKind::Repository) {
                continue;
            }
            let is_reported = was != now && changed.contains(path);
            let Some(now) = now else {
                if was.is_some_and(ScanEntry::is_content) && !is_reported {
                    unexplained.push(path.to_path_buf());
                }
                continue;
            };
            let mut found = now.leftover_kind(was, is_reported);
            if now.kind == FileKind::Folder && was.is_none() && !after.scan.is_filled(path) {
                found = Some(LeftoverKind::EmptyFolder);
            }
            match found {
                Some(kind @ (LeftoverKind::HardLink | LeftoverKind::Fifo | LeftoverKind::Socket)) => {
                    unexplained.push(path.to_path_buf());
                    special.push(Leftover { path: path.to_path_buf(), kind });
                }
                Some(kind) => leftovers.push(Leftover { path: path.to_path_buf(), kind }),
                None if now.is_content() && !is_reported && was.is_none_or(|was| was.differs(now)) => {
                    unexplained.push(path.to_path_buf());
                }
                None => {}
            }
        }
        let ignored = self.ignored(&unexplained, TrackedFiles::NeverIgnored)?;
        // Compilers and servers leave links, pipes and sockets at ignored paths. Those are only reported as ignored.
        leftovers.extend(special.into_iter().filter(|leftover| !ignored.contains(&leftover.path)));
        leftovers.extend(ignored.into_iter().map(|path| Leftover { path, kind: LeftoverKind::Ignored }));
        leftovers.sort();
        Ok(leftovers)
    }

    /// Undoes leftovers: removes paths that a snapshot cannot contain, resets modes, and breaks hard links.
    pub fn undo_leftovers(&self, before: &Inventory, leftovers: &[Leftover]) -> Result<(), GitError> {
        for Leftover { path, kind } in leftovers {
            let at = self.path().join(path);
            match kind {
                LeftoverKind::Fifo
                | LeftoverKind::Socket
                | LeftoverKind::Device
                | LeftoverKind::Ignored
                | LeftoverKind::Repository => {
                    remove_with_empty_parents(self.path(), path)?;
                }
                LeftoverKind::EmptyFolder => prune_empty(&at),
                LeftoverKind::HardLink => break_hard_link(&at)?,
                LeftoverKind::Privileged(mode) => {
                    let was = before.scan.get(path).map_or(mode & 0o777, |entry| entry.mode & 0o777);
                    set_mode(&at, was)?;
                }
                LeftoverKind::Mode(was, _) => set_mode(&at, *was)?,
                LeftoverKind::Git(was, _) if path.is_absolute() => restore_git_file(path, was.as_deref())?,
                // The next use of the work tree repairs its attachment.
                LeftoverKind::Git(..) | LeftoverKind::Submodule | LeftoverKind::InSubmodule => {}
            }
        }
        if leftovers
            .iter()
            .any(|leftover| matches!(leftover.kind, LeftoverKind::Submodule | LeftoverKind::InSubmodule))
        {
            self.refill_submodules()?;
        }
        Ok(())
    }

    /// Removes everything that a snapshot cannot contain. Returns whether the rest equals a fresh checkout of `state`:
    /// content, modes and folders.
    pub(super) fn holds_only(&self, state: &TreeId) -> Result<bool, GitError> {
        let found = self.clean_up(KeepIgnored::Nothing, Reach::Tree)?;
        let prepared = self.prepare()?;
        let Some(index) = self.index() else {
            return Ok(false);
        };
        let is_parent =
            |(path, entry): (&Path, &ScanEntry)| entry.kind == FileKind::Folder && found.scan.is_filled(path);
        if found.scan.has_unreadable() || !index.compare(&found.scan).untracked.into_iter().all(is_parent) {
            return Ok(false);
        }
        // A new file shows the default permissions.
        let fresh = self.private("fresh");
        remove(&fresh)?;
        fs::write(&fresh, "").map_err(error::file("write", &fresh))?;
        let default_mode =
            fs::metadata(&fresh).map_err(error::file("look at", &fresh))?.permissions().mode() & 0o666;
        remove(&fresh)?;
        let has_default_mode =
            |entry: &ScanEntry| entry.kind == FileKind::Link || entry.mode & 0o666 == default_mode;
        if !found.scan.iter().all(|(_, entry)| has_default_mode(entry)) {
            return Ok(false);
        }
        let staged = self.stage(prepared, Some((&index, &found.scan)))?;
        Ok(self.changed_since(state, &staged)?.is_empty())
    }

    /// Records the task that now uses the tree. If another task used it before, removes that task's ignored files.
    pub(super) fn pass_to(&self, holder: &str) -> Result<(), GitError> {
        let holder_file = self.private("holder");
        if fs::read(&holder_file).is_ok_and(|held| held == holder.as_bytes()) {
            return Ok(());
        }
        self.remove_ignored(KeepIgnored::Nothing)?;
        write_atomically(&holder_file, holder.as_bytes())
    }

    /// Removes ignored files, which would otherwise reach the next role unnoticed.
    fn remove_ignored(&self, keep: KeepIgnored) -> Result<(), GitError> {
        let words = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
        let output = git(&self.context(), words).run()?;
        for name in fields(&output) {
            let inside = path(name.strip_suffix(b"/").unwrap_or(name));
            if keep == KeepIgnored::Nothing || !inside.iter().any(is_build_output) {
                remove_with_empty_parents(self.path(), &inside)?;
            }
        }
        Ok(())
    }

    /// Folders that are named like build output but contain tracked files.
    fn tracked_output(&self) -> Result<BTreeSet<PathBuf>, GitError> {
        let output = git(&self.context(), ["ls-files", "-z"]).run()?;
        let files = fields(&output).map(path);
        let parents = |file: PathBuf| file.ancestors().skip(1).map(Path::to_path_buf).collect::<Vec<_>>();
        Ok(files.flat_map(parents).filter(|folder| folder.file_name().is_some_and(is_build_output)).collect())
    }

    fn inventory(&self, tracked: &BTreeSet<PathBuf>, reach: Reach) -> Result<Inventory, GitError> {
        let git = self.git_contents(reach);
        Ok(Inventory { scan: self.scan(tracked, &ScanReach::EVERYTHING)?, tracked: tracked.clone(), git })
    }

    fn git_contents(&self, reach: Reach) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let content = |file: PathBuf| {
            let is_regular = fs::symlink_metadata(&file).is_ok_and(|found| found.is_file());
            let content = if is_regular { fs::read(&file).ok() } else { None };
            (file, content)
        };
        self.git_files(reach).into_iter().map(content).collect()
    }

    /// The files that attach the tree to its repository and, with `Reach::Repository`, the files that configure git there.
    fn git_files(&self, reach: Reach) -> Vec<PathBuf> {
        let files_in = |folder: &Path| -> Vec<PathBuf> {
            // The folders `hooks` and `info` need not exist.
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries
                .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()))
                .map(|entry| entry.path())
                .collect()
        };
        let admin = self.admin();
        let mut files = vec![self.path().join(".git")];
        files.extend(files_in(&admin).into_iter().filter(|file| {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            // Git often rewrites this index, and the engine uses a separate one.
            !name.starts_with("index")
        }));
        if reach == Reach::Repository {
            let common = self.repository.common_dir();
            files.push(common.join("config"));
            files.extend(["hooks", "info"].iter().flat_map(|folder| files_in(&common.join(folder))));
        }
        files
    }
}

impl Inventory {
    /// Entries that a snapshot cannot contain.
    fn invalid_entries(&self) -> Vec<Leftover> {
        let leftover = |(path, entry): (&Path, &ScanEntry)| {
            entry.leftover_kind(None, false).map(|kind| Leftover { path: path.to_path_buf(), kind })
        };
        self.scan.iter().filter_map(leftover).collect()
    }

    fn git_leftovers(&self, before: &Inventory, root: &Path) -> Vec<Leftover> {
        let names: BTreeSet<&PathBuf> = self.git.keys().chain(before.git.keys()).collect();
        let differs = |file: &&PathBuf| self.git.get(*file) != before.git.get(*file);
        let leftover = |file: &PathBuf| {
            let content = |inventory: &Inventory| inventory.git.get(file).cloned().flatten();
            let path = file.strip_prefix(root).unwrap_or(file).to_path_buf();
            Leftover { path, kind: LeftoverKind::Git(content(before), content(self)) }
        };
        names.into_iter().filter(differs).map(leftover).collect()
    }
}

/// Replaces a file with a copy that has the same content and mode and a new inode.
fn break_hard_link(file: &Path) -> Result<(), GitError> {
    let numbered = |number: u64| file.with_file_name(format!(".remand-{number}"));
    let is_unused = |number: &u64| fs::symlink_metadata(numbered(*number)).is_err();
    let temporary = numbered((0..).find(is_unused).unwrap_or(u64::MAX));
    let replace_file = || {
        fs::copy(file, &temporary)?;
        fs::rename(&temporary, file)
    };
    replace_file().map_err(error::file("break the hard link of", file))
}

fn set_mode(file: &Path, mode: u32) -> Result<(), GitError> {
    match fs::symlink_metadata(file) {
        Ok(found) if !found.is_symlink() => fs::set_permissions(file, fs::Permissions::from_mode(mode))
            .map_err(error::file("set the mode of", file)),
        // A link has no mode, and a file that is gone needs none.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Restores one of git's files to its earlier content, or removes it if it did not exist.
fn restore_git_file(file: &Path, was: Option<&[u8]>) -> Result<(), GitError> {
    match was {
        Some(content) => {
            let parent = file.parent().unwrap_or(Path::new("/"));
            let name = file.file_name().map(PathBuf::from).unwrap_or_default();
            if !fs::symlink_metadata(file).is_ok_and(|found| found.is_file()) {
                remove_inside(parent, &name)?;
            }
            fs::write(file, content).map_err(error::file("write", file))
        }
        None => remove(file),
    }
}
