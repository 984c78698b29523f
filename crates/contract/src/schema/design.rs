//! The result of a designer: decisions with their reasons.

use super::decision::DecisionRecord;
use super::header::{CommonPayload, StatedApproach};
use super::implementation::Dispute;
use super::words::{NonBlankText, ReportedRisk};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Design decisions with their reasons.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Design")]
pub struct DesignPayload {
    pub title: NonBlankText,
    pub summary: NonBlankText,
    #[serde(default)]
    pub approach: Option<StatedApproach>,
    #[schemars(length(min = 1))]
    pub decisions: Vec<DecisionRecord>,
    #[serde(default)]
    pub components: Vec<Component>,
    /// How the design will be tested.
    #[serde(default)]
    pub testing: String,
    #[serde(default)]
    pub risks: Vec<DesignRisk>,
    #[serde(default)]
    pub open_questions: Vec<String>,
    /// Findings that you received and consider wrong.
    #[serde(default)]
    pub disputes: Vec<Dispute>,
    #[serde(flatten)]
    pub common: CommonPayload,
}

/// A part of the design.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Component {
    pub name: NonBlankText,
    pub responsibility: NonBlankText,
    #[serde(default)]
    pub interfaces: Vec<String>,
    #[serde(default)]
    pub files: Vec<String>,
}

/// A risk of the design.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DesignRisk {
    #[schemars(extend("x-alias" = ["description"]))]
    pub text: NonBlankText,
    #[serde(default)]
    pub risk: Option<ReportedRisk>,
    #[serde(default)]
    pub mitigation: String,
}
