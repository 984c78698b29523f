//! Describes a dispatch to the programs that run in its sandbox.

use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// The environment variable that holds the path of the dispatch file.
pub const DISPATCH: &str = "REMAND_DISPATCH";

/// The identity of a dispatch, and its paths.
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
    /// The instance that the result's header must name; `None` if there is only one.
    #[serde(default)]
    pub instance: Option<String>,
    /// 1-based number of this visit to the phase.
    pub round: u32,
    /// 1-based attempt number.
    pub attempt: u32,
    /// The result file.
    pub result: PathBuf,
    /// The work tree.
    pub tree: PathBuf,
    /// The output folder of the dispatch, for `usage.json`.
    pub folder: PathBuf,
}

/// Why the dispatch file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum InfoError {
    #[error("{DISPATCH} is not set; only the engine can play a rehearsal")]
    NotSet,
    #[error("the dispatch file {} cannot be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("the dispatch file {} is malformed", path.display())]
    Malformed { path: PathBuf, source: serde_json::Error },
}

impl DispatchInfo {
    /// Reads the file that the environment variable names.
    pub fn load() -> Result<DispatchInfo, InfoError> {
        DispatchInfo::read(Path::new(&std::env::var_os(DISPATCH).ok_or(InfoError::NotSet)?))
    }

    /// Everything that the agent was given: its prompt and the files of its brief. What cannot be read counts as missing.
    pub fn brief(&self) -> String {
        let Some(root) = self.folder.parent() else { return String::new() };
        let files = std::fs::read_dir(root.join("inputs")).into_iter().flatten().flatten();
        let texts = [root.join("prompt.md")].into_iter().chain(files.map(|entry| entry.path()));
        texts.filter_map(|path| std::fs::read_to_string(path).ok()).collect::<Vec<_>>().join("\n")
    }

    /// Reads a dispatch file.
    pub fn read(path: &Path) -> Result<DispatchInfo, InfoError> {
        let bytes =
            std::fs::read(path).map_err(|source| InfoError::Unreadable { path: path.into(), source })?;
        serde_json::from_slice(&bytes).map_err(|source| InfoError::Malformed { path: path.into(), source })
    }
}
