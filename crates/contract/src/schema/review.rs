//! The result of reviewers: a verdict, its findings, and what was examined.

use super::header::CommonPayload;
use super::verification::ReportedJudgement;
use super::words::{NonBlankText, ReportedConfidence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An adversarial review of one scope from one perspective.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Review {
    /// `design` or `code`.
    #[serde(default)]
    pub scope: String,
    /// The perspective: security, architecture or correctness.
    #[serde(default)]
    pub focus: String,
    #[serde(default)]
    pub confidence: Option<ReportedConfidence>,
    /// The assessment, in one paragraph.
    #[schemars(extend("x-alias" = ["assessment"]))]
    pub summary: NonBlankText,
    /// What was examined.
    #[serde(default)]
    pub checked: Vec<String>,
    #[serde(flatten)]
    pub common: CommonPayload,
}

/// A review by any role except `reviewer`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct VerdictPayload {
    /// The assessment, in one paragraph.
    #[schemars(extend("x-alias" = ["assessment", "rationale"]))]
    pub summary: NonBlankText,
    #[serde(default)]
    pub confidence: Option<ReportedConfidence>,
    /// What was examined.
    #[serde(default)]
    pub checked: Vec<String>,
    /// Judgements of acceptance criteria, each with a location or an evidence row.
    #[serde(default)]
    pub criteria: Vec<ReportedJudgement>,
    #[serde(flatten)]
    pub common: CommonPayload,
}

/// Findings as the whole result.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FindingPayload {
    #[serde(flatten)]
    pub common: CommonPayload,
}
