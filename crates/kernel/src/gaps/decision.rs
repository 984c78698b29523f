//! Conflicts between engineer and reviewer, and the decisions that end them (SR-10).

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

use super::board::Board;
use super::gap::{BlockedOn, GapId};
use super::issue::{Issue, IssueId, Stance, Standing};
use super::lifecycle::{Actor, Move, MoveError};

/// A dispute that only the user can end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Conflict {
    pub issue: IssueId,
    pub gap: GapId,
    pub cause: ConflictCause,
    /// At least two, the reviewer's first.
    pub positions: Vec<Position>,
    /// The round that ended with it.
    pub round: u32,
}

/// How a conflict came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConflictCause {
    Disagreement,
    /// Two delivered rounds ignored the issue.
    Silence,
}

/// One side's view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    pub by: Actor,
    pub text: String,
}

/// What a user is asked to decide: an issue id for a conflict, else the asker's own name for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QuestionId(pub String);

/// A decision: what it was about, what was chosen, why, by whom and when. It binds all later rounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub about: QuestionId,
    pub gaps: Vec<GapId>,
    pub choice: String,
    pub grounds: Grounds,
    pub round: u32,
}

/// Who decided, why and when. The kernel has no clock: the time is the host's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grounds {
    pub reason: String,
    pub by: String,
    pub at: String,
}

/// What the user picks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// The position with this number, from 0.
    Stated(usize),
    Written(String),
}

/// Why a decision is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecisionError {
    #[error("nothing waits for a decision about {about}: name an open conflict or what a gap is blocked on")]
    Unasked { about: QuestionId },
    #[error("{about} is decided already: the first decision binds, roll the round back to take it anew")]
    Taken { about: QuestionId },
    #[error("{about} has no position {number}: choose below {stated}, or write one")]
    NoSuchPosition { about: QuestionId, number: usize, stated: usize },
    #[error("the position written for {about} is empty: say what is to hold")]
    Empty { about: QuestionId },
    #[error(transparent)]
    Move(#[from] MoveError),
}

impl Board {
    /// Records the user's decision and lifts every gap that waited for it; the board is unchanged on error.
    pub fn decide(
        &mut self,
        about: &QuestionId,
        choice: Choice,
        grounds: Grounds,
    ) -> Result<(), DecisionError> {
        if self.decisions.iter().any(|decision| decision.about == *about) {
            return Err(DecisionError::Taken { about: about.clone() });
        }
        let conflict = self.conflicts.values().find(|conflict| conflict.question() == *about).cloned();
        let mut gaps = self.waiting_for(about);
        if conflict.is_none() && gaps.is_empty() {
            return Err(DecisionError::Unasked { about: about.clone() });
        }
        let choice = chosen(about, conflict.as_ref(), choice)?;
        let mut next = self.clone();
        for gap in &gaps {
            next.move_gap(gap, Move::Lift, Actor::Engine, &alloc::format!("{about} is decided: {choice}"))?;
        }
        if let Some(conflict) = &conflict {
            if let Some(issue) = next.issues.get_mut(&conflict.issue) {
                issue.standing = Standing::Decided;
            }
            if !gaps.contains(&conflict.gap) {
                gaps.push(conflict.gap.clone());
            }
        }
        next.decisions.push(Decision { about: about.clone(), gaps, choice, grounds, round: self.round });
        next.block_undecided()?;
        *self = next;
        Ok(())
    }

    /// The conflicts without a decision.
    pub fn undecided(&self) -> impl Iterator<Item = &Conflict> {
        self.conflicts.values().filter(|conflict| {
            self.issues.get(&conflict.issue).is_some_and(|issue| issue.standing != Standing::Decided)
                && self.gaps.get(&conflict.gap).is_some_and(|gap| !gap.status.is_settled())
        })
    }

    /// The decisions that bind whoever works on a gap.
    pub fn binding(&self, gap: &GapId) -> impl Iterator<Item = &Decision> {
        self.decisions.iter().filter(move |decision| decision.gaps.contains(gap))
    }

    /// Finds the new conflicts among the weighty issues and blocks their gaps on the decision.
    pub(super) fn find_conflicts(&mut self) -> Result<Vec<IssueId>, MoveError> {
        let found: Vec<Conflict> = self
            .issues
            .values()
            .filter(|issue| issue.is_weighty() && self.is_contested(&issue.gap))
            .filter(|issue| !self.conflicts.contains_key(&issue.id))
            .filter_map(|issue| conflict(issue, self.round))
            .collect();
        let ids = found.iter().map(|conflict| conflict.issue).collect();
        self.conflicts.extend(found.into_iter().map(|conflict| (conflict.issue, conflict)));
        self.block_undecided()?;
        Ok(ids)
    }

    fn block_undecided(&mut self) -> Result<(), MoveError> {
        let undecided: Vec<(GapId, QuestionId)> =
            self.undecided().map(|conflict| (conflict.gap.clone(), conflict.question())).collect();
        for (gap, question) in undecided {
            // A gap waits for one thing at a time; its further conflicts follow when that one is lifted.
            if self.is_contested(&gap) {
                let why = alloc::format!("engineer and reviewer differ about {question}");
                self.move_gap(&gap, Move::Block(BlockedOn::Decision(question)), Actor::Engine, &why)?;
            }
        }
        Ok(())
    }

    /// The gaps that a decision sets free: a gap that waits for something outside is named by its own id.
    fn waiting_for(&self, about: &QuestionId) -> Vec<GapId> {
        self.unsettled()
            .filter(|gap| match &gap.waits_for {
                Some(BlockedOn::Decision(question)) => question == about,
                Some(BlockedOn::External(_)) => about.0 == gap.id.to_string(),
                Some(BlockedOn::Gap(_)) | None => false,
            })
            .map(|gap| gap.id.clone())
            .collect()
    }
}

impl Conflict {
    /// The question that this conflict asks.
    pub fn question(&self) -> QuestionId {
        QuestionId(self.issue.to_string())
    }
}

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn conflict(issue: &Issue, round: u32) -> Option<Conflict> {
    let mut positions = alloc::vec![Position { by: Actor::Reviewer, text: issue.concern.clone() }];
    let mut engineer = |text: String| positions.push(Position { by: Actor::Engineer, text });
    let cause = match &issue.standing {
        Standing::Unanswered { silences } if *silences >= 2 => {
            engineer("the proposal as it stands (no answer was given)".to_string());
            ConflictCause::Silence
        }
        Standing::Answered(Stance::Disagree { position, rationale, alternative }) => {
            engineer(alloc::format!("{position}: {rationale}"));
            if !alternative.is_empty() {
                engineer(alternative.clone());
            }
            ConflictCause::Disagreement
        }
        Standing::Unanswered { .. } | Standing::Answered(Stance::Agree) | Standing::Decided => return None,
    };
    Some(Conflict { issue: issue.id, gap: issue.gap.clone(), cause, positions, round })
}

fn chosen(about: &QuestionId, conflict: Option<&Conflict>, choice: Choice) -> Result<String, DecisionError> {
    let stated = conflict.map(|conflict| conflict.positions.as_slice()).unwrap_or_default();
    match choice {
        Choice::Stated(number) => match stated.get(number) {
            Some(position) => Ok(position.text.clone()),
            None => Err(DecisionError::NoSuchPosition { about: about.clone(), number, stated: stated.len() }),
        },
        Choice::Written(text) if text.trim().is_empty() => Err(DecisionError::Empty { about: about.clone() }),
        Choice::Written(text) => Ok(text),
    }
}

#[cfg(test)]
#[path = "decision_tests.rs"]
mod tests;
