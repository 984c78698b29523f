//! The lock of the driving process: one process at a time drives a run, and others can see which one.

use crate::clock;
use remand_ledger::RunId;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How many times the lock is tried, how many times its owner is read, and the pause between two tries.
const MAX_TRIES: u32 = 3;
const OWNER_READS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// A process holds this lock while it drives a run. The system releases the lock whenever the process ends.
#[derive(Debug)]
pub struct DriverLock {
    _file: File,
}

/// Why this process cannot drive a run.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("run {run} is driven by {owner}")]
    Held { run: RunId, owner: String },
    #[error("the lock {path} cannot be used")]
    Unusable { path: PathBuf, source: io::Error },
}

impl DriverLock {
    /// Takes the lock of a run. If another process has it, the error names that process.
    pub fn take(folder: &Path, run: &RunId) -> Result<DriverLock, LockError> {
        let path = folder.join("driver");
        let unusable = |source| LockError::Unusable { path: path.clone(), source };
        remand_git::private_folder(folder).map_err(unusable)?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(unusable)?;
        let mut tries = 1;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                // Another process may hold the lock briefly to see who drives the run.
                Err(TryLockError::WouldBlock) if tries < MAX_TRIES => {
                    tries += 1;
                    std::thread::sleep(PAUSE);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(LockError::Held { run: run.clone(), owner: owner(&mut file) });
                }
                Err(TryLockError::Error(source)) => return Err(unusable(source)),
            }
        }
        let owner = format!("process {}, since {}\n", std::process::id(), clock::iso(clock::now()));
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(owner.as_bytes()))
            .map_err(unusable)?;
        Ok(DriverLock { _file: file })
    }

    /// The process that drives a run now, if any.
    pub fn holder(folder: &Path) -> Option<String> {
        let mut file = OpenOptions::new().read(true).write(true).open(folder.join("driver")).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(owner(&mut file)),
            Ok(()) | Err(TryLockError::Error(_)) => None,
        }
    }
}

/// The holder of the lock, as it described itself. A process that has just taken the lock may not have written its
/// description yet.
fn owner(file: &mut File) -> String {
    for _ in 0..OWNER_READS {
        let mut text = String::new();
        let read = file.rewind().and_then(|()| (&mut *file).take(200).read_to_string(&mut text));
        let owner = text.trim();
        let process = owner.strip_prefix("process ").and_then(|rest| rest.split(',').next());
        let is_alive = process.is_some_and(|id| Path::new("/proc").join(id).exists());
        if read.is_ok() && (is_alive || !Path::new("/proc/self").exists()) && !owner.is_empty() {
            return owner.to_string();
        }
        std::thread::sleep(PAUSE);
    }
    "another process".to_string()
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn the_second_driver_sees_who_the_first_is() {
        let temp = tempfile::tempdir().expect("temp");
        let run = RunId("r".to_string());
        let first = DriverLock::take(temp.path(), &run).expect("first");
        let second = DriverLock::take(temp.path(), &run);
        let Err(LockError::Held { owner, .. }) = second else {
            panic!("taken twice");
        };
        assert!(owner.starts_with(&format!("process {}, since 20", std::process::id())), "{owner}");
        assert!(DriverLock::holder(temp.path()).is_some());
        drop(first);
        assert!(DriverLock::holder(temp.path()).is_none());
        DriverLock::take(temp.path(), &run).expect("free again");
    }
}
