//! The life of a gap: which status follows which, and whose word each move is (SR-02).

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

use super::board::Board;
use super::gap::{BlockedOn, GapId, GapStatus};
use super::overlap::Proposal;

/// One move in the life of a gap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Move {
    Propose(Proposal),
    Accept,
    Revise,
    /// The accepted text is in the document.
    Resolve,
    Close,
    Block(BlockedOn),
    /// Ends a block; the gap is open again, whatever it was before.
    Lift,
    Defer,
    Waive,
}

/// Whose word a move is.
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

/// Why a move is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MoveError {
    #[error("{gap} is not on the board: use the id the engine gave")]
    UnknownGap { gap: GapId },
    #[error("{gap} cannot go from {from} to {to} by the {actor}: legal from {from} is {legal}")]
    Illegal { gap: GapId, from: GapStatus, to: GapStatus, actor: Actor, legal: String },
    #[error("the proposal for {named} is offered for {gap}: propose each gap under its own id")]
    OtherGap { gap: GapId, named: GapId },
    #[error("{gap} cannot wait for {on}, which is settled: leave {gap} as it is")]
    WaitsForSettled { gap: GapId, on: GapId },
    #[error("{gap} cannot wait for {on}, which waits for {gap}: lift one of the two first")]
    Circle { gap: GapId, on: GapId },
}

/// The moves that are legal from a status, each with its one actor.
pub fn legal_moves(from: GapStatus) -> &'static [(GapStatus, Actor)] {
    use Actor::{Engine, Engineer, Reviewer, User};
    use GapStatus::{Accepted, Blocked, Closed, Deferred, NeedsRevision, Open, Proposed, Resolved, Waived};
    match from {
        Open | NeedsRevision => &[(Proposed, Engineer), (Blocked, Engine), (Deferred, User), (Waived, User)],
        Proposed => &[
            (Accepted, Reviewer),
            (NeedsRevision, Reviewer),
            (Blocked, Engine),
            (Deferred, User),
            (Waived, User),
        ],
        // Only the engine sees that an accepted text cannot be put into the document as it stands.
        Accepted => &[
            (Resolved, Engine),
            (NeedsRevision, Engine),
            (Blocked, Engine),
            (Deferred, User),
            (Waived, User),
        ],
        Blocked => &[(Open, Engine), (Deferred, User), (Waived, User)],
        Resolved => &[(Closed, Engine)],
        Closed | Deferred | Waived => &[],
    }
}

impl Move {
    /// The status the move leads to.
    pub fn target(&self) -> GapStatus {
        match self {
            Move::Propose(_) => GapStatus::Proposed,
            Move::Accept => GapStatus::Accepted,
            Move::Revise => GapStatus::NeedsRevision,
            Move::Resolve => GapStatus::Resolved,
            Move::Close => GapStatus::Closed,
            Move::Block(_) => GapStatus::Blocked,
            Move::Lift => GapStatus::Open,
            Move::Defer => GapStatus::Deferred,
            Move::Waive => GapStatus::Waived,
        }
    }
}

impl Board {
    /// Makes one move with one gap and records it; a refused move leaves the board as it was. The gaps that
    /// waited for a gap which is settled now are lifted with it.
    pub fn move_gap(&mut self, id: &GapId, wanted: Move, actor: Actor, why: &str) -> Result<(), MoveError> {
        self.check_move(id, &wanted, actor)?;
        let round = self.round;
        let to = wanted.target();
        let gap = self.gaps.get_mut(id).ok_or_else(|| MoveError::UnknownGap { gap: id.clone() })?;
        let from = core::mem::replace(&mut gap.status, to);
        gap.waits_for = None;
        match wanted {
            Move::Propose(proposal) => gap.proposal = Some(proposal),
            Move::Block(on) => gap.waits_for = Some(on),
            Move::Accept
            | Move::Revise
            | Move::Resolve
            | Move::Close
            | Move::Lift
            | Move::Defer
            | Move::Waive => {}
        }
        self.transitions.push(Transition { gap: id.clone(), from, to, actor, round, why: why.into() });
        if to.is_settled() {
            self.lift_waiting(id);
        }
        Ok(())
    }

    /// Closes every resolved gap at the end of the refinement; says which.
    pub fn close_resolved(&mut self) -> Vec<GapId> {
        let resolved: Vec<GapId> = self
            .gaps
            .values()
            .filter(|gap| gap.status == GapStatus::Resolved)
            .map(|gap| gap.id.clone())
            .collect();
        resolved
            .into_iter()
            .filter(|id| self.move_gap(id, Move::Close, Actor::Engine, "the refinement has ended").is_ok())
            .collect()
    }

    fn lift_waiting(&mut self, settled: &GapId) {
        let round = self.round;
        for gap in self.gaps.values_mut().filter(|gap| gap.waits_for == Some(BlockedOn::Gap(settled.clone())))
        {
            let from = core::mem::replace(&mut gap.status, GapStatus::Open);
            gap.waits_for = None;
            self.transitions.push(Transition {
                gap: gap.id.clone(),
                from,
                to: GapStatus::Open,
                actor: Actor::Engine,
                round,
                why: alloc::format!("{settled} is settled"),
            });
        }
    }

    fn check_move(&self, id: &GapId, wanted: &Move, actor: Actor) -> Result<(), MoveError> {
        let gap = self.gaps.get(id).ok_or_else(|| MoveError::UnknownGap { gap: id.clone() })?;
        let (from, to) = (gap.status, wanted.target());
        if !legal_moves(from).contains(&(to, actor)) {
            return Err(MoveError::Illegal { gap: id.clone(), from, to, actor, legal: legal_in_words(from) });
        }
        match wanted {
            Move::Propose(proposal) if proposal.gap != *id => {
                Err(MoveError::OtherGap { gap: id.clone(), named: proposal.gap.clone() })
            }
            Move::Block(BlockedOn::Gap(on)) => self.check_wait(id, on),
            Move::Propose(_)
            | Move::Block(BlockedOn::Decision(_) | BlockedOn::External(_))
            | Move::Accept
            | Move::Revise
            | Move::Resolve
            | Move::Close
            | Move::Lift
            | Move::Defer
            | Move::Waive => Ok(()),
        }
    }

    fn check_wait(&self, id: &GapId, on: &GapId) -> Result<(), MoveError> {
        let blocker = self.gaps.get(on).ok_or_else(|| MoveError::UnknownGap { gap: on.clone() })?;
        if blocker.status.is_settled() {
            return Err(MoveError::WaitsForSettled { gap: id.clone(), on: on.clone() });
        }
        let mut next = Some(on);
        while let Some(current) = next {
            if current == id {
                return Err(MoveError::Circle { gap: id.clone(), on: on.clone() });
            }
            next = match self.gaps.get(current).and_then(|gap| gap.waits_for.as_ref()) {
                Some(BlockedOn::Gap(further)) => Some(further),
                Some(BlockedOn::Decision(_) | BlockedOn::External(_)) | None => None,
            };
        }
        Ok(())
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

fn legal_in_words(from: GapStatus) -> String {
    let moves: Vec<String> =
        legal_moves(from).iter().map(|(to, actor)| alloc::format!("{to} by the {actor}")).collect();
    if moves.is_empty() { "nothing: the status is final".to_string() } else { moves.join(", ") }
}

#[cfg(test)]
#[path = "lifecycle_tests.rs"]
mod tests;
