//! The tracker in a repository: read from a tree or from the user's checkout, and what a run does to it.
//!
//! A run never writes the tracker before its end. What it does to it is a record in the ledger, and the files follow
//! from the base and that record: so they can be made again after a crash, and a rework takes back what was filed.

mod collision;
mod numbers;
mod record;

pub use collision::{Collision, collisions};
pub use numbers::{Numbers, numbers};
pub use record::{Edit, Record};

use crate::git::{GitError, Repository, TreeId};
use remand_documents::tracker::{FOLDER, IssueId, Tracker};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The issue that a file of the repository is, by its path.
pub fn issue_of(file: Option<&str>) -> Option<IssueId> {
    IssueId::of_file(file?.strip_prefix(FOLDER)?.strip_prefix('/')?)
}

/// The tracker of a tree. What is no text is no issue.
pub fn of_tree(repository: &Repository, tree: &TreeId) -> Result<Tracker, GitError> {
    let names = repository.names_in(tree, FOLDER)?;
    let names: Vec<String> = names.into_iter().filter(|name| name.ends_with(".md")).collect();
    let paths: Vec<PathBuf> = names.iter().map(|name| Path::new(FOLDER).join(name)).collect();
    let texts = repository.read_all(tree, &paths.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
    let files = names.into_iter().zip(texts);
    Ok(Tracker::read(files.filter_map(|(name, bytes)| Some((name, String::from_utf8(bytes?).ok()?)))))
}

/// The tracker of a checkout, with the names of files that are no texts.
pub fn of_checkout(root: &Path) -> io::Result<(Tracker, Vec<String>)> {
    let folder = root.join(FOLDER);
    let (mut texts, mut unread) = (BTreeMap::new(), Vec::new());
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Tracker::default(), unread)),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.ends_with(".md") || !entry.file_type()?.is_file() {
            continue;
        }
        match String::from_utf8(fs::read(entry.path())?) {
            Ok(text) => drop(texts.insert(name, text)),
            Err(_) => unread.push(name),
        }
    }
    Ok((Tracker::read(texts), unread))
}

/// Writes what changed into a checkout, each file as a whole or not at all. Files go last: what was in one of them may
/// be in another now.
pub fn write_back(root: &Path, changed: &BTreeMap<String, Option<String>>) -> io::Result<()> {
    let folder = root.join(FOLDER);
    fs::create_dir_all(&folder)?;
    for (name, text) in changed.iter().filter_map(|(name, text)| Some((name, text.as_ref()?))) {
        crate::subject::replace(&folder.join(name), text)?;
    }
    for (name, _) in changed.iter().filter(|(_, text)| text.is_none()) {
        fs::remove_file(folder.join(name))?;
    }
    Ok(())
}
