//! What reviewers return: a verdict, its findings, and what was looked at.

use super::header::Said;
use super::verification::Judgement;
use super::words::{Confidence, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An adversarial review of one scope from one side.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Review {
    /// `design` or `code`.
    #[serde(default)]
    pub scope: String,
    /// The side: security, architecture, correctness.
    #[serde(default)]
    pub focus: String,
    #[serde(default)]
    pub confidence: Option<Confidence>,
    /// The assessment, in one paragraph.
    #[schemars(extend("x-alias" = ["assessment"]))]
    pub summary: Text,
    /// What was looked at.
    #[serde(default)]
    pub checked: Vec<String>,
    #[serde(flatten)]
    pub said: Said,
}

/// The verdict of any other reviewer.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct VerdictPayload {
    /// The assessment, in one paragraph.
    #[schemars(extend("x-alias" = ["assessment", "rationale"]))]
    pub summary: Text,
    #[serde(default)]
    pub confidence: Option<Confidence>,
    /// What was looked at.
    #[serde(default)]
    pub checked: Vec<String>,
    /// Acceptance criteria that were judged, each with a place or a row.
    #[serde(default)]
    pub criteria: Vec<Judgement>,
    #[serde(flatten)]
    pub said: Said,
}

/// One finding as a result of its own.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FindingPayload {
    #[serde(flatten)]
    pub said: Said,
}
