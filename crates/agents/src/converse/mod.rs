//! A client for the Agent Client Protocol. It starts the agent, talks to it over pipes and prints events as JSON
//! lines.
//!
//! It runs in the agent's sandbox and under the same supervisor. The permissions that it grants or denies are not a
//! security boundary: agents can also write files directly, and only the sandbox confines them.

mod agent_process;
mod cancel;
mod client;
mod event;
mod fault;
mod files;
mod lenient;
mod listener;
mod permission;
mod plan;
mod session;
mod session_log;
mod sign_in;

pub use client::converse;
pub use event::output_rules;
pub use plan::{ConversationPlan, McpServerCommand};
pub use session_log::{SessionLog, SessionLogSource};

use std::io;
use std::path::PathBuf;

/// Why a conversation could not start.
#[derive(Debug, thiserror::Error)]
pub enum ConverseError {
    #[error("the plan {} cannot be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("the plan {} is malformed", path.display())]
    Malformed { path: PathBuf, source: serde_json::Error },
    #[error("the prompt cannot be read")]
    Prompt(#[source] io::Error),
    #[error("the client cannot be set up")]
    Runtime(#[source] io::Error),
    #[error("`{program}` cannot be started")]
    Start { program: String, source: io::Error },
}
