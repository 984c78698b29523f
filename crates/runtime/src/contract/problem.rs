//! What is wrong with a result, by place: the text that goes back to the agent.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One thing that a result does not do as its contract asks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Problem {
    /// Where, as in `payload.tasks[2].files[0].risk`; empty for the result as a whole.
    pub path: String,
    pub expected: String,
    pub found: String,
    /// What probably was meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Problem {
    pub fn new(path: impl Into<String>, expected: impl Into<String>, found: impl Into<String>) -> Problem {
        Problem { path: path.into(), expected: expected.into(), found: found.into(), hint: None }
    }

    /// The same problem with a word on what probably was meant.
    pub fn hinting(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "the result" } else { &self.path };
        write!(f, "{path}: expected {}, found {}", self.expected, self.found)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

/// What an agent is told when its result is refused: every problem, and a result as it should look.
pub fn problems_text(problems: &[Problem], example: &str) -> String {
    let mut text = String::from("Your result was not accepted. Each line names a place in it:\n\n");
    for problem in problems {
        text.push_str(&format!("- {problem}\n"));
    }
    text.push_str("\nReturn the whole result again, corrected, as one document and nothing after it.");
    text.push_str(" It must have this shape (the content is an example only):\n\n");
    let fence = fence_for(example);
    text.push_str(&format!("{fence}yaml\n{}\n{fence}\n", example.trim_end()));
    text
}

/// A fence that nothing in the text can close.
pub fn fence_for(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.saturating_add(1).max(3))
}

/// Shows a value in few words, as `found`.
pub(super) fn shown(value: &serde_json::Value) -> String {
    use serde_json::Value;
    match value {
        Value::Null => "nothing".to_string(),
        Value::Bool(it) => format!("`{it}`"),
        Value::Number(it) => format!("the number {it}"),
        Value::String(it) if it.trim().is_empty() => "an empty text".to_string(),
        Value::String(it) => format!("`{}`", short(it)),
        Value::Array(it) if it.is_empty() => "an empty list".to_string(),
        Value::Array(it) => format!("a list of {}", it.len()),
        Value::Object(it) if it.is_empty() => "an empty mapping".to_string(),
        Value::Object(it) => {
            let keys: Vec<&str> = it.keys().take(6).map(String::as_str).collect();
            format!("a mapping with {}", short(&keys.join(", ")))
        }
    }
}

/// The head of a text, on one line.
pub(super) fn short(text: &str) -> String {
    let line = text.replace('\n', " ");
    match line.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Names listed as alternatives.
pub(super) fn one_of<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => "nothing".to_string(),
        [only] => only.clone(),
        _ => format!("one of {}", names.join(", ")),
    }
}
