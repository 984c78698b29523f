//! Conflicts between engineer and reviewer, and the decisions that end them.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use super::board::Board;
use super::conflict::{Conflict, ConflictCause, Grounds, Position, UserDecision};
use super::gap::{BlockedOn, GapId, QuestionId};
use super::issue::{IssueState, ReviewIssue, ReviewIssueId, Stance};
use super::lifecycle::MoveError;
use super::moves::{Actor, GapMove};

/// What the user chooses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecisionChoice {
    /// The position with this index.
    Stated(usize),
    Written(String),
}

/// Why a decision is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecisionError {
    #[error(
        "nothing is waiting for a decision about {about}: name an open conflict or what a gap is blocked on"
    )]
    Unasked { about: QuestionId },
    #[error("{about} is already decided, and the first decision binds: roll the round back to decide again")]
    Taken { about: QuestionId },
    #[error("{about} has no position {number}: choose a number below {stated}, or write a position")]
    NoSuchPosition { about: QuestionId, number: usize, stated: usize },
    #[error("the position written for {about} is empty: say what should apply")]
    Empty { about: QuestionId },
    #[error(transparent)]
    Move(#[from] MoveError),
}

impl Board {
    /// Records the user's decision and unblocks every gap that waited for it. On error, the board is unchanged.
    pub fn decide(
        &mut self,
        about: &QuestionId,
        choice: DecisionChoice,
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
        let choice = chosen_position(about, conflict.as_ref(), choice)?;
        let mut next = self.clone();
        for gap in &gaps {
            next.move_gap(
                gap,
                GapMove::Lift,
                Actor::Engine,
                &alloc::format!("{about} is decided: {choice}"),
            )?;
        }
        if let Some(conflict) = &conflict {
            if let Some(issue) = next.issues.get_mut(&conflict.issue) {
                issue.state = IssueState::Decided;
            }
            if !gaps.contains(&conflict.gap) {
                gaps.push(conflict.gap.clone());
            }
        }
        // The round is closed when the user is asked about it.
        let round = self.rows.last().map_or(self.round, |row| row.round);
        next.decisions.push(UserDecision { about: about.clone(), gaps, choice, grounds, round });
        next.block_undecided()?;
        *self = next;
        Ok(())
    }

    /// The conflicts about unsettled gaps that have no decision.
    pub fn undecided(&self) -> impl Iterator<Item = &Conflict> {
        self.conflicts.values().filter(|conflict| {
            self.issues.get(&conflict.issue).is_some_and(|issue| issue.state != IssueState::Decided)
                && self.gaps.get(&conflict.gap).is_some_and(|gap| !gap.status.is_settled())
        })
    }

    /// The decisions that bind work on a gap.
    pub fn binding(&self, gap: &GapId) -> impl Iterator<Item = &UserDecision> {
        self.decisions.iter().filter(move |decision| decision.gaps.contains(gap))
    }

    /// Finds new conflicts among the serious issues and blocks their gaps until the user decides.
    pub(super) fn find_conflicts(&mut self) -> Result<Vec<ReviewIssueId>, MoveError> {
        let found: Vec<Conflict> = self
            .issues
            .values()
            .filter(|issue| issue.is_serious() && self.is_contested(&issue.gap))
            .filter(|issue| !self.conflicts.contains_key(&issue.id))
            .filter_map(|issue| find_conflict(issue, self.round))
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
            // A gap waits for one decision at a time; after it, the gap's next conflict blocks the gap.
            if self.is_contested(&gap) {
                let why = alloc::format!("engineer and reviewer differ about {question}");
                self.move_gap(&gap, GapMove::Block(BlockedOn::Decision(question)), Actor::Engine, &why)?;
            }
        }
        Ok(())
    }

    /// The gaps that a decision unblocks. For a gap that waits for something external, the question is the id of the
    /// gap.
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

fn find_conflict(issue: &ReviewIssue, round: u32) -> Option<Conflict> {
    let reviewer =
        Position { by: Actor::Reviewer, text: issue.concern.clone(), trade_off: issue.trade_off.clone() };
    let mut positions = alloc::vec![reviewer];
    let mut add_engineer = |text: String, trade_off: &str| {
        positions.push(Position { by: Actor::Engineer, text, trade_off: trade_off.to_string() });
    };
    let cause = match &issue.state {
        IssueState::Unanswered { silences } if *silences >= 2 => {
            add_engineer("the proposal as it is (no answer was given)".to_string(), "");
            ConflictCause::Silence
        }
        IssueState::Answered(Stance::Disagree {
            position,
            rationale,
            alternative,
            trade_off,
            alternative_trade_off,
        }) => {
            add_engineer(alloc::format!("{position}: {rationale}"), trade_off);
            if !alternative.is_empty() {
                add_engineer(alternative.clone(), alternative_trade_off);
            }
            ConflictCause::Disagreement
        }
        IssueState::Unanswered { .. } | IssueState::Answered(Stance::Agree) | IssueState::Decided => {
            return None;
        }
    };
    Some(Conflict { issue: issue.id, gap: issue.gap.clone(), cause, positions, round })
}

fn chosen_position(
    about: &QuestionId,
    conflict: Option<&Conflict>,
    choice: DecisionChoice,
) -> Result<String, DecisionError> {
    let stated = conflict.map(|conflict| conflict.positions.as_slice()).unwrap_or_default();
    match choice {
        DecisionChoice::Stated(number) => match stated.get(number) {
            Some(position) => Ok(position.text.clone()),
            None => Err(DecisionError::NoSuchPosition { about: about.clone(), number, stated: stated.len() }),
        },
        DecisionChoice::Written(text) if text.trim().is_empty() => {
            Err(DecisionError::Empty { about: about.clone() })
        }
        DecisionChoice::Written(text) => Ok(text),
    }
}

#[cfg(test)]
#[path = "decision_tests.rs"]
mod tests;
