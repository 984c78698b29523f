//! Where is measured: a folder of its own below the state directory, on the file system that ledgers live on.

use crate::exit::Failure;
use remand_runtime::home::private_folder;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder that is gone afterwards.
#[derive(Debug)]
pub struct Place {
    folder: PathBuf,
}

impl Place {
    /// Makes a folder below the state directory.
    pub fn make(state: &Path) -> Result<Place, Failure> {
        let root = std::path::absolute(state).map_err(|error| unusable(state, &error))?;
        let folder = root.join(format!("bench-{}", std::process::id()));
        private_folder(&folder).map_err(|error| unusable(&folder, &error))?;
        Ok(Place { folder })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A folder inside, empty at first.
    pub fn part(&self, name: &str) -> Result<PathBuf, Failure> {
        let folder = self.folder.join(name);
        private_folder(&folder).map_err(|error| unusable(&folder, &error))?;
        Ok(folder)
    }

    /// The kind of file system, such as `ext4`; none where the system does not say.
    pub fn file_system(&self) -> Option<String> {
        let folder = self.folder.canonicalize().ok()?;
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let mount = |line: &str| {
            let (place, kind) = line.split_once(" - ")?;
            let point = place.split(' ').nth(4)?.replace("\\040", " ");
            Some((PathBuf::from(point), kind.split(' ').next()?.to_string()))
        };
        let around = mounts.lines().filter_map(mount).filter(|(point, _)| folder.starts_with(point));
        // Of mounts on the same point the last one is seen.
        around.max_by_key(|(point, _)| point.components().count()).map(|(_, kind)| kind)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

pub fn unusable(path: &Path, error: &std::io::Error) -> Failure {
    let what = format!("{} cannot be used for measuring", path.display());
    Failure::user(what, "choose another folder with `--state DIR`").caused_by(error.to_string())
}
