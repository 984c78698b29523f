//! Problems with a result, and how they are described to the agent.

use std::fmt;

/// One violation of a contract.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContractProblem {
    /// Path of the value, such as `payload.tasks[2].files[0].risk`; empty for the whole result.
    pub path: String,
    pub expected: String,
    pub found: String,
    /// What the agent probably meant.
    pub hint: Option<String>,
    /// Decides which help the retry prompt gives.
    pub shortfall: Shortfall,
}

/// The ways in which a result falls short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shortfall {
    /// There is no result at all.
    Missing,
    /// The result is too short to be a real answer.
    Short,
    /// The result addresses none of the assigned gaps.
    NoGap,
    /// The result violates its contract in any other way.
    #[default]
    Form,
}

impl Shortfall {
    /// The shortfall of a result with these problems. It is `NoGap` only if nothing else is wrong.
    pub fn of(problems: &[ContractProblem]) -> Shortfall {
        let has = |kind: Shortfall| problems.iter().any(|problem| problem.shortfall == kind);
        if has(Shortfall::Missing) {
            Shortfall::Missing
        } else if has(Shortfall::Short) {
            Shortfall::Short
        } else if has(Shortfall::NoGap) && problems.len() == 1 {
            Shortfall::NoGap
        } else {
            Shortfall::Form
        }
    }
}

impl ContractProblem {
    pub fn new(
        path: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> ContractProblem {
        ContractProblem {
            path: path.into(),
            expected: expected.into(),
            found: found.into(),
            hint: None,
            shortfall: Shortfall::Form,
        }
    }

    pub(super) fn with_shortfall(mut self, shortfall: Shortfall) -> ContractProblem {
        self.shortfall = shortfall;
        self
    }

    /// Adds a hint about what the agent probably meant.
    pub fn with_hint(mut self, hint: impl Into<String>) -> ContractProblem {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for ContractProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "the result" } else { &self.path };
        write!(f, "{path}: expected {}, found {}", self.expected, self.found)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

/// The problem of a result with fewer than `min_chars` characters. An empty result is missing, not short.
pub fn too_short(text: &str, min_chars: usize) -> Option<ContractProblem> {
    let length = text.trim().chars().count();
    let is_short = length > 0 && length < min_chars;
    is_short.then(|| {
        ContractProblem::new("", format!("at least {min_chars} characters"), length.to_string())
            .with_shortfall(Shortfall::Short)
    })
}

/// A fence longer than any run of backticks in the text.
pub fn fence_for(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.saturating_add(1).max(3))
}

/// Describes a value briefly, for the field `found` of a problem.
pub(super) fn describe_value(value: &serde_json::Value) -> String {
    use serde_json::Value;
    match value {
        Value::Null => "nothing".to_string(),
        Value::Bool(it) => format!("`{it}`"),
        Value::Number(it) => format!("the number {it}"),
        Value::String(it) if it.trim().is_empty() => "an empty string".to_string(),
        Value::String(it) => format!("`{}`", shorten(it)),
        Value::Array(it) if it.is_empty() => "an empty list".to_string(),
        Value::Array(it) => format!("a list of {} entries", it.len()),
        Value::Object(it) if it.is_empty() => "an empty mapping".to_string(),
        Value::Object(it) => {
            let keys: Vec<&str> = it.keys().take(6).map(String::as_str).collect();
            format!("a mapping with {}", shorten(&keys.join(", ")))
        }
    }
}

/// The beginning of a string, on one line.
pub(super) fn shorten(text: &str) -> String {
    let line = text.replace('\n', " ");
    match line.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Lists names as alternatives.
pub(super) fn one_of<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => "nothing".to_string(),
        [only] => only.clone(),
        _ => format!("one of {}", names.join(", ")),
    }
}
