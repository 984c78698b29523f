//! A finding as roles report it; the kernel's own type is made from it (CORE-20).

use super::words::{Category, Kind, Severity, Text};
use remand_kernel::finding;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One defect.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Your own id, unique in this result.
    pub id: Text,
    pub severity: Severity,
    pub category: Category,
    /// Which kind of work removes it.
    #[serde(default)]
    pub kind: Option<Kind>,
    /// The phases that brought the defect in.
    #[serde(default)]
    pub injected_by: Vec<String>,
    /// The task it concerns.
    #[serde(default)]
    pub task: Option<String>,
    #[serde(default)]
    #[schemars(extend("x-alias" = ["location", "affected_artifacts", "affected"]))]
    pub place: Place,
    /// What is wrong, in one or two sentences.
    #[schemars(extend("x-alias" = ["description", "issue", "title"]))]
    pub claim: Text,
    /// What shows it: a quotation, a command with its output, a row.
    #[serde(default)]
    pub evidence: String,
    /// What happens because of it.
    #[serde(default)]
    pub impact: String,
    /// What to do instead.
    #[serde(default)]
    pub recommendation: String,
    /// A unified diff that removes it.
    #[serde(default)]
    pub patch: Option<String>,
    /// The id of an earlier finding that this one repeats.
    #[serde(default)]
    pub repeats: Option<String>,
}

/// Where something is.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-place" = true))]
pub struct Place {
    /// File or artifact, relative to the work tree.
    #[serde(default)]
    pub file: String,
    /// Function, type, section or decision in it.
    #[serde(default)]
    pub symbol: String,
    /// From 1; 0 when unknown.
    #[serde(default)]
    pub line: u32,
}

impl Place {
    pub fn is_given(&self) -> bool {
        !self.file.trim().is_empty() || !self.symbol.trim().is_empty()
    }
}

impl From<Place> for finding::Place {
    fn from(it: Place) -> finding::Place {
        finding::Place { file: it.file, symbol: it.symbol, line: it.line }
    }
}

impl From<Finding> for finding::Finding {
    fn from(it: Finding) -> finding::Finding {
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
