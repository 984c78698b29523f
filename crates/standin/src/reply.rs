//! A reply of the model, independent of the protocol.

use crate::conversation::OfferedTool;
use remand_agents::rehearsal::ScriptedTokenKinds;
use serde_json::Value;

/// One turn of the model.
#[derive(Clone, Debug)]
pub struct ModelReply {
    /// Unique within the service.
    pub serial: u64,
    pub model: String,
    /// Empty if there is no text.
    pub text: String,
    pub call: Option<Call>,
    pub usage: ScriptedTokenKinds,
}

/// A tool that the model calls.
#[derive(Clone, Debug)]
pub struct Call {
    pub tool: OfferedTool,
    pub arguments: Value,
}

impl ModelReply {
    pub fn call_id(&self) -> String {
        format!("call_{:08}", self.serial)
    }

    pub fn id(&self, prefix: &str) -> String {
        format!("{prefix}_{:08}", self.serial)
    }

    /// Input tokens, including cached ones.
    pub fn input_tokens(&self) -> u64 {
        self.usage.input + self.usage.cached
    }

    /// One line for logs.
    pub fn summary(&self) -> String {
        match &self.call {
            Some(call) => format!("{} {}", call.tool.name, call.arguments),
            None => format!("text {:?}", self.text),
        }
    }
}
