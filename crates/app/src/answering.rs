//! Submits a human's answer. The prompt, `remand answer`, the page and the MCP server use it.
//!
//! An answer becomes a request in the ledger; the driving process turns it into an event.

use remand_engine::clock;
use remand_engine::redact::Redactor;
use remand_engine::store::Store;
use remand_kernel::Event;
use remand_kernel::event::Grants;
use remand_kernel::ids::{CommandId, NotACommandId};
use remand_ledger::query::GateRow;
use remand_ledger::{LedgerError, Reader, RunId};
use remand_terminal::{CommandFailure, invocation};

/// A human's answer to a gate.
#[derive(Clone, Debug)]
pub struct HumanAnswer {
    pub option: String,
    pub note: String,
    /// The flags of the question that the answer sets.
    pub flags: Vec<String>,
    pub grants: Grants,
    /// Who gives the answer, and through what unless on a command line.
    pub by: String,
}

/// Why an answer was not recorded.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    #[error("this gate does not offer `{option}`")]
    NotOffered { option: String, offered: Vec<String> },
    #[error("this gate of run {run} already has an answer")]
    Answered { run: RunId },
    #[error("gate {gate} cannot be answered")]
    Id { gate: String, source: NotACommandId },
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// Records the answer to a gate as a request, and returns the id of the request.
pub fn submit(
    store: &dyn Store,
    reader: &Reader,
    redactor: &Redactor,
    gate: &GateRow,
    answer: &HumanAnswer,
) -> Result<i64, AnswerError> {
    let id: CommandId =
        gate.command.parse().map_err(|source| AnswerError::Id { gate: gate.command.clone(), source })?;
    if !gate.options.iter().any(|offered| offered.name == answer.option) {
        let offered = gate.options.iter().map(|offered| offered.name.clone()).collect();
        return Err(AnswerError::NotOffered { option: answer.option.clone(), offered });
    }
    let answers_gate = |event: &Event| matches!(event, Event::Answered { id: other, .. } if *other == id);
    if reader.requests(&gate.run)?.iter().any(|request| answers_gate(&request.event)) {
        return Err(AnswerError::Answered { run: gate.run.clone() });
    }
    let event = Event::Answered {
        id,
        option: answer.option.clone(),
        by: answer.by.clone(),
        note: redactor.redact(&answer.note).into_owned(),
        flags: answer.flags.iter().map(|flag| (flag.clone(), true)).collect(),
        grants: answer.grants,
    };
    Ok(store.request(&gate.run, clock::now(), &event)?)
}

/// The open gates of a run.
pub fn open_gates(reader: &Reader, run: &RunId) -> Result<Vec<GateRow>, LedgerError> {
    Ok(reader.gates(run)?.into_iter().filter(GateRow::is_open).collect())
}

impl From<AnswerError> for CommandFailure {
    fn from(error: AnswerError) -> CommandFailure {
        let hint = match &error {
            AnswerError::NotOffered { offered, .. } => format!("answer with one of {}", offered.join(", ")),
            AnswerError::Answered { run } => {
                format!("`{}` continues with it", invocation::command(format!("resume {run}")))
            }
            AnswerError::Id { .. } => "see `remand gates`".to_string(),
            AnswerError::Ledger(_) => String::new(),
        };
        match error {
            AnswerError::Ledger(error) => error.into(),
            other => CommandFailure::user(other.to_string(), hint).with_sources(&other),
        }
    }
}
