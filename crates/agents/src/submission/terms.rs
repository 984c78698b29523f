//! The terms that a submitted result must satisfy, in a file that the agent's sandbox can read.

use super::TOOL;
use remand_contract::{ContractProblem, Expectation, RawResult, Rejection, ResultLimits, SchemaId};
use remand_notation::ordered;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};

/// The name of the file with the terms, which is next to the dispatch file.
const CONTRACT_FILE: &str = "contract.json";

/// The terms of one dispatch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Terms {
    pub expected: Expectation,
    /// The minimum length of the result, in characters.
    #[serde(rename = "least")]
    pub min_chars: usize,
}

/// The outcome of a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubmissionOutcome {
    Accepted {
        text: Vec<u8>,
    },
    Refused {
        why: String,
        /// The result, if it has a security blocker.
        blocking: Option<Vec<u8>>,
    },
}

/// Why the terms could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TermsError {
    #[error("the contract {} cannot be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("the contract {} is malformed", path.display())]
    Malformed { path: PathBuf, source: serde_json::Error },
}

impl Terms {
    /// The terms for a dispatch. Only plans have pointers into the run's documents, so other terms omit the documents.
    pub fn new(expected: &Expectation, min_chars: usize) -> Terms {
        let mut expected = expected.clone();
        let has_pointers =
            matches!(expected.schema, SchemaId::PlanOutput | SchemaId::SplitOutput | SchemaId::Task);
        if !has_pointers {
            expected.known.documents = None;
        }
        Terms { expected, min_chars }
    }

    /// The path of the terms; `dispatch` is the file that describes the dispatch.
    pub fn path(dispatch: &Path) -> PathBuf {
        dispatch.with_file_name(CONTRACT_FILE)
    }

    pub fn read(dispatch: &Path) -> Result<Terms, TermsError> {
        let path = Terms::path(dispatch);
        let bytes =
            std::fs::read(&path).map_err(|source| TermsError::Unreadable { path: path.clone(), source })?;
        serde_json::from_slice(&bytes).map_err(|source| TermsError::Malformed { path, source })
    }

    /// Validates a result against the contract, as the engine will.
    pub fn validate(&self, result: &Value) -> SubmissionOutcome {
        let limits = ResultLimits::default();
        let mut text = match result {
            // Some agents pass the whole document as a string.
            Value::String(text) => text.clone(),
            other => ordered::page(other),
        };
        text.push('\n');
        if let Some(problem) = remand_contract::too_short(&text, self.min_chars) {
            return refuse(&[problem]);
        }
        let raw = RawResult { file: Some(text.clone().into_bytes()), answer: String::new() };
        let found = match remand_contract::find(&raw, &limits) {
            Ok(found) => found,
            Err(problem) => return refuse(&[problem]),
        };
        match remand_contract::read(found.value, &self.expected, &limits) {
            Ok(_) | Err(Rejection::Failed { .. }) => SubmissionOutcome::Accepted { text: text.into_bytes() },
            Err(Rejection::Malformed { problems, blockers }) => SubmissionOutcome::Refused {
                why: explain(&problems),
                blocking: (!blockers.is_empty()).then(|| text.into_bytes()),
            },
        }
    }
}

fn refuse(problems: &[ContractProblem]) -> SubmissionOutcome {
    SubmissionOutcome::Refused { why: explain(problems), blocking: None }
}

/// Lists all problems for the agent.
fn explain(problems: &[ContractProblem]) -> String {
    let lines: String = problems.iter().map(|problem| format!("- {problem}\n")).collect();
    format!(
        "Not accepted. These are the problems, each with its location:\n\n{lines}\nCorrect them and call `{TOOL}` again \
with the whole result."
    )
}
