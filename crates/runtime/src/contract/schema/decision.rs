//! Decision records, in designs and plans (EP-34).

use super::words::{Confidence, Risk, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One decision.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    /// `D-1`, `D-2`, ...
    #[schemars(regex(pattern = r"^D-[0-9]+$"))]
    pub id: String,
    pub title: Text,
    /// What prompted it.
    pub context: Text,
    #[schemars(length(min = 1))]
    pub alternatives: Vec<Alternative>,
    /// The id of the alternative that was chosen.
    #[schemars(extend("x-alias" = ["choice", "chosen"]))]
    pub selected: Text,
    pub rationale: Text,
    pub confidence: Confidence,
    #[serde(default)]
    pub confidence_definition: String,
    #[schemars(extend("x-alias" = ["risk_classification", "risk_level"]))]
    pub risk: Risk,
    #[serde(default)]
    pub date: Option<String>,
    pub decided_by: Text,
}

/// One way that was weighed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Alternative {
    pub id: Text,
    pub label: Text,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub pros: Vec<String>,
    #[serde(default)]
    pub cons: Vec<String>,
}
