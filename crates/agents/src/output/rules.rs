//! The rules that find session, answer, errors, tokens, cost and tools in an agent program's output.

use super::pick::Pick;
use serde::{Deserialize, Serialize};

/// Where the values are in the output of an agent program, or in its session log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct OutputRules {
    pub session: Vec<Pick>,
    pub model: Vec<Pick>,
    pub answer: Vec<Pick>,
    /// Reports that the agent finished. Without a report, exit code 0 does not count as success.
    pub end: Vec<Pick>,
    pub errors: Vec<Pick>,
    /// Permissions that the agent's rules denied.
    pub denied: Vec<Pick>,
    /// Names of the tools among `denied` that change files.
    pub writers: Vec<String>,
    /// Output of tools that may have failed.
    pub failed: Vec<Pick>,
    /// The same, for tools that change files. If the system denied a change, the dispatch fails.
    pub failed_writes: Vec<Pick>,
    pub input: Vec<Pick>,
    pub output: Vec<Pick>,
    /// Thinking tokens, if `output` does not include them.
    pub thoughts: Vec<Pick>,
    /// The total, if it includes tokens that are counted nowhere else. Those count as output.
    pub total: Vec<Pick>,
    /// Tokens read from the service's cache.
    pub cached: Vec<Pick>,
    /// Tokens written to the service's cache.
    pub stored: Vec<Pick>,
    /// Whether `input` includes the cached tokens.
    pub input_has_cached: bool,
    /// Whether token counts in a resumed session include those of earlier dispatches.
    pub cumulative: bool,
    /// The cost in units of the currency.
    pub cost: Vec<Pick>,
    /// Whether the cost of a resumed session includes that of earlier dispatches.
    pub cumulative_cost: bool,
    /// The id of a model call. The tokens of calls are shown while the agent runs, if it reports its usage only at the
    /// end. A call may be reported several times.
    pub call: Vec<Pick>,
    /// The tokens of a model call.
    pub call_tokens: Vec<Pick>,
    /// Reports that a tool started. While a tool runs, the agent may be silent.
    pub tool_began: Vec<Pick>,
    pub tool_ended: Vec<Pick>,
    /// The name of a tool that started, for people who watch.
    pub tool: Vec<Pick>,
    /// The file or the command that the tool works on.
    pub target: Vec<Pick>,
}
