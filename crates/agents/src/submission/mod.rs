//! An MCP server with one tool for submitting a result. The agent starts the server, which validates the result
//! against the contract and reports every problem.
//!
//! The server runs in the agent's sandbox and is not trusted: the engine validates the result file again.

mod server;
mod terms;

pub use server::{ServeError, serve};
pub use terms::{SubmissionOutcome, Terms, TermsError};

/// The server's name in the agent's configuration.
pub const SERVER: &str = "remand";

/// The name of the server's tool.
pub const TOOL: &str = "submit_result";
