//! Takes stock of a work tree: all that a snapshot does not tell, such as modes, links, empty folders, ignored files, and
//! the files by which git knows the tree.
//!
//! Two of them, before and after a dispatch, show what it left. Folders of build output are not looked into.

use super::call::{fields, git, path};
use super::look::Tracked;
use super::oddity::{Oddity, Strange};
use super::remove::{prune_empty, remove, remove_inside, remove_with_empty_parents};
use super::stock::{Entry, Kind, Stock, is_built};
use super::worktree::write_whole;
use super::{Changed, GitError, TreeId, WorkTree, error};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

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
    stock: Stock,
    /// Build output by its name, and yet tracked.
    tracked: BTreeSet<PathBuf>,
    /// Git's own files by their absolute paths; none for what is no plain file.
    git: BTreeMap<PathBuf, Option<Vec<u8>>>,
}

/// What a dispatch left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aftermath {
    pub tree: TreeId,
    /// What is different in the tree.
    pub changes: Vec<Changed>,
    pub oddities: Vec<Oddity>,
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

    /// Looks at what came after a census and this state: at git's own files, which are mended then, and takes stock again
    /// and a snapshot.
    pub fn aftermath(&self, before: &Census, state: &TreeId, reach: Reach) -> Result<Aftermath, GitError> {
        let mut memory = self.memory();
        let git = self.git_contents(reach);
        self.mend()?;
        let ready = self.ready()?;
        let (stock, index) = thread::scope(|scope| {
            let index = scope.spawn(|| self.index());
            (self.stock(&before.tracked), index.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        let found = Census { stock: stock?, tracked: before.tracked.clone(), git };
        let staged = self.stage(ready, index.as_ref().map(|index| (index, &found.stock)))?;
        thread::scope(|scope| {
            let seen = scope.spawn(|| {
                let changes = self.changed_since(state, &staged)?;
                let oddities = self.oddities(before, &found, &changes)?;
                Ok((changes, oddities))
            });
            let tree = self.write(&staged, &mut memory)?;
            let (changes, oddities) = seen.join().unwrap_or_else(|panic| resume_unwind(panic))?;
            Ok(Aftermath { tree, changes, oddities })
        })
    }

    /// What is different between two censuses and not among the changes of content.
    fn oddities(
        &self,
        before: &Census,
        after: &Census,
        changes: &[Changed],
    ) -> Result<Vec<Oddity>, GitError> {
        let changed: BTreeSet<&Path> = changes.iter().map(|change| change.path.as_path()).collect();
        let mut odd = after.git_oddities(before, self.path());
        odd.extend(self.submodule_oddities());
        let submodules = self.submodule_folders();
        let in_submodule =
            |path: &Path| submodules.iter().any(|folder| path != folder && path.starts_with(folder));
        let (mut unexplained, mut tools) = (Vec::new(), Vec::new());
        for (path, was, now) in before.stock.beside(&after.stock) {
            if in_submodule(path) && now.is_none_or(|now| now.kind != Kind::Repository) {
                continue;
            }
            let told = was != now && changed.contains(path);
            let Some(now) = now else {
                if was.is_some_and(Entry::is_content) && !told {
                    unexplained.push(path.to_path_buf());
                }
                continue;
            };
            let mut found = now.strange(was, told);
            if now.kind == Kind::Folder && was.is_none() && !after.stock.is_filled(path) {
                found = Some(Strange::EmptyFolder);
            }
            match found {
                Some(what @ (Strange::HardLink | Strange::Fifo | Strange::Socket)) => {
                    unexplained.push(path.to_path_buf());
                    tools.push(Oddity { path: path.to_path_buf(), what });
                }
                Some(what) => odd.push(Oddity { path: path.to_path_buf(), what }),
                None if now.is_content() && !told && was.is_none_or(|was| was.differs(now)) => {
                    unexplained.push(path.to_path_buf());
                }
                None => {}
            }
        }
        let ignored = self.ignored(&unexplained, Tracked::Spared)?;
        // Compilers and servers leave these among their own files, wherever git is told to ignore them.
        odd.extend(tools.into_iter().filter(|odd| !ignored.contains(&odd.path)));
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
                    let was = before.stock.get(path).map_or(mode & 0o777, |entry| entry.mode & 0o777);
                    set_mode(&at, was)?;
                }
                Strange::Mode(was, _) => set_mode(&at, *was)?,
                Strange::Git(was, _) if path.is_absolute() => put_back(path, was.as_deref())?,
                // The tree's own tie is mended by whatever uses it next.
                Strange::Git(..) | Strange::Submodule | Strange::InSubmodule => {}
            }
        }
        if oddities.iter().any(|odd| matches!(odd.what, Strange::Submodule | Strange::InSubmodule)) {
            self.fill_again()?;
        }
        Ok(())
    }

    /// Removes what is in no state, and tells whether all that is left is this one, by all that a fresh checkout of it
    /// would show: content, modes, folders, and nothing beside them.
    pub(super) fn holds_only(&self, state: &TreeId) -> Result<bool, GitError> {
        let found = self.begin(Keep::Nothing, Reach::Tree)?;
        let ready = self.ready()?;
        let Some(index) = self.index() else {
            return Ok(false);
        };
        let is_way =
            |(path, entry): (&Path, &Entry)| entry.kind == Kind::Folder && found.stock.is_filled(path);
        if found.stock.has_closed() || !index.beside(&found.stock).untracked.into_iter().all(is_way) {
            return Ok(false);
        }
        // A file that was just made by us tells what anybody may do with new ones.
        let fresh = self.private("fresh");
        remove(&fresh)?;
        fs::write(&fresh, "").map_err(error::file("write", &fresh))?;
        let usual =
            fs::metadata(&fresh).map_err(error::file("look at", &fresh))?.permissions().mode() & 0o666;
        remove(&fresh)?;
        let is_usual = |entry: &Entry| entry.kind == Kind::Link || entry.mode & 0o666 == usual;
        if !found.stock.iter().all(|(_, entry)| is_usual(entry)) {
            return Ok(false);
        }
        let staged = self.stage(ready, Some((&index, &found.stock)))?;
        Ok(self.changed_since(state, &staged)?.is_empty())
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
        Ok(Census { stock: self.stock(tracked)?, tracked: tracked.clone(), git })
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
}

impl Census {
    /// What no state of a tree ever has.
    fn odd_by_themselves(&self) -> Vec<Oddity> {
        let strange = |(path, entry): (&Path, &Entry)| {
            entry.strange(None, false).map(|what| Oddity { path: path.to_path_buf(), what })
        };
        self.stock.iter().filter_map(strange).collect()
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
