//! Conflicts and the user's decisions, as the board records them.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use super::gap::{GapId, QuestionId};
use super::issue::ReviewIssueId;
use super::moves::Actor;

/// A dispute that only the user can settle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Conflict {
    pub issue: ReviewIssueId,
    pub gap: GapId,
    pub cause: ConflictCause,
    /// At least two, the reviewer's first.
    pub positions: Vec<Position>,
    /// The round in which the conflict arose.
    pub round: u32,
}

/// The cause of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConflictCause {
    Disagreement,
    /// The engineer ignored the issue in two rounds.
    Silence,
}

/// The view of one side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    pub by: Actor,
    pub text: String,
    /// What the position costs; empty if that side did not state it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub trade_off: String,
}

/// A user's decision: what it is about, what was chosen, why, by whom and when. It binds all later rounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserDecision {
    pub about: QuestionId,
    pub gaps: Vec<GapId>,
    pub choice: String,
    pub grounds: Grounds,
    pub round: u32,
}

/// Who decided, why and when. The kernel has no clock, so the host provides the time as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grounds {
    pub reason: String,
    pub by: String,
    pub at: String,
}

impl Conflict {
    /// The question that this conflict raises.
    pub fn question(&self) -> QuestionId {
        QuestionId(self.issue.to_string())
    }
}
