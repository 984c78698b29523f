//! A finding: one defect report, the same type for every role and every engine check.

use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// How bad a defect is, worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// A follow-up: work for later, never a reason for another round.
    Minor,
    /// A defect with a workaround.
    Major,
    /// A wrong or unsafe result.
    Critical,
    /// Work must not continue while the finding is open.
    Blocker,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Severity::Minor => "minor",
            Severity::Major => "major",
            Severity::Critical => "critical",
            Severity::Blocker => "blocker",
        }
    }
}

/// What a defect is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    Security,
    Correctness,
    Performance,
    Maintainability,
    Design,
}

impl Category {
    pub fn name(self) -> &'static str {
        match self {
            Category::Security => "security",
            Category::Correctness => "correctness",
            Category::Performance => "performance",
            Category::Maintainability => "maintainability",
            Category::Design => "design",
        }
    }
}

/// The kind of work that removes a defect, earliest work first: the earliest kind among findings decides the route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    Plan,
    Test,
    Production,
    Cosmetic,
}

impl FindingKind {
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::Plan => "plan",
            FindingKind::Test => "test",
            FindingKind::Production => "production",
            FindingKind::Cosmetic => "cosmetic",
        }
    }
}

/// Where a defect is. Line numbers are shown but never compared, because code moves.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Location {
    /// File or artifact, relative to the work tree.
    pub file: String,
    /// Function, type, section or decision inside the file; empty when unknown.
    pub symbol: String,
    /// One-based line; 0 when unknown.
    pub line: u32,
}

/// One defect report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The reporter's id for the finding, unique within its report.
    pub id: String,
    pub severity: Severity,
    pub category: Category,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<FindingKind>,
    /// Names of the phases that injected the defect; empty if the reporter does not know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub injected_by: Vec<String>,
    /// The task that the finding concerns, if the reporter knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    #[serde(default)]
    pub place: Location,
    pub claim: String,
    #[serde(default)]
    pub evidence: String,
    #[serde(default)]
    pub impact: String,
    #[serde(default)]
    pub recommendation: String,
    /// A patch that removes the defect, if the reporter has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// The id of the earlier finding that this one repeats, according to the reporter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<String>,
}

impl Finding {
    /// Whether this finding overrides the verdict: category security, severity blocker.
    pub fn is_security_blocker(&self) -> bool {
        self.category == Category::Security && self.severity == Severity::Blocker
    }

    /// Whether this finding is only a follow-up. A cosmetic finding with a patch is not: applying the patch is free.
    pub fn is_follow_up(&self) -> bool {
        self.severity == Severity::Minor
            && !(self.kind == Some(FindingKind::Cosmetic) && self.patch.is_some())
    }
}
