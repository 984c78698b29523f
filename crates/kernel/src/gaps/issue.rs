//! Issues: a reviewer's objections to a proposal, and the engineer's answers.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Serialize};

use super::gap::{GapId, GapSeverity};

/// A reviewer's objection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewIssue {
    pub id: ReviewIssueId,
    pub gap: GapId,
    pub severity: GapSeverity,
    /// The reviewer's position.
    pub concern: String,
    /// What the reviewer's position costs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub trade_off: String,
    #[serde(rename = "standing")]
    pub state: IssueState,
}

/// An objection as reported, before the engine assigns its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewIssue {
    pub gap: GapId,
    pub severity: GapSeverity,
    pub concern: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub trade_off: String,
}

/// An engineer's answer to one issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineerAnswer {
    pub issue: ReviewIssueId,
    pub stance: Stance,
}

/// The engineer's position on an issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stance {
    Agree,
    /// `alternative` is empty if the engineer offers no compromise.
    Disagree {
        position: String,
        rationale: String,
        alternative: String,
        /// What the position costs.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        trade_off: String,
        /// What the alternative costs.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        alternative_trade_off: String,
    },
}

/// The state of an issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IssueState {
    /// No answer yet; `silences` counts the rounds in which an engineer submitted a result but did not answer the issue.
    Unanswered {
        silences: u32,
    },
    Answered(Stance),
    /// The user has decided; the decision binds both sides.
    Decided,
}

impl ReviewIssue {
    /// Whether the issue must be answered; lesser issues are only recorded.
    pub fn is_serious(&self) -> bool {
        self.severity >= GapSeverity::High
    }

    pub(super) fn is_unanswered(&self) -> bool {
        match self.state {
            IssueState::Unanswered { .. } => true,
            IssueState::Answered(_) | IssueState::Decided => false,
        }
    }
}

/// `ISSUE-R<round>-<nnn>`, assigned by the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ReviewIssueId {
    pub round: u32,
    pub number: u32,
}

impl fmt::Display for ReviewIssueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ISSUE-R{}-{:03}", self.round, self.number)
    }
}

impl FromStr for ReviewIssueId {
    type Err = ReviewIssueIdError;

    fn from_str(text: &str) -> Result<ReviewIssueId, ReviewIssueIdError> {
        let parts = text.strip_prefix("ISSUE-R").and_then(|rest| rest.split_once('-'));
        parts
            .and_then(|(round, number)| {
                Some(ReviewIssueId { round: round.parse().ok()?, number: number.parse().ok()? })
            })
            .filter(|id| alloc::format!("{id}") == text)
            .ok_or_else(|| ReviewIssueIdError { text: text.into() })
    }
}

impl TryFrom<String> for ReviewIssueId {
    type Error = ReviewIssueIdError;

    fn try_from(text: String) -> Result<ReviewIssueId, ReviewIssueIdError> {
        text.parse()
    }
}

impl From<ReviewIssueId> for String {
    fn from(id: ReviewIssueId) -> String {
        alloc::format!("{id}")
    }
}

/// Why a string is not an issue id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("`{text}` is not an issue id: write ISSUE-R<round>-<nnn>, as in ISSUE-R2-001")]
pub struct ReviewIssueIdError {
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    // SR-10
    #[test]
    fn an_issue_id_names_its_round_and_has_one_spelling() {
        let id: ReviewIssueId = "ISSUE-R12-003".parse().unwrap();
        assert_eq!((id.round, id.number, id.to_string().as_str()), (12, 3, "ISSUE-R12-003"));
        for wrong in ["ISSUE-R1-1", "ISSUE-R01-001", "ISSUE-1-001", "ISSUE-R1-0001", ""] {
            assert!(wrong.parse::<ReviewIssueId>().is_err(), "{wrong}");
        }
    }
}
