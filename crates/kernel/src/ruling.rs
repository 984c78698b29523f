//! What the kernel decided and why: one ruling for each signal, complete enough to be read alone (CORE-03).

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
    pub verdict: Verdict,
    /// Budgets found empty before the route that is followed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exhausted: Vec<BudgetId>,
    /// Budgets that paid.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub charges: Vec<Charge>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    /// After the ruling.
    pub confidence: Confidence,
    pub why: Why,
}

/// Which part of the law decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// A route of the workflow, at this line.
    Route { line: u32 },
    /// Retries of a dispatch.
    Retry,
    /// Nothing that the phase read has changed.
    Stands,
    /// The recorded default of a question in autonomous mode.
    Default,
    /// The kernel holds: environment, limits.
    Hold,
    /// A human's act outside the workflow.
    Human,
}

/// What was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// A route was followed; `target` is where it led, if to a phase.
    Follow {
        action: Action,
        target: Option<PhaseId>,
    },
    /// The same seat is dispatched again.
    Again {
        failure: Failure,
        attempt: u16,
    },
    /// A human is asked whether to go on.
    Hold,
    /// The run goes on after a hold or a pause.
    GoOn,
    Pause,
    Cancel,
    /// Artifacts went back to the start of this round.
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

/// The evidence that a ruling rests on.
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
    /// A detector, in its own sentence.
    Detected {
        sentence: String,
    },
    /// A security blocker, by the id of the finding.
    SecurityBlocker {
        finding: String,
    },
    Failed {
        failure: Failure,
        detail: String,
    },
    /// Sent to the earliest phase that findings name; `assumed` when none named one.
    Injected {
        phases: Vec<PhaseId>,
        assumed: bool,
    },
    /// Too few members came back.
    BelowQuorum {
        have: u16,
        need: u16,
    },
    /// The phase's inputs are what they were at its last result.
    SameInputs,
    /// The default of the question.
    Autonomous,
    /// A limit of the run, by name.
    Limit {
        limit: String,
    },
    /// A human, with what was said.
    Human {
        by: String,
        note: String,
    },
    /// Supposed by a walk, a simulation or a proof.
    Supposed,
}
