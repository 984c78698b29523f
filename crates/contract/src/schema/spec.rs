//! The result of the spec role: requirements and acceptance criteria, each with an id.

use super::header::CommonPayload;
use super::words::{NonBlankText, ReportedSeverity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requirements and acceptance criteria.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Spec {
    pub title: NonBlankText,
    pub summary: NonBlankText,
    #[schemars(length(min = 1))]
    pub requirements: Vec<Requirement>,
    #[schemars(length(min = 1))]
    pub acceptance_criteria: Vec<CriterionRecord>,
    #[serde(default)]
    pub out_of_scope: Vec<String>,
    #[serde(default)]
    pub assumptions: Vec<String>,
    /// Objections to the request as it is written.
    #[serde(default)]
    pub concerns: Vec<Concern>,
    #[serde(flatten)]
    pub common: CommonPayload,
}

/// One requirement.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Requirement {
    pub id: NonBlankText,
    pub title: NonBlankText,
    #[serde(default)]
    pub description: String,
    /// `must`, `should` or `may`.
    #[serde(default)]
    pub priority: String,
}

/// One acceptance criterion.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Criterion")]
pub struct CriterionRecord {
    pub id: NonBlankText,
    /// The behaviour that must be observable.
    #[schemars(extend("x-alias" = ["description", "criterion"]))]
    pub text: NonBlankText,
    /// The requirements that the criterion covers.
    #[serde(default)]
    pub covers: Vec<String>,
    /// How the criterion is tested.
    #[serde(default)]
    pub test: String,
}

/// One concern about the request.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Concern {
    #[serde(default)]
    pub id: String,
    #[schemars(extend("x-alias" = ["description", "concern", "claim"]))]
    pub text: NonBlankText,
    #[serde(default)]
    pub severity: Option<ReportedSeverity>,
    /// What to do instead.
    #[serde(default)]
    pub suggestion: String,
}
