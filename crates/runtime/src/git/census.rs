//! Takes stock of a work tree: all that a snapshot does not tell, such as modes, links, empty folders, ignored files, and
//! the files by which git knows the tree.
//!
//! Two of them, before and after a dispatch, show what it left. Folders of build output are not looked into.

use super::call::{fields, git, listed, path};
use super::oddity::{Oddity, Strange};
use super::remove::{prune_empty, remove, remove_inside, remove_with_empty_parents};
use super::worktree::write_whole;
use super::{Changed, GitError, TreeId, WorkTree, error};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;

/// Folders of this name hold what tools make, if nothing in them is tracked.
const BUILT: &[&str] = &[
    "target",
    "build",
    "dist",
    "out",
    "bin",
    "obj",
    "node_modules",
    ".venv",
    "venv",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".tox",
    ".nox",
    ".eggs",
    ".gradle",
    ".next",
    ".nuxt",
    ".turbo",
    ".cache",
    ".parcel-cache",
    ".vite",
    "coverage",
    "htmlcov",
    "CMakeFiles",
];

/// How far a census reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Tree,
    /// Also the hooks and settings of the repository, which nothing but a sandbox keeps an agent from.
    Repository,
}

/// Which ignored files stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    Nothing,
    BuildOutput,
}

/// What was in a work tree at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Census {
    entries: BTreeMap<PathBuf, Entry>,
    /// Build output by its name, and yet tracked.
    tracked: BTreeSet<PathBuf>,
    /// Git's own files by their absolute paths; none for what is no plain file.
    git: BTreeMap<PathBuf, Option<Vec<u8>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    kind: Kind,
    mode: u32,
    links: u64,
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    File,
    Folder,
    Link,
    /// Build output, not looked into.
    Built,
    /// A `.git` below the root.
    Repository,
    Fifo,
    Socket,
    Device,
}

impl WorkTree {
    /// Clears what earlier work left and no state has, and takes stock.
    pub fn begin(&self, keep: Keep, reach: Reach) -> Result<Census, GitError> {
        self.remove_ignored(keep)?;
        let found = self.census(&self.tracked_output()?, reach)?;
        let odd = found.odd_by_themselves();
        if odd.is_empty() {
            return Ok(found);
        }
        self.tidy(&found, &odd)?;
        self.census(&found.tracked, reach)
    }

    /// Takes stock again after a dispatch, with a snapshot, which mends what is looked at here before.
    pub fn stock_after(&self, before: &Census, reach: Reach) -> Result<(Census, TreeId), GitError> {
        let git = self.git_contents(reach);
        let (entries, snapshot) = thread::scope(|scope| {
            let walked = scope.spawn(|| self.entries(&before.tracked));
            let snapshot = self.snapshot();
            (walked.join().unwrap_or_else(|_| self.entries(&before.tracked)), snapshot)
        });
        Ok((Census { entries: entries?, tracked: before.tracked.clone(), git }, snapshot?))
    }

    /// What is different between two censuses and not among the changes of content.
    pub fn oddities(
        &self,
        before: &Census,
        after: &Census,
        changes: &[Changed],
    ) -> Result<Vec<Oddity>, GitError> {
        let changed: BTreeSet<&Path> = changes.iter().map(|change| change.path.as_path()).collect();
        let mut odd = after.git_oddities(before, self.path());
        let filled: BTreeSet<&Path> = after
            .entries
            .iter()
            .filter(|(_, entry)| entry.kind != Kind::Folder)
            .flat_map(|(path, _)| path.ancestors().skip(1))
            .collect();
        let mut unexplained = Vec::new();
        for (path, now) in &after.entries {
            let was = before.entries.get(path);
            let told = changed.contains(path.as_path());
            let mut found = now.strange(was, told);
            if now.kind == Kind::Folder && was.is_none() && !filled.contains(path.as_path()) {
                found = Some(Strange::EmptyFolder);
            }
            match found {
                Some(what) => odd.push(Oddity { path: path.clone(), what }),
                None if now.is_content() && !told && was.is_none_or(|was| was.differs(now)) => {
                    unexplained.push(path.clone());
                }
                None => {}
            }
        }
        let gone = before.entries.iter().filter(|(path, was)| {
            was.is_content() && !after.entries.contains_key(*path) && !changed.contains(path.as_path())
        });
        unexplained.extend(gone.map(|(path, _)| path.clone()));
        let ignored = self.ignored_among(&unexplained)?;
        odd.extend(ignored.into_iter().map(|path| Oddity { path, what: Strange::Ignored }));
        odd.sort();
        Ok(odd)
    }

    /// Undoes oddities: removes what no state has, sets modes back, gives linked files a life of their own.
    pub fn tidy(&self, before: &Census, oddities: &[Oddity]) -> Result<(), GitError> {
        for Oddity { path, what } in oddities {
            let at = self.path().join(path);
            match what {
                Strange::Fifo
                | Strange::Socket
                | Strange::Device
                | Strange::Ignored
                | Strange::Repository => {
                    remove_with_empty_parents(self.path(), path)?;
                }
                Strange::EmptyFolder => prune_empty(&at),
                Strange::HardLink => part(&at)?,
                Strange::Privileged(mode) => {
                    let was = before.entries.get(path).map_or(mode & 0o777, |entry| entry.mode & 0o777);
                    set_mode(&at, was)?;
                }
                Strange::Mode(was, _) => set_mode(&at, *was)?,
                Strange::Git(was, _) if path.is_absolute() => put_back(path, was.as_deref())?,
                // The tree's own tie is mended by whatever uses it next.
                Strange::Git(..) => {}
            }
        }
        Ok(())
    }

    /// Goes from one holder to another: the next one finds nothing that the last one had ignored.
    pub(super) fn change_hands(&self, holder: &str) -> Result<(), GitError> {
        let mark = self.private("holder");
        if fs::read(&mark).is_ok_and(|held| held == holder.as_bytes()) {
            return Ok(());
        }
        self.remove_ignored(Keep::Nothing)?;
        write_whole(&mark, holder.as_bytes())
    }

    /// Removes ignored files. Without this they would pass from one role to the next unseen.
    fn remove_ignored(&self, keep: Keep) -> Result<(), GitError> {
        let words = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
        let output = git(&self.place(), words).run()?;
        for name in fields(&output) {
            let inside = path(name.strip_suffix(b"/").unwrap_or(name));
            if keep == Keep::Nothing || !inside.iter().any(is_built) {
                remove_with_empty_parents(self.path(), &inside)?;
            }
        }
        Ok(())
    }

    /// Folders that are named like build output and hold tracked files.
    fn tracked_output(&self) -> Result<BTreeSet<PathBuf>, GitError> {
        let output = git(&self.place(), ["ls-files", "-z"]).run()?;
        let files = fields(&output).map(path);
        let above = |file: PathBuf| file.ancestors().skip(1).map(Path::to_path_buf).collect::<Vec<_>>();
        Ok(files.flat_map(above).filter(|folder| folder.file_name().is_some_and(is_built)).collect())
    }

    fn census(&self, tracked: &BTreeSet<PathBuf>, reach: Reach) -> Result<Census, GitError> {
        let git = self.git_contents(reach);
        Ok(Census { entries: self.entries(tracked)?, tracked: tracked.clone(), git })
    }

    fn entries(&self, tracked: &BTreeSet<PathBuf>) -> Result<BTreeMap<PathBuf, Entry>, GitError> {
        let mut found = BTreeMap::new();
        let mut open = vec![PathBuf::new()];
        while let Some(folder) = open.pop() {
            let at = self.path().join(&folder);
            let Ok(entries) = fs::read_dir(&at) else {
                // A closed folder is told by its mode.
                continue;
            };
            for entry in entries {
                let entry = entry.map_err(error::file("list", &at))?;
                let (name, inside) = (entry.file_name(), folder.join(entry.file_name()));
                let Ok(metadata) = entry.metadata() else { continue };
                if name == ".git" {
                    if !folder.as_os_str().is_empty() {
                        found.insert(inside, Entry::of(&metadata, Kind::Repository));
                    }
                    continue;
                }
                let mut kind = kind_of(&metadata);
                if kind == Kind::Folder && is_built(name) && !tracked.contains(&inside) {
                    kind = Kind::Built;
                }
                if kind == Kind::Folder {
                    open.push(inside.clone());
                }
                found.insert(inside, Entry::of(&metadata, kind));
            }
        }
        Ok(found)
    }

    fn git_contents(&self, reach: Reach) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let content = |file: PathBuf| {
            let plain = fs::symlink_metadata(&file).is_ok_and(|found| found.is_file());
            let content = if plain { fs::read(&file).ok() } else { None };
            (file, content)
        };
        self.git_files(reach).into_iter().map(content).collect()
    }

    /// The files that tie the tree to its repository, and as far as it reaches those that steer git there.
    fn git_files(&self, reach: Reach) -> Vec<PathBuf> {
        let plain = |folder: &Path| -> Vec<PathBuf> {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries
                .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()))
                .map(|e| e.path())
                .collect()
        };
        let admin = self.admin();
        let mut files = vec![self.path().join(".git")];
        files.extend(plain(&admin).into_iter().filter(|file| {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            // Git writes its index whenever it looks; the engine has one of its own.
            !name.starts_with("index")
        }));
        if reach == Reach::Repository {
            let common = self.repository.common_dir();
            files.push(common.join("config"));
            files.extend(["hooks", "info"].iter().flat_map(|folder| plain(&common.join(folder))));
        }
        files
    }

    /// Those among these paths that git ignores and does not track.
    fn ignored_among(&self, paths: &[PathBuf]) -> Result<Vec<PathBuf>, GitError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        // Git reads these as patterns, which no name that begins with a folder is taken for.
        let named: Vec<PathBuf> = paths.iter().map(|path| Path::new(".").join(path)).collect();
        let words = ["check-ignore", "-z", "--stdin"];
        let answer = git(&self.place(), words).input(listed(named.iter().map(PathBuf::as_path))).answer()?;
        match answer.code {
            0 | 1 => Ok(fields(&answer.stdout)
                .map(|name| path(name.strip_prefix(b"./").unwrap_or(name)))
                .collect()),
            code => Err(GitError::of_call(words.join(" "), code, &answer.stderr, self.path())),
        }
    }
}

impl Census {
    /// What no state of a tree ever has.
    fn odd_by_themselves(&self) -> Vec<Oddity> {
        let strange = |(path, entry): (&PathBuf, &Entry)| {
            entry.strange(None, false).map(|what| Oddity { path: path.clone(), what })
        };
        self.entries.iter().filter_map(strange).collect()
    }

    fn git_oddities(&self, before: &Census, root: &Path) -> Vec<Oddity> {
        let names: BTreeSet<&PathBuf> = self.git.keys().chain(before.git.keys()).collect();
        let differs = |file: &&PathBuf| self.git.get(*file) != before.git.get(*file);
        let odd = |file: &PathBuf| {
            let content = |census: &Census| census.git.get(file).cloned().flatten();
            let path = file.strip_prefix(root).unwrap_or(file).to_path_buf();
            Oddity { path, what: Strange::Git(content(before), content(self)) }
        };
        names.into_iter().filter(differs).map(odd).collect()
    }
}

impl Entry {
    fn of(found: &Metadata, kind: Kind) -> Entry {
        Entry {
            kind,
            mode: found.mode() & 0o7777,
            links: found.nlink(),
            inode: found.ino(),
            size: found.size(),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }

    fn is_content(&self) -> bool {
        matches!(self.kind, Kind::File | Kind::Link)
    }

    fn differs(&self, other: &Entry) -> bool {
        (self.kind, self.inode, self.size, self.changed)
            != (other.kind, other.inode, other.size, other.changed)
    }

    fn strange(&self, was: Option<&Entry>, told: bool) -> Option<Strange> {
        let privileged = |was: Option<&Entry>| self.mode & 0o7000 != was.map_or(0, |was| was.mode & 0o7000);
        match self.kind {
            Kind::Fifo => Some(Strange::Fifo),
            Kind::Socket => Some(Strange::Socket),
            Kind::Device => Some(Strange::Device),
            Kind::Repository => was.is_none().then_some(Strange::Repository),
            Kind::File if self.links > 1 => Some(Strange::HardLink),
            Kind::File if self.mode & 0o7000 != 0 => Some(Strange::Privileged(self.mode)),
            // A folder takes its set-group bit from the one above it.
            Kind::Folder if privileged(was) && self.mode & 0o5000 != 0 => {
                Some(Strange::Privileged(self.mode))
            }
            Kind::File | Kind::Folder => {
                let was = was.filter(|was| was.kind == self.kind && was.mode != self.mode && !told)?;
                Some(Strange::Mode(was.mode, self.mode))
            }
            Kind::Link | Kind::Built => None,
        }
    }
}

fn kind_of(found: &Metadata) -> Kind {
    let kind = found.file_type();
    if kind.is_dir() {
        Kind::Folder
    } else if kind.is_file() {
        Kind::File
    } else if kind.is_symlink() {
        Kind::Link
    } else if kind.is_fifo() {
        Kind::Fifo
    } else if kind.is_socket() {
        Kind::Socket
    } else {
        Kind::Device
    }
}

fn is_built(name: impl AsRef<std::ffi::OsStr>) -> bool {
    BUILT.iter().any(|built| name.as_ref() == *built)
}

/// Gives a file an inode of its own with the same content and mode.
fn part(file: &Path) -> Result<(), GitError> {
    let aside = file.with_extension("parted");
    let parted = || {
        remove(&aside).map_err(std::io::Error::other)?;
        fs::copy(file, &aside)?;
        fs::rename(&aside, file)
    };
    parted().map_err(error::file("part", file))
}

fn set_mode(file: &Path, mode: u32) -> Result<(), GitError> {
    match fs::symlink_metadata(file) {
        Ok(found) if !found.is_symlink() => {
            fs::set_permissions(file, fs::Permissions::from_mode(mode)).map_err(error::file("open", file))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Puts a file of git back to what it was.
fn put_back(file: &Path, was: Option<&[u8]>) -> Result<(), GitError> {
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
