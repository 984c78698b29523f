//! One call of a tool: where, by whom, and with which arguments.

use super::reply::ToolArguments;
use super::site::McpSite;
use std::time::Duration;

/// The interval at which the ledger is read.
pub const POLL: Duration = Duration::from_millis(50);

/// Clients cut calls off after 60 seconds and more, whatever the progress.
const MAX_WAIT: u64 = 45;

/// A call.
pub struct ToolCall<'c> {
    pub site: &'c McpSite,
    pub client: &'c str,
    pub arguments: &'c ToolArguments,
}

impl ToolCall<'_> {
    /// How long the call may wait.
    pub fn patience(&self) -> Duration {
        Duration::from_secs(self.arguments.number("seconds").unwrap_or(MAX_WAIT).min(MAX_WAIT))
    }
}
