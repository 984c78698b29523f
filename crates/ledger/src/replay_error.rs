//! Why a run cannot be replayed.

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

/// Why a replay failed, before the path of the ledger is added.
#[derive(Debug)]
pub(crate) enum Failed {
    Mismatch { run: RunId, seq: i64, recorded: String, now: String },
    Refused { run: RunId, seq: i64, refusal: Refusal },
    NoProgram { run: RunId, detail: String },
    Fault(Fault),
}

impl Failed {
    pub(crate) fn at(self, path: &Path) -> ReplayError {
        let number = |seq: i64| u64::try_from(seq).unwrap_or(0);
        match self {
            Failed::Mismatch { run, seq, recorded, now } => {
                ReplayError::Mismatch { run, seq: number(seq), recorded, now }
            }
            Failed::Refused { run, seq, refusal } => {
                ReplayError::Refused { run, seq: number(seq), source: refusal }
            }
            Failed::NoProgram { run, detail } => ReplayError::NoProgram { run, detail },
            Failed::Fault(fault) => ReplayError::Ledger(LedgerError::from_fault(path, fault)),
        }
    }
}

impl Failed {
    /// For callers that skip runs that cannot be replayed, so only faults remain.
    pub(crate) fn into_fault(self) -> Fault {
        match self {
            Failed::Fault(fault) => fault,
            Failed::Mismatch { run, .. } | Failed::Refused { run, .. } | Failed::NoProgram { run, .. } => {
                let detail = "its journal cannot be replayed".to_string();
                Fault::Decode { what: format!("run {run}"), detail }
            }
        }
    }
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Failed {
        Failed::Fault(fault)
    }
}

impl From<rusqlite::Error> for Failed {
    fn from(error: rusqlite::Error) -> Failed {
        Failed::Fault(Fault::Sqlite(error))
    }
}
