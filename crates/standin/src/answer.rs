//! What the model answers, whatever the protocol.

use crate::conversation::Tool;
use remand_runtime::rehearsal::Kinds;
use serde_json::Value;

/// One turn of the model as it goes to the program.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Tells this answer from all others of the service.
    pub serial: u64,
    pub model: String,
    /// Empty where nothing is said.
    pub text: String,
    pub call: Option<Call>,
    pub usage: Kinds,
}

/// A tool that the model calls.
#[derive(Clone, Debug)]
pub struct Call {
    pub tool: Tool,
    pub arguments: Value,
}

impl Answer {
    pub fn call_id(&self) -> String {
        format!("call_{:08}", self.serial)
    }

    pub fn id(&self, prefix: &str) -> String {
        format!("{prefix}_{:08}", self.serial)
    }

    /// The tokens that were read, from a cache or not.
    pub fn read(&self) -> u64 {
        self.usage.input + self.usage.cached
    }

    /// What it does, in a line for logs.
    pub fn summary(&self) -> String {
        match &self.call {
            Some(call) => format!("{} {}", call.tool.name, call.arguments),
            None => format!("text {:?}", self.text),
        }
    }
}
