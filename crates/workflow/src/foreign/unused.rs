//! The unused parts of a foreign role file, with the reasons.

use crate::source::Span;
use crate::yaml::YamlKey;
use std::fmt;

/// One unused part of a foreign file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    /// The key, with the value if only the value is unused.
    pub what: String,
    pub reason: String,
    /// The byte offset while the file is being read, then the 1-based line number.
    pub line: usize,
}

impl Unused {
    pub(super) fn new(what: impl Into<String>, reason: impl Into<String>, span: Span) -> Unused {
        Unused { what: what.into(), reason: reason.into(), line: span.start }
    }

    /// An unused key.
    pub(super) fn key(key: &YamlKey) -> Unused {
        Unused::new(&key.name, reason(&key.name), key.span)
    }
}

impl fmt::Display for Unused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}` is not used: {}", self.what, self.reason)
    }
}

/// Why a key of the three tools has no meaning here.
fn reason(key: &str) -> &'static str {
    match key {
        "hooks" => "hooks are not run",
        "mcpServers" | "mcp-servers" => "an agent gets no servers other than the engine's",
        "skills" => "skills are not loaded; put what is needed into the text",
        "memory" => "an agent keeps nothing between dispatches",
        "maxTurns" | "steps" | "maxSteps" => "a dispatch is limited by its time",
        "background" | "isolation" => "the engine decides where a dispatch runs",
        "effort" | "temperature" | "top_p" | "topP" | "variant" | "options" | "reasoningEffort" => {
            "model parameters are a setting of the agent"
        }
        "permissionMode" => "the role determines the permissions, and nobody is asked",
        "mode" | "handoffs" | "agents" | "disable-model-invocation" | "infer" | "initialPrompt" => {
            "the workflow decides when a role is dispatched"
        }
        "color" | "hidden" | "argument-hint" | "user-invocable" | "user-invokable" | "metadata" => {
            "it concerns the tool's user interface"
        }
        "target" => "the role is used wherever a workflow names it",
        "disable" | "disabled" => "a role that a workflow names is always used",
        "prompt" => "the text below the front matter is the prompt",
        _ => "Remand does not know it",
    }
}
