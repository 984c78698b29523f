//! What is said of a conversation: a JSON value in each line, the same for every agent.

use crate::driver::Hear;
use agent_client_protocol::v1::schema::{ToolKind, Usage};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::Write;

/// The word for tools that change files, in what is said of a denial.
const FILE_CHANGE: &str = "file_change";

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Said {
    Session {
        session: String,
        model: Option<String>,
    },
    Text {
        text: String,
    },
    /// It thinks; only that it lives is told.
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
        /// What it said, if it failed.
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

impl Said {
    /// A tool that was not permitted.
    pub fn denied(kind: ToolKind, title: &str) -> Said {
        let word = match kind {
            kind if changes_files(kind) => FILE_CHANGE.to_string(),
            ToolKind::Other => "tool".to_string(),
            kind => word(kind),
        };
        Said::Denied { what: format!("{word}: {title}") }
    }

    /// The tokens of a turn, as the protocol has them.
    pub fn usage(usage: &Usage) -> Said {
        Said::Usage {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cached: usage.cached_read_tokens.unwrap_or(0),
            stored: usage.cached_write_tokens.unwrap_or(0),
        }
    }

    /// Prints the line at once. Without a standard output there is nobody to tell.
    pub fn print(&self) {
        let mut out = std::io::stdout().lock();
        let _ = serde_json::to_string(self).map(|line| writeln!(out, "{line}").and_then(|()| out.flush()));
    }
}

/// The kinds of tools that change files.
pub fn changes_files(kind: ToolKind) -> bool {
    matches!(kind, ToolKind::Edit | ToolKind::Delete | ToolKind::Move)
}

/// The protocol's own word for what it has a type for.
pub fn word(it: impl Serialize) -> String {
    match serde_json::to_value(it) {
        Ok(Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

/// Where things are in these lines. How tokens are counted is the agent's own.
pub fn hear(own: &Hear) -> Hear {
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
    });
    let fixed: Hear = serde_json::from_value(rules).unwrap_or_default();
    Hear {
        input_has_cached: own.input_has_cached,
        cumulative: own.cumulative,
        cumulative_cost: own.cumulative_cost,
        ..fixed
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use crate::driver::Ear;

    fn heard(said: &[Said]) -> Ear {
        let mut ear = Ear::new(&hear(&Hear::default()));
        for said in said {
            ear.line(serde_json::to_string(said).expect("a line").as_bytes());
        }
        ear
    }

    fn text(text: &str) -> Said {
        Said::Text { text: text.to_string() }
    }

    fn end(reason: &str) -> Said {
        Said::End { reason: reason.to_string() }
    }

    // CORE-11, CORE-15
    #[test]
    fn what_is_said_is_heard() {
        let usage = Said::Usage { input: 10, output: 2, cached: 3, stored: 1 };
        let session = Said::Session { session: "s".to_string(), model: Some("m".to_string()) };
        let cost = Said::Cost { amount: 0.5 };
        let ear = heard(&[session, text("all "), text("done"), usage.clone(), usage, cost, end("end_turn")]);
        assert_eq!((ear.session().as_deref(), ear.model().as_deref()), (Some("s"), Some("m")));
        assert_eq!((ear.answer().as_deref(), ear.ended), (Some("all done"), true));
        assert_eq!(
            (ear.input(), ear.output(), ear.cached(), ear.stored()),
            (Some(20), Some(4), Some(6), Some(2))
        );
        assert_eq!(ear.cost(), Some(500_000));
    }

    // CORE-15
    #[test]
    fn no_other_end_than_being_done_is_positive() {
        for reason in ["refusal", "max_tokens", "max_turn_requests", "cancelled", "nothing"] {
            assert!(!heard(&[text("x"), end(reason)]).ended, "{reason}");
        }
    }

    // CORE-05, CORE-15
    #[test]
    fn a_refused_change_of_files_is_told_from_other_refusals() {
        let ear = heard(&[
            Said::denied(ToolKind::Edit, "a.rs"),
            Said::denied(ToolKind::Execute, "edit a.rs"),
            Said::denied(ToolKind::Other, "x"),
        ]);
        assert_eq!(ear.denied, ["file_change: a.rs", "execute: edit a.rs", "tool: x"]);
        assert_eq!(hear(&Hear::default()).writers, ["file_change"]);
    }
}
