//! The moves of a gap, who makes them, and the record of each.

use alloc::string::String;
use core::fmt;
use serde::{Deserialize, Serialize};

use super::gap::{BlockedOn, GapId, GapStatus, Proposal};

/// One move in the lifecycle of a gap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GapMove {
    Propose(Proposal),
    Accept,
    Revise,
    /// The accepted text is in the document.
    Resolve,
    Close,
    Block(BlockedOn),
    /// Unblocks the gap; it is open again, whatever its status was before.
    Lift,
    Defer,
    Waive,
}

/// Who makes a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Actor {
    Engineer,
    Reviewer,
    Engine,
    User,
}

/// The record of one move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transition {
    pub gap: GapId,
    pub from: GapStatus,
    pub to: GapStatus,
    pub actor: Actor,
    pub round: u32,
    pub why: String,
}

impl GapMove {
    /// The status after the move.
    pub fn target(&self) -> GapStatus {
        match self {
            GapMove::Propose(_) => GapStatus::Proposed,
            GapMove::Accept => GapStatus::Accepted,
            GapMove::Revise => GapStatus::NeedsRevision,
            GapMove::Resolve => GapStatus::Resolved,
            GapMove::Close => GapStatus::Closed,
            GapMove::Block(_) => GapStatus::Blocked,
            GapMove::Lift => GapStatus::Open,
            GapMove::Defer => GapStatus::Deferred,
            GapMove::Waive => GapStatus::Waived,
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Actor::Engineer => "engineer",
            Actor::Reviewer => "reviewer",
            Actor::Engine => "engine",
            Actor::User => "user",
        })
    }
}
