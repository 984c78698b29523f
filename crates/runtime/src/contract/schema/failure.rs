//! Why a design does not work, stated by the one closest to the failure (DR-07).

use super::header::{Approach, Said};
use super::words::Text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The findings report. Nothing in it may be left out or empty.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FindingsReport {
    /// `YYYY-MM-DD`.
    #[schemars(regex(pattern = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"))]
    pub date: String,
    pub produced_by: Producer,
    pub trigger: Trigger,
    /// The number of the revision that this asks for. One beyond the cap is stated too, and refused at the gate.
    #[schemars(range(min = 1))]
    pub revision: u32,
    #[schemars(length(min = 1))]
    pub iterations: Vec<Iteration>,
    #[schemars(length(min = 1))]
    pub ruled_out: Vec<RuledOut>,
    pub category: FailureCategory,
    pub category_rationale: Text,
    pub root_cause: RootCause,
    pub workaround: Workaround,
    pub proposed_change: ProposedChange,
    pub oscillation: OscillationCheck,
    pub checklist: Checklist,
    #[serde(flatten)]
    pub said: Said,
}

/// Who states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("x-same" = {"implementation reviewer": "reviewer", "coder": "implementer"}))]
pub enum Producer {
    Implementer,
    QualityGate,
    Reviewer,
    Prototyper,
}

/// What led to it.
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

/// What kind of flaw it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FailureCategory {
    /// The core approach cannot meet the requirements.
    DesignFlaw,
    /// The design lacks a hook that the behaviour needs.
    MissingAbstraction,
    /// The design holds something to be true that contradicts a requirement.
    IncorrectInvariant,
    /// The approach cannot be fast enough.
    PerformanceCeiling,
    /// The design conflicts with an interface that is there already.
    IntegrationConflict,
}

/// One attempt.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Iteration {
    #[schemars(range(min = 1))]
    pub number: u32,
    pub hypothesis: Text,
    pub outcome: Text,
    #[schemars(length(min = 1))]
    pub files: Vec<Text>,
}

/// An approach that cannot work.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RuledOut {
    pub approach: Text,
    pub reason: Text,
}

/// Where the flaw is.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RootCause {
    /// The design section or decision id.
    #[schemars(extend("x-alias" = ["decision", "artifact"]))]
    pub section: Text,
    /// What the design assumed that is false.
    #[schemars(extend("x-alias" = ["flawed_assumption"]))]
    pub assumption: Text,
    /// Error messages, failing tests, a contradiction.
    pub evidence: Text,
}

/// Whether the implementation could have worked around it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Workaround {
    pub possible: bool,
    pub explanation: Text,
}

/// What should change in the design, and only that.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProposedChange {
    /// Which sections or decisions are affected.
    pub scope: Text,
    pub approach: Approach,
    /// Decisions and files that are still valid.
    #[schemars(length(min = 1))]
    pub preserve: Vec<Text>,
    /// What to do with each file that is there.
    #[schemars(length(min = 1), extend("x-alias" = ["warm_start_hints"]))]
    pub hints: Vec<Hint>,
}

/// A hint for the next implementation.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Hint {
    pub file: Text,
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

/// Both questions, answered.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OscillationCheck {
    /// Was the proposed approach tried before?
    pub tried_before: Answered,
    /// May the work swing back to the approach that failed?
    pub may_swing_back: Answered,
}

/// A yes or no with its reason.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Answered {
    pub answer: bool,
    pub explanation: Text,
}

/// What the human at the gate will check; a sentence for each.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Checklist {
    /// Why the work was stuck, not lacking effort.
    pub root_cause_credible: Text,
    /// Why the change is a delta, not a redesign.
    pub change_scoped: Text,
    /// That both oscillation questions are answered, and how.
    pub oscillation_checked: Text,
    /// Which revision of 2 this is.
    pub revision_within_cap: Text,
    /// Whether a prototype is worth it after the revision.
    pub prototype_advice: Text,
}
