//! Closes a round: turns the outputs of both roles into gap moves, counts, conflicts and one result for the workflow.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use super::board::{AddError, Board};
use super::convergence::Counting;
use super::gap::{GapId, GapStatus};
use super::issue::{EngineerAnswer, IssueState, ReviewIssueId, Stance};
use super::lifecycle::MoveError;
use super::moves::{Actor, GapMove};
use super::overlap::{Overlap, Placement, placements};
use super::round::{
    Autonomy, EngineerOutput, EngineerTurn, ProposalVerdict, ReviewerJudgement, ReviewerOutput, ReviewerTurn,
    RoundInput,
};
use super::row::{RoundRow, RoundState};

/// The result of the operation `close-round`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoundEnd {
    Complete,
    Converging,
    /// The first round without net progress, or the first failure of the engineer: the refinement continues.
    Stalled,
    /// Another round without net progress: the user chooses how to continue.
    Warning,
    Diverging,
    /// The user must decide between positions.
    Conflict,
    /// Every unsettled gap is blocked.
    Waiting,
    /// Neither role delivered anything although there is work, or the engineer failed twice in a row.
    Empty,
}

/// A closed round: the board for the next one, and everything to report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ClosedRound {
    pub end: RoundEnd,
    pub board: Board,
    pub row: RoundRow,
    /// The passages to insert into the document. If one cannot be inserted, the round is closed again with its gap
    /// listed as unplaced.
    pub placements: Vec<Placement>,
    pub overlaps: Vec<Overlap>,
    /// The conflicts that are new in this round.
    pub conflicts: Vec<ReviewIssueId>,
    pub must_answer: Vec<ReviewIssueId>,
    pub notices: Vec<Notice>,
    /// One sentence with the evidence for `end`.
    pub explanation: String,
}

/// Something that is reported to the user in addition to the result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Notice {
    EngineerFailed {
        why: String,
        in_a_row: u32,
    },
    /// The reviewer failed; the unreviewed proposals are reviewed first in the next round.
    ReviewerFailed {
        why: String,
        unreviewed: Vec<GapId>,
    },
    /// The engineer disagreed with more than half of the pending issues.
    MostDisagreed {
        disagreed: usize,
        of: usize,
    },
    /// The engineer disagreed with a decided issue; the decision still applies.
    DecisionStands {
        issue: ReviewIssueId,
    },
    /// No rounds are left.
    RoundsSpent {
        max: u32,
    },
}

/// Why a round cannot be closed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CloseError {
    #[error(
        "the outputs belong to round {given}, but the current round is {expected}: close each round once, in order"
    )]
    OtherRound { given: u32, expected: u32 },
    #[error("round {round} has a review, but its engineer failed: skip the reviewer")]
    ReviewOfFailure { round: u32 },
    #[error("{issue} was never raised: use the ids from the review")]
    UnknownIssue { issue: ReviewIssueId },
    #[error("{issue} is answered twice: give one stance for it")]
    AnsweredTwice { issue: ReviewIssueId },
    #[error("{gap} is listed as unplaced, but it has no text to place: remove it from the list")]
    NotPlaceable { gap: GapId },
    #[error(transparent)]
    Move(#[from] MoveError),
    #[error(transparent)]
    Add(#[from] AddError),
}

/// Closes the current round. On error, the given board is still valid.
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
    let explanation = format!(
        "{}; consecutive failures: {in_a_row}; reason: {why}",
        row.explanation(&board.rules.thresholds)
    );
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
    let mut notices = board.apply_answers(&output.answers, &pending)?;
    board.apply_proposals(output)?;
    board.apply_review(&input.reviewer, &mut notices)?;
    let (placements, overlaps) = board.place_texts(input)?;
    board.count_silences(&pending);
    let conflicts = board.find_conflicts()?;
    let counting = match input.reviewer {
        ReviewerTurn::Failed { .. } => Counting::Unreviewed,
        ReviewerTurn::Skipped | ReviewerTurn::Delivered(_) => Counting::Counted,
    };
    let row = board.count_round(counting);
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
    let needs_user = match input.autonomy {
        Autonomy::Interactive => board.undecided().next().is_some(),
        Autonomy::Autonomous => false,
    };
    if board.is_complete() {
        RoundEnd::Complete
    } else if needs_user {
        RoundEnd::Conflict
    } else if board.all_blocked() {
        RoundEnd::Waiting
    } else if input.is_empty() && !board.blocked_in_this_round() {
        RoundEnd::Empty
    } else {
        match row.state {
            RoundState::Converging => RoundEnd::Converging,
            RoundState::Stalled(_) | RoundState::Unreviewed => RoundEnd::Stalled,
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
                "round {round} completes the refinement: all {} gaps are settled and the last review is clean",
                board.gaps.len()
            )
        }
        RoundEnd::Conflict => format!(
            "round {round} needs a decision about {}",
            join(board.undecided().map(|conflict| format!("{} ({})", conflict.issue, conflict.gap)))
        ),
        RoundEnd::Waiting => {
            format!("round {round} waits: all unsettled gaps are blocked: {}", unsettled())
        }
        RoundEnd::Empty if board.unsettled().next().is_none() => {
            format!("round {round} is empty: no gap is open, but the final clean review is missing")
        }
        RoundEnd::Empty => {
            format!(
                "round {round} is empty: neither role delivered anything, and these gaps are open: {}",
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
    fn apply_answers(
        &mut self,
        answers: &[EngineerAnswer],
        pending: &[ReviewIssueId],
    ) -> Result<Vec<Notice>, CloseError> {
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
            if issue.state != IssueState::Decided {
                issue.state = IssueState::Answered(answer.stance.clone());
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

    fn apply_proposals(&mut self, output: &EngineerOutput) -> Result<(), CloseError> {
        for proposal in &output.proposals {
            let wanted = GapMove::Propose(proposal.clone());
            self.move_gap(&proposal.gap, wanted, Actor::Engineer, &proposal.solution)?;
        }
        for gap in &output.new_gaps {
            self.add(gap.clone())?;
        }
        Ok(())
    }

    fn apply_review(&mut self, turn: &ReviewerTurn, notices: &mut Vec<Notice>) -> Result<(), CloseError> {
        match turn {
            ReviewerTurn::Skipped => {}
            ReviewerTurn::Failed { why } => {
                let unreviewed = self.unreviewed().map(|gap| gap.id.clone()).collect();
                notices.push(Notice::ReviewerFailed { why: why.clone(), unreviewed });
            }
            ReviewerTurn::Delivered(output) => self.apply_reviewer_output(output)?,
        }
        Ok(())
    }

    fn apply_reviewer_output(&mut self, output: &ReviewerOutput) -> Result<(), CloseError> {
        for ProposalVerdict { gap, judgement } in &output.verdicts {
            let (wanted, why) = match judgement {
                ReviewerJudgement::Approved => (GapMove::Accept, "approved"),
                ReviewerJudgement::ApprovedWithNote(note) => (GapMove::Accept, note.as_str()),
                ReviewerJudgement::NeedsRevision(why) => (GapMove::Revise, why.as_str()),
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

    /// Resolves the gaps whose text can be placed; overlapping or unplaceable text goes back to the engineer.
    fn place_texts(&mut self, input: &RoundInput) -> Result<(Vec<Placement>, Vec<Overlap>), CloseError> {
        for unplaced in &input.unplaced {
            let why = format!("the text could not be placed: {}", unplaced.why);
            self.move_gap(&unplaced.gap, GapMove::Revise, Actor::Engine, &why)
                .map_err(|_| CloseError::NotPlaceable { gap: unplaced.gap.clone() })?;
        }
        let (placements, overlaps) = placements(self, &input.places);
        for overlap in &overlaps {
            self.move_gap(&overlap.second, GapMove::Revise, Actor::Engine, &overlap.to_string())?;
        }
        for placement in &placements {
            for gap in &placement.gaps {
                let why = format!("the text was added to section `{}`", placement.section);
                self.move_gap(gap, GapMove::Resolve, Actor::Engine, &why)?;
            }
        }
        Ok((placements, overlaps))
    }

    fn count_silences(&mut self, pending: &[ReviewIssueId]) {
        for id in pending {
            let contested = self.issues.get(id).is_some_and(|issue| self.is_contested(&issue.gap));
            if let Some(issue) = self.issues.get_mut(id).filter(|issue| contested && issue.is_serious())
                && let IssueState::Unanswered { silences } = &mut issue.state
            {
                *silences = silences.saturating_add(1);
            }
        }
    }

    /// Whether the engine blocked a gap in this round. The refinement then continues with the other gaps.
    fn blocked_in_this_round(&self) -> bool {
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
