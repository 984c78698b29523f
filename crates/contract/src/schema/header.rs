//! The parts that all results share: the header, the completion, and the fields that any payload may have.

use super::finding::ReportedFinding;
use super::words::{CompletionStatus, NonBlankText, ReportedRisk, ReportedSeverity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One result.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Document<P> {
    /// The role.
    #[serde(default)]
    pub agent: String,
    /// Distinguishes parallel dispatches of the role.
    #[serde(default)]
    pub instance: String,
    /// The phase.
    #[serde(default)]
    pub step: String,
    /// Filled in by the engine.
    #[serde(default)]
    pub started_at: Option<String>,
    #[serde(default)]
    pub completed_at: Option<String>,
    pub schema_version: NonBlankText,
    pub completion: Completion,
    pub payload: P,
}

/// How the dispatch ended. All roles use the same fields.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Completion {
    pub status: CompletionStatus,
    /// One line, at most 200 characters.
    #[schemars(length(max = 200), regex(pattern = r"^[^\n]*\S[^\n]*$"))]
    pub summary: String,
    /// The highest severity among the findings.
    #[serde(default)]
    pub severity: Option<ReportedSeverity>,
    /// The number of entries in `payload.findings`.
    pub findings_count: u32,
    #[serde(default)]
    pub risk_level: Option<ReportedRisk>,
    /// The files that you wrote, relative to the work tree.
    #[serde(default)]
    pub output_paths: Vec<String>,
    #[serde(default)]
    pub evidence_summary: Option<EvidenceSummary>,
}

/// What a role claims about checks. A claim is not evidence.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EvidenceSummary {
    #[serde(default)]
    pub total_checks: u32,
    #[serde(default)]
    pub passed: u32,
    #[serde(default)]
    pub failed: u32,
    #[serde(default)]
    pub security_blockers: u32,
}

/// Fields that any payload may have.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Said")]
pub struct CommonPayload {
    /// The verdict. It decides what happens next.
    #[serde(default)]
    pub verdict: Option<String>,
    #[serde(default)]
    pub findings: Vec<ReportedFinding>,
    #[serde(default)]
    pub flags: BTreeMap<String, bool>,
}

/// A payload with nothing but the common fields.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Bare")]
pub struct BarePayload {
    #[serde(flatten)]
    pub common: CommonPayload,
}

/// The core idea of a design.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Approach")]
pub struct StatedApproach {
    /// Two or three sentences: what the design does, and what it relies on.
    pub text: NonBlankText,
    /// The ids of the decisions that the approach is based on.
    #[serde(default)]
    pub decisions: Vec<String>,
}

impl From<StatedApproach> for remand_kernel::change::Approach {
    fn from(it: StatedApproach) -> remand_kernel::change::Approach {
        remand_kernel::change::Approach { text: it.text.0, decisions: it.decisions }
    }
}
