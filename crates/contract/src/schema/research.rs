//! The result of a researcher.

use super::finding::ReportedPlace;
use super::header::CommonPayload;
use super::words::NonBlankText;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Observations about the repository from one perspective.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Research {
    /// The perspective of the research.
    pub focus: NonBlankText,
    pub summary: NonBlankText,
    /// What was observed, and where.
    #[schemars(length(min = 1))]
    pub observations: Vec<Observation>,
    /// What the research could not answer.
    #[serde(default)]
    pub open_questions: Vec<String>,
    /// Files that later phases should read.
    #[serde(default)]
    pub key_files: Vec<String>,
    #[serde(flatten)]
    pub common: CommonPayload,
}

/// One observation about the repository.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    #[schemars(extend("x-alias" = ["claim", "title", "description"]))]
    pub fact: NonBlankText,
    #[schemars(extend("x-alias" = ["location"]))]
    pub place: ReportedPlace,
    #[serde(default)]
    pub relevance: String,
}
