//! The folder of a measurement: below the state directory, on the file system of the ledgers.

use remand_git::private_folder;
use remand_terminal::CommandFailure;
use std::fs;
use std::path::{Path, PathBuf};

/// A temporary folder, removed when dropped.
#[derive(Debug)]
pub struct BenchFolder {
    folder: PathBuf,
}

impl BenchFolder {
    /// Creates a folder below the state directory.
    pub fn create(state: &Path) -> Result<BenchFolder, CommandFailure> {
        let root = std::path::absolute(state).map_err(|error| unusable(state, &error))?;
        let folder = root.join(format!("bench-{}", std::process::id()));
        private_folder(&folder).map_err(|error| unusable(&folder, &error))?;
        Ok(BenchFolder { folder })
    }

    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Creates a folder inside.
    pub fn subfolder(&self, name: &str) -> Result<PathBuf, CommandFailure> {
        let folder = self.folder.join(name);
        private_folder(&folder).map_err(|error| unusable(&folder, &error))?;
        Ok(folder)
    }

    /// The kind of file system, such as `ext4`; `None` if the system does not report it.
    pub fn file_system(&self) -> Option<String> {
        let folder = self.folder.canonicalize().ok()?;
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let mount = |line: &str| {
            let (fields, kind) = line.split_once(" - ")?;
            let point = fields.split(' ').nth(4)?.replace("\\040", " ");
            Some((PathBuf::from(point), kind.split(' ').next()?.to_string()))
        };
        let above = mounts.lines().filter_map(mount).filter(|(point, _)| folder.starts_with(point));
        // Of several mounts on the same point the last one is visible.
        above.max_by_key(|(point, _)| point.components().count()).map(|(_, kind)| kind)
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
