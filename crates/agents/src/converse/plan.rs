//! The plan of a conversation: where the agent works, and what it may do.

use super::ConverseError;
use super::session_log::SessionLog;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The plan of one conversation. The prompt arrives on the standard input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConversationPlan {
    /// The agent's working directory.
    pub tree: PathBuf,
    /// The folder that the agent may always write to.
    pub out: PathBuf,
    /// Whether the agent may change files in the tree.
    pub write: bool,
    pub shell: bool,
    pub network: bool,
    /// The session to resume.
    pub session: Option<String>,
    pub model: Option<String>,
    /// The mode to set, if the agent has it.
    pub mode: Option<String>,
    /// Whether the client offers to read files for the agent.
    pub reads: bool,
    /// Whether the token count that the agent reports at the end covers the whole turn.
    pub tokens: bool,
    /// The session log from which token counts are read instead of the reported ones.
    pub session_log: Option<SessionLog>,
    /// Settings for a new session that the protocol does not define.
    pub meta: Option<Value>,
    /// The server to which the agent submits its result.
    pub server: McpServerCommand,
}

/// An MCP server that the agent starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpServerCommand {
    pub name: String,
    pub command: PathBuf,
    pub args: Vec<String>,
}

impl ConversationPlan {
    pub fn read(path: &Path) -> Result<ConversationPlan, ConverseError> {
        let bytes =
            std::fs::read(path).map_err(|source| ConverseError::Unreadable { path: path.into(), source })?;
        serde_json::from_slice(&bytes)
            .map_err(|source| ConverseError::Malformed { path: path.into(), source })
    }
}
