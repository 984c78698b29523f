//! The result of a diagnosis: one cause, with notes for the next attempt.

use super::finding::ReportedPlace;
use super::header::CommonPayload;
use super::words::{NonBlankText, ReportedConfidence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One cause, with notes for the next attempt.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Diagnosis {
    /// What prevents the work from being finished.
    pub cause: NonBlankText,
    /// What shows that this is the cause.
    pub evidence: NonBlankText,
    /// What the next attempt should do differently.
    pub notes: NonBlankText,
    #[serde(default)]
    pub places: Vec<ReportedPlace>,
    #[serde(default)]
    pub confidence: Option<ReportedConfidence>,
    #[serde(flatten)]
    pub common: CommonPayload,
}
