//! The result by MCP: a server of one tool, which an agent starts beside itself, holds a result against its contract and
//! says at once what is wrong.
//!
//! It runs in the agent's sandbox and is trusted with nothing: the engine reads the result file as if anybody had
//! written it.

mod server;
mod terms;

pub use server::{ServeError, serve};
pub use terms::{Judged, Terms, TermsError};

/// The name by which agents know the server.
pub const SERVER: &str = "remand";

/// Its one tool.
pub const TOOL: &str = "submit_result";
