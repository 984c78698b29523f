//! The implicit signals, the same for every workflow, and the ways in which a dispatch can fail.

use crate::ids::SignalId;
use serde::{Deserialize, Serialize};

macro_rules! implicit_signals {
    ($($id:ident = $number:literal, $name:literal, $about:literal;)*) => {
        $(#[doc = $about] pub const $id: SignalId = SignalId($number);)*

        /// Every signal that no contract has to declare, with its meaning, in order of id.
        pub const IMPLICIT: &[(&str, &str)] = &[$(($name, $about)),*];
    };
}

implicit_signals! {
    NO_RESULT = 0, "no-result", "a dispatch gave no valid result, even after retries; the ruling names the failure";
    SPENT = 1, "spent", "the phase has used all its rounds";
    REPEATED = 2, "repeated", "a finding was reported again after it had been worked on";
    REVERSAL = 3, "reversal", "a change undoes the previous round's change";
    CIRCLE = 4, "circle", "changes, trees, test results or hypotheses repeat in a circle";
    OSCILLATION = 5, "oscillation", "a proposed approach was tried before and failed";
    SECURITY_BLOCKER = 6, "security-blocker", "a finding of category security and severity blocker, whatever the verdict";
    PLAN_FINDING = 7, "plan-finding", "the work is not accepted, and the earliest kind among the findings is plan";
    TEST_FINDING = 8, "test-finding", "the work is not accepted, and the earliest kind among the findings is test";
    PRODUCTION_FINDING = 9, "production-finding", "the work is not accepted, and the earliest kind among the findings is production";
    COSMETIC_FINDING = 10, "cosmetic-finding", "the work is not accepted, and all findings are cosmetic";
    COMPLETED = 11, "completed", "a task finished its sub-flow";
    GO_ON = 12, "go-on", "the answer to a hold that continues the run";
    STOP = 13, "stop", "the answer to a hold that ends the run";
    CANCEL = 14, "cancel", "a human cancelled the run";
    PAUSE = 15, "pause", "a human paused the run";
    RESUME = 16, "resume", "a human resumed a paused run";
    ROLL_BACK = 17, "roll-back", "a human rolled the run back to the start of a round";
    REMOVE_APPROACH = 18, "remove-approach", "a human removed an approach from the list of failed ones";
    REATTRIBUTE = 19, "reattribute", "a human corrected which phases injected a defect";
}

/// The signals that replace the rejecting verdicts of a role whose findings are routed by kind.
pub const KIND_FINDINGS: [SignalId; 4] = [PLAN_FINDING, TEST_FINDING, PRODUCTION_FINDING, COSMETIC_FINDING];

/// The detectors, in order of precedence.
pub const DETECTORS: [SignalId; 4] = [CIRCLE, REVERSAL, OSCILLATION, REPEATED];

/// Why a dispatch or an operation gave no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// The result violates its contract.
    Malformed,
    /// A temporary fault of the agent or its service.
    Transient,
    /// Authentication, rate limit, network, missing tool, full disk: not a defect in the work.
    Environment,
    /// The role exceeded its permissions; its changes were undone.
    Violation,
    Timeout,
    /// The process ended without reporting success.
    Crashed,
    /// A refusal that a retry cannot change: a missing file, a denied permission.
    Denied,
    /// A limit on money, tokens, time or dispatches was reached.
    OverBudget,
    Cancelled,
    /// Merging the work of parallel tasks failed.
    Conflict,
    /// The phase received findings, but neither changed nor disputed anything.
    Unchanged,
}

/// What the kernel does about a failure before it becomes the signal `no-result`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Dispatch again, within the retries of the phase.
    Retry,
    /// Dispatch again without charging a retry; after three failures in a row, hold and ask a human.
    BackOff,
    /// Ask a human whether to continue.
    Hold,
    /// No retry: the same dispatch would fail the same way.
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

    /// What the kernel does about this kind of failure.
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

    /// The name used in files and messages.
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
