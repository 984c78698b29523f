//! Attributes and numbers in the JSON of protocol buffers, where 64-bit integers are strings.

use remand_ledger::Millis;
use serde_json::{Value, json};

/// The attributes of a span, a data point or a resource, in the order they are added.
#[derive(Clone, Debug, Default)]
pub struct Attributes(Vec<Value>);

impl Attributes {
    #[must_use]
    pub fn text(mut self, name: &str, value: impl AsRef<str>) -> Attributes {
        self.0.push(json!({ "key": name, "value": { "stringValue": value.as_ref() } }));
        self
    }

    #[must_use]
    pub fn number(mut self, name: &str, value: impl Into<i128>) -> Attributes {
        self.0.push(json!({ "key": name, "value": { "intValue": value.into().to_string() } }));
        self
    }

    #[must_use]
    pub fn flag(mut self, name: &str, value: bool) -> Attributes {
        self.0.push(json!({ "key": name, "value": { "boolValue": value } }));
        self
    }

    /// Adds a text if there is one.
    #[must_use]
    pub fn text_if(self, name: &str, value: Option<impl AsRef<str>>) -> Attributes {
        match value {
            Some(value) => self.text(name, value),
            None => self,
        }
    }

    /// Adds a number if it is known.
    #[must_use]
    pub fn number_if(self, name: &str, value: Option<impl Into<i128>>) -> Attributes {
        match value {
            Some(value) => self.number(name, value),
            None => self,
        }
    }

    pub fn into_json(self) -> Value {
        Value::Array(self.0)
    }
}

/// A time in nanoseconds.
pub fn nanos(at: Millis) -> String {
    (i128::from(at.0.max(0)) * 1_000_000).to_string()
}

/// The resource that every trace and metric of a run names.
pub fn resource(version: &str) -> Value {
    let attributes = Attributes::default()
        .text("service.name", "remand")
        .text("service.version", version)
        .text("telemetry.sdk.language", "rust")
        .text("telemetry.sdk.name", "remand");
    json!({ "attributes": attributes.into_json() })
}

/// The scope of everything that is exported.
pub fn scope(version: &str) -> Value {
    json!({ "name": "remand", "version": version })
}

/// The name of an agent's provider in the conventions; other agents keep their own name.
pub fn provider(driver: &str) -> &str {
    match driver.trim_end_matches("-acp") {
        "claude" => "anthropic",
        "codex" => "openai",
        "gemini" => "gcp.gemini",
        other => other,
    }
}
