//! Why a design does not work, reported by the role closest to the failure.

use super::header::{CommonPayload, StatedApproach};
use super::words::NonBlankText;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The findings report. Every field is required and must not be empty.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FindingsReport {
    /// `YYYY-MM-DD`.
    #[schemars(regex(pattern = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"))]
    pub date: String,
    pub produced_by: Producer,
    pub trigger: Trigger,
    /// The number of the requested revision. State it even if it exceeds the cap; the gate decides.
    #[schemars(range(min = 1))]
    pub revision: u32,
    /// Your words about attempts in the iteration log. The engine adds the attempts that you leave out.
    #[schemars(length(min = 1))]
    pub iterations: Vec<Iteration>,
    #[schemars(length(min = 1))]
    pub ruled_out: Vec<RuledOut>,
    pub category: FailureCategory,
    pub category_rationale: NonBlankText,
    pub root_cause: RootCause,
    pub workaround: Workaround,
    pub proposed_change: ProposedChange,
    pub oscillation: OscillationCheck,
    pub checklist: Checklist,
    #[serde(flatten)]
    pub common: CommonPayload,
}

/// Who reports the failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("x-same" = {"implementation reviewer": "reviewer", "coder": "implementer"}))]
pub enum Producer {
    Implementer,
    QualityGate,
    Reviewer,
    Prototyper,
}

/// What led to the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("x-same" = {"circle detection": "circle", "3rd quality gate failure": "quality-gate-failed",
    "3rd changes requested": "changes-requested"}))]
pub enum Trigger {
    Circle,
    QualityGateFailed,
    ChangesRequested,
    NegativePrototype,
}

/// The kind of flaw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FailureCategory {
    /// The core approach cannot meet the requirements.
    DesignFlaw,
    /// The design lacks an abstraction that the behaviour needs.
    MissingAbstraction,
    /// The design assumes something that contradicts a requirement.
    IncorrectInvariant,
    /// The approach cannot be fast enough.
    PerformanceCeiling,
    /// The design conflicts with an existing interface.
    IntegrationConflict,
}

/// One attempt.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Iteration {
    /// The number of the attempt in the iteration log.
    #[schemars(range(min = 1))]
    pub number: u32,
    pub hypothesis: NonBlankText,
    pub outcome: NonBlankText,
    #[schemars(length(min = 1))]
    pub files: Vec<NonBlankText>,
}

/// An approach that cannot work.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RuledOut {
    pub approach: NonBlankText,
    pub reason: NonBlankText,
}

/// The location of the flaw, and its evidence.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RootCause {
    /// The design section or decision id.
    #[schemars(extend("x-alias" = ["decision", "artifact"]))]
    pub section: NonBlankText,
    /// What the design assumed that is false.
    #[schemars(extend("x-alias" = ["flawed_assumption"]))]
    pub assumption: NonBlankText,
    /// Error messages, failing tests, or a contradiction.
    pub evidence: NonBlankText,
}

/// Whether the implementation could have worked around the flaw.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Workaround {
    pub possible: bool,
    pub explanation: NonBlankText,
}

/// The change to the design, limited to what the flaw requires.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProposedChange {
    /// The affected sections or decisions.
    pub scope: NonBlankText,
    pub approach: StatedApproach,
    /// Decisions and files that are still valid.
    #[schemars(length(min = 1))]
    pub preserve: Vec<NonBlankText>,
    /// What to do with each existing file.
    #[schemars(length(min = 1), extend("x-alias" = ["warm_start_hints"]))]
    pub hints: Vec<Hint>,
}

/// A hint for the next implementation.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Hint {
    pub file: NonBlankText,
    pub action: HintAction,
    #[serde(default)]
    pub note: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HintAction {
    Keep,
    Modify,
    Discard,
}

/// The answers to both questions about oscillation.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OscillationCheck {
    /// Has the proposed approach been tried before?
    pub tried_before: AnsweredQuestion,
    /// Could the work swing back to an approach that failed?
    pub may_swing_back: AnsweredQuestion,
}

/// A yes or no, with the reason.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Answered")]
pub struct AnsweredQuestion {
    pub answer: bool,
    pub explanation: NonBlankText,
}

/// What the human at the gate will check, one sentence each. The engine adds the number of the revision.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Checklist {
    /// Why the work was really stuck, and more effort would not have helped.
    pub root_cause_credible: NonBlankText,
    /// Why the change is a delta and not a redesign.
    pub change_scoped: NonBlankText,
    /// How both questions about oscillation are answered.
    pub oscillation_checked: NonBlankText,
    /// Whether a prototype is worthwhile after the revision.
    pub prototype_advice: NonBlankText,
}
