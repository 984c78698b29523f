//! The result of the knowledge role: decisions, lessons, and proposals that a human must approve.

use super::header::CommonPayload;
use super::words::NonBlankText;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Decisions and lessons for later runs.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Knowledge {
    pub summary: NonBlankText,
    /// Decisions for the decisions log.
    #[serde(default)]
    pub decisions: Vec<DecisionEntry>,
    /// Lessons for later runs on this repository.
    #[serde(default)]
    pub lessons: Vec<Lesson>,
    /// Changes to instruction files, for a human to approve.
    #[serde(default)]
    pub proposals: Vec<InstructionProposal>,
    #[serde(flatten)]
    pub common: CommonPayload,
}

/// One line of the decisions log.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DecisionEntry {
    #[serde(default)]
    pub id: String,
    #[schemars(extend("x-alias" = ["title", "decision"]))]
    pub text: NonBlankText,
    #[serde(default)]
    pub rationale: String,
    #[serde(default)]
    pub files: Vec<String>,
}

/// Something that a later run should know.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Lesson {
    #[schemars(extend("x-alias" = ["lesson", "description"]))]
    pub text: NonBlankText,
    /// What the lesson is based on.
    #[serde(default)]
    pub evidence: String,
    #[serde(default)]
    pub files: Vec<String>,
}

/// A change to an instruction file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct InstructionProposal {
    pub file: NonBlankText,
    pub reason: NonBlankText,
    /// The text to add, or a unified diff.
    pub change: NonBlankText,
}
