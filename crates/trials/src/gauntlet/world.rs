//! The surroundings that a trial must not change: the user's checkout with its `.git`, the home, and a folder outside.

use super::arena::Arena;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The parts of the git directory that the engine may write.
const ENGINE_PATHS: [&str; 7] = [
    ".git/objects",
    ".git/remand",
    ".git/worktrees",
    ".git/refs/remand",
    ".git/refs/heads/remand",
    ".git/logs/refs/remand",
    ".git/logs/refs/heads/remand",
];

/// The tag that a run puts on its base; its target is checked separately.
const BASELINE: &str = ".git/refs/tags/pipeline-baseline-";

/// All files outside the engine's state at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings(BTreeMap<PathBuf, FileState>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum FileState {
    Folder { mode: u32 },
    File { mode: u32, bytes: Vec<u8> },
    Link(PathBuf),
    Other,
}

impl Surroundings {
    /// Records the current state of all files.
    pub fn record(arena: &Arena) -> Surroundings {
        let mut files = BTreeMap::new();
        for folder in [arena.checkout(), arena.home(), arena.outside()] {
            record(&folder, arena, &mut files);
        }
        Surroundings(files)
    }

    /// Describes every difference between this state and a later one.
    pub fn differences(&self, later: &Surroundings, arena: &Arena) -> Vec<String> {
        let shown = |path: &Path| path.strip_prefix(arena.root()).unwrap_or(path).display().to_string();
        let mut found = Vec::new();
        for (path, file) in &self.0 {
            match later.0.get(path) {
                None => found.push(format!("{} is gone", shown(path))),
                Some(now) if now != file => found.push(format!("{} was changed", shown(path))),
                Some(_) => {}
            }
        }
        let new = later.0.keys().filter(|path| !self.0.contains_key(*path));
        found.extend(new.map(|path| format!("{} was created", shown(path))));
        found
    }
}

fn record(path: &Path, arena: &Arena, files: &mut BTreeMap<PathBuf, FileState>) {
    let inside = path.strip_prefix(arena.checkout()).unwrap_or(Path::new(""));
    let is_baseline = inside.to_str().is_some_and(|inside| inside.starts_with(BASELINE));
    if is_baseline || ENGINE_PATHS.iter().any(|part| inside.starts_with(part)) {
        return;
    }
    let Ok(metadata) = fs::symlink_metadata(path) else { return };
    let mode = metadata.permissions().mode();
    let file = if metadata.is_symlink() {
        FileState::Link(fs::read_link(path).unwrap_or_default())
    } else if metadata.is_file() {
        FileState::File { mode, bytes: fs::read(path).unwrap_or_default() }
    } else if metadata.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            record(&entry.path(), arena, files);
        }
        FileState::Folder { mode }
    } else {
        FileState::Other
    };
    files.insert(path.to_path_buf(), file);
}
