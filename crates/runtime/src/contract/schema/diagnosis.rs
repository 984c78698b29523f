//! What a diagnosis returns: one cause out of the role's verdicts, with notes for whoever goes on (OT-16).

use super::finding::Place;
use super::header::Said;
use super::words::{Confidence, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Diagnosis {
    /// What keeps the work from being finished.
    pub cause: Text,
    /// What shows it.
    pub evidence: Text,
    /// What whoever goes on should do differently.
    pub notes: Text,
    #[serde(default)]
    pub places: Vec<Place>,
    #[serde(default)]
    pub confidence: Option<Confidence>,
    #[serde(flatten)]
    pub said: Said,
}
