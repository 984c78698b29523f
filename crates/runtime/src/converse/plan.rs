//! What a conversation is for, and what the agent may do in it.

use super::ConverseError;
use super::books::Kept;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// One conversation; the prompt comes by the standard input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The agent's working directory.
    pub tree: PathBuf,
    /// The folder that it may always write.
    pub out: PathBuf,
    /// Whether it may change files of the tree.
    pub write: bool,
    pub shell: bool,
    pub network: bool,
    /// A session that is taken up again.
    pub session: Option<String>,
    pub model: Option<String>,
    /// The mode that its session is set to, where it has one of that name.
    pub mode: Option<String>,
    /// Whether it is offered to read files through the client.
    pub reads: bool,
    /// Whether the tokens that it tells at the end are those of the whole turn.
    pub tokens: bool,
    /// Where it keeps what it spent, in place of what it tells.
    pub books: Option<Kept>,
    /// What it is told beside the protocol when a session begins.
    pub meta: Option<Value>,
    /// The server that takes its result.
    pub server: Server,
}

/// An MCP server, to be started by the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    pub name: String,
    pub command: PathBuf,
    pub args: Vec<String>,
}

impl Plan {
    pub fn read(path: &Path) -> Result<Plan, ConverseError> {
        let text =
            std::fs::read(path).map_err(|source| ConverseError::Unreadable { path: path.into(), source })?;
        serde_json::from_slice(&text).map_err(|source| ConverseError::Malformed { path: path.into(), source })
    }
}
