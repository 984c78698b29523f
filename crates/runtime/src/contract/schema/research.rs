//! What a researcher returns.

use super::finding::Place;
use super::header::Said;
use super::words::Text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Research {
    /// The side from which the repository was studied.
    pub focus: Text,
    pub summary: Text,
    /// What was seen, each with where.
    #[schemars(length(min = 1))]
    pub observations: Vec<Observation>,
    /// What the research could not answer.
    #[serde(default)]
    pub open_questions: Vec<String>,
    /// Files that later phases should read.
    #[serde(default)]
    pub key_files: Vec<String>,
    #[serde(flatten)]
    pub said: Said,
}

/// Something seen in the repository.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    #[schemars(extend("x-alias" = ["claim", "title", "description"]))]
    pub fact: Text,
    #[schemars(extend("x-alias" = ["location"]))]
    pub place: Place,
    #[serde(default)]
    pub relevance: String,
}
