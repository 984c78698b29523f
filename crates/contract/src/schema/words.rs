//! The enumerations in results. `x-same` lists accepted synonyms; `x-mapped` lists synonyms whose use is also recorded.

use remand_kernel::program::Confidence;
use remand_kernel::{event, evidence, finding, gaps};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Text that is not blank.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("pattern" = "\\S"))]
pub struct NonBlankText(pub String);

/// How the work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(extend("x-same" = {"ok": "DONE", "success": "DONE", "completed": "DONE", "complete": "DONE", "failed": "ERROR"}))]
#[schemars(rename = "Status")]
pub enum CompletionStatus {
    Done,
    NeedsRevision,
    Error,
}

/// How severe a defect is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("x-mapped" = {"high": "major", "medium": "minor", "low": "minor"}))]
#[schemars(rename = "Severity")]
pub enum ReportedSeverity {
    /// Work must not continue until it is fixed.
    Blocker,
    /// The result is wrong or unsafe.
    Critical,
    /// A defect with a workaround.
    Major,
    /// Can wait; never a reason for another round.
    Minor,
}

/// The subject of a defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Category")]
pub enum ReportedCategory {
    Security,
    Correctness,
    Performance,
    Maintainability,
    Design,
}

/// The kind of work that fixes a defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Kind")]
pub enum ReportedKind {
    Plan,
    Test,
    Production,
    Cosmetic,
}

/// How risky a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("x-same" = {"🟢": "green", "🟡": "yellow", "🔴": "red"}))]
#[schemars(rename = "Risk")]
pub enum ReportedRisk {
    /// Additive: tests, documents, configuration or new helpers.
    Green,
    /// Changes existing logic.
    Yellow,
    /// Authentication, cryptography, payments, deletion, migrations, concurrency, public interfaces.
    Red,
}

impl ReportedRisk {
    pub fn name(self) -> &'static str {
        match self {
            ReportedRisk::Green => "green",
            ReportedRisk::Yellow => "yellow",
            ReportedRisk::Red => "red",
        }
    }
}

/// How certain a statement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Confidence")]
pub enum ReportedConfidence {
    /// All alternatives were considered on clear evidence, and the decision is cheap to reverse.
    High,
    /// Based on reasonable inference rather than evidence, or moderately expensive to reverse.
    Medium,
    /// Little evidence, or expensive to reverse: review it after the implementation.
    Low,
}

impl From<ReportedConfidence> for Confidence {
    fn from(it: ReportedConfidence) -> Confidence {
        match it {
            ReportedConfidence::High => Confidence::High,
            ReportedConfidence::Medium => Confidence::Medium,
            ReportedConfidence::Low => Confidence::Low,
        }
    }
}

/// How large a task is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Size")]
pub enum ReportedSize {
    #[default]
    Standard,
    Large,
}

/// What a task produces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("x-same" = {"docs": "documentation", "doc": "documentation"}))]
pub enum TaskType {
    #[default]
    Code,
    Documentation,
}

/// How severe a gap in a specification is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "GapSeverity")]
pub enum ReportedGapSeverity {
    /// The specification cannot be implemented, or is unsafe.
    Critical,
    /// Two readers would implement it differently.
    High,
    /// An edge case is undefined.
    Medium,
    /// Only the wording is unclear.
    Low,
}

impl CompletionStatus {
    pub fn name(self) -> &'static str {
        match self {
            CompletionStatus::Done => "DONE",
            CompletionStatus::NeedsRevision => "NEEDS_REVISION",
            CompletionStatus::Error => "ERROR",
        }
    }
}

impl From<ReportedSeverity> for finding::Severity {
    fn from(it: ReportedSeverity) -> finding::Severity {
        match it {
            ReportedSeverity::Blocker => finding::Severity::Blocker,
            ReportedSeverity::Critical => finding::Severity::Critical,
            ReportedSeverity::Major => finding::Severity::Major,
            ReportedSeverity::Minor => finding::Severity::Minor,
        }
    }
}

impl From<ReportedCategory> for finding::Category {
    fn from(it: ReportedCategory) -> finding::Category {
        match it {
            ReportedCategory::Security => finding::Category::Security,
            ReportedCategory::Correctness => finding::Category::Correctness,
            ReportedCategory::Performance => finding::Category::Performance,
            ReportedCategory::Maintainability => finding::Category::Maintainability,
            ReportedCategory::Design => finding::Category::Design,
        }
    }
}

impl From<ReportedKind> for finding::FindingKind {
    fn from(it: ReportedKind) -> finding::FindingKind {
        match it {
            ReportedKind::Plan => finding::FindingKind::Plan,
            ReportedKind::Test => finding::FindingKind::Test,
            ReportedKind::Production => finding::FindingKind::Production,
            ReportedKind::Cosmetic => finding::FindingKind::Cosmetic,
        }
    }
}

impl From<ReportedRisk> for event::Risk {
    fn from(it: ReportedRisk) -> event::Risk {
        match it {
            ReportedRisk::Green => event::Risk::Green,
            ReportedRisk::Yellow => event::Risk::Yellow,
            ReportedRisk::Red => event::Risk::Red,
        }
    }
}

impl From<ReportedSize> for evidence::TaskSize {
    fn from(it: ReportedSize) -> evidence::TaskSize {
        match it {
            ReportedSize::Standard => evidence::TaskSize::Standard,
            ReportedSize::Large => evidence::TaskSize::Large,
        }
    }
}

impl From<ReportedGapSeverity> for gaps::GapSeverity {
    fn from(it: ReportedGapSeverity) -> gaps::GapSeverity {
        match it {
            ReportedGapSeverity::Critical => gaps::GapSeverity::Critical,
            ReportedGapSeverity::High => gaps::GapSeverity::High,
            ReportedGapSeverity::Medium => gaps::GapSeverity::Medium,
            ReportedGapSeverity::Low => gaps::GapSeverity::Low,
        }
    }
}
