//! The close of a round: both outputs become gap moves, numbers, conflicts and one word for the workflow.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use super::board::{AddError, Board};
use super::convergence::{Counting, RoundRow, RoundState};
use super::gap::{GapId, GapStatus};
use super::issue::{Answer, IssueId, Stance, Standing};
use super::lifecycle::{Actor, Move, MoveError};
use super::overlap::{Overlap, Placement, placements};
use super::round::{
    Autonomy, EngineerOutput, EngineerTurn, Judgement, ReviewerOutput, ReviewerTurn, RoundInput, Verdict,
};

/// The word of the operation `close-round`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoundEnd {
    Complete,
    Converging,
    /// No net progress for the first time, or a first round without an engineer: it goes on.
    Stalled,
    /// No net progress again; the user chooses.
    Warning,
    Diverging,
    /// The user has to decide between positions.
    Conflict,
    /// Every gap that is left is blocked.
    Waiting,
    /// Nobody delivered anything although there is work, or the engineer failed twice in a row.
    Empty,
}

/// A closed round: the board of the next one, and all there is to tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ClosedRound {
    pub end: RoundEnd,
    pub board: Board,
    pub row: RoundRow,
    /// The texts to be put into the document. Where that fails, the round is closed again with the gap
    /// listed as unplaced.
    pub placements: Vec<Placement>,
    pub overlaps: Vec<Overlap>,
    /// The conflicts that this round brought.
    pub conflicts: Vec<IssueId>,
    pub must_answer: Vec<IssueId>,
    pub notices: Vec<Notice>,
    /// One sentence with the evidence for `end`.
    pub explanation: String,
}

/// Something the user is told besides the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Notice {
    EngineerFailed {
        why: String,
        in_a_row: u32,
    },
    /// The proposals that nobody reviewed; they are reviewed first in the next round.
    ReviewerFailed {
        why: String,
        unreviewed: Vec<GapId>,
    },
    /// More than half of the issues that waited for an answer were disagreed with.
    MostDisagreed {
        disagreed: usize,
        of: usize,
    },
    /// The engineer disagreed with a decided issue; the decision stands.
    DecisionStands {
        issue: IssueId,
    },
    /// The last round that may count has been closed.
    RoundsSpent {
        max: u32,
    },
}

/// Why a round cannot be closed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CloseError {
    #[error(
        "the outputs are of round {given}, but round {expected} is under way: close each round once, in order"
    )]
    OtherRound { given: u32, expected: u32 },
    #[error("round {round} has a review although its engineer failed: skip the reviewer")]
    ReviewOfFailure { round: u32 },
    #[error("{issue} was never raised: answer by the ids in the review")]
    UnknownIssue { issue: IssueId },
    #[error("{issue} is answered twice: give one stance for it")]
    AnsweredTwice { issue: IssueId },
    #[error("{gap} is listed as unplaced, but no text of it was to be placed: drop it from the list")]
    NotPlaceable { gap: GapId },
    #[error(transparent)]
    Move(#[from] MoveError),
    #[error(transparent)]
    Add(#[from] AddError),
}

/// Closes the round under way. On an error nothing has happened: the given board still holds.
pub fn close_round(board: &Board, input: &RoundInput) -> Result<ClosedRound, CloseError> {
    if input.round != board.round {
        return Err(CloseError::OtherRound { given: input.round, expected: board.round });
    }
    match (&input.engineer, &input.reviewer) {
        (EngineerTurn::Failed { .. }, ReviewerTurn::Failed { .. } | ReviewerTurn::Delivered(_)) => {
            Err(CloseError::ReviewOfFailure { round: input.round })
        }
        (EngineerTurn::Failed { why }, ReviewerTurn::Skipped) => Ok(close_failed(board.clone(), why)),
        (
            EngineerTurn::Delivered(output),
            ReviewerTurn::Skipped | ReviewerTurn::Failed { .. } | ReviewerTurn::Delivered(_),
        ) => close_delivered(board.clone(), output, input),
    }
}

fn close_failed(mut board: Board, why: &str) -> ClosedRound {
    board.failed_in_a_row = board.failed_in_a_row.saturating_add(1);
    let in_a_row = board.failed_in_a_row;
    let row = board.count_round(Counting::Failed);
    let explanation =
        format!("{}; failed {in_a_row} in a row: {why}", row.explanation(&board.rules.thresholds));
    board.finish(row.clone());
    ClosedRound {
        end: if in_a_row < 2 { RoundEnd::Stalled } else { RoundEnd::Empty },
        must_answer: board.must_answer(),
        board,
        row,
        placements: Vec::new(),
        overlaps: Vec::new(),
        conflicts: Vec::new(),
        notices: alloc::vec![Notice::EngineerFailed { why: why.into(), in_a_row }],
        explanation,
    }
}

fn close_delivered(
    mut board: Board,
    output: &EngineerOutput,
    input: &RoundInput,
) -> Result<ClosedRound, CloseError> {
    board.failed_in_a_row = 0;
    let pending = board.pending_issues(&input.asked);
    let mut notices = board.take_answers(&output.answers, &pending)?;
    board.take_proposals(output)?;
    board.take_review(&input.reviewer, &mut notices)?;
    let (placements, overlaps) = board.place(input)?;
    board.count_silences(&pending);
    let conflicts = board.find_conflicts()?;
    let row = board.count_round(Counting::Counted);
    let end = end_of(&board, input, &row);
    let explanation = explanation(&board, end, &row);
    board.finish(row.clone());
    if board.rounds_left() == 0 {
        notices.push(Notice::RoundsSpent { max: board.max_rounds });
    }
    let must_answer = board.must_answer();
    Ok(ClosedRound { end, board, row, placements, overlaps, conflicts, must_answer, notices, explanation })
}

fn end_of(board: &Board, input: &RoundInput, row: &RoundRow) -> RoundEnd {
    let asks = match input.autonomy {
        Autonomy::Interactive => board.undecided().next().is_some(),
        Autonomy::Autonomous => false,
    };
    if board.is_complete() {
        RoundEnd::Complete
    } else if asks {
        RoundEnd::Conflict
    } else if board.all_blocked() {
        RoundEnd::Waiting
    } else if input.is_empty() && !board.was_blocked_now() {
        RoundEnd::Empty
    } else {
        match row.state {
            RoundState::Converging => RoundEnd::Converging,
            RoundState::Stalled(_) => RoundEnd::Stalled,
            RoundState::Warning(_) => RoundEnd::Warning,
            RoundState::Diverging => RoundEnd::Diverging,
            RoundState::Failed | RoundState::Skipped => RoundEnd::Empty,
        }
    }
}

fn explanation(board: &Board, end: RoundEnd, row: &RoundRow) -> String {
    let round = row.round;
    let unsettled = || join(board.unsettled().map(|gap| gap.id.to_string()));
    match end {
        RoundEnd::Complete => {
            format!(
                "round {round} completes: all {} gaps are settled and the last review is clean",
                board.gaps.len()
            )
        }
        RoundEnd::Conflict => format!(
            "round {round} needs a decision about {}",
            join(board.undecided().map(|conflict| format!("{} ({})", conflict.issue, conflict.gap)))
        ),
        RoundEnd::Waiting => {
            format!("round {round} waits: every gap that is left is blocked: {}", unsettled())
        }
        RoundEnd::Empty if board.unsettled().next().is_none() => {
            format!("round {round} is empty: no gap is open, but a clean review is owed and nobody reviewed")
        }
        RoundEnd::Empty => {
            format!(
                "round {round} is empty: neither role delivered anything, and these are open: {}",
                unsettled()
            )
        }
        RoundEnd::Converging | RoundEnd::Stalled | RoundEnd::Warning | RoundEnd::Diverging => {
            row.explanation(&board.rules.thresholds)
        }
    }
}

fn join(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

impl Board {
    fn take_answers(&mut self, answers: &[Answer], pending: &[IssueId]) -> Result<Vec<Notice>, CloseError> {
        let mut notices = Vec::new();
        let mut seen = BTreeSet::new();
        let mut disagreed = 0;
        for answer in answers {
            if !seen.insert(answer.issue) {
                return Err(CloseError::AnsweredTwice { issue: answer.issue });
            }
            let unknown = CloseError::UnknownIssue { issue: answer.issue };
            let issue = self.issues.get_mut(&answer.issue).ok_or(unknown)?;
            let disagrees = answer.stance != Stance::Agree;
            if issue.standing != Standing::Decided {
                issue.standing = Standing::Answered(answer.stance.clone());
            } else if disagrees {
                notices.push(Notice::DecisionStands { issue: answer.issue });
            }
            disagreed += usize::from(disagrees && pending.contains(&answer.issue));
        }
        if disagreed.saturating_mul(2) > pending.len() {
            notices.push(Notice::MostDisagreed { disagreed, of: pending.len() });
        }
        Ok(notices)
    }

    fn take_proposals(&mut self, output: &EngineerOutput) -> Result<(), CloseError> {
        for proposal in &output.proposals {
            let wanted = Move::Propose(proposal.clone());
            self.move_gap(&proposal.gap, wanted, Actor::Engineer, &proposal.solution)?;
        }
        for gap in &output.new_gaps {
            self.add(gap.clone())?;
        }
        Ok(())
    }

    fn take_review(&mut self, turn: &ReviewerTurn, notices: &mut Vec<Notice>) -> Result<(), CloseError> {
        match turn {
            ReviewerTurn::Skipped => {}
            ReviewerTurn::Failed { why } => {
                let unreviewed = self.unreviewed().map(|gap| gap.id.clone()).collect();
                notices.push(Notice::ReviewerFailed { why: why.clone(), unreviewed });
            }
            ReviewerTurn::Delivered(output) => self.take_output(output)?,
        }
        Ok(())
    }

    fn take_output(&mut self, output: &ReviewerOutput) -> Result<(), CloseError> {
        for Verdict { gap, judgement } in &output.verdicts {
            let (wanted, why) = match judgement {
                Judgement::Approved => (Move::Accept, "approved"),
                Judgement::ApprovedWithNote(note) => (Move::Accept, note.as_str()),
                Judgement::NeedsRevision(why) => (Move::Revise, why.as_str()),
            };
            self.move_gap(gap, wanted, Actor::Reviewer, why)?;
        }
        for issue in &output.issues {
            if !self.gaps.contains_key(&issue.gap) {
                return Err(MoveError::UnknownGap { gap: issue.gap.clone() }.into());
            }
            self.raise(issue.clone());
        }
        for gap in &output.new_gaps {
            self.add(gap.clone())?;
        }
        self.clean_review = output.is_clean();
        Ok(())
    }

    /// Resolves what can be placed; what overlaps it or could not be placed goes back to the engineer.
    fn place(&mut self, input: &RoundInput) -> Result<(Vec<Placement>, Vec<Overlap>), CloseError> {
        for unplaced in &input.unplaced {
            let why = format!("the text could not be placed: {}", unplaced.why);
            self.move_gap(&unplaced.gap, Move::Revise, Actor::Engine, &why)
                .map_err(|_| CloseError::NotPlaceable { gap: unplaced.gap.clone() })?;
        }
        let (placements, overlaps) = placements(self, &input.places);
        for overlap in &overlaps {
            self.move_gap(&overlap.second, Move::Revise, Actor::Engine, &overlap.to_string())?;
        }
        for placement in &placements {
            for gap in &placement.gaps {
                let why = format!("the text is in section `{}`", placement.section);
                self.move_gap(gap, Move::Resolve, Actor::Engine, &why)?;
            }
        }
        Ok((placements, overlaps))
    }

    fn count_silences(&mut self, pending: &[IssueId]) {
        for id in pending {
            let contested = self.issues.get(id).is_some_and(|issue| self.is_contested(&issue.gap));
            if let Some(issue) = self.issues.get_mut(id).filter(|issue| contested && issue.is_weighty())
                && let Standing::Unanswered { silences } = &mut issue.standing
            {
                *silences = silences.saturating_add(1);
            }
        }
    }

    /// Tells whether the engine found in this round that a gap has to wait: the others are next.
    fn was_blocked_now(&self) -> bool {
        let mut moves = self.transitions.iter().filter(|moved| moved.round == self.round);
        moves.any(|moved| moved.to == GapStatus::Blocked && moved.actor == Actor::Engine)
    }

    fn finish(&mut self, row: RoundRow) {
        self.rows.push(row);
        self.round = self.round.saturating_add(1);
    }
}

#[cfg(test)]
#[path = "close_tests.rs"]
mod tests;
