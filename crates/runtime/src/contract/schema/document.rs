//! What roles that write prose return: one Markdown artifact.

use super::header::{Approach, Said};
use super::words::Text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Prose {
    pub title: Text,
    /// The artifact itself, as Markdown.
    #[schemars(extend("x-alias" = ["content", "body", "text"]))]
    pub markdown: Text,
    #[serde(default)]
    pub approach: Option<Approach>,
    /// What was changed since the last version, and why.
    #[serde(default)]
    pub revision_notes: Vec<RevisionNote>,
    #[serde(flatten)]
    pub said: Said,
}

/// One change of a revised artifact.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RevisionNote {
    /// The section or decision.
    pub changed: Text,
    pub why: Text,
    #[serde(default)]
    pub preserved: Vec<String>,
}
