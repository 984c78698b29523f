//! The gap board: the gaps of a document, worked on in rounds until all are settled.
//!
//! The module is pure and independent of any workflow. Agents' outputs enter only through [`close_round`], users'
//! decisions only through [`Board::decide`], [`Board::narrow`], [`Board::accept_complexity`] and [`Rounds::restore`].

mod archive;
mod assignment;
mod board;
mod close;
mod conflict;
mod convergence;
mod decision;
mod dispute;
mod ending;
mod gap;
mod issue;
mod lifecycle;
mod moves;
mod overlap;
mod round;
mod row;
mod section;

#[cfg(test)]
mod sample;

pub use archive::{
    ArchivedRound, RetryMode, RollbackCause, RollbackError, RollbackRequest, RoundAttempt, RoundRollback,
    Rounds, archive_name,
};
pub use assignment::{Assignment, RoundWork, Wait, assign};
pub use board::{AddError, Board, BoardRules};
pub use close::{CloseError, ClosedRound, Notice, RoundEnd, close_round};
pub use conflict::{Conflict, ConflictCause, Grounds, Position, UserDecision};
pub use convergence::table;
pub use decision::{DecisionChoice, DecisionError};
pub use ending::Acceptable;
pub use gap::{BlockedOn, Gap, GapId, GapSeverity, GapStatus, IdError, NewGap, Proposal, QuestionId};
pub use issue::{
    EngineerAnswer, IssueState, NewIssue, ReviewIssue, ReviewIssueId, ReviewIssueIdError, Stance,
};
pub use lifecycle::{MoveError, legal_moves};
pub use moves::{Actor, GapMove, Transition};
pub use overlap::{Overlap, OverlapKind, Placement, overlaps};
pub use round::{
    Autonomy, EngineerOutput, EngineerTurn, ProposalVerdict, ReviewerJudgement, ReviewerOutput, ReviewerTurn,
    RoundInput, Unplaced,
};
pub use row::{RoundRow, RoundState, Thresholds, Weights};
pub use section::{SectionPaths, WITHIN, section_name, section_path};
