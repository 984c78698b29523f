//! What every result has in common: the header, the completion, and what any payload may say (EP-05).

use super::finding::Finding;
use super::words::{Risk, Severity, Status, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One result.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Document<P> {
    /// The role.
    #[serde(default)]
    pub agent: String,
    /// Which of several dispatches of the role this is.
    #[serde(default)]
    pub instance: String,
    /// The phase.
    #[serde(default)]
    pub step: String,
    /// The engine fills the times.
    #[serde(default)]
    pub started_at: Option<String>,
    #[serde(default)]
    pub completed_at: Option<String>,
    pub schema_version: Text,
    pub completion: Completion,
    pub payload: P,
}

/// How the dispatch ended, in the same words for every role.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Completion {
    pub status: Status,
    /// One line, at most 200 characters.
    #[schemars(length(max = 200), regex(pattern = r"^[^\n]*\S[^\n]*$"))]
    pub summary: String,
    /// The highest severity among the findings.
    #[serde(default)]
    pub severity: Option<Severity>,
    /// As many as `payload.findings` lists.
    pub findings_count: u32,
    #[serde(default)]
    pub risk_level: Option<Risk>,
    /// Files written, relative to the work tree.
    #[serde(default)]
    pub output_paths: Vec<String>,
    #[serde(default)]
    pub evidence_summary: Option<EvidenceSummary>,
}

/// What a role says of checks; a claim, never evidence.
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

/// What any payload may say.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Said {
    /// The verdict that decides where the work goes.
    #[serde(default)]
    pub verdict: Option<String>,
    #[serde(default)]
    pub findings: Vec<Finding>,
    #[serde(default)]
    pub flags: BTreeMap<String, bool>,
}

/// A payload of which only what all have in common is asked.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Bare {
    #[serde(flatten)]
    pub said: Said,
}

/// What a design does in its core.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Approach {
    /// Two or three sentences: what it does, and what it rests on.
    pub text: Text,
    /// The ids of its decisions.
    #[serde(default)]
    pub decisions: Vec<String>,
}

impl From<Approach> for remand_kernel::change::Approach {
    fn from(it: Approach) -> remand_kernel::change::Approach {
        remand_kernel::change::Approach { text: it.text.0, decisions: it.decisions }
    }
}
