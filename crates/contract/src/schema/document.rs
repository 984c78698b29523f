//! The result of roles that write prose: one Markdown artifact.

use super::header::{CommonPayload, StatedApproach};
use super::words::NonBlankText;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A Markdown artifact.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Prose")]
pub struct DocumentPayload {
    pub title: NonBlankText,
    /// The artifact itself, as Markdown.
    #[schemars(extend("x-alias" = ["content", "body", "text"]))]
    pub markdown: NonBlankText,
    #[serde(default)]
    pub approach: Option<StatedApproach>,
    /// What changed since the last version, and why.
    #[serde(default)]
    pub revision_notes: Vec<RevisionNote>,
    #[serde(flatten)]
    pub common: CommonPayload,
}

/// One change in a revised artifact.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RevisionNote {
    /// The changed section or decision.
    pub changed: NonBlankText,
    pub why: NonBlankText,
    #[serde(default)]
    pub preserved: Vec<String>,
}
