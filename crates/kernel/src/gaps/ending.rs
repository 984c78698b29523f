//! The end of a refinement, and what the user may do before it: narrow, accept, approve.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use super::board::Board;
use super::gap::{BlockedOn, GapId, GapSeverity, GapStatus};
use super::moves::{Actor, GapMove};
use super::row::RoundState;

/// Whether the user may approve the document as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Acceptable {
    /// Approval is allowed; the user must be shown each high gap.
    Yes { high: Vec<GapId>, lower: Vec<GapId> },
    /// Approval is refused while these are open; only a forced completion overrides this.
    No { critical: Vec<GapId>, blocking: Vec<GapId> },
}

impl Board {
    /// Whether the refinement is complete: every gap is settled and the latest review is clean.
    pub fn is_complete(&self) -> bool {
        self.unsettled().next().is_none() && self.clean_review
    }

    /// Whether the user may approve early, and what would be left open.
    pub fn acceptable(&self) -> Acceptable {
        let critical = self.ids_of(GapSeverity::Critical);
        let blocking: Vec<GapId> = self.blocking().into_iter().collect();
        if !critical.is_empty() || !blocking.is_empty() {
            return Acceptable::No { critical, blocking };
        }
        let mut lower = self.ids_of(GapSeverity::Medium);
        lower.extend(self.ids_of(GapSeverity::Low));
        Acceptable::Yes { high: self.ids_of(GapSeverity::High), lower }
    }

    /// The maximum number of rounds: set by the first inventory, minus rounds spent on work that was rolled back.
    pub fn max_rounds(&self) -> u32 {
        self.max_rounds
    }

    /// The number of rounds that may still count.
    pub fn rounds_left(&self) -> u32 {
        let counted = self.rows.iter().filter(|row| row.state.counts()).count();
        self.max_rounds.saturating_sub(u32::try_from(counted).unwrap_or(u32::MAX))
    }

    /// On the user's request, defers the medium and low gaps that no remaining gap waits for, and resets the stalls.
    /// Returns the deferred gaps. Accepted gaps stay, because their text is about to be merged.
    pub fn narrow(&mut self, why: &str) -> Vec<GapId> {
        let kept = self.gaps_to_keep();
        let deferred: Vec<GapId> =
            self.unsettled().map(|gap| gap.id.clone()).filter(|id| !kept.contains(id)).collect();
        let deferred = deferred
            .into_iter()
            .filter(|id| self.move_gap(id, GapMove::Defer, Actor::User, why).is_ok())
            .collect();
        self.stalled = 0;
        deferred
    }

    /// Whether the last round warns, and the user has not answered the warning.
    pub fn warns(&self) -> bool {
        let state = self.rows.last().map(|row| row.state);
        self.stalled > 0 && matches!(state, Some(RoundState::Warning(_) | RoundState::Diverging))
    }

    /// On the user's request, accepts the gaps as they are and resets the stalls.
    pub fn accept_complexity(&mut self) {
        self.stalled = 0;
    }

    fn gaps_to_keep(&self) -> BTreeSet<GapId> {
        let mut pending: Vec<GapId> = self
            .unsettled()
            .filter(|gap| gap.severity >= GapSeverity::High || gap.status == GapStatus::Accepted)
            .map(|gap| gap.id.clone())
            .collect();
        let mut kept = BTreeSet::new();
        while let Some(id) = pending.pop() {
            if let Some(Some(BlockedOn::Gap(on))) = self.gaps.get(&id).map(|gap| &gap.waits_for) {
                pending.push(on.clone());
            }
            kept.insert(id);
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::super::BoardRules;
    use super::super::sample::{block_on_gap, board, id, new_gap};
    use super::*;
    use GapSeverity::{Critical, High, Low, Medium};
    use std::vec;

    // SR-09
    #[test]
    fn the_limit_is_ten_or_half_the_first_inventory_and_never_changes() {
        for (gaps, limit) in [(0, 10), (20, 10), (21, 11), (25, 13), (60, 30)] {
            let inventory = (0..gaps).map(|_| new_gap("A", Low)).collect();
            let mut board = Board::open(inventory, BoardRules::default()).unwrap();
            assert_eq!(board.max_rounds(), limit);
            for _ in 0..50 {
                board.add(new_gap("B", Low)).unwrap();
            }
            assert_eq!((board.max_rounds(), board.rounds_left()), (limit, limit));
        }
    }

    // SR-09
    #[test]
    fn a_critical_or_blocking_gap_forbids_early_approval() {
        let mut board = board(&[("A", Critical), ("A", Low), ("A", Low)]);
        block_on_gap(&mut board, "GAP-A-003", "GAP-A-002");
        assert_eq!(
            board.acceptable(),
            Acceptable::No { critical: vec![id("GAP-A-001")], blocking: vec![id("GAP-A-002")] }
        );
    }

    // SR-09
    #[test]
    fn a_low_gap_that_another_waits_for_forbids_early_approval() {
        let mut board = board(&[("A", Low), ("A", Low)]);
        block_on_gap(&mut board, "GAP-A-002", "GAP-A-001");
        assert!(matches!(board.acceptable(), Acceptable::No { .. }));
    }

    // SR-09
    #[test]
    fn early_approval_names_the_high_gaps() {
        let mut board = board(&[("A", Critical), ("A", High), ("A", Low)]);
        board.move_gap(&id("GAP-A-001"), GapMove::Waive, Actor::User, "out of scope").unwrap();
        assert_eq!(
            board.acceptable(),
            Acceptable::Yes { high: vec![id("GAP-A-002")], lower: vec![id("GAP-A-003")] }
        );
    }

    // SR-08
    #[test]
    fn narrowing_defers_what_no_remaining_gap_waits_for() {
        let mut board = board(&[("A", High), ("A", Medium), ("A", Low), ("A", Low), ("A", Critical)]);
        block_on_gap(&mut board, "GAP-A-001", "GAP-A-002");
        block_on_gap(&mut board, "GAP-A-003", "GAP-A-004");
        board.stalled = 2;
        assert_eq!(board.narrow("narrowed"), [id("GAP-A-003"), id("GAP-A-004")]);
        assert_eq!(board.stalled, 0);
        assert!(
            board
                .transitions()
                .iter()
                .rev()
                .take(2)
                .all(|t| t.actor == Actor::User && t.to == GapStatus::Deferred)
        );
    }

    // SR-08
    #[test]
    fn accepting_the_complexity_resets_the_stalls_and_moves_no_gap() {
        let mut board = board(&[("A", Low)]);
        board.stalled = 2;
        let gaps = board.gaps.clone();
        board.accept_complexity();
        assert_eq!((board.stalled, &board.gaps), (0, &gaps));
    }
}
