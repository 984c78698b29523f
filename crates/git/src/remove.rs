//! Removes files from a work tree without following symbolic links out of it.

use super::{GitError, error};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How long to wait for a process that still writes to a folder that is being removed.
const WRITER_TIMEOUT: Duration = Duration::from_secs(5);

/// The depth at which folders that are being removed are moved up.
const MAX_DEPTH: usize = 100;

/// The length of the paths of such folders, in bytes. The system refuses paths of 4096 bytes.
const MAX_PATH: usize = 3000;

/// Removes a file, or a folder with its content. Succeeds if it does not exist.
pub fn remove(path: &Path) -> Result<(), GitError> {
    let try_remove = || match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => flatten(path).and_then(|()| fs::remove_dir_all(path)),
        Ok(_) => fs::remove_file(path),
        Err(gone) if matches!(gone.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(()),
        Err(other) => Err(other),
    };
    let mut result = try_remove();
    let started = Instant::now();
    // A git process that outlived its engine may still be writing here.
    while result.as_ref().is_err_and(|error| error.kind() == ErrorKind::DirectoryNotEmpty)
        && started.elapsed() < WRITER_TIMEOUT
    {
        thread::sleep(Duration::from_millis(20));
        result = try_remove();
    }
    match result {
        Err(denied) if denied.kind() == ErrorKind::PermissionDenied => {
            if let Some(parent) = path.parent() {
                make_folder_accessible(parent)?;
            }
            make_accessible(path)?;
            try_remove().map_err(error::file("remove", path))
        }
        other => other.map_err(error::file("remove", path)),
    }
}

/// Moves the content of deep folders up, because the removal of a folder uses stack and open files for each level. Also makes
/// folders accessible.
fn flatten(top: &Path) -> io::Result<()> {
    let mut moved = 0_u64;
    let mut pending = vec![(top.to_path_buf(), 0)];
    while let Some((folder, depth)) = pending.pop() {
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
                fs::read_dir(&folder)?
            }
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            if !entry.file_type()?.is_dir() {
                continue;
            }
            let inside = entry.path();
            if depth < MAX_DEPTH && inside.as_os_str().len() < MAX_PATH {
                pending.push((inside, depth + 1));
                continue;
            }
            let free = loop {
                let free = top.join(format!(".remand-moved-{moved}"));
                moved += 1;
                if fs::symlink_metadata(&free).is_err() {
                    break free;
                }
            };
            fs::rename(&inside, &free)?;
            pending.push((free, 1));
        }
    }
    Ok(())
}

/// Removes a path inside a root. Does nothing if one of its parents is missing or a symbolic link.
pub fn remove_inside(root: &Path, inside: &Path) -> Result<(), GitError> {
    if has_real_parents(root, inside) { remove(&root.join(inside)) } else { Ok(()) }
}

/// Returns whether all parents of a path inside a root exist and are folders, not symbolic links.
pub fn has_real_parents(root: &Path, inside: &Path) -> bool {
    let mut parents: Vec<&Path> = inside.ancestors().skip(1).collect();
    parents.pop();
    let is_real = |folder: &&Path| fs::symlink_metadata(root.join(folder)).is_ok_and(|found| found.is_dir());
    parents.iter().all(is_real)
}

/// Creates the parents of a path inside a root. Replaces a parent that is not a folder, such as a symbolic link.
pub fn create_parents(root: &Path, inside: &Path) -> Result<(), GitError> {
    let mut parents: Vec<&Path> = inside.ancestors().skip(1).collect();
    parents.pop();
    for folder in parents.into_iter().rev().map(|folder| root.join(folder)) {
        if !fs::symlink_metadata(&folder).is_ok_and(|found| found.is_dir()) {
            remove(&folder)?;
            fs::create_dir(&folder).map_err(error::file("create", &folder))?;
        }
    }
    Ok(())
}

/// Removes a path inside a root, and the parents that become empty.
pub fn remove_with_empty_parents(root: &Path, inside: &Path) -> Result<(), GitError> {
    remove_inside(root, inside)?;
    for parent in inside.ancestors().skip(1).take_while(|parent| !parent.as_os_str().is_empty()) {
        // This fails at the first folder that is not empty.
        if fs::remove_dir(root.join(parent)).is_err() {
            break;
        }
    }
    Ok(())
}

/// Removes all empty folders inside a folder, and the folder itself if it becomes empty.
pub fn prune_empty(folder: &Path) {
    if let Ok(entries) = fs::read_dir(folder) {
        for entry in entries.flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                prune_empty(&entry.path());
            }
        }
        // This fails for a folder that is not empty, which has to stay.
        let _ = fs::remove_dir(folder);
    }
}

/// Gives the owner full access to a folder and all folders below it.
pub fn make_accessible(path: &Path) -> Result<(), GitError> {
    if !fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
        return Ok(());
    }
    let mut pending = vec![path.to_path_buf()];
    while let Some(folder) = pending.pop() {
        make_folder_accessible(&folder)?;
        for entry in fs::read_dir(&folder).map_err(error::file("list", &folder))? {
            let entry = entry.map_err(error::file("list", &folder))?;
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                pending.push(entry.path());
            }
        }
    }
    Ok(())
}

pub(super) fn make_folder_accessible(path: &Path) -> Result<(), GitError> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    let mode = found.permissions().mode();
    if found.is_dir() && mode & 0o700 != 0o700 {
        let permissions = fs::Permissions::from_mode(mode | 0o700);
        fs::set_permissions(path, permissions).map_err(error::file("open", path))?;
    }
    Ok(())
}
