//! Decision records in designs and plans.

use super::words::{NonBlankText, ReportedConfidence, ReportedRisk};
use remand_ledger::fact;
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

impl From<&DecisionRecord> for fact::Decision {
    fn from(it: &DecisionRecord) -> fact::Decision {
        let label = |alternative: &Alternative| alternative.label.0.clone();
        let (selected, rejected): (Vec<_>, Vec<_>) =
            it.alternatives.iter().partition(|alternative| alternative.id.0 == it.selected.0);
        fact::Decision {
            id: it.id.clone(),
            title: it.title.0.clone(),
            context: it.context.0.clone(),
            selected: selected.first().map_or_else(|| it.selected.0.clone(), |it| label(it)),
            rejected: rejected.into_iter().map(label).collect(),
            rationale: it.rationale.0.clone(),
            confidence: Some(it.confidence.into()),
            risk: Some(it.risk.into()),
            decided_by: it.decided_by.0.clone(),
        }
    }
}
