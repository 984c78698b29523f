//! How a run ends.

use crate::ids::{BudgetId, PhaseId, SignalId};
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    Done,
    /// No route of the phase could be followed for the signal; `exhausted` is the empty budget, if one was the reason.
    Failed {
        phase: PhaseId,
        signal: SignalId,
        exhausted: Option<BudgetId>,
    },
    Stopped {
        why: String,
    },
    Cancelled {
        by: String,
    },
}
