//! The gap board: gaps of a document, worked on in rounds until none is left (SR).
//!
//! Pure, and bound to no workflow. Agents' outputs come in through [`close_round`] only; what a user decides
//! through [`Board::decide`], [`Board::narrow`], [`Board::accept_complexity`] and [`Rounds::restore`].

mod archive;
mod assignment;
mod board;
mod close;
mod convergence;
mod decision;
mod ending;
mod gap;
mod issue;
mod lifecycle;
mod overlap;
mod round;
mod section;

#[cfg(test)]
mod sample;

pub use archive::{
    ArchivedRound, Attempt, RetryMode, Rollback, RollbackCause, RollbackError, RollbackRequest, Rounds,
    archive_name,
};
pub use assignment::{Assignment, Wait, Work, assign};
pub use board::{AddError, Board, Rules};
pub use close::{CloseError, ClosedRound, Notice, RoundEnd, close_round};
pub use convergence::{RoundRow, RoundState, Thresholds, Weights, table};
pub use decision::{Choice, Conflict, ConflictCause, Decision, DecisionError, Grounds, Position, QuestionId};
pub use ending::Acceptable;
pub use gap::{BlockedOn, Gap, GapId, GapSeverity, GapStatus, IdError, NewGap};
pub use issue::{Answer, Issue, IssueId, IssueIdError, NewIssue, Stance, Standing};
pub use lifecycle::{Actor, Move, MoveError, Transition, legal_moves};
pub use overlap::{Overlap, OverlapKind, Placement, Proposal, overlaps};
pub use round::{
    Autonomy, EngineerOutput, EngineerTurn, Judgement, ReviewerOutput, ReviewerTurn, RoundInput, Unplaced,
    Verdict,
};
pub use section::{Places, WITHIN, section_name, section_path};
