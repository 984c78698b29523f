//! The errors of replaying a run.

use crate::error::{Fault, LedgerError};
use crate::fact::RunId;
use remand_kernel::Refusal;
use std::path::Path;

/// Why a run cannot be replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    #[error("event {seq} of run {run} was ruled `{recorded}`, but this version rules `{now}`")]
    Mismatch { run: RunId, seq: u64, recorded: String, now: String },
    #[error("this version refuses event {seq} of run {run}")]
    Refused { run: RunId, seq: u64, source: Refusal },
    #[error("the program of run {run} cannot be read: {detail}")]
    NoProgram { run: RunId, detail: String },
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl ReplayError {
    /// What to do about it, in one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            ReplayError::Mismatch { .. } | ReplayError::Refused { .. } => {
                "check the ledger with `remand audit`; if it is sound, continue with the version that opened the run"
            }
            ReplayError::NoProgram { .. } => "check the ledger with `remand audit`",
            ReplayError::Ledger(error) => error.hint(),
        }
    }
}

/// Why a replay failed. The path of the ledger is not added yet.
#[derive(Debug)]
pub(crate) enum ReplayFailure {
    Mismatch { run: RunId, seq: i64, recorded: String, now: String },
    Refused { run: RunId, seq: i64, refusal: Refusal },
    NoProgram { run: RunId, detail: String },
    Fault(Fault),
}

impl ReplayFailure {
    /// Adds the path of the ledger.
    pub(crate) fn at_path(self, path: &Path) -> ReplayError {
        let number = |seq: i64| u64::try_from(seq).unwrap_or(0);
        match self {
            ReplayFailure::Mismatch { run, seq, recorded, now } => {
                ReplayError::Mismatch { run, seq: number(seq), recorded, now }
            }
            ReplayFailure::Refused { run, seq, refusal } => {
                ReplayError::Refused { run, seq: number(seq), source: refusal }
            }
            ReplayFailure::NoProgram { run, detail } => ReplayError::NoProgram { run, detail },
            ReplayFailure::Fault(fault) => ReplayError::Ledger(LedgerError::from_fault(path, fault)),
        }
    }
}

impl ReplayFailure {
    /// Converts to a fault, for callers that skip runs that cannot be replayed.
    pub(crate) fn into_fault(self) -> Fault {
        match self {
            ReplayFailure::Fault(fault) => fault,
            ReplayFailure::Mismatch { run, .. }
            | ReplayFailure::Refused { run, .. }
            | ReplayFailure::NoProgram { run, .. } => {
                let detail = "its journal cannot be replayed".to_string();
                Fault::Decode { what: format!("run {run}"), detail }
            }
        }
    }
}

impl From<Fault> for ReplayFailure {
    fn from(fault: Fault) -> ReplayFailure {
        ReplayFailure::Fault(fault)
    }
}

impl From<rusqlite::Error> for ReplayFailure {
    fn from(error: rusqlite::Error) -> ReplayFailure {
        ReplayFailure::Fault(Fault::Sqlite(error))
    }
}
