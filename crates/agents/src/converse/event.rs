//! The events of a conversation, printed as JSON lines in the same format for every agent.

use crate::output::OutputRules;
use agent_client_protocol::v1::schema::{ToolKind, Usage};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::Write;

/// The name that denials use for every tool that changes files.
const FILE_CHANGE: &str = "file_change";

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ConversationEvent {
    Session {
        session: String,
        model: Option<String>,
    },
    Text {
        text: String,
    },
    /// The agent is thinking. The event only shows that the agent is alive.
    Thought,
    ToolBegan {
        tool: String,
        title: String,
        kind: String,
    },
    ToolEnded {
        tool: String,
        kind: String,
        status: String,
        /// The output of the tool, if the tool failed.
        text: Option<String>,
    },
    Denied {
        what: String,
    },
    Usage {
        input: u64,
        output: u64,
        cached: u64,
        stored: u64,
    },
    Cost {
        amount: f64,
    },
    Error {
        message: String,
    },
    End {
        reason: String,
    },
}

impl ConversationEvent {
    /// The denial of a tool call.
    pub fn denied(kind: ToolKind, title: &str) -> ConversationEvent {
        let tool = match kind {
            kind if changes_files(kind) => FILE_CHANGE.to_string(),
            ToolKind::Other => "tool".to_string(),
            kind => protocol_word(kind),
        };
        ConversationEvent::Denied { what: format!("{tool}: {title}") }
    }

    /// The token counts of a turn.
    pub fn usage(usage: &Usage) -> ConversationEvent {
        ConversationEvent::Usage {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cached: usage.cached_read_tokens.unwrap_or(0),
            stored: usage.cached_write_tokens.unwrap_or(0),
        }
    }

    /// Prints the event and flushes. Errors are ignored: if the standard output is closed, nobody is listening.
    pub fn print(&self) {
        let mut out = std::io::stdout().lock();
        let _ = serde_json::to_string(self).map(|line| writeln!(out, "{line}").and_then(|()| out.flush()));
    }
}

/// Whether tools of this kind change files.
pub fn changes_files(kind: ToolKind) -> bool {
    matches!(kind, ToolKind::Edit | ToolKind::Delete | ToolKind::Move)
}

/// The protocol's word for a value of one of its enums.
pub fn protocol_word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

/// The rules for reading these events. How tokens and costs are counted depends on the agent's row.
pub fn output_rules(row_rules: &OutputRules) -> OutputRules {
    let rules = json!({
        "session": [{"in": {"type": "session"}, "at": "session"}],
        "model": [{"in": {"type": "session"}, "at": "model"}],
        "answer": [{"in": {"type": "text"}, "at": "text", "all": true}],
        "end": [{"in": {"type": "end", "reason": "end_turn"}}],
        "errors": [{"in": {"type": "error"}, "at": "message"}],
        "denied": [{"in": {"type": "denied"}, "at": "what"}],
        "writers": [FILE_CHANGE],
        "failed": [{"in": {"type": "tool-ended"}, "at": "text"}],
        "failed-writes": [{"in": {"type": "tool-ended", "kind": ["edit", "delete", "move"]}, "at": "text"}],
        "input": [{"in": {"type": "usage"}, "at": "input", "all": true}],
        "output": [{"in": {"type": "usage"}, "at": "output", "all": true}],
        "cached": [{"in": {"type": "usage"}, "at": "cached", "all": true}],
        "stored": [{"in": {"type": "usage"}, "at": "stored", "all": true}],
        "cost": [{"in": {"type": "cost"}, "at": "amount"}],
        "tool-began": [{"in": {"type": "tool-began"}}],
        "tool-ended": [{"in": {"type": "tool-ended"}}],
        "tool": [{"in": {"type": "tool-began"}, "at": "title"}],
    });
    let fixed: OutputRules = serde_json::from_value(rules).unwrap_or_default();
    OutputRules {
        input_has_cached: row_rules.input_has_cached,
        cumulative: row_rules.cumulative,
        cumulative_cost: row_rules.cumulative_cost,
        ..fixed
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use crate::output::OutputReader;

    fn read_events(events: &[ConversationEvent]) -> OutputReader {
        let mut reader = OutputReader::new(&output_rules(&OutputRules::default()));
        for event in events {
            reader.line(serde_json::to_string(event).expect("a line").as_bytes());
        }
        reader
    }

    fn text(text: &str) -> ConversationEvent {
        ConversationEvent::Text { text: text.to_string() }
    }

    fn end(reason: &str) -> ConversationEvent {
        ConversationEvent::End { reason: reason.to_string() }
    }

    // CORE-11, CORE-15
    #[test]
    fn printed_events_are_read_back() {
        let usage = ConversationEvent::Usage { input: 10, output: 2, cached: 3, stored: 1 };
        let session = ConversationEvent::Session { session: "s".to_string(), model: Some("m".to_string()) };
        let cost = ConversationEvent::Cost { amount: 0.5 };
        let reader =
            read_events(&[session, text("all "), text("done"), usage.clone(), usage, cost, end("end_turn")]);
        assert_eq!((reader.session().as_deref(), reader.model().as_deref()), (Some("s"), Some("m")));
        assert_eq!((reader.answer().as_deref(), reader.ended), (Some("all done"), true));
        assert_eq!(
            (reader.input(), reader.output(), reader.cached(), reader.stored()),
            (Some(20), Some(4), Some(6), Some(2))
        );
        assert_eq!(reader.cost(), Some(500_000));
    }

    // CORE-15
    #[test]
    fn only_the_stop_reason_end_turn_counts_as_finished() {
        for reason in ["refusal", "max_tokens", "max_turn_requests", "cancelled", "nothing"] {
            assert!(!read_events(&[text("x"), end(reason)]).ended, "{reason}");
        }
    }

    // CORE-05, CORE-15
    #[test]
    fn a_denied_file_change_is_distinguished_from_other_denials() {
        let reader = read_events(&[
            ConversationEvent::denied(ToolKind::Edit, "a.rs"),
            ConversationEvent::denied(ToolKind::Execute, "edit a.rs"),
            ConversationEvent::denied(ToolKind::Other, "x"),
        ]);
        assert_eq!(reader.denied, ["file_change: a.rs", "execute: edit a.rs", "tool: x"]);
        assert_eq!(output_rules(&OutputRules::default()).writers, ["file_change"]);
    }
}
