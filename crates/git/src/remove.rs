//! Removes files from a work tree without following symbolic links out of it.

use super::{GitError, error};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How long to wait for a process that still writes into a folder that is being removed.
const WRITER_PATIENCE: Duration = Duration::from_secs(5);

/// Removes a file, or a folder with its content. Succeeds if it does not exist.
pub fn remove(path: &Path) -> Result<(), GitError> {
    let once = || match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(gone) if matches!(gone.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(()),
        Err(other) => Err(other),
    };
    let mut ended = once();
    let started = Instant::now();
    // A git process that outlived its engine may still be writing here.
    while ended.as_ref().is_err_and(|error| error.kind() == ErrorKind::DirectoryNotEmpty)
        && started.elapsed() < WRITER_PATIENCE
    {
        thread::sleep(Duration::from_millis(20));
        ended = once();
    }
    match ended {
        Err(denied) if denied.kind() == ErrorKind::PermissionDenied => {
            if let Some(parent) = path.parent() {
                open_folder(parent)?;
            }
            open_up(path)?;
            once().map_err(error::file("remove", path))
        }
        other => other.map_err(error::file("remove", path)),
    }
}

/// Removes a path inside a root, if all folders on the way to it are real folders.
pub fn remove_inside(root: &Path, inside: &Path) -> Result<(), GitError> {
    if is_reached(root, inside) { remove(&root.join(inside)) } else { Ok(()) }
}

/// Returns whether all folders on the way to a path inside a root are real folders.
pub fn is_reached(root: &Path, inside: &Path) -> bool {
    let mut above: Vec<&Path> = inside.ancestors().skip(1).collect();
    above.pop();
    let real = |folder: &&Path| fs::symlink_metadata(root.join(folder)).is_ok_and(|found| found.is_dir());
    above.iter().all(real)
}

/// Creates the folders on the way to a path inside a root, and replaces anything there that is not a real folder.
pub fn clear_way(root: &Path, inside: &Path) -> Result<(), GitError> {
    let mut above: Vec<&Path> = inside.ancestors().skip(1).collect();
    above.pop();
    for folder in above.into_iter().rev().map(|folder| root.join(folder)) {
        if !fs::symlink_metadata(&folder).is_ok_and(|found| found.is_dir()) {
            remove(&folder)?;
            fs::create_dir(&folder).map_err(error::file("create", &folder))?;
        }
    }
    Ok(())
}

/// Removes a file and the parent folders that become empty, up to the root.
pub fn remove_with_empty_parents(root: &Path, inside: &Path) -> Result<(), GitError> {
    remove_inside(root, inside)?;
    for parent in inside.ancestors().skip(1).take_while(|parent| !parent.as_os_str().is_empty()) {
        // The first folder that is not empty ends this.
        if fs::remove_dir(root.join(parent)).is_err() {
            break;
        }
    }
    Ok(())
}

/// Removes a folder that contains only empty folders, and such folders inside it.
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
pub fn open_up(path: &Path) -> Result<(), GitError> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    if !found.is_dir() {
        return Ok(());
    }
    open_folder(path)?;
    for entry in fs::read_dir(path).map_err(error::file("list", path))? {
        let entry = entry.map_err(error::file("list", path))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path())?;
        }
    }
    Ok(())
}

fn open_folder(path: &Path) -> Result<(), GitError> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    let mode = found.permissions().mode();
    if found.is_dir() && mode & 0o700 != 0o700 {
        let opened = fs::Permissions::from_mode(mode | 0o700);
        fs::set_permissions(path, opened).map_err(error::file("open", path))?;
    }
    Ok(())
}
