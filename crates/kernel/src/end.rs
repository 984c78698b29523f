//! How a run ends.

use crate::ids::{BudgetId, PhaseId, SignalId};
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    Done,
    /// The signal had no way forward at the phase; `exhausted` is the empty budget, if one was the reason.
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
