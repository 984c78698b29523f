//! What a submitted result is held to: the expectation of its dispatch, laid out where the agent's side can read it.

use super::TOOL;
use crate::contract::{self, Expectation, Limits, Problem, RawResult, SchemaId, Unread};
use crate::ordered;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};

/// The file's name, beside the one that describes the dispatch.
const FILE: &str = "contract.json";

/// The terms of one dispatch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Terms {
    pub expected: Expectation,
    /// Characters that the result has at least.
    pub least: usize,
}

/// What is said of a submitted result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    Accepted {
        text: Vec<u8>,
    },
    Refused {
        why: String,
        /// The result, if a security blocker in it counts whatever else is wrong.
        counts: Option<Vec<u8>>,
    },
}

/// Why the terms are not known.
#[derive(Debug, thiserror::Error)]
pub enum TermsError {
    #[error("the contract {} cannot be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("the contract {} is malformed", path.display())]
    Malformed { path: PathBuf, source: serde_json::Error },
}

impl Terms {
    /// The terms with no more of the run's documents than a plan needs, whose pointers lead into them.
    pub fn new(expected: &Expectation, least: usize) -> Terms {
        let mut expected = expected.clone();
        let points = matches!(expected.schema, SchemaId::PlanOutput | SchemaId::SplitOutput | SchemaId::Task);
        if !points {
            expected.known.documents = None;
        }
        Terms { expected, least }
    }

    /// Where the terms of a dispatch lie.
    pub fn path(dispatch: &Path) -> PathBuf {
        dispatch.with_file_name(FILE)
    }

    /// Reads the terms of a dispatch.
    pub fn of(dispatch: &Path) -> Result<Terms, TermsError> {
        let path = Terms::path(dispatch);
        let text =
            std::fs::read(&path).map_err(|source| TermsError::Unreadable { path: path.clone(), source })?;
        serde_json::from_slice(&text).map_err(|source| TermsError::Malformed { path, source })
    }

    /// Holds a result against the contract, as the engine will.
    pub fn judge(&self, result: &Value) -> Judged {
        let limits = Limits::default();
        let mut text = match result {
            // Some write the whole document as a text.
            Value::String(text) => text.clone(),
            other => ordered::page(other),
        };
        text.push('\n');
        if let Some(problem) = contract::too_short(&text, self.least) {
            return refused(&[problem]);
        }
        let raw = RawResult { file: Some(text.clone().into_bytes()), answer: String::new() };
        let found = match contract::find(&raw, &limits) {
            Ok(found) => found,
            Err(problem) => return refused(&[problem]),
        };
        match contract::read(found.value, &self.expected, &limits) {
            Ok(_) | Err(Unread::Failed { .. }) => Judged::Accepted { text: text.into_bytes() },
            Err(Unread::Malformed { problems, blockers }) => Judged::Refused {
                why: told(&problems),
                counts: (!blockers.is_empty()).then(|| text.into_bytes()),
            },
        }
    }
}

fn refused(problems: &[Problem]) -> Judged {
    Judged::Refused { why: told(problems), counts: None }
}

/// Every problem in a line of its own.
fn told(problems: &[Problem]) -> String {
    let lines: String = problems.iter().map(|problem| format!("- {problem}\n")).collect();
    format!(
        "Not accepted. Each line names a place in the result:\n\n{lines}\nCorrect it and call `{TOOL}` again with the \
         whole result."
    )
}
