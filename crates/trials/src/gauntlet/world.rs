//! What a trial must not change: the user's checkout with its `.git`, the home, and everything outside of these.

use super::arena::Arena;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The parts of git's own folder that the engine may write.
const OF_THE_ENGINE: [&str; 7] = [
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

/// Everything outside the engine's own state at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings(BTreeMap<PathBuf, Thing>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Thing {
    Folder { mode: u32 },
    File { mode: u32, bytes: Vec<u8> },
    Link(PathBuf),
    Other,
}

impl Surroundings {
    /// Records everything.
    pub fn seen(arena: &Arena) -> Surroundings {
        let mut things = BTreeMap::new();
        for folder in [arena.checkout(), arena.home(), arena.outside()] {
            look(&folder, arena, &mut things);
        }
        Surroundings(things)
    }

    /// The later differences, one sentence each.
    pub fn differences(&self, later: &Surroundings, arena: &Arena) -> Vec<String> {
        let shown = |path: &Path| path.strip_prefix(arena.root()).unwrap_or(path).display().to_string();
        let mut found = Vec::new();
        for (path, thing) in &self.0 {
            match later.0.get(path) {
                None => found.push(format!("{} is gone", shown(path))),
                Some(now) if now != thing => found.push(format!("{} was changed", shown(path))),
                Some(_) => {}
            }
        }
        let new = later.0.keys().filter(|path| !self.0.contains_key(*path));
        found.extend(new.map(|path| format!("{} was made", shown(path))));
        found
    }
}

fn look(path: &Path, arena: &Arena, things: &mut BTreeMap<PathBuf, Thing>) {
    let inside = path.strip_prefix(arena.checkout()).unwrap_or(Path::new(""));
    let is_baseline = inside.to_str().is_some_and(|inside| inside.starts_with(BASELINE));
    if is_baseline || OF_THE_ENGINE.iter().any(|part| inside.starts_with(part)) {
        return;
    }
    let Ok(about) = fs::symlink_metadata(path) else { return };
    let mode = about.permissions().mode();
    let thing = if about.is_symlink() {
        Thing::Link(fs::read_link(path).unwrap_or_default())
    } else if about.is_file() {
        Thing::File { mode, bytes: fs::read(path).unwrap_or_default() }
    } else if about.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            look(&entry.path(), arena, things);
        }
        Thing::Folder { mode }
    } else {
        Thing::Other
    };
    things.insert(path.to_path_buf(), thing);
}
