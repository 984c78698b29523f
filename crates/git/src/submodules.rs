//! Fills the folders of submodules with content that the user's repository already has. Fetches nothing.
//!
//! A filled folder is not a repository, so snapshots ignore its content. The inode change times of its files are recorded,
//! so changes are detected and undone. Only the operating system can set these times.

use super::call::{GitContext, git};
use super::invocation::{fields, path};
use super::leftover::{Leftover, LeftoverKind};
use super::remove::{create_parents, remove};
use super::worktree::write_atomically;
use super::{GitError, Repository, TreeId, WorkTree, error};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// A submodule in a tree: a path and a commit of another repository.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Submodule {
    path: PathBuf,
    /// The name of its repository in `.gitmodules`.
    name: Option<String>,
    commit: String,
}

/// Where git may store the repositories of submodules.
struct SubmoduleStores {
    folders: Vec<PathBuf>,
    /// The checkout, where old submodules contain their repository.
    checkout: PathBuf,
}

/// What the folder of a submodule was filled with.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FilledSubmodule {
    name: Option<String>,
    commit: String,
    filled: Filled,
    files: BTreeMap<PathBuf, String>,
}

/// Whether all content was available. If not, the next restore looks for it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filled {
    Yes,
    No,
}

type FilledSubmodules = BTreeMap<PathBuf, FilledSubmodule>;

impl Repository {
    /// The submodules of a tree that cannot be filled, including nested ones.
    pub fn absent_submodules(&self, tree: &TreeId) -> Result<Vec<PathBuf>, GitError> {
        let mut absent = Vec::new();
        for submodule in self.submodules(tree)? {
            absent.extend(self.submodule_stores().absent(&submodule)?);
        }
        Ok(absent)
    }

    /// Checks out the submodules of a tree in a checkout of it. Those without local content stay empty.
    pub(super) fn check_out_submodules(
        &self,
        tree: &TreeId,
        checkout: &Path,
        index: &Path,
    ) -> Result<(), GitError> {
        for submodule in self.submodules(tree)? {
            let folder = checkout.join(&submodule.path);
            fs::create_dir_all(&folder).map_err(error::file("create", &folder))?;
            self.check_out_submodule(&submodule, &self.submodule_stores(), &folder, index)?;
        }
        Ok(())
    }

    /// Checks out a submodule and those nested in it into a folder.
    fn check_out_submodule(
        &self,
        submodule: &Submodule,
        stores: &SubmoduleStores,
        folder: &Path,
        index: &Path,
    ) -> Result<Filled, GitError> {
        let Some(source) = stores.find(submodule) else {
            return Ok(Filled::No);
        };
        remove(index)?;
        let context = GitContext::work_tree(&source, folder, &self.programs).with_index(index);
        local_call(&context, ["read-tree", "-u", "--reset", &submodule.commit]).run()?;
        remove(index)?;
        let mut filled = Filled::Yes;
        for inner in submodules(&source, &submodule.commit)? {
            let folder = folder.join(&inner.path);
            fs::create_dir_all(&folder).map_err(error::file("create", &folder))?;
            let stores = stores.inside(submodule, &source);
            if self.check_out_submodule(&inner, &stores, &folder, index)? == Filled::No {
                filled = Filled::No;
            }
        }
        Ok(filled)
    }

    fn submodules(&self, tree: &TreeId) -> Result<Vec<Submodule>, GitError> {
        submodules(self.common_dir(), tree.tree())
    }

    fn submodule_stores(&self) -> SubmoduleStores {
        let folders = [self.git_dir(), self.common_dir()].map(|folder| folder.join("modules"));
        SubmoduleStores { folders: folders.into(), checkout: self.root().to_path_buf() }
    }
}

impl SubmoduleStores {
    /// The stores for the submodules of a submodule.
    fn inside(&self, submodule: &Submodule, source: &Path) -> SubmoduleStores {
        SubmoduleStores {
            folders: vec![source.join("modules")],
            checkout: self.checkout.join(&submodule.path),
        }
    }

    /// Finds the repository that contains the commit of a submodule.
    fn find(&self, submodule: &Submodule) -> Option<PathBuf> {
        // The name comes from the tree, so it must not lead out of the folder.
        let is_plain =
            |name: &&String| Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        let name = submodule.name.iter().filter(is_plain);
        let stored = name.flat_map(|name| self.folders.iter().map(move |folder| folder.join(name)));
        let tree = format!("{}^{{tree}}", submodule.commit);
        let has_commit = |source: &PathBuf| {
            let output = || local_call(&objects(source), ["cat-file", "-e", &tree]).run_unchecked();
            fs::symlink_metadata(source).is_ok_and(|found| found.is_dir())
                && output().is_ok_and(|output| output.code == 0)
        };
        stored.chain([self.checkout.join(&submodule.path).join(".git")]).find(has_commit)
    }

    /// The paths that cannot be filled: the submodule, or submodules nested in it.
    fn absent(&self, submodule: &Submodule) -> Result<Vec<PathBuf>, GitError> {
        let Some(source) = self.find(submodule) else {
            return Ok(vec![submodule.path.clone()]);
        };
        let mut absent = Vec::new();
        for inner in submodules(&source, &submodule.commit)? {
            let inside = self.inside(submodule, &source).absent(&inner)?;
            absent.extend(inside.into_iter().map(|path| submodule.path.join(path)));
        }
        Ok(absent)
    }
}

/// Lists the submodules of a commit or tree in a repository.
fn submodules(repository: &Path, tree: &str) -> Result<Vec<Submodule>, GitError> {
    let context = objects(repository);
    let gitmodules = format!("{tree}:.gitmodules");
    if local_call(&context, ["cat-file", "-e", &gitmodules]).run_unchecked()?.code != 0 {
        return Ok(Vec::new());
    }
    let words = ["config", "-z", "--blob", &gitmodules, "--get-regexp", r"^submodule\..*\.path$"];
    let output = local_call(&context, words).run_unchecked()?;
    let mut names: BTreeMap<PathBuf, String> = BTreeMap::new();
    for row in fields(&output.stdout) {
        let Some(end) = row.iter().position(|byte| *byte == b'\n') else { continue };
        let key = String::from_utf8_lossy(&row[..end]).into_owned();
        let name = key.strip_prefix("submodule.").and_then(|key| key.strip_suffix(".path"));
        names.extend(name.map(|name| (path(&row[end + 1..]), name.to_string())));
    }
    let listing = local_call(&context, ["ls-tree", "-r", "-z", "--full-tree", tree]).run()?;
    let rows = fields(&listing).filter_map(|row| row.strip_prefix(b"160000 commit "));
    let found = rows.filter_map(|row| {
        let tab = row.iter().position(|byte| *byte == b'\t')?;
        let (path, commit) = (path(&row[tab + 1..]), String::from_utf8_lossy(&row[..tab]).into_owned());
        Some(Submodule { name: names.get(&path).cloned(), path, commit })
    });
    Ok(found.collect())
}

/// The objects of a repository, or of a submodule's repository.
fn objects(repository: &Path) -> GitContext {
    GitContext::objects(repository).without_work_tree()
}

/// A call that does not fetch missing objects.
fn local_call<'w>(context: &GitContext, words: impl IntoIterator<Item = &'w str>) -> super::call::Call {
    git(context, words).env("GIT_NO_LAZY_FETCH", "1")
}

impl WorkTree {
    /// Returns whether there may be submodules to fill or to empty.
    pub(super) fn has_submodules(&self) -> bool {
        self.private("modules").exists() || self.path().join(".gitmodules").exists()
    }

    /// Empties the folders of submodules that a state does not contain.
    pub(super) fn empty_other_submodules(&self, state: &TreeId) -> Result<(), GitError> {
        let mut filled = self.filled_submodules();
        if filled.is_empty() {
            return Ok(());
        }
        let submodules = self.repository.submodules(state)?;
        let is_in_state = |path: &Path| submodules.iter().any(|submodule| submodule.path == path);
        for path in filled.keys().filter(|path| !is_in_state(path)) {
            self.replace(path, None)?;
        }
        filled.retain(|path, _| is_in_state(path));
        self.record_filled(&filled)
    }

    /// Fills the submodules of a state, except those that are still filled. Submodules without local content stay empty.
    pub(super) fn fill_submodules(&self, state: &TreeId) -> Result<(), GitError> {
        let (before, mut now) = (self.filled_submodules(), FilledSubmodules::new());
        for submodule in self.repository.submodules(state)? {
            let is_same = |earlier: &&FilledSubmodule| {
                (&earlier.name, &earlier.commit) == (&submodule.name, &submodule.commit)
                    && self.files_of(&submodule.path) == earlier.files
            };
            let filled = match before.get(&submodule.path).filter(is_same) {
                Some(earlier) if earlier.filled == Filled::Yes || self.is_absent(&submodule)? => {
                    earlier.clone()
                }
                Some(_) | None => self.fill(&submodule)?,
            };
            now.insert(submodule.path, filled);
        }
        if now == before { Ok(()) } else { self.record_filled(&now) }
    }

    fn is_absent(&self, submodule: &Submodule) -> Result<bool, GitError> {
        Ok(!self.repository.submodule_stores().absent(submodule)?.is_empty())
    }

    /// Fills submodules again that have changed since they were filled.
    pub(super) fn refill_submodules(&self) -> Result<(), GitError> {
        let mut filled = self.filled_submodules();
        for (path, submodule) in &mut filled {
            if self.files_of(path) != submodule.files {
                let (path, name, commit) = (path.clone(), submodule.name.clone(), submodule.commit.clone());
                *submodule = self.fill(&Submodule { path, name, commit })?;
            }
        }
        self.record_filled(&filled)
    }

    /// Undoes all changes in the tree's submodules.
    pub fn restore_submodules(&self) -> Result<(), GitError> {
        if self.has_submodules() { self.refill_submodules() } else { Ok(()) }
    }

    /// The files of submodules that have changed since they were filled.
    pub fn changed_in_submodules(&self) -> Vec<PathBuf> {
        let leftovers = self.submodule_leftovers().into_iter();
        let changed = leftovers.filter(|leftover| leftover.kind == LeftoverKind::Submodule);
        changed.map(|leftover| leftover.path).collect()
    }

    /// The folders of filled submodules.
    pub(super) fn submodule_folders(&self) -> Vec<PathBuf> {
        self.filled_submodules().into_keys().collect()
    }

    /// Changes in the folders of submodules since they were filled.
    pub(super) fn submodule_leftovers(&self) -> Vec<Leftover> {
        let mut leftovers = Vec::new();
        for (folder, submodule) in self.filled_submodules() {
            let now = self.files_of(&folder);
            let changed =
                submodule.files.iter().filter(|(path, fingerprint)| now.get(*path) != Some(*fingerprint));
            leftovers.extend(
                changed.map(|(path, _)| Leftover { path: folder.join(path), kind: LeftoverKind::Submodule }),
            );
            let mut last: Option<&Path> = None;
            for path in now.keys().filter(|path| !submodule.files.contains_key(*path)) {
                // The content of a new folder is not listed.
                if !last.is_some_and(|last| path.starts_with(last)) {
                    leftovers.push(Leftover { path: folder.join(path), kind: LeftoverKind::InSubmodule });
                    last = Some(path);
                }
            }
        }
        leftovers
    }

    /// Fills the folder of a submodule, and returns a record of its content.
    fn fill(&self, submodule: &Submodule) -> Result<FilledSubmodule, GitError> {
        // Checks out in a folder that no agent has written to, since filters may read other files there.
        let temporary = self.scratch();
        remove(&temporary)?;
        fs::create_dir_all(&temporary).map_err(error::file("create", &temporary))?;
        let (stores, index) = (self.repository.submodule_stores(), self.private("submodule"));
        let filled = self.repository.check_out_submodule(submodule, &stores, &temporary, &index)?;
        self.replace(&submodule.path, Some(&temporary))?;
        let (name, commit) = (submodule.name.clone(), submodule.commit.clone());
        Ok(FilledSubmodule { name, commit, filled, files: self.files_of(&submodule.path) })
    }

    /// Replaces a folder of the tree with another, or with an empty one.
    fn replace(&self, inside: &Path, by: Option<&Path>) -> Result<(), GitError> {
        let folder = self.path().join(inside);
        create_parents(self.path(), inside)?;
        remove(&folder)?;
        match by {
            Some(temporary) => fs::rename(temporary, &folder).map_err(error::file("move", temporary)),
            None => fs::create_dir(&folder).map_err(error::file("create", &folder)),
        }
    }

    /// All paths below a folder of the tree, each with a fingerprint that changes when the file does.
    fn files_of(&self, inside: &Path) -> BTreeMap<PathBuf, String> {
        let root = self.path().join(inside);
        let mut files = BTreeMap::new();
        let mut pending = vec![PathBuf::new()];
        while let Some(below) = pending.pop() {
            let at = root.join(&below);
            // A symbolic link is not followed. The content of a folder that cannot be listed counts as missing.
            let is_folder = fs::symlink_metadata(&at).is_ok_and(|found| found.is_dir());
            for entry in is_folder.then(|| fs::read_dir(&at).ok()).flatten().into_iter().flatten().flatten() {
                let (path, found) = (below.join(entry.file_name()), entry.metadata());
                let fingerprint = found.as_ref().map_or_else(|_| "closed".to_string(), fingerprint);
                if found.is_ok_and(|found| found.is_dir()) {
                    pending.push(path.clone());
                }
                files.insert(path, fingerprint);
            }
        }
        files
    }

    fn filled_submodules(&self) -> FilledSubmodules {
        // Without a valid record, all submodules are filled again.
        let bytes = fs::read(self.private("modules")).unwrap_or_default();
        parse_record(&bytes).unwrap_or_default()
    }

    fn record_filled(&self, filled: &FilledSubmodules) -> Result<(), GitError> {
        let file = self.private("modules");
        if filled.is_empty() { remove(&file) } else { write_atomically(&file, &format_record(filled)) }
    }
}

/// A fingerprint that changes when the file does. For a folder it is only the mode, since its content is listed
/// separately.
fn fingerprint(found: &fs::Metadata) -> String {
    if found.is_dir() {
        return format!("{:o}", found.mode());
    }
    let (size, inode) = (found.size(), found.ino());
    format!("{:o} {size} {inode} {}.{}", found.mode(), found.ctime(), found.ctime_nsec())
}

/// Formats the record of filled submodules as fields that end with NUL: path, name with a prefix, commit, whether all
/// content was available, number of files, and each file with its fingerprint.
fn format_record(filled: &FilledSubmodules) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut field = |text: &[u8]| {
        bytes.extend_from_slice(text);
        bytes.push(0);
    };
    for (path, submodule) in filled {
        field(path.as_os_str().as_bytes());
        field(submodule.name.as_ref().map_or("-".to_string(), |name| format!("={name}")).as_bytes());
        field(submodule.commit.as_bytes());
        field(if submodule.filled == Filled::Yes { b"yes" } else { b"no" });
        field(submodule.files.len().to_string().as_bytes());
        for (path, fingerprint) in &submodule.files {
            field(path.as_os_str().as_bytes());
            field(fingerprint.as_bytes());
        }
    }
    bytes
}

/// Parses the output of `format_record`; `None` if it is incomplete.
fn parse_record(bytes: &[u8]) -> Option<FilledSubmodules> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut found = FilledSubmodules::new();
    let mut fields = fields(bytes);
    while let Some(at) = fields.next() {
        let name = text(fields.next()?).strip_prefix('=').map(str::to_string);
        let commit = text(fields.next()?);
        let filled = if fields.next()? == b"yes" { Filled::Yes } else { Filled::No };
        let mut submodule = FilledSubmodule { name, commit, filled, files: BTreeMap::new() };
        for _ in 0..text(fields.next()?).parse::<usize>().ok()? {
            submodule.files.insert(path(fields.next()?), text(fields.next()?));
        }
        found.insert(path(at), submodule);
    }
    Some(found)
}
