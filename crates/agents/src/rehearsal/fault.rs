//! Errors in scripts, with their location and a hint.

use std::io;
use std::path::PathBuf;

/// Why a script cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    #[error("the rehearsal {} cannot be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{name}:{line}:{column}: {message}")]
    Malformed { name: String, line: u64, column: u64, message: String },
    #[error("{name}: version {version} of the rehearsal format is not supported; set `rehearsal: 1`")]
    Version { name: String, version: u64 },
}

/// Converts an error of the parser.
pub(super) fn malformed(name: &str, error: &serde_saphyr::Error) -> ScriptError {
    let (line, column) = error.location().map_or((1, 1), |location| (location.line(), location.column()));
    ScriptError::Malformed { name: name.to_owned(), line, column, message: message(error.without_snippet()) }
}

fn message(error: &serde_saphyr::Error) -> String {
    match error {
        serde_saphyr::Error::SerdeUnknownField { field, expected, .. } => unknown("key", field, expected),
        serde_saphyr::Error::SerdeUnknownVariant { variant, expected, .. } => {
            unknown("action", variant, expected)
        }
        serde_saphyr::Error::SerdeMissingField { field, .. } => format!("the key `{field}` is missing"),
        serde_saphyr::Error::Message { msg, .. } => msg.clone(),
        other => {
            let text = other.to_string();
            let line = text.lines().next().unwrap_or_default();
            match line.split(" at line ").next().unwrap_or_default() {
                "invalid u8" | "invalid u16" | "invalid u32" | "invalid u64" => {
                    "expected a whole number without a unit".to_owned()
                }
                line => line.to_owned(),
            }
        }
    }
}

fn unknown(kind: &str, name: &str, expected: &[&str]) -> String {
    let hint = match nearest(name, expected) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("use one of {}", expected.join(", ")),
    };
    format!("there is no {kind} `{name}`; {hint}")
}

fn nearest<'a>(name: &str, expected: &[&'a str]) -> Option<&'a str> {
    let distance = |other: &&str| strsim::damerau_levenshtein(name, other);
    let best = expected.iter().copied().min_by_key(distance)?;
    (distance(&best) <= name.len().div_ceil(3).max(1)).then_some(best)
}
