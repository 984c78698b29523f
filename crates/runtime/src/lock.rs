//! The driver's lock: only one process drives a run, and everybody can see which one.

use crate::clock;
use remand_ledger::RunId;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

const TRIES: u32 = 3;
const LOOKS: u32 = 50;
const AGAIN: Duration = Duration::from_millis(10);

/// Held while a process drives a run. The system lets go of it when the process dies, however it dies.
#[derive(Debug)]
pub struct DriverLock {
    _file: File,
}

/// Why a run cannot be driven from here.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("run {run} is driven by {owner}")]
    Held { run: RunId, owner: String },
    #[error("the lock {path} cannot be used")]
    Unusable { path: PathBuf, source: io::Error },
}

impl DriverLock {
    /// Takes the lock of a run, or says who has it.
    pub fn take(folder: &Path, run: &RunId) -> Result<DriverLock, LockError> {
        let path = folder.join("driver");
        let unusable = |source| LockError::Unusable { path: path.clone(), source };
        crate::home::private_folder(folder).map_err(unusable)?;
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
                // Somebody may just be looking who has it.
                Err(TryLockError::WouldBlock) if tries < TRIES => {
                    tries += 1;
                    std::thread::sleep(AGAIN);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(LockError::Held { run: run.clone(), owner: owner(&mut file) });
                }
                Err(TryLockError::Error(source)) => return Err(unusable(source)),
            }
        }
        let said = format!("process {}, since {}\n", std::process::id(), clock::iso(clock::now()));
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(said.as_bytes()))
            .map_err(unusable)?;
        Ok(DriverLock { _file: file })
    }

    /// Who drives a run now, if anybody does.
    pub fn holder(folder: &Path) -> Option<String> {
        let mut file = OpenOptions::new().read(true).write(true).open(folder.join("driver")).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(owner(&mut file)),
            Ok(()) | Err(TryLockError::Error(_)) => None,
        }
    }
}

/// Who holds the lock, as the holder wrote it. Whoever has just taken it may not have written yet.
fn owner(file: &mut File) -> String {
    for _ in 0..LOOKS {
        let mut text = String::new();
        let read = file.rewind().and_then(|()| (&mut *file).take(200).read_to_string(&mut text));
        let said = text.trim();
        let process = said.strip_prefix("process ").and_then(|rest| rest.split(',').next());
        let lives = process.is_some_and(|id| Path::new("/proc").join(id).exists());
        if read.is_ok() && (lives || !Path::new("/proc/self").exists()) && !said.is_empty() {
            return said.to_string();
        }
        std::thread::sleep(AGAIN);
    }
    "another process".to_string()
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn the_second_driver_is_told_who_the_first_is() {
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
