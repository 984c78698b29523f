//! Fills the folders of submodules from what the user's repository already contains. Fetches nothing.
//!
//! A filled folder is not a repository, so snapshots ignore its content. Inode change times, which only the kernel can
//! set, are recorded for its files, so that changes are detected and undone.

use super::call::{GitContext, git};
use super::invocation::{fields, path};
use super::oddity::{Oddity, OddityKind};
use super::remove::{clear_way, remove};
use super::worktree::write_whole;
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
    /// The checkout, where old submodules contain their own repository.
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

/// Whether all content was available; otherwise it is searched for again.
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
        let shelved = name.flat_map(|name| self.folders.iter().map(move |shelf| shelf.join(name)));
        let asked = format!("{}^{{tree}}", submodule.commit);
        let holds = |source: &PathBuf| {
            let answer = || local(&objects(source), ["cat-file", "-e", &asked]).answer();
            fs::symlink_metadata(source).is_ok_and(|found| found.is_dir())
                && answer().is_ok_and(|answer| answer.code == 0)
        };
        shelved.chain([self.checkout.join(&submodule.path).join(".git")]).find(holds)
    }

    /// The parts of a submodule that cannot be filled: itself, or nested ones.
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
    let named = format!("{tree}:.gitmodules");
    if local(&context, ["cat-file", "-e", &named]).answer()?.code != 0 {
        return Ok(Vec::new());
    }
    let words = ["config", "-z", "--blob", &named, "--get-regexp", r"^submodule\..*\.path$"];
    let answer = local(&context, words).answer()?;
    let mut names: BTreeMap<PathBuf, String> = BTreeMap::new();
    for row in fields(&answer.stdout) {
        let Some(end) = row.iter().position(|byte| *byte == b'\n') else { continue };
        let key = String::from_utf8_lossy(&row[..end]).into_owned();
        let name = key.strip_prefix("submodule.").and_then(|key| key.strip_suffix(".path"));
        names.extend(name.map(|name| (path(&row[end + 1..]), name.to_string())));
    }
    let listing = local(&context, ["ls-tree", "-r", "-z", "--full-tree", tree]).run()?;
    let rows = fields(&listing).filter_map(|row| row.strip_prefix(b"160000 commit "));
    let found = rows.filter_map(|row| {
        let tab = row.iter().position(|byte| *byte == b'\t')?;
        let (path, commit) = (path(&row[tab + 1..]), String::from_utf8_lossy(&row[..tab]).into_owned());
        Some(Submodule { name: names.get(&path).cloned(), path, commit })
    });
    Ok(found.collect())
}

/// The objects of a repository, which may belong to a submodule.
fn objects(repository: &Path) -> GitContext {
    GitContext::objects(repository).without_work_tree()
}

/// A call that does not fetch missing objects.
fn local<'w>(context: &GitContext, words: impl IntoIterator<Item = &'w str>) -> super::call::Call {
    git(context, words).with("GIT_NO_LAZY_FETCH", "1")
}

impl WorkTree {
    /// Returns whether there may be submodules to fill or to empty.
    pub(super) fn has_submodules(&self) -> bool {
        self.private("modules").exists() || self.path().join(".gitmodules").exists()
    }

    /// Empties the folders of submodules that a state does not contain.
    pub(super) fn empty_submodules_but(&self, state: &TreeId) -> Result<(), GitError> {
        let mut filled = self.filled_submodules();
        if filled.is_empty() {
            return Ok(());
        }
        let wanted = self.repository.submodules(state)?;
        let is_wanted = |at: &Path| wanted.iter().any(|submodule| submodule.path == at);
        for at in filled.keys().filter(|at| !is_wanted(at)) {
            self.replace(at, None)?;
        }
        filled.retain(|at, _| is_wanted(at));
        self.record_filled(&filled)
    }

    /// Fills the submodules of a state, except those that are still filled; those without local content stay empty.
    pub(super) fn fill_submodules(&self, state: &TreeId) -> Result<(), GitError> {
        let (before, mut now) = (self.filled_submodules(), FilledSubmodules::new());
        for submodule in self.repository.submodules(state)? {
            let is_same = |submodule_files: &&FilledSubmodule| {
                (&submodule_files.name, &submodule_files.commit) == (&submodule.name, &submodule.commit)
                    && self.files_of(&submodule.path) == submodule_files.files
            };
            let submodule_files = match before.get(&submodule.path).filter(is_same) {
                Some(submodule_files)
                    if submodule_files.filled == Filled::Yes || self.is_absent(&submodule)? =>
                {
                    submodule_files.clone()
                }
                Some(_) | None => self.fill(&submodule)?,
            };
            now.insert(submodule.path, submodule_files);
        }
        if now == before { Ok(()) } else { self.record_filled(&now) }
    }

    fn is_absent(&self, submodule: &Submodule) -> Result<bool, GitError> {
        Ok(!self.repository.submodule_stores().absent(submodule)?.is_empty())
    }

    /// Fills those submodules again that have changed since.
    pub(super) fn refill_submodules(&self) -> Result<(), GitError> {
        let mut filled = self.filled_submodules();
        for (path, submodule_files) in &mut filled {
            if self.files_of(path) != submodule_files.files {
                let (path, name, commit) =
                    (path.clone(), submodule_files.name.clone(), submodule_files.commit.clone());
                *submodule_files = self.fill(&Submodule { path, name, commit })?;
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
        let odd = self.submodule_oddities().into_iter().filter(|odd| odd.what == OddityKind::Submodule);
        odd.map(|odd| odd.path).collect()
    }

    /// The folders of filled submodules.
    pub(super) fn submodule_folders(&self) -> Vec<PathBuf> {
        self.filled_submodules().into_keys().collect()
    }

    /// Changes in the folders of submodules since they were filled.
    pub(super) fn submodule_oddities(&self) -> Vec<Oddity> {
        let mut odd = Vec::new();
        for (folder, submodule_files) in self.filled_submodules() {
            let now = self.files_of(&folder);
            let differs = submodule_files
                .files
                .iter()
                .filter(|(path, fingerprint)| now.get(*path) != Some(*fingerprint));
            odd.extend(
                differs.map(|(path, _)| Oddity { path: folder.join(path), what: OddityKind::Submodule }),
            );
            let mut last: Option<&Path> = None;
            for path in now.keys().filter(|path| !submodule_files.files.contains_key(*path)) {
                // A folder stands for all its content.
                if !last.is_some_and(|last| path.starts_with(last)) {
                    odd.push(Oddity { path: folder.join(path), what: OddityKind::InSubmodule });
                    last = Some(path);
                }
            }
        }
        odd
    }

    /// Fills the folder of a submodule, and returns what it contains.
    fn fill(&self, submodule: &Submodule) -> Result<FilledSubmodule, GitError> {
        // Uses a folder that no agent has written to, since filters may read other files there.
        let temporary = self.scratch();
        remove(&temporary)?;
        fs::create_dir_all(&temporary).map_err(error::file("create", &temporary))?;
        let filled = self.check_out_submodule(submodule, &self.repository.submodule_stores(), &temporary)?;
        self.replace(&submodule.path, Some(&temporary))?;
        let (name, commit) = (submodule.name.clone(), submodule.commit.clone());
        Ok(FilledSubmodule { name, commit, filled, files: self.files_of(&submodule.path) })
    }

    /// Checks out a submodule and those nested in it into a folder.
    fn check_out_submodule(
        &self,
        submodule: &Submodule,
        submodule_stores: &SubmoduleStores,
        folder: &Path,
    ) -> Result<Filled, GitError> {
        let Some(source) = submodule_stores.find(submodule) else {
            return Ok(Filled::No);
        };
        let index = self.private("submodule");
        remove(&index)?;
        let context = GitContext::work_tree(&source, folder, &self.repository.programs).with_index(&index);
        local(&context, ["read-tree", "-u", "--reset", &submodule.commit]).run()?;
        remove(&index)?;
        let mut filled = Filled::Yes;
        for inner in submodules(&source, &submodule.commit)? {
            let folder = folder.join(&inner.path);
            fs::create_dir_all(&folder).map_err(error::file("create", &folder))?;
            if self.check_out_submodule(&inner, &submodule_stores.inside(submodule, &source), &folder)?
                == Filled::No
            {
                filled = Filled::No;
            }
        }
        Ok(filled)
    }

    /// Replaces a folder of the tree with another, or with an empty one.
    fn replace(&self, inside: &Path, by: Option<&Path>) -> Result<(), GitError> {
        let folder = self.path().join(inside);
        clear_way(self.path(), inside)?;
        remove(&folder)?;
        match by {
            Some(temporary) => fs::rename(temporary, &folder).map_err(error::file("move", temporary)),
            None => fs::create_dir(&folder).map_err(error::file("create", &folder)),
        }
    }

    /// Everything below a folder of the tree, with a fingerprint that changes when the file does.
    fn files_of(&self, inside: &Path) -> BTreeMap<PathBuf, String> {
        let root = self.path().join(inside);
        let mut files = BTreeMap::new();
        let mut open = vec![PathBuf::new()];
        while let Some(below) = open.pop() {
            let at = root.join(&below);
            // A link instead of the folder would lead elsewhere. What cannot be listed counts as missing, which is a change.
            let is_folder = fs::symlink_metadata(&at).is_ok_and(|found| found.is_dir());
            for entry in is_folder.then(|| fs::read_dir(&at).ok()).flatten().into_iter().flatten().flatten() {
                let (path, found) = (below.join(entry.file_name()), entry.metadata());
                let fingerprint = found.as_ref().map_or_else(|_| "closed".to_string(), fingerprint);
                if found.is_ok_and(|found| found.is_dir()) {
                    open.push(path.clone());
                }
                files.insert(path, fingerprint);
            }
        }
        files
    }

    fn filled_submodules(&self) -> FilledSubmodules {
        // Without a valid record, all submodules are filled again.
        let bytes = fs::read(self.private("modules")).unwrap_or_default();
        read(&bytes).unwrap_or_default()
    }

    fn record_filled(&self, filled: &FilledSubmodules) -> Result<(), GitError> {
        let file = self.private("modules");
        if filled.is_empty() { remove(&file) } else { write_whole(&file, &written(filled)) }
    }
}

/// A fingerprint that changes when a file does. For a folder, only the mode counts; its content is listed separately.
fn fingerprint(found: &fs::Metadata) -> String {
    if found.is_dir() {
        return format!("{:o}", found.mode());
    }
    let (size, inode) = (found.size(), found.ino());
    format!("{:o} {size} {inode} {}.{}", found.mode(), found.ctime(), found.ctime_nsec())
}

/// Writes fields that end with NUL: path, name with a prefix, commit, whether all content was available, number of files,
/// and the files with their fingerprints.
fn written(filled: &FilledSubmodules) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut field = |text: &[u8]| {
        bytes.extend_from_slice(text);
        bytes.push(0);
    };
    for (path, submodule_files) in filled {
        field(path.as_os_str().as_bytes());
        field(submodule_files.name.as_ref().map_or("-".to_string(), |name| format!("={name}")).as_bytes());
        field(submodule_files.commit.as_bytes());
        field(if submodule_files.filled == Filled::Yes { b"yes" } else { b"no" });
        field(submodule_files.files.len().to_string().as_bytes());
        for (path, fingerprint) in &submodule_files.files {
            field(path.as_os_str().as_bytes());
            field(fingerprint.as_bytes());
        }
    }
    bytes
}

/// Parses what `written` wrote; `None` if it is incomplete.
fn read(bytes: &[u8]) -> Option<FilledSubmodules> {
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
