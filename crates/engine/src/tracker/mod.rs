//! The tracker of a repository: read from a tree or from the user's checkout, and changed by runs.
//!
//! A run writes the tracker only at its end. Until then its changes are a record in the ledger. The files are derived from
//! the base and the record, so they can be generated again after a crash, and a rework can withdraw filed issues.

mod collision;
mod numbers;
mod record;

pub use collision::{Collision, collisions};
pub use numbers::{IdRequest, reserve_ids};
pub use record::{Edit, TrackerRecord};

use remand_documents::tracker::{FOLDER, IssueKey, Tracker};
use remand_git::{GitError, Repository, TreeId};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The issue that a file of the repository describes; `None` if the file is not in the tracker.
pub fn issue_of(file: Option<&str>) -> Option<IssueKey> {
    IssueKey::of_file(file?.strip_prefix(FOLDER)?.strip_prefix('/')?)
}

/// Reads the tracker of a tree. Files that are not UTF-8 are ignored.
pub fn read_tree(repository: &Repository, tree: &TreeId) -> Result<Tracker, GitError> {
    let names = repository.names_in(tree, FOLDER)?;
    let names: Vec<String> = names.into_iter().filter(|name| name.ends_with(".md")).collect();
    let paths: Vec<PathBuf> = names.iter().map(|name| Path::new(FOLDER).join(name)).collect();
    let contents = repository.read_all(tree, &paths.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
    let files = names.into_iter().zip(contents);
    Ok(Tracker::read(files.filter_map(|(name, bytes)| Some((name, String::from_utf8(bytes?).ok()?)))))
}

/// Reads the tracker of a checkout. Also returns the names of files that are not UTF-8.
pub fn read_checkout(root: &Path) -> io::Result<(Tracker, Vec<String>)> {
    let folder = root.join(FOLDER);
    let (mut texts, mut not_utf8) = (BTreeMap::new(), Vec::new());
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Tracker::default(), not_utf8)),
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
            Err(_) => not_utf8.push(name),
        }
    }
    Ok((Tracker::read(texts), not_utf8))
}

/// Writes changes into a checkout, each file atomically. Files are deleted last, because their content may have moved to
/// another file.
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
