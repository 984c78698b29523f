//! The arguments and the answers of tools.

use remand_terminal::CommandFailure;
use serde_json::{Map, Value};

/// The arguments of a call.
#[derive(Clone, Debug, Default)]
pub struct ToolArguments(pub Map<String, Value>);

impl ToolArguments {
    /// A text; empty texts count as absent, since some clients fill in every argument.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    /// A whole number, which some clients write as text.
    pub fn number(&self, name: &str) -> Option<u64> {
        let value = self.0.get(name)?;
        value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())
    }

    pub fn required(&self, name: &str) -> Result<&str, CommandFailure> {
        let missing = || CommandFailure::user(format!("`{name}` is missing"), format!("name `{name}`"));
        self.text(name).ok_or_else(missing)
    }
}

/// A failure in words for the client.
pub fn explain(failure: &CommandFailure) -> String {
    let mut lines = vec![failure.what.clone()];
    lines.extend(failure.causes.iter().map(|cause| format!("caused by: {cause}")));
    if !failure.hint.is_empty() {
        lines.push(format!("hint: {}", failure.hint));
    }
    lines.join("\n")
}
