//! Issues: what a reviewer holds against a proposal, and what the engineer answers (SR-10).

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Serialize};

use super::board::Board;
use super::gap::{GapId, GapSeverity};

/// One objection of a reviewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issue {
    pub id: IssueId,
    pub gap: GapId,
    pub severity: GapSeverity,
    /// The reviewer's position.
    pub concern: String,
    pub standing: Standing,
}

/// An objection as its reviewer reports it, before the engine gives it an id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewIssue {
    pub gap: GapId,
    pub severity: GapSeverity,
    pub concern: String,
}

/// An engineer's answer to one issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub issue: IssueId,
    pub stance: Stance,
}

/// What the engineer says to an issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stance {
    Agree,
    /// `alternative` is empty when there is no middle ground.
    Disagree {
        position: String,
        rationale: String,
        alternative: String,
    },
}

/// Where an issue stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// No answer yet; `silences` counts the delivered rounds that ignored it.
    Unanswered {
        silences: u32,
    },
    Answered(Stance),
    /// The user has spoken; the decision binds both sides.
    Decided,
}

impl Issue {
    /// Tells whether it must be answered: lower issues are recorded only.
    pub fn is_weighty(&self) -> bool {
        self.severity >= GapSeverity::High
    }

    pub(super) fn is_unanswered(&self) -> bool {
        match self.standing {
            Standing::Unanswered { .. } => true,
            Standing::Answered(_) | Standing::Decided => false,
        }
    }
}

/// `ISSUE-R<round>-<nnn>`, given by the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct IssueId {
    pub round: u32,
    pub number: u32,
}

impl fmt::Display for IssueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ISSUE-R{}-{:03}", self.round, self.number)
    }
}

impl FromStr for IssueId {
    type Err = IssueIdError;

    fn from_str(text: &str) -> Result<IssueId, IssueIdError> {
        let parts = text.strip_prefix("ISSUE-R").and_then(|rest| rest.split_once('-'));
        parts
            .and_then(|(round, number)| {
                Some(IssueId { round: round.parse().ok()?, number: number.parse().ok()? })
            })
            .filter(|id| alloc::format!("{id}") == text)
            .ok_or_else(|| IssueIdError { text: text.into() })
    }
}

impl TryFrom<String> for IssueId {
    type Error = IssueIdError;

    fn try_from(text: String) -> Result<IssueId, IssueIdError> {
        text.parse()
    }
}

impl From<IssueId> for String {
    fn from(id: IssueId) -> String {
        alloc::format!("{id}")
    }
}

/// Why a text is no issue id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("`{text}` is no issue id: write ISSUE-R<round>-<nnn>, as in ISSUE-R2-001")]
pub struct IssueIdError {
    pub text: String,
}

impl Board {
    /// The weighty issues that the next engineer must answer because the last one did not.
    pub fn must_answer(&self) -> Vec<IssueId> {
        self.issues
            .values()
            .filter(|issue| issue.is_weighty() && self.is_contested(&issue.gap))
            .filter(|issue| match issue.standing {
                Standing::Unanswered { silences } => silences > 0,
                Standing::Answered(_) | Standing::Decided => false,
            })
            .filter(|issue| !self.conflicts.contains_key(&issue.id))
            .map(|issue| issue.id)
            .collect()
    }

    /// The issues about these gaps that wait for an answer: unanswered, and their gap is still in dispute.
    pub(super) fn pending_issues(&self, asked: &[GapId]) -> Vec<IssueId> {
        self.issues
            .values()
            .filter(|issue| asked.contains(&issue.gap))
            .filter(|issue| issue.is_unanswered() && self.is_contested(&issue.gap))
            .map(|issue| issue.id)
            .collect()
    }

    pub(super) fn raise(&mut self, new: NewIssue) -> IssueId {
        let id = self.next_issue();
        let issue = Issue {
            id,
            gap: new.gap,
            severity: new.severity,
            concern: new.concern,
            standing: Standing::Unanswered { silences: 0 },
        };
        self.issues.insert(id, issue);
        id
    }

    /// Tells whether reviewer and engineer still differ about a gap. A proposal without review is not in
    /// dispute yet, an accepted one no more.
    pub(super) fn is_contested(&self, gap: &GapId) -> bool {
        self.gaps.get(gap).is_some_and(|gap| gap.status.is_workable())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    // SR-10
    #[test]
    fn an_issue_id_names_its_round_and_has_one_spelling() {
        let id: IssueId = "ISSUE-R12-003".parse().unwrap();
        assert_eq!((id.round, id.number, id.to_string().as_str()), (12, 3, "ISSUE-R12-003"));
        for wrong in ["ISSUE-R1-1", "ISSUE-R01-001", "ISSUE-1-001", "ISSUE-R1-0001", ""] {
            assert!(wrong.parse::<IssueId>().is_err(), "{wrong}");
        }
    }
}
