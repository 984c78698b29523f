//! The implicit signals: one list, everywhere the same (CORE-24).

use crate::ids::SignalId;
use serde::{Deserialize, Serialize};

macro_rules! implicit_signals {
    ($($id:ident = $number:literal, $name:literal, $about:literal;)*) => {
        $(#[doc = $about] pub const $id: SignalId = SignalId($number);)*

        /// Every signal that no contract has to name, with its meaning, in the order of their ids.
        pub const IMPLICIT: &[(&str, &str)] = &[$(($name, $about)),*];
    };
}

implicit_signals! {
    NO_RESULT = 0, "no-result", "a dispatch brought no valid result, after its retries; the ruling names the failure";
    SPENT = 1, "spent", "the rounds of the phase are used up";
    REPEATED = 2, "repeated", "the same finding was reported again after work addressed to it";
    REVERSAL = 3, "reversal", "a change undoes the change of the round before";
    CIRCLE = 4, "circle", "changes, trees, test results or hypotheses go round in a circle";
    OSCILLATION = 5, "oscillation", "a proposed approach was tried before and failed";
    SECURITY_BLOCKER = 6, "security-blocker", "a finding of category security and severity blocker, whatever the verdict";
    PLAN_FINDING = 7, "plan-finding", "not accepted, and the earliest kind among the findings is plan";
    TEST_FINDING = 8, "test-finding", "not accepted, and the earliest kind among the findings is test";
    PRODUCTION_FINDING = 9, "production-finding", "not accepted, and the earliest kind among the findings is production";
    COSMETIC_FINDING = 10, "cosmetic-finding", "not accepted, and all findings are cosmetic";
    COMPLETED = 11, "completed", "a task went through its sub-flow to the end";
    GO_ON = 12, "go-on", "the answer that ends a hold";
    STOP = 13, "stop", "the answer to a hold that ends the run";
    CANCEL = 14, "cancel", "a human cancelled the run";
    PAUSE = 15, "pause", "a human paused the run";
    RESUME = 16, "resume", "a human let a paused run go on";
    ROLL_BACK = 17, "roll-back", "a human took the run back to the start of a round";
    REMOVE_APPROACH = 18, "remove-approach", "a human took an approach off the list of those that failed";
    REATTRIBUTE = 19, "reattribute", "a human said which phases injected a defect";
}

/// The signals that a role sorting its findings by kind gives instead of its rejecting verdicts.
pub const KIND_FINDINGS: [SignalId; 4] = [PLAN_FINDING, TEST_FINDING, PRODUCTION_FINDING, COSMETIC_FINDING];

/// The detectors, in order of precedence.
pub const DETECTORS: [SignalId; 4] = [CIRCLE, REVERSAL, OSCILLATION, REPEATED];

/// Why a dispatch or an operation brought no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// The result does not obey its contract.
    Malformed,
    /// A passing fault of the agent or its service.
    Transient,
    /// Authentication, rate limit, network, missing tool, full disk: nobody's defect.
    Environment,
    /// The role stepped outside its permissions; its changes were undone.
    Violation,
    Timeout,
    /// The process ended without a positive end.
    Crashed,
    /// Refused for good: a missing file, a denied permission.
    Denied,
    /// A limit on money, tokens, time or dispatches was reached.
    OverBudget,
    Cancelled,
    /// Merging the work of parallel tasks failed.
    Conflict,
    /// The phase was sent findings, changed nothing and disputed nothing.
    Unchanged,
}

/// What the kernel does about a failure before it becomes the signal `no-result`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Dispatch again, within the retries of the phase.
    Retry,
    /// Dispatch again without a charge; after three in a row hold and ask a human.
    BackOff,
    /// Ask a human whether to go on.
    Hold,
    /// Deterministic: the same dispatch would fail the same way.
    GiveUp,
}

impl Failure {
    /// All failures, in the order in which they are documented.
    pub const ALL: [Failure; 11] = [
        Failure::Malformed,
        Failure::Transient,
        Failure::Environment,
        Failure::Violation,
        Failure::Timeout,
        Failure::Crashed,
        Failure::Denied,
        Failure::OverBudget,
        Failure::Cancelled,
        Failure::Conflict,
        Failure::Unchanged,
    ];

    /// The remedy for this kind of failure (EP-25, CORE-10).
    pub fn remedy(self) -> Remedy {
        match self {
            Failure::Malformed
            | Failure::Transient
            | Failure::Violation
            | Failure::Timeout
            | Failure::Crashed
            | Failure::Conflict
            | Failure::Unchanged => Remedy::Retry,
            Failure::Environment => Remedy::BackOff,
            Failure::OverBudget => Remedy::Hold,
            Failure::Denied | Failure::Cancelled => Remedy::GiveUp,
        }
    }

    /// The name as it is written in files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Failure::Malformed => "malformed",
            Failure::Transient => "transient",
            Failure::Environment => "environment",
            Failure::Violation => "violation",
            Failure::Timeout => "timeout",
            Failure::Crashed => "crashed",
            Failure::Denied => "denied",
            Failure::OverBudget => "over-budget",
            Failure::Cancelled => "cancelled",
            Failure::Conflict => "conflict",
            Failure::Unchanged => "unchanged",
        }
    }
}
