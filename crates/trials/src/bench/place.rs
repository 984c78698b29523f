//! The folder of a measurement: below the state directory, on the file system of the ledgers.

use remand_git::private_folder;
use remand_terminal::CommandFailure;
use std::fs;
use std::path::{Path, PathBuf};

/// A temporary folder.
#[derive(Debug)]
pub struct BenchFolder {
    folder: PathBuf,
}

impl BenchFolder {
    /// Creates a folder below the state directory.
    pub fn make(state: &Path) -> Result<BenchFolder, CommandFailure> {
        let root = std::path::absolute(state).map_err(|error| unusable(state, &error))?;
        let folder = root.join(format!("bench-{}", std::process::id()));
        private_folder(&folder).map_err(|error| unusable(&folder, &error))?;
        Ok(BenchFolder { folder })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A folder inside, empty at first.
    pub fn part(&self, name: &str) -> Result<PathBuf, CommandFailure> {
        let folder = self.folder.join(name);
        private_folder(&folder).map_err(|error| unusable(&folder, &error))?;
        Ok(folder)
    }

    /// The kind of file system, such as `ext4`; `None` if the system does not report it.
    pub fn file_system(&self) -> Option<String> {
        let folder = self.folder.canonicalize().ok()?;
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let mount = |line: &str| {
            let (place, kind) = line.split_once(" - ")?;
            let point = place.split(' ').nth(4)?.replace("\\040", " ");
            Some((PathBuf::from(point), kind.split(' ').next()?.to_string()))
        };
        let around = mounts.lines().filter_map(mount).filter(|(point, _)| folder.starts_with(point));
        // Of several mounts on the same point the last one is visible.
        around.max_by_key(|(point, _)| point.components().count()).map(|(_, kind)| kind)
    }
}

impl Drop for BenchFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

pub fn unusable(path: &Path, error: &std::io::Error) -> CommandFailure {
    let what = format!("{} cannot be used for measuring", path.display());
    CommandFailure::user(what, "choose another folder with `--state DIR`").caused_by(error.to_string())
}
