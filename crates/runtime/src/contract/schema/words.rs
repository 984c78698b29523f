//! The closed sets of words in results. `x-same` are other spellings, `x-mapped` those whose mapping is recorded.

use remand_kernel::{event, evidence, finding, gaps};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A text that says something.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("pattern" = "\\S"))]
pub struct Text(pub String);

/// How the work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(extend("x-same" = {"ok": "DONE", "success": "DONE", "completed": "DONE", "complete": "DONE", "failed": "ERROR"}))]
pub enum Status {
    Done,
    NeedsRevision,
    Error,
}

/// How bad a defect is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("x-mapped" = {"high": "major", "medium": "minor", "low": "minor"}))]
pub enum Severity {
    /// The work must not go on with it.
    Blocker,
    /// A wrong or unsafe result.
    Critical,
    /// A defect with a workaround.
    Major,
    /// For later; never a reason for another round.
    Minor,
}

/// What a defect is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    Security,
    Correctness,
    Performance,
    Maintainability,
    Design,
}

/// Which kind of work removes a defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Plan,
    Test,
    Production,
    Cosmetic,
}

/// How risky a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("x-same" = {"🟢": "green", "🟡": "yellow", "🔴": "red"}))]
pub enum Risk {
    /// Additive: tests, documents, configuration, new helpers.
    Green,
    /// Changes existing logic.
    Yellow,
    /// Authentication, cryptography, payments, deletion, migrations, concurrency, public interfaces.
    Red,
}

/// How sure one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// All alternatives were weighed on clear evidence, and it is cheap to reverse.
    High,
    /// Reasonable inference rather than evidence, or moderately dear to reverse.
    Medium,
    /// Little evidence, or dear to reverse: look at it again after the implementation.
    Low,
}

/// How large a task is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    #[default]
    Standard,
    Large,
}

/// What a task makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("x-same" = {"docs": "documentation", "doc": "documentation"}))]
pub enum TaskType {
    #[default]
    Code,
    Documentation,
}

/// How bad a gap of a specification is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GapSeverity {
    /// It cannot be built, or is unsafe.
    Critical,
    /// Two readers build different things.
    High,
    /// An edge case is open.
    Medium,
    /// Wording.
    Low,
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Status::Done => "DONE",
            Status::NeedsRevision => "NEEDS_REVISION",
            Status::Error => "ERROR",
        }
    }
}

impl From<Severity> for finding::Severity {
    fn from(it: Severity) -> finding::Severity {
        match it {
            Severity::Blocker => finding::Severity::Blocker,
            Severity::Critical => finding::Severity::Critical,
            Severity::Major => finding::Severity::Major,
            Severity::Minor => finding::Severity::Minor,
        }
    }
}

impl From<Category> for finding::Category {
    fn from(it: Category) -> finding::Category {
        match it {
            Category::Security => finding::Category::Security,
            Category::Correctness => finding::Category::Correctness,
            Category::Performance => finding::Category::Performance,
            Category::Maintainability => finding::Category::Maintainability,
            Category::Design => finding::Category::Design,
        }
    }
}

impl From<Kind> for finding::FindingKind {
    fn from(it: Kind) -> finding::FindingKind {
        match it {
            Kind::Plan => finding::FindingKind::Plan,
            Kind::Test => finding::FindingKind::Test,
            Kind::Production => finding::FindingKind::Production,
            Kind::Cosmetic => finding::FindingKind::Cosmetic,
        }
    }
}

impl From<Risk> for event::Risk {
    fn from(it: Risk) -> event::Risk {
        match it {
            Risk::Green => event::Risk::Green,
            Risk::Yellow => event::Risk::Yellow,
            Risk::Red => event::Risk::Red,
        }
    }
}

impl From<Size> for evidence::Size {
    fn from(it: Size) -> evidence::Size {
        match it {
            Size::Standard => evidence::Size::Standard,
            Size::Large => evidence::Size::Large,
        }
    }
}

impl From<GapSeverity> for gaps::GapSeverity {
    fn from(it: GapSeverity) -> gaps::GapSeverity {
        match it {
            GapSeverity::Critical => gaps::GapSeverity::Critical,
            GapSeverity::High => gaps::GapSeverity::High,
            GapSeverity::Medium => gaps::GapSeverity::Medium,
            GapSeverity::Low => gaps::GapSeverity::Low,
        }
    }
}
