//! Runs agents: drivers for their programs, the Agent Client Protocol, results over MCP, scripted agents.
//!
//! Nothing here knows about workflows. A driver gets a prompt, folders and permissions, and reports what the agent did.

pub mod output;
pub mod rehearsal;
pub mod submission;

pub mod converse;
pub mod driver;
