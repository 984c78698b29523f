//! The door for what a person asks of a run: an answer, a cancel, a resume. It leads to the run's ledger.

use crate::repository::RepositoryState;
use remand_ledger::Reader;
use remand_ledger::query::{GateRow, RunRow};

/// An answer to a gate, as it was given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenAnswer {
    pub option: String,
    pub note: String,
    /// The flags of the question that it sets.
    pub flags: Vec<String>,
    /// The amount to grant at a limit, as a person writes it; empty grants the limit again.
    pub grant: String,
}

/// Takes what a person asks of a run. An error says why it is not taken.
pub trait RunDoor: Send + Sync {
    /// Records an answer as a request to the run.
    fn answer(
        &self,
        repository: &RepositoryState,
        reader: &Reader,
        gate: &GateRow,
        answer: &GivenAnswer,
    ) -> Result<(), String>;

    /// Ends a run: the process that drives it does, or a new one.
    fn cancel(&self, repository: &RepositoryState, run: &RunRow) -> Result<(), String>;

    /// Has a new process drive a run that none drives.
    fn resume(&self, repository: &RepositoryState, run: &RunRow) -> Result<(), String>;
}
