//! The lifecycle of a gap: which status can follow which, and who may make each move.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use super::board::Board;
use super::gap::{BlockedOn, GapId, GapStatus};
use super::moves::{Actor, GapMove, Transition};

/// Why a move is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MoveError {
    #[error("{gap} is not on the board: use the id that the engine assigned")]
    UnknownGap { gap: GapId },
    #[error("the {actor} cannot move {gap} from {from} to {to}; from {from}, legal moves are: {legal}")]
    Illegal { gap: GapId, from: GapStatus, to: GapStatus, actor: Actor, legal: String },
    #[error("the proposal for {gap} names {named}: file each proposal under its own gap id")]
    OtherGap { gap: GapId, named: GapId },
    #[error("{gap} cannot wait for {on}, which is settled: do not block {gap}")]
    WaitsForSettled { gap: GapId, on: GapId },
    #[error("{gap} cannot wait for {on}, which waits for {gap}: unblock one of the two first")]
    Circle { gap: GapId, on: GapId },
}

/// The legal moves from a status, each with the one actor who may make it.
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
        // Only the engine notices that accepted text cannot be placed in the document.
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

impl Board {
    /// Moves a gap and records the move; a refused move changes nothing. When a gap is settled, the gaps that waited
    /// for it are unblocked.
    pub fn move_gap(
        &mut self,
        id: &GapId,
        wanted: GapMove,
        actor: Actor,
        why: &str,
    ) -> Result<(), MoveError> {
        self.check_move(id, &wanted, actor)?;
        let round = self.round;
        let to = wanted.target();
        let gap = self.gaps.get_mut(id).ok_or_else(|| MoveError::UnknownGap { gap: id.clone() })?;
        let from = core::mem::replace(&mut gap.status, to);
        gap.waits_for = None;
        match wanted {
            GapMove::Propose(proposal) => gap.proposal = Some(proposal),
            GapMove::Block(on) => gap.waits_for = Some(on),
            GapMove::Accept
            | GapMove::Revise
            | GapMove::Resolve
            | GapMove::Close
            | GapMove::Lift
            | GapMove::Defer
            | GapMove::Waive => {}
        }
        self.transitions.push(Transition { gap: id.clone(), from, to, actor, round, why: why.into() });
        if to.is_settled() {
            self.unblock_waiting(id);
        }
        Ok(())
    }

    /// Closes all resolved gaps at the end of the refinement and returns them.
    pub fn close_resolved(&mut self) -> Vec<GapId> {
        let resolved: Vec<GapId> = self
            .gaps
            .values()
            .filter(|gap| gap.status == GapStatus::Resolved)
            .map(|gap| gap.id.clone())
            .collect();
        resolved
            .into_iter()
            .filter(|id| self.move_gap(id, GapMove::Close, Actor::Engine, "the refinement has ended").is_ok())
            .collect()
    }

    fn unblock_waiting(&mut self, settled: &GapId) {
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

    fn check_move(&self, id: &GapId, wanted: &GapMove, actor: Actor) -> Result<(), MoveError> {
        let gap = self.gaps.get(id).ok_or_else(|| MoveError::UnknownGap { gap: id.clone() })?;
        let (from, to) = (gap.status, wanted.target());
        if !legal_moves(from).contains(&(to, actor)) {
            return Err(MoveError::Illegal { gap: id.clone(), from, to, actor, legal: legal_in_words(from) });
        }
        match wanted {
            GapMove::Propose(proposal) if proposal.gap != *id => {
                Err(MoveError::OtherGap { gap: id.clone(), named: proposal.gap.clone() })
            }
            GapMove::Block(BlockedOn::Gap(on)) => self.check_wait(id, on),
            GapMove::Propose(_)
            | GapMove::Block(BlockedOn::Decision(_) | BlockedOn::External(_))
            | GapMove::Accept
            | GapMove::Revise
            | GapMove::Resolve
            | GapMove::Close
            | GapMove::Lift
            | GapMove::Defer
            | GapMove::Waive => Ok(()),
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

fn legal_in_words(from: GapStatus) -> String {
    let moves: Vec<String> =
        legal_moves(from).iter().map(|(to, actor)| alloc::format!("{to} by the {actor}")).collect();
    if moves.is_empty() { "none, the status is final".to_string() } else { moves.join(", ") }
}

#[cfg(test)]
#[path = "lifecycle_tests.rs"]
mod tests;
