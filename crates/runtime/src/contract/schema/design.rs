//! What a designer returns: the decisions with their reasons (EP-34).

use super::decision::Decision;
use super::header::{Approach, Said};
use super::words::{Risk, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Design {
    pub title: Text,
    pub summary: Text,
    #[serde(default)]
    pub approach: Option<Approach>,
    #[schemars(length(min = 1))]
    pub decisions: Vec<Decision>,
    #[serde(default)]
    pub components: Vec<Component>,
    /// How it will be tested.
    #[serde(default)]
    pub testing: String,
    #[serde(default)]
    pub risks: Vec<DesignRisk>,
    #[serde(default)]
    pub open_questions: Vec<String>,
    #[serde(flatten)]
    pub said: Said,
}

/// A part of the design.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Component {
    pub name: Text,
    pub responsibility: Text,
    #[serde(default)]
    pub interfaces: Vec<String>,
    #[serde(default)]
    pub files: Vec<String>,
}

/// What may go wrong with the design.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DesignRisk {
    #[schemars(extend("x-alias" = ["description"]))]
    pub text: Text,
    #[serde(default)]
    pub risk: Option<Risk>,
    #[serde(default)]
    pub mitigation: String,
}
