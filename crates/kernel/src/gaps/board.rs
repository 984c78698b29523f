//! The board: every gap, issue and decision of one document, and the current round.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use super::conflict::{Conflict, UserDecision};
use super::gap::{BlockedOn, Gap, GapId, GapSeverity, GapStatus, IdError, NewGap};
use super::issue::{ReviewIssue, ReviewIssueId};
use super::moves::{Actor, GapMove, Transition};
use super::row::{RoundRow, Thresholds};

/// The state of one refinement. Only this module changes it, so every change is legal and recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Board {
    pub(super) rules: BoardRules,
    pub(super) round: u32,
    pub(super) max_rounds: u32,
    pub(super) gaps: BTreeMap<GapId, Gap>,
    pub(super) transitions: Vec<Transition>,
    pub(super) issues: BTreeMap<ReviewIssueId, ReviewIssue>,
    pub(super) conflicts: BTreeMap<ReviewIssueId, Conflict>,
    pub(super) decisions: Vec<UserDecision>,
    pub(super) rows: Vec<RoundRow>,
    /// Consecutive rounds without net progress; a user's answer to a stall resets the count too.
    pub(super) stalled: u32,
    pub(super) failed_in_a_row: u32,
    /// Whether the latest review was clean. This stays valid until the next review, because text enters the document
    /// only through a review.
    pub(super) clean_review: bool,
    pub(super) issued: Issued,
}

/// The configuration of a refinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct BoardRules {
    /// The maximum number of gaps that an engineer gets in one round.
    pub assigned: usize,
    /// The maximum number of rounds, unless half the number of gaps in the first inventory is greater.
    pub rounds: u32,
    pub thresholds: Thresholds,
    pub rollbacks_per_round: u32,
    pub rollbacks_per_run: u32,
}

impl Default for BoardRules {
    fn default() -> BoardRules {
        BoardRules {
            assigned: 7,
            rounds: 10,
            thresholds: Thresholds::default(),
            rollbacks_per_round: 2,
            rollbacks_per_run: 5,
        }
    }
}

/// The numbers assigned so far. A rollback keeps them, so an archived gap and a new one never share an id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Issued {
    gaps: BTreeMap<String, u32>,
    issues: BTreeMap<u32, u32>,
}

/// Why a gap cannot be added to the board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AddError {
    #[error(transparent)]
    Id(#[from] IdError),
    #[error(
        "a gap of category {category} was split from {parent}, which is not on the board: name a known gap"
    )]
    UnknownParent { category: String, parent: GapId },
}

impl Board {
    /// Opens a board with the first inventory, which determines the maximum number of rounds.
    pub fn open(inventory: Vec<NewGap>, rules: BoardRules) -> Result<Board, AddError> {
        let mut board = Board {
            rules,
            round: 0,
            max_rounds: max_rounds(inventory.len(), rules.rounds),
            gaps: BTreeMap::new(),
            transitions: Vec::new(),
            issues: BTreeMap::new(),
            conflicts: BTreeMap::new(),
            decisions: Vec::new(),
            rows: Vec::new(),
            stalled: 0,
            failed_in_a_row: 0,
            clean_review: false,
            issued: Issued::default(),
        };
        let mut waits = Vec::new();
        for gap in inventory {
            let waits_for = gap.waits_for.clone();
            let id = board.add(NewGap { waits_for: None, ..gap })?;
            waits.extend(waits_for.map(|on| (id, on)));
        }
        // A gap may wait for one that is listed after it.
        for (id, on) in waits {
            board.block_on(&id, on);
        }
        board.round = 1;
        Ok(board)
    }

    /// Adds a gap found in the current round and assigns its id.
    pub fn add(&mut self, new: NewGap) -> Result<GapId, AddError> {
        if let Some(parent) = new.split_from.as_ref().filter(|parent| !self.gaps.contains_key(parent)) {
            return Err(AddError::UnknownParent { category: new.category, parent: parent.clone() });
        }
        let id = self.issued.next_gap(&new.category)?;
        let gap = Gap {
            id: id.clone(),
            severity: new.severity,
            claim: new.claim,
            sections: new.sections,
            status: GapStatus::Open,
            waits_for: None,
            found_in: self.round,
            split_from: new.split_from,
            proposal: None,
        };
        self.gaps.insert(id.clone(), gap);
        if let Some(on) = new.waits_for {
            self.block_on(&id, on);
        }
        Ok(id)
    }

    /// Blocks a gap on another one, unless the other one is unknown, settled, or waiting for this gap.
    fn block_on(&mut self, id: &GapId, on: GapId) {
        let why = alloc::format!("it waits for {on}");
        let _ = self.move_gap(id, GapMove::Block(BlockedOn::Gap(on)), Actor::Engine, &why);
    }

    /// The current round, from 1.
    pub fn round(&self) -> u32 {
        self.round
    }

    pub fn rules(&self) -> &BoardRules {
        &self.rules
    }

    pub fn gap(&self, id: &GapId) -> Option<&Gap> {
        self.gaps.get(id)
    }

    /// All gaps, in order of id.
    pub fn gaps(&self) -> impl Iterator<Item = &Gap> {
        self.gaps.values()
    }

    /// The gaps that are not resolved, closed, deferred or waived.
    pub fn unsettled(&self) -> impl Iterator<Item = &Gap> {
        self.gaps.values().filter(|gap| !gap.status.is_settled())
    }

    /// The gaps with a proposal that no reviewer has judged.
    pub fn unreviewed(&self) -> impl Iterator<Item = &Gap> {
        self.gaps.values().filter(|gap| gap.status == GapStatus::Proposed)
    }

    /// The unsettled gaps that other unsettled gaps wait for.
    pub fn blocking(&self) -> BTreeSet<GapId> {
        self.unsettled()
            .filter_map(|gap| match &gap.waits_for {
                Some(BlockedOn::Gap(id)) => Some(id.clone()),
                Some(BlockedOn::Decision(_) | BlockedOn::External(_)) | None => None,
            })
            .filter(|id| self.gaps.get(id).is_some_and(|gap| !gap.status.is_settled()))
            .collect()
    }

    pub fn transitions(&self) -> &[Transition] {
        &self.transitions
    }

    pub fn issues(&self) -> impl Iterator<Item = &ReviewIssue> {
        self.issues.values()
    }

    pub fn conflicts(&self) -> impl Iterator<Item = &Conflict> {
        self.conflicts.values()
    }

    pub fn decisions(&self) -> &[UserDecision] {
        &self.decisions
    }

    /// All rounds so far, including those that did not count.
    pub fn rows(&self) -> &[RoundRow] {
        &self.rows
    }

    pub(super) fn next_issue(&mut self) -> ReviewIssueId {
        let round = self.round;
        let last = self.issued.issues.entry(round).or_insert(0);
        *last = last.saturating_add(1);
        ReviewIssueId { round, number: *last }
    }

    /// Whether there are unsettled gaps and all of them are blocked.
    pub(super) fn all_blocked(&self) -> bool {
        let mut unsettled = self.unsettled().peekable();
        unsettled.peek().is_some() && unsettled.all(|gap| gap.status == GapStatus::Blocked)
    }

    pub(super) fn ids_of(&self, severity: GapSeverity) -> Vec<GapId> {
        self.unsettled().filter(|gap| gap.severity == severity).map(|gap| gap.id.clone()).collect()
    }
}

impl Issued {
    fn next_gap(&mut self, category: &str) -> Result<GapId, IdError> {
        let last = self.gaps.get(category).copied().unwrap_or(0);
        let next = last.checked_add(1).ok_or_else(|| IdError::Exhausted { category: category.into() })?;
        let id = GapId::new(category, next)?;
        self.gaps.insert(category.into(), next);
        Ok(id)
    }
}

fn max_rounds(inventory: usize, min: u32) -> u32 {
    u32::try_from(inventory.div_ceil(2)).unwrap_or(u32::MAX).max(min)
}

#[cfg(test)]
mod tests {
    use super::super::sample::{board, id, new_gap};
    use super::*;
    use GapSeverity::{High, Low};
    use std::string::ToString;
    use std::vec;

    // SR-02
    #[test]
    fn gaps_are_numbered_per_category() {
        let board = board(&[("FLOW", High), ("UX", Low), ("FLOW", Low)]);
        let ids: Vec<_> = board.gaps().map(|gap| gap.id.to_string()).collect();
        assert_eq!(ids, ["GAP-FLOW-001", "GAP-FLOW-002", "GAP-UX-001"]);
    }

    // SR-02, SR-16
    #[test]
    fn a_gap_may_wait_for_another_of_the_same_inventory() {
        let waiting = NewGap { waits_for: Some(id("GAP-UX-001")), ..new_gap("FLOW", High) };
        let waiting_for_unknown = NewGap { waits_for: Some(id("GAP-UX-009")), ..new_gap("FLOW", High) };
        let board =
            Board::open(vec![waiting, waiting_for_unknown, new_gap("UX", Low)], BoardRules::default())
                .unwrap();
        let first = board.gap(&id("GAP-FLOW-001")).unwrap();
        assert_eq!(first.waits_for, Some(BlockedOn::Gap(id("GAP-UX-001"))));
        assert_eq!(board.gap(&id("GAP-FLOW-002")).unwrap().status, GapStatus::Open);
        assert_eq!(board.blocking().into_iter().collect::<Vec<_>>(), [id("GAP-UX-001")]);
    }

    #[test]
    fn the_error_about_an_invalid_category_names_it() {
        let error = Board::open(vec![new_gap("flow", Low)], BoardRules::default()).unwrap_err();
        assert!(error.to_string().contains("`flow` is not a gap category"), "{error}");
    }

    #[test]
    fn a_gap_split_from_an_unknown_gap_is_refused() {
        let mut board = board(&[("FLOW", High)]);
        let new = NewGap { split_from: Some(id("GAP-UX-009")), ..new_gap("FLOW", Low) };
        assert!(board.add(new).unwrap_err().to_string().contains("GAP-UX-009"));
    }

    #[test]
    fn a_board_is_read_back_from_json_unchanged() {
        let board = board(&[("FLOW", High), ("UX", Low)]);
        let text = serde_json::to_string(&board).unwrap();
        assert_eq!(serde_json::from_str::<Board>(&text).unwrap(), board);
    }
}
