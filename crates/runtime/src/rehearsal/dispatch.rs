//! The dispatch that a scripted agent stands in for.

use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// Names the environment variable with the path of the dispatch's JSON file.
pub const DISPATCH: &str = "REMAND_DISPATCH";

/// Who is dispatched, where, and where the result is expected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchInfo {
    pub run: String,
    pub phase: String,
    /// The role's title with its mode, such as `check/code`.
    pub role: String,
    #[serde(default)]
    pub task: Option<String>,
    #[serde(default)]
    pub item: Option<String>,
    /// What the result's header has to name as its instance; left out of the header when it is not known.
    #[serde(default)]
    pub instance: Option<String>,
    /// Which visit of the phase this is, from 1.
    pub round: u32,
    /// Which try of the dispatch this is, from 1.
    pub attempt: u32,
    /// The result file.
    pub result: PathBuf,
    /// The work tree.
    pub tree: PathBuf,
    /// The dispatch's own folder, for `usage.json`.
    pub folder: PathBuf,
}

/// Why a scripted agent does not know what it was dispatched for.
#[derive(Debug, thiserror::Error)]
pub enum InfoError {
    #[error("{DISPATCH} is not set; a rehearsal is played by the engine, not by hand")]
    NotSet,
    #[error("the dispatch file {} cannot be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("the dispatch file {} is malformed", path.display())]
    Malformed { path: PathBuf, source: serde_json::Error },
}

impl DispatchInfo {
    /// Reads the file that the environment names.
    pub fn load() -> Result<DispatchInfo, InfoError> {
        DispatchInfo::read(Path::new(&std::env::var_os(DISPATCH).ok_or(InfoError::NotSet)?))
    }

    /// Reads a dispatch file.
    pub fn read(path: &Path) -> Result<DispatchInfo, InfoError> {
        let text =
            std::fs::read(path).map_err(|source| InfoError::Unreadable { path: path.into(), source })?;
        serde_json::from_slice(&text).map_err(|source| InfoError::Malformed { path: path.into(), source })
    }
}
