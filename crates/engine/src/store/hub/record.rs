//! The record that a run is kept in a hub, in the folder of the run: what each hub had when it was last seen.

use super::error::HubError;
use remand_git::CommitId;
use remand_ledger::RunId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

const FILE: &str = "hub.json";

/// The hubs of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HubRecord {
    /// By address, an entry that the hub had. It may have newer ones by now.
    pub(super) seen: BTreeMap<String, CommitId>,
}

fn path(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

impl HubRecord {
    /// Whether the run in this folder is kept in a hub.
    pub(super) fn exists(folder: &Path) -> bool {
        path(folder).exists()
    }

    pub(super) fn read(folder: &Path, run: &RunId) -> Result<Option<HubRecord>, HubError> {
        let unusable = |source| HubError::Record { run: run.clone(), source };
        match fs::read(path(folder)) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| unusable(error.into())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unusable(error)),
        }
    }

    /// Writes the record to disk, at once or not at all.
    pub(super) fn write(&self, folder: &Path, run: &RunId) -> Result<(), HubError> {
        let write = || -> io::Result<()> {
            remand_git::private_folder(folder)?;
            let new = folder.join(format!("{FILE}.new"));
            let mut file = File::create(&new)?;
            file.write_all(&serde_json::to_vec(self)?)?;
            file.sync_all()?;
            fs::rename(&new, path(folder))?;
            File::open(folder)?.sync_all()
        };
        write().map_err(|source| HubError::Record { run: run.clone(), source })
    }

    pub(super) fn remove(folder: &Path, run: &RunId) -> Result<(), HubError> {
        match fs::remove_file(path(folder)) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(HubError::Record { run: run.clone(), source: error })
            }
            _ => Ok(()),
        }
    }
}
