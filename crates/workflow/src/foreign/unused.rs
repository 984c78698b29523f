//! What a foreign role file says and nothing here heeds, each with the reason.

use crate::source::Span;
use crate::yaml::Key;
use std::fmt;

/// One thing of a foreign file that is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    /// The key, with the value where only that is not used.
    pub what: String,
    pub reason: String,
    /// While a file is read its offset, then its line from 1.
    pub line: usize,
}

impl Unused {
    pub(super) fn new(what: impl Into<String>, reason: impl Into<String>, at: Span) -> Unused {
        Unused { what: what.into(), reason: reason.into(), line: at.start }
    }

    /// A whole key.
    pub(super) fn key(key: &Key) -> Unused {
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
        "hooks" => "no programs are run beside the agent's own",
        "mcpServers" | "mcp-servers" => "an agent is given no servers besides the engine's",
        "skills" => "skills are not loaded; write into the text what is needed",
        "memory" => "an agent keeps nothing from one dispatch to the next",
        "maxTurns" | "steps" | "maxSteps" => "a dispatch is bounded by its time",
        "background" | "isolation" => "the engine decides where a dispatch runs",
        "effort" | "temperature" | "top_p" | "topP" | "variant" | "options" | "reasoningEffort" => {
            "how a model answers is a setting of the agent"
        }
        "permissionMode" => "what may be done is decided by the role, and nobody is asked",
        "mode" | "handoffs" | "agents" | "disable-model-invocation" | "infer" | "initialPrompt" => {
            "the workflow decides when a role is dispatched"
        }
        "color" | "hidden" | "argument-hint" | "user-invocable" | "user-invokable" | "metadata" => {
            "it is for the menus of the tool"
        }
        "target" => "the role is used wherever it is named",
        "disable" | "disabled" => "what is named is used",
        "prompt" => "the text below the front matter is the prompt",
        _ => "remand does not know it",
    }
}
