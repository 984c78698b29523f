//! Decision records in designs and plans.

use super::words::{NonBlankText, ReportedConfidence, ReportedRisk};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One decision.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Decision")]
pub struct DecisionRecord {
    /// `D-1`, `D-2`, ...
    #[schemars(regex(pattern = r"^D-[0-9]+$"))]
    pub id: String,
    pub title: NonBlankText,
    /// Why a decision was needed.
    pub context: NonBlankText,
    #[schemars(length(min = 1))]
    pub alternatives: Vec<Alternative>,
    /// The id of the chosen alternative.
    #[schemars(extend("x-alias" = ["choice", "chosen"]))]
    pub selected: NonBlankText,
    pub rationale: NonBlankText,
    pub confidence: ReportedConfidence,
    #[serde(default)]
    pub confidence_definition: String,
    #[schemars(extend("x-alias" = ["risk_classification", "risk_level"]))]
    pub risk: ReportedRisk,
    #[serde(default)]
    pub date: Option<String>,
    pub decided_by: NonBlankText,
}

/// One option that was considered.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Alternative {
    pub id: NonBlankText,
    pub label: NonBlankText,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub pros: Vec<String>,
    #[serde(default)]
    pub cons: Vec<String>,
}
