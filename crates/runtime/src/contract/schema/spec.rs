//! What the spec role returns: requirements and acceptance criteria, each with an id.

use super::header::Said;
use super::words::{Severity, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Spec {
    pub title: Text,
    pub summary: Text,
    #[schemars(length(min = 1))]
    pub requirements: Vec<Requirement>,
    #[schemars(length(min = 1))]
    pub acceptance_criteria: Vec<Criterion>,
    #[serde(default)]
    pub out_of_scope: Vec<String>,
    #[serde(default)]
    pub assumptions: Vec<String>,
    /// What speaks against the request as it stands.
    #[serde(default)]
    pub concerns: Vec<Concern>,
    #[serde(flatten)]
    pub said: Said,
}

/// One requirement.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Requirement {
    pub id: Text,
    pub title: Text,
    #[serde(default)]
    pub description: String,
    /// `must`, `should` or `may`.
    #[serde(default)]
    pub priority: String,
}

/// One acceptance criterion.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Criterion {
    pub id: Text,
    /// What must be observable.
    #[schemars(extend("x-alias" = ["description", "criterion"]))]
    pub text: Text,
    /// The requirements that it covers.
    #[serde(default)]
    pub covers: Vec<String>,
    /// How it is tested.
    #[serde(default)]
    pub test: String,
}

/// One concern about the request.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Concern {
    #[serde(default)]
    pub id: String,
    #[schemars(extend("x-alias" = ["description", "concern", "claim"]))]
    pub text: Text,
    #[serde(default)]
    pub severity: Option<Severity>,
    /// What to do instead.
    #[serde(default)]
    pub suggestion: String,
}
