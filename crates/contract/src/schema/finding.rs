//! Findings as roles report them. They are converted to the kernel's type.

use super::words::{NonBlankText, ReportedCategory, ReportedKind, ReportedSeverity};
use remand_kernel::finding;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One defect.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Finding")]
pub struct ReportedFinding {
    /// An id that you choose, unique in this result.
    pub id: NonBlankText,
    pub severity: ReportedSeverity,
    pub category: ReportedCategory,
    /// The kind of work that fixes it.
    #[serde(default)]
    pub kind: Option<ReportedKind>,
    /// The phases that introduced the defect.
    #[serde(default)]
    pub injected_by: Vec<String>,
    /// The task that the finding concerns.
    #[serde(default)]
    pub task: Option<String>,
    #[serde(default)]
    #[schemars(extend("x-alias" = ["location", "affected_artifacts", "affected"]))]
    pub place: ReportedPlace,
    /// What is wrong, in one or two sentences.
    #[schemars(extend("x-alias" = ["description", "issue", "title"]))]
    pub claim: NonBlankText,
    /// What proves it: a quotation, a command with its output, or an evidence row.
    #[serde(default)]
    pub evidence: String,
    /// The consequences of the defect.
    #[serde(default)]
    pub impact: String,
    /// What to do instead.
    #[serde(default)]
    pub recommendation: String,
    /// A unified diff that fixes it.
    #[serde(default)]
    pub patch: Option<String>,
    /// The id of an earlier finding that this one repeats.
    #[serde(default)]
    pub repeats: Option<String>,
}

/// A location in a file or artifact.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-place" = true))]
#[schemars(rename = "Place")]
pub struct ReportedPlace {
    /// The file relative to the work tree, or the artifact.
    #[serde(default)]
    pub file: String,
    /// The function, type, section or decision in the file.
    #[serde(default)]
    pub symbol: String,
    /// The line number, counted from 1; 0 if unknown.
    #[serde(default)]
    pub line: u32,
}

impl ReportedPlace {
    pub fn is_given(&self) -> bool {
        !self.file.trim().is_empty() || !self.symbol.trim().is_empty()
    }
}

impl From<ReportedPlace> for finding::Location {
    fn from(it: ReportedPlace) -> finding::Location {
        finding::Location { file: it.file, symbol: it.symbol, line: it.line }
    }
}

impl From<ReportedFinding> for finding::Finding {
    fn from(it: ReportedFinding) -> finding::Finding {
        finding::Finding {
            id: it.id.0,
            severity: it.severity.into(),
            category: it.category.into(),
            kind: it.kind.map(Into::into),
            injected_by: it.injected_by,
            task: it.task.filter(|task| !task.is_empty()),
            place: it.place.into(),
            claim: it.claim.0,
            evidence: it.evidence,
            impact: it.impact,
            recommendation: it.recommendation,
            patch: it.patch.filter(|patch| !patch.trim().is_empty()),
            repeats: it.repeats.filter(|id| !id.is_empty()),
        }
    }
}
