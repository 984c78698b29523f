//! What the kernel decided and why: one ruling per signal, complete enough to be read alone.

use crate::ids::{ArtifactId, BudgetId, Lane, PhaseId, SignalId};
use crate::program::{Action, Confidence, Effect};
use crate::signal::Failure;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// One decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    pub phase: PhaseId,
    pub lane: Lane,
    pub signal: SignalId,
    pub rule: Rule,
    pub verdict: Disposition,
    /// Budgets that were empty, so another route was followed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exhausted: Vec<BudgetId>,
    /// Budgets that the route spent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub charges: Vec<Charge>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    /// The confidence after the ruling.
    pub confidence: Confidence,
    pub why: Why,
}

impl Ruling {
    /// Whether two rulings decide the same for the same reason. The sentences that explain a reason may differ, because
    /// another version may have written them.
    pub fn agrees_with(&self, other: &Ruling) -> bool {
        let why = match (&self.why, &other.why) {
            (Why::Detected { .. }, Why::Detected { .. }) => true,
            (Why::Failed { failure: mine, .. }, Why::Failed { failure: theirs, .. }) => mine == theirs,
            (
                Why::BelowQuorum { have, need, .. },
                Why::BelowQuorum { have: their_have, need: their_need, .. },
            ) => (have, need) == (their_have, their_need),
            (mine, theirs) => mine == theirs,
        };
        why && *self == Ruling { why: self.why.clone(), ..other.clone() }
    }
}

/// Which rule decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The workflow's route at this line.
    Route { line: u32 },
    /// The retries of a dispatch.
    Retry,
    /// Nothing that the phase read has changed.
    Stands,
    /// The default answer of a question in autonomous mode.
    Default,
    /// A hold by the kernel: environment failures, limits.
    Hold,
    /// A human's action outside the workflow.
    Human,
}

/// What was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Disposition {
    /// A route was followed; `target` is the phase that it led to, if any.
    Follow {
        action: Action,
        target: Option<PhaseId>,
    },
    /// The same seat is dispatched again.
    Again {
        failure: Failure,
        attempt: u16,
    },
    /// A human is asked whether to continue.
    Hold,
    /// The run continues after a hold or a pause.
    GoOn,
    /// The failed seats of a phase are issued again, after the run had ended.
    Retry,
    Pause,
    Cancel,
    /// Artifacts were restored to the start of this round.
    RollBack {
        round: u16,
        artifacts: Vec<ArtifactId>,
    },
    RemoveApproach {
        at: u16,
    },
    /// The phases that a finding names as its origin, before and after.
    Reattribute {
        finding: String,
        from: Vec<String>,
        to: Vec<String>,
    },
}

/// A budget before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    pub budget: BudgetId,
    pub before: u16,
    pub after: u16,
}

/// A member of a phase that gave no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedMember {
    /// The number of members of the phase.
    pub of: u16,
    pub failure: Failure,
    pub detail: String,
}

/// The reason for a ruling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The verdict, result or answer itself.
    Said,
    /// The rejecting verdict had only minor findings; they are follow-ups.
    OnlyMinor {
        verdict: SignalId,
    },
    /// The earliest kind among the findings; `assumed` when none named one.
    ByKind {
        verdict: SignalId,
        assumed: bool,
    },
    /// Members' signals, in order of seats.
    Tally {
        members: Vec<Option<SignalId>>,
    },
    /// A detector fired; the sentence explains why.
    Detected {
        sentence: String,
    },
    /// A security blocker, with the id of the finding.
    SecurityBlocker {
        finding: String,
    },
    Failed {
        failure: Failure,
        detail: String,
    },
    /// The work goes to the earliest phase that the findings name as origin; `assumed` when none named one.
    Injected {
        phases: Vec<PhaseId>,
        assumed: bool,
    },
    /// Too few members gave a result.
    BelowQuorum {
        have: u16,
        need: u16,
        /// The first member that failed. Old journals do not record it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failed: Option<FailedMember>,
    },
    /// The phase's inputs have not changed since its last result.
    SameInputs,
    /// The default answer, taken in autonomous mode.
    Autonomous,
    /// A limit of the run was reached.
    Limit {
        limit: String,
    },
    /// A human, with a note.
    Human {
        by: String,
        note: String,
    },
    /// Assumed by a walk, a simulation or a proof.
    Supposed,
}
