//! The folders of submodules, filled from what the user's repository holds of them itself. Nothing is fetched.
//!
//! A filled folder is no repository, so that no state takes anything in from it. What is in it is noted by what nobody
//! but the kernel sets: a change in there shows, and is undone.

use super::call::{Place, fields, git, path};
use super::oddity::{Oddity, Strange};
use super::remove::{clear_way, remove};
use super::worktree::write_whole;
use super::{GitError, Repository, TreeId, WorkTree, error};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// A commit of another repository at a path of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Submodule {
    path: PathBuf,
    /// By which its repository is known.
    name: Option<String>,
    commit: String,
}

/// Where git may keep the submodules of a repository.
struct Shelves {
    folders: Vec<PathBuf>,
    /// A checkout, in which older submodules have a repository each.
    checkout: PathBuf,
}

/// What was put into the folder of a submodule.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Filling {
    name: Option<String>,
    commit: String,
    filled: Filled,
    files: BTreeMap<PathBuf, String>,
}

/// Whether all content was there; what was not is looked for again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filled {
    Yes,
    No,
}

type Noted = BTreeMap<PathBuf, Filling>;

impl Repository {
    /// The submodules of a tree that cannot be filled, those inside of others among them.
    pub fn absent_submodules(&self, tree: &TreeId) -> Result<Vec<PathBuf>, GitError> {
        let mut absent = Vec::new();
        for submodule in self.submodules(tree)? {
            absent.extend(self.shelves().absent(&submodule)?);
        }
        Ok(absent)
    }

    fn submodules(&self, tree: &TreeId) -> Result<Vec<Submodule>, GitError> {
        submodules(self.common_dir(), tree.tree())
    }

    fn shelves(&self) -> Shelves {
        let folders = [self.git_dir(), self.common_dir()].map(|folder| folder.join("modules"));
        Shelves { folders: folders.into(), checkout: self.root().to_path_buf() }
    }
}

impl Shelves {
    /// Where the submodules of a submodule are.
    fn inside(&self, submodule: &Submodule, source: &Path) -> Shelves {
        Shelves { folders: vec![source.join("modules")], checkout: self.checkout.join(&submodule.path) }
    }

    /// The repository that holds the commit of a submodule.
    fn find(&self, submodule: &Submodule) -> Option<PathBuf> {
        // A name comes from the tree, and must not lead out of the shelf.
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

    /// What of a submodule cannot be filled: itself, or others inside of it.
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

/// The submodules of a commit or tree in a repository.
fn submodules(repository: &Path, tree: &str) -> Result<Vec<Submodule>, GitError> {
    let place = objects(repository);
    let named = format!("{tree}:.gitmodules");
    if local(&place, ["cat-file", "-e", &named]).answer()?.code != 0 {
        return Ok(Vec::new());
    }
    let words = ["config", "-z", "--blob", &named, "--get-regexp", r"^submodule\..*\.path$"];
    let answer = local(&place, words).answer()?;
    let mut names: BTreeMap<PathBuf, String> = BTreeMap::new();
    for row in fields(&answer.stdout) {
        let Some(end) = row.iter().position(|byte| *byte == b'\n') else { continue };
        let key = String::from_utf8_lossy(&row[..end]).into_owned();
        let name = key.strip_prefix("submodule.").and_then(|key| key.strip_suffix(".path"));
        names.extend(name.map(|name| (path(&row[end + 1..]), name.to_string())));
    }
    let listing = local(&place, ["ls-tree", "-r", "-z", "--full-tree", tree]).run()?;
    let rows = fields(&listing).filter_map(|row| row.strip_prefix(b"160000 commit "));
    let found = rows.filter_map(|row| {
        let tab = row.iter().position(|byte| *byte == b'\t')?;
        let (path, commit) = (path(&row[tab + 1..]), String::from_utf8_lossy(&row[..tab]).into_owned());
        Some(Submodule { name: names.get(&path).cloned(), path, commit })
    });
    Ok(found.collect())
}

/// The objects of a repository, which may be of a submodule.
fn objects(repository: &Path) -> Place {
    Place::objects(repository).without_work_tree()
}

/// A call that asks nobody else for objects.
fn local<'w>(place: &Place, words: impl IntoIterator<Item = &'w str>) -> super::call::Call {
    git(place, words).with("GIT_NO_LAZY_FETCH", "1")
}

impl WorkTree {
    /// Whether there may be anything to fill or to empty.
    pub(super) fn has_submodules(&self) -> bool {
        self.private("modules").exists() || self.path().join(".gitmodules").exists()
    }

    /// Removes what was put into the folders of submodules that a state does not have.
    pub(super) fn empty_submodules_but(&self, state: &TreeId) -> Result<(), GitError> {
        let mut noted = self.noted();
        if noted.is_empty() {
            return Ok(());
        }
        let wanted = self.repository.submodules(state)?;
        let is_wanted = |at: &Path| wanted.iter().any(|submodule| submodule.path == at);
        for at in noted.keys().filter(|at| !is_wanted(at)) {
            self.replace(at, None)?;
        }
        noted.retain(|at, _| is_wanted(at));
        self.note(&noted)
    }

    /// Fills the submodules of a state, each unless it is as it was filled; what nobody has stays empty.
    pub(super) fn fill_submodules(&self, state: &TreeId) -> Result<(), GitError> {
        let (before, mut now) = (self.noted(), Noted::new());
        for submodule in self.repository.submodules(state)? {
            let is_same = |filling: &&Filling| {
                (&filling.name, &filling.commit) == (&submodule.name, &submodule.commit)
                    && self.files_of(&submodule.path) == filling.files
            };
            let filling = match before.get(&submodule.path).filter(is_same) {
                Some(filling) if filling.filled == Filled::Yes || self.is_absent(&submodule)? => {
                    filling.clone()
                }
                Some(_) | None => self.fill(&submodule)?,
            };
            now.insert(submodule.path, filling);
        }
        if now == before { Ok(()) } else { self.note(&now) }
    }

    fn is_absent(&self, submodule: &Submodule) -> Result<bool, GitError> {
        Ok(!self.repository.shelves().absent(submodule)?.is_empty())
    }

    /// Fills those anew that are not as they were filled.
    pub(super) fn fill_again(&self) -> Result<(), GitError> {
        let mut noted = self.noted();
        for (path, filling) in &mut noted {
            if self.files_of(path) != filling.files {
                let (path, name, commit) = (path.clone(), filling.name.clone(), filling.commit.clone());
                *filling = self.fill(&Submodule { path, name, commit })?;
            }
        }
        self.note(&noted)
    }

    /// Has the submodules of the tree as they were filled, whatever was done there since.
    pub fn mend_submodules(&self) -> Result<(), GitError> {
        if self.has_submodules() { self.fill_again() } else { Ok(()) }
    }

    /// The files of submodules that are not as they were filled.
    pub fn changed_in_submodules(&self) -> Vec<PathBuf> {
        let odd = self.submodule_oddities().into_iter().filter(|odd| odd.what == Strange::Submodule);
        odd.map(|odd| odd.path).collect()
    }

    /// The folders of the submodules that were filled.
    pub(super) fn submodule_folders(&self) -> Vec<PathBuf> {
        self.noted().into_keys().collect()
    }

    /// What is different in the folders of submodules since they were filled.
    pub(super) fn submodule_oddities(&self) -> Vec<Oddity> {
        let mut odd = Vec::new();
        for (folder, filling) in self.noted() {
            let now = self.files_of(&folder);
            let differs = filling.files.iter().filter(|(path, mark)| now.get(*path) != Some(*mark));
            odd.extend(differs.map(|(path, _)| Oddity { path: folder.join(path), what: Strange::Submodule }));
            let mut last: Option<&Path> = None;
            for path in now.keys().filter(|path| !filling.files.contains_key(*path)) {
                // A folder stands for all that is in it.
                if !last.is_some_and(|last| path.starts_with(last)) {
                    odd.push(Oddity { path: folder.join(path), what: Strange::InSubmodule });
                    last = Some(path);
                }
            }
        }
        odd
    }

    /// Puts the content of a submodule into its folder, and tells what is in it then.
    fn fill(&self, submodule: &Submodule) -> Result<Filling, GitError> {
        // In a place that no agent ever wrote, for the sake of filters that look around.
        let aside = self.scratch();
        remove(&aside)?;
        fs::create_dir_all(&aside).map_err(error::file("create", &aside))?;
        let filled = self.check_out_submodule(submodule, &self.repository.shelves(), &aside)?;
        self.replace(&submodule.path, Some(&aside))?;
        let (name, commit) = (submodule.name.clone(), submodule.commit.clone());
        Ok(Filling { name, commit, filled, files: self.files_of(&submodule.path) })
    }

    /// Checks out a submodule, and those inside of it, into a folder.
    fn check_out_submodule(
        &self,
        submodule: &Submodule,
        shelves: &Shelves,
        folder: &Path,
    ) -> Result<Filled, GitError> {
        let Some(source) = shelves.find(submodule) else {
            return Ok(Filled::No);
        };
        let index = self.private("submodule");
        remove(&index)?;
        let place = Place::work_tree(&source, folder, &self.repository.programs).with_index(&index);
        local(&place, ["read-tree", "-u", "--reset", &submodule.commit]).run()?;
        remove(&index)?;
        let mut filled = Filled::Yes;
        for inner in submodules(&source, &submodule.commit)? {
            let folder = folder.join(&inner.path);
            fs::create_dir_all(&folder).map_err(error::file("create", &folder))?;
            if self.check_out_submodule(&inner, &shelves.inside(submodule, &source), &folder)? == Filled::No {
                filled = Filled::No;
            }
        }
        Ok(filled)
    }

    /// Puts another folder in the place of one in the tree, or an empty one.
    fn replace(&self, inside: &Path, by: Option<&Path>) -> Result<(), GitError> {
        let folder = self.path().join(inside);
        clear_way(self.path(), inside)?;
        remove(&folder)?;
        match by {
            Some(aside) => fs::rename(aside, &folder).map_err(error::file("move", aside)),
            None => fs::create_dir(&folder).map_err(error::file("create", &folder)),
        }
    }

    /// All that is below a folder of the tree, each with what shows that it is still the same.
    fn files_of(&self, inside: &Path) -> BTreeMap<PathBuf, String> {
        let root = self.path().join(inside);
        let mut files = BTreeMap::new();
        let mut open = vec![PathBuf::new()];
        while let Some(below) = open.pop() {
            let at = root.join(&below);
            // A link in the place of the folder leads somewhere else.
            let is_folder = fs::symlink_metadata(&at).is_ok_and(|found| found.is_dir());
            for entry in is_folder.then(|| fs::read_dir(&at).ok()).flatten().into_iter().flatten().flatten() {
                let (path, found) = (below.join(entry.file_name()), entry.metadata());
                let mark = found.as_ref().map_or_else(|_| "closed".to_string(), mark);
                if found.is_ok_and(|found| found.is_dir()) {
                    open.push(path.clone());
                }
                files.insert(path, mark);
            }
        }
        files
    }

    fn noted(&self) -> Noted {
        let bytes = fs::read(self.private("modules")).unwrap_or_default();
        read(&bytes).unwrap_or_default()
    }

    fn note(&self, noted: &Noted) -> Result<(), GitError> {
        let file = self.private("modules");
        if noted.is_empty() { remove(&file) } else { write_whole(&file, &written(noted)) }
    }
}

/// What shows that a file is still the same. A folder is what is in it.
fn mark(found: &fs::Metadata) -> String {
    if found.is_dir() {
        return format!("{:o}", found.mode());
    }
    let (size, inode) = (found.size(), found.ino());
    format!("{:o} {size} {inode} {}.{}", found.mode(), found.ctime(), found.ctime_nsec())
}

/// Fields that no byte of a path ends: path, name behind a sign, commit, whether all was there, number of files, and the
/// files with their marks.
fn written(noted: &Noted) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut field = |text: &[u8]| {
        bytes.extend_from_slice(text);
        bytes.push(0);
    };
    for (path, filling) in noted {
        field(path.as_os_str().as_bytes());
        field(filling.name.as_ref().map_or("-".to_string(), |name| format!("={name}")).as_bytes());
        field(filling.commit.as_bytes());
        field(if filling.filled == Filled::Yes { b"yes" } else { b"no" });
        field(filling.files.len().to_string().as_bytes());
        for (path, mark) in &filling.files {
            field(path.as_os_str().as_bytes());
            field(mark.as_bytes());
        }
    }
    bytes
}

/// None for a note that was cut short.
fn read(bytes: &[u8]) -> Option<Noted> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut noted = Noted::new();
    let mut fields = fields(bytes);
    while let Some(at) = fields.next() {
        let name = text(fields.next()?).strip_prefix('=').map(str::to_string);
        let commit = text(fields.next()?);
        let filled = if fields.next()? == b"yes" { Filled::Yes } else { Filled::No };
        let mut filling = Filling { name, commit, filled, files: BTreeMap::new() };
        for _ in 0..text(fields.next()?).parse::<usize>().ok()? {
            filling.files.insert(path(fields.next()?), text(fields.next()?));
        }
        noted.insert(path(at), filling);
    }
    Some(noted)
}
