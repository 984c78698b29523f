//! Files of a work tree that checks look at.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Folders that tools write.
const SKIPPED: [&str; 10] =
    [".git", ".hg", "node_modules", "target", ".venv", "venv", ".tox", "__pycache__", "vendor", ".remand"];

/// All files below a folder, relative to it and sorted, without tool folders and links.
pub fn all(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    let mut open: Vec<PathBuf> = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        // No check can look into a folder that cannot be read.
        let Ok(entries) = std::fs::read_dir(folder.join(&below)) else { continue };
        for entry in entries.flatten() {
            let path = below.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => {
                    if !SKIPPED.iter().any(|name| entry.file_name() == *name) {
                        open.push(path);
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

/// The file at a path, or the files of the folder there, with this extension. `**/` at the start stands for every folder
/// below.
pub fn stamps(folder: &Path, report: &str, ending: &str) -> Stamps {
    let places = match report.strip_prefix("**/") {
        Some(path) => folders(folder).into_iter().map(|below| below.join(path)).collect(),
        None => vec![folder.join(report)],
    };
    let paths = places.iter().flat_map(|path| match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(_) => vec![path.clone()],
    });
    let has_ending = |path: &PathBuf| path.extension().is_some_and(|found| found == ending);
    let stamped = |path: PathBuf| {
        let at = path.metadata().and_then(|data| data.modified()).ok()?;
        Some((path, at))
    };
    paths.filter(has_ending).filter_map(stamped).collect()
}

/// A folder and all folders below it, without tool folders.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_path_buf()];
    let mut at = 0;
    while let Some(open) = found.get(at).cloned() {
        at += 1;
        for entry in std::fs::read_dir(&open).into_iter().flatten().flatten() {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && !SKIPPED.iter().any(|name| entry.file_name() == *name) {
                found.push(entry.path());
            }
        }
    }
    found
}

/// The texts of files that are new or changed; a report that cannot be read counts as absent.
pub fn fresh(now: &Stamps, before: &Stamps) -> Vec<String> {
    let changed = now.iter().filter(|(path, at)| before.get(*path) != Some(*at));
    changed.filter_map(|(path, _)| std::fs::read_to_string(path).ok()).collect()
}
