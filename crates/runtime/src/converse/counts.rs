//! Tokens, where agents tell them.

use super::said::Said;
use agent_client_protocol::v1::schema::{PromptResponse, Usage};
use serde_json::Value;

/// Those of a turn, in the protocol's own place or in one of the agents'.
pub fn of_turn(answer: &PromptResponse) -> Option<Said> {
    let quota = || of(answer.meta.as_ref()?.get("quota")?.get("token_count")?);
    answer.usage.as_ref().map(of_usage).or_else(quota)
}

fn of_usage(usage: &Usage) -> Said {
    Said::Usage {
        input: usage.input_tokens,
        output: usage.output_tokens,
        cached: usage.cached_read_tokens.unwrap_or(0),
        stored: usage.cached_write_tokens.unwrap_or(0),
    }
}

/// Those of a step, or of a turn beside the protocol, however the agent names them.
pub fn of(told: &Value) -> Option<Said> {
    let count = |names: &[&str]| names.iter().find_map(|name| told.get(name)?.as_u64());
    let input = count(&["inputTokens", "input_tokens"])?;
    let output = count(&["outputTokens", "output_tokens"])?;
    Some(Said::Usage {
        input,
        output,
        cached: count(&["cachedReadTokens"]).unwrap_or(0),
        stored: count(&["cachedWriteTokens"]).unwrap_or(0),
    })
}
