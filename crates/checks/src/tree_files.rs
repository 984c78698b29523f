//! Files of a work tree that checks look at.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Names of folders that tools write.
const TOOL_FOLDERS: [&str; 10] =
    [".git", ".hg", "node_modules", "target", ".venv", "venv", ".tox", "__pycache__", "vendor", ".remand"];

/// All files below a folder, relative to it and sorted, without tool folders and links.
pub fn all(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    let mut pending: Vec<PathBuf> = vec![PathBuf::new()];
    while let Some(current) = pending.pop() {
        // No check can look into a folder that cannot be read.
        let Ok(entries) = std::fs::read_dir(folder.join(&current)) else { continue };
        for entry in entries.flatten() {
            let path = current.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => {
                    if !TOOL_FOLDERS.iter().any(|name| entry.file_name() == *name) {
                        pending.push(path);
                    }
                }
                Ok(kind) if kind.is_file() => files.extend(path.to_str().map(str::to_string)),
                Ok(_) | Err(_) => {}
            }
        }
    }
    files.sort();
    files
}

/// The files that still exist below a folder of the tree, relative to that folder.
pub fn present(tree: &Path, folder: &str, files: &[String]) -> Vec<String> {
    let is_file = |file: &Path| tree.join(file).symlink_metadata().is_ok_and(|data| data.is_file());
    let mut present: Vec<String> = files
        .iter()
        .map(Path::new)
        .filter(|file| is_file(file))
        .filter_map(|file| file.strip_prefix(folder).ok()?.to_str().map(str::to_string))
        .collect();
    present.sort();
    present.dedup();
    present
}

/// Files with their modification times.
pub type Stamps = BTreeMap<PathBuf, SystemTime>;

/// The files with this extension at the path `report`, which is a file or a folder. `**/` at the start of the path matches
/// `folder` and every folder below it.
pub fn stamps(folder: &Path, report: &str, extension: &str) -> Stamps {
    let matches = match report.strip_prefix("**/") {
        Some(path) => folders(folder).into_iter().map(|below| below.join(path)).collect(),
        None => vec![folder.join(report)],
    };
    let paths = matches.iter().flat_map(|path| match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(_) => vec![path.clone()],
    });
    let has_extension = |path: &PathBuf| path.extension().is_some_and(|found| found == extension);
    let stamped = |path: PathBuf| {
        let modified = path.metadata().and_then(|data| data.modified()).ok()?;
        Some((path, modified))
    };
    paths.filter(has_extension).filter_map(stamped).collect()
}

/// A folder and all folders below it, without tool folders.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_path_buf()];
    let mut next = 0;
    while let Some(current) = found.get(next).cloned() {
        next += 1;
        for entry in std::fs::read_dir(&current).into_iter().flatten().flatten() {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && !TOOL_FOLDERS.iter().any(|name| entry.file_name() == *name) {
                found.push(entry.path());
            }
        }
    }
    found
}

/// The contents of files that are new or changed; a file that cannot be read counts as absent.
pub fn read_changed(now: &Stamps, before: &Stamps) -> Vec<String> {
    let changed = now.iter().filter(|(path, modified)| before.get(*path) != Some(*modified));
    changed.filter_map(|(path, _)| std::fs::read_to_string(path).ok()).collect()
}
