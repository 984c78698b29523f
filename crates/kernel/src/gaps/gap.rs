//! A gap: one hole in a document, with its id, severity, status, proposal and what it waits for.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Serialize};

/// One hole in the document under refinement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    pub id: GapId,
    pub severity: GapSeverity,
    pub claim: String,
    /// The sections of the document that the gap concerns; empty if unknown.
    #[serde(default)]
    pub sections: Vec<String>,
    pub status: GapStatus,
    /// What the gap waits for; set only while the status is blocked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<BlockedOn>,
    /// The round that found the gap; 0 for the first inventory.
    pub found_in: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_from: Option<GapId>,
    /// The latest proposal; kept after acceptance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<Proposal>,
}

/// A gap as reported, before the engine assigns its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewGap {
    pub category: String,
    pub severity: GapSeverity,
    pub claim: String,
    #[serde(default)]
    pub sections: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_from: Option<GapId>,
    /// The gap that must be settled first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<GapId>,
}

/// A solution for one gap, with the text for a named section of the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    pub gap: GapId,
    pub solution: String,
    pub section: String,
    /// The passage of the document that the text replaces; empty for a new section.
    #[serde(default)]
    pub replaces: String,
    pub text: String,
}

/// How bad a gap is, worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GapSeverity {
    /// A matter of wording.
    Low,
    /// An edge case is open.
    Medium,
    /// Two readers would build different things.
    High,
    /// The product cannot be built or would be unsafe.
    Critical,
}

impl fmt::Display for GapSeverity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GapSeverity::Low => "low",
            GapSeverity::Medium => "medium",
            GapSeverity::High => "high",
            GapSeverity::Critical => "critical",
        })
    }
}

/// The status of a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GapStatus {
    Open,
    /// A solution is waiting for review.
    Proposed,
    Accepted,
    NeedsRevision,
    /// The accepted text is in the document.
    Resolved,
    Closed,
    Blocked,
    Deferred,
    Waived,
}

impl GapStatus {
    pub const ALL: [GapStatus; 9] = [
        GapStatus::Open,
        GapStatus::Proposed,
        GapStatus::Accepted,
        GapStatus::NeedsRevision,
        GapStatus::Resolved,
        GapStatus::Closed,
        GapStatus::Blocked,
        GapStatus::Deferred,
        GapStatus::Waived,
    ];

    /// Whether no more work is needed on the gap.
    pub fn is_settled(self) -> bool {
        match self {
            GapStatus::Resolved | GapStatus::Closed | GapStatus::Deferred | GapStatus::Waived => true,
            GapStatus::Open
            | GapStatus::Proposed
            | GapStatus::Accepted
            | GapStatus::NeedsRevision
            | GapStatus::Blocked => false,
        }
    }

    /// Whether an engineer can propose a solution for the gap.
    pub fn is_workable(self) -> bool {
        match self {
            GapStatus::Open | GapStatus::NeedsRevision => true,
            GapStatus::Proposed
            | GapStatus::Accepted
            | GapStatus::Resolved
            | GapStatus::Closed
            | GapStatus::Blocked
            | GapStatus::Deferred
            | GapStatus::Waived => false,
        }
    }
}

impl fmt::Display for GapStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GapStatus::Open => "open",
            GapStatus::Proposed => "proposed",
            GapStatus::Accepted => "accepted",
            GapStatus::NeedsRevision => "needs-revision",
            GapStatus::Resolved => "resolved",
            GapStatus::Closed => "closed",
            GapStatus::Blocked => "blocked",
            GapStatus::Deferred => "deferred",
            GapStatus::Waived => "waived",
        })
    }
}

/// What a blocked gap waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockedOn {
    Gap(GapId),
    Decision(QuestionId),
    /// Something outside the run, in words.
    External(String),
}

/// The id of a question to the user: the issue id for a conflict, otherwise a name that the asker chose.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QuestionId(pub String);

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `GAP-<CATEGORY>-<NNN>`, assigned by the engine and never reused.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GapId {
    category: String,
    number: u32,
}

impl GapId {
    /// Builds an id from its parts; the category is one word of capitals and digits.
    pub fn new(category: &str, number: u32) -> Result<GapId, IdError> {
        if !is_category(category) {
            return Err(IdError::Category { category: category.into() });
        }
        if number == 0 {
            return Err(IdError::Shape { text: alloc::format!("GAP-{category}-000") });
        }
        Ok(GapId { category: category.into(), number })
    }

    pub fn category(&self) -> &str {
        &self.category
    }
}

impl fmt::Display for GapId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GAP-{}-{:03}", self.category, self.number)
    }
}

impl FromStr for GapId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<GapId, IdError> {
        let shape = || IdError::Shape { text: text.into() };
        let (category, digits) =
            text.strip_prefix("GAP-").and_then(|rest| rest.split_once('-')).ok_or_else(shape)?;
        let id = GapId::new(category, digits.parse().map_err(|_| shape())?)?;
        // If an id had two spellings, a text search would miss one of them.
        if alloc::format!("{id}") == text { Ok(id) } else { Err(shape()) }
    }
}

impl TryFrom<String> for GapId {
    type Error = IdError;

    fn try_from(text: String) -> Result<GapId, IdError> {
        text.parse()
    }
}

impl From<GapId> for String {
    fn from(id: GapId) -> String {
        alloc::format!("{id}")
    }
}

/// Why a string is not a gap id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdError {
    #[error(
        "`{category}` is not a gap category: use capitals and digits, starting with a letter, as in FLOW"
    )]
    Category { category: String },
    #[error("`{text}` is not a gap id: write GAP-<CATEGORY>-<NNN>, as in GAP-FLOW-001")]
    Shape { text: String },
    #[error("category {category} has no numbers left: use another category")]
    Exhausted { category: String },
}

fn is_category(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    // SR-02
    #[test]
    fn an_id_has_one_spelling() {
        assert_eq!("GAP-FLOW-001".parse::<GapId>().unwrap().to_string(), "GAP-FLOW-001");
        for wrong in [
            "GAP-FLOW-1",
            "GAP-FLOW-0001",
            "GAP-FLOW-000",
            "GAP-flow-001",
            "GAP--001",
            "FLOW-001",
            "GAP-FLOW-+01",
            "",
        ] {
            assert!(wrong.parse::<GapId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_id_is_a_string_in_json() {
        let id = GapId::new("UX", 12).unwrap();
        assert_eq!(serde_json::to_string(&id).unwrap(), "\"GAP-UX-012\"");
        assert_eq!(serde_json::from_str::<GapId>("\"GAP-UX-012\"").unwrap(), id);
        assert!(serde_json::from_str::<GapId>("\"GAP-ux-012\"").is_err());
    }

    #[test]
    fn severities_are_ordered_worst_last() {
        assert!(GapSeverity::Critical > GapSeverity::High && GapSeverity::Medium > GapSeverity::Low);
    }

    proptest! {
        #[test]
        fn every_string_that_parses_as_an_id_is_its_only_spelling(text in "(GAP-)?[A-Za-z0-9-]{0,12}") {
            if let Ok(id) = text.parse::<GapId>() {
                prop_assert_eq!(id.to_string(), text);
            }
        }
    }
}
