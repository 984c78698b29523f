//! The assignment: which gaps a round works on, in which order, and which of them in parallel.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::cmp::Reverse;
use serde::{Deserialize, Serialize};

use super::board::Board;
use super::gap::{BlockedOn, Gap, GapId};
use super::section::SectionPaths;

/// The result of an assignment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assignment {
    Work(RoundWork),
    /// Every unsettled gap is blocked; the user must decide the questions in `waits`.
    AllBlocked {
        waits: Vec<Wait>,
    },
    NoneOpen,
}

/// The work of one round. `propose` is empty if only reviews are due.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RoundWork {
    /// Unreviewed proposals of earlier rounds, which the reviewer judges first. The limit does not apply to them,
    /// because they already exist.
    pub review_first: Vec<GapId>,
    /// The gaps for the engineer, most urgent first.
    pub propose: Vec<GapId>,
    /// `propose` split into parts that share no section, so each can be worked on independently.
    pub batches: Vec<Vec<GapId>>,
}

/// A blocked gap and what it waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Wait {
    pub gap: GapId,
    pub on: BlockedOn,
}

/// Assigns the gaps of the current round: those that block others first, then by severity, then by id.
pub fn assign(board: &Board) -> Assignment {
    if board.unsettled().next().is_none() {
        return Assignment::NoneOpen;
    }
    if board.all_blocked() {
        return Assignment::AllBlocked { waits: waits(board) };
    }
    let blocking = board.blocking();
    let mut workable: Vec<&Gap> = board.unsettled().filter(|gap| gap.status.is_workable()).collect();
    workable.sort_by_key(|gap| urgency(gap, &blocking));
    workable.truncate(board.rules().assigned);
    let mut review: Vec<&Gap> = board.unreviewed().collect();
    review.sort_by_key(|gap| urgency(gap, &blocking));
    Assignment::Work(RoundWork {
        review_first: ids(&review),
        propose: ids(&workable),
        batches: batches(&workable),
    })
}

fn waits(board: &Board) -> Vec<Wait> {
    board
        .unsettled()
        .filter_map(|gap| gap.waits_for.clone().map(|on| Wait { gap: gap.id.clone(), on }))
        .collect()
}

fn urgency(
    gap: &Gap,
    blocking: &BTreeSet<GapId>,
) -> (Reverse<bool>, Reverse<super::gap::GapSeverity>, GapId) {
    (Reverse(blocking.contains(&gap.id)), Reverse(gap.severity), gap.id.clone())
}

fn ids(gaps: &[&Gap]) -> Vec<GapId> {
    gaps.iter().map(|gap| gap.id.clone()).collect()
}

/// Groups gaps that share a section, directly or through others. Gaps that name no section form one group, because
/// nothing shows that they are independent.
fn batches(gaps: &[&Gap]) -> Vec<Vec<GapId>> {
    let mut part_of: Vec<usize> = (0..gaps.len()).collect();
    for (at, gap) in gaps.iter().enumerate() {
        for earlier in (0..at).filter(|earlier| share_section(gaps[*earlier], gap)) {
            merge_parts(&mut part_of, earlier, at);
        }
    }
    let mut parts: BTreeMap<usize, Vec<GapId>> = BTreeMap::new();
    for (part, gap) in part_of.iter().zip(gaps) {
        parts.entry(*part).or_default().push(gap.id.clone());
    }
    parts.into_values().collect()
}

fn share_section(one: &Gap, other: &Gap) -> bool {
    if one.sections.is_empty() || other.sections.is_empty() {
        return one.sections.is_empty() && other.sections.is_empty();
    }
    let paths = SectionPaths::default();
    let mut pairs = one.sections.iter().flat_map(|a| other.sections.iter().map(move |b| (a, b)));
    pairs.any(|(a, b)| paths.is_same(a, b))
}

/// Merges two parts: all members get the smaller number.
fn merge_parts(part_of: &mut [usize], one: usize, other: usize) {
    let (Some(&one), Some(&other)) = (part_of.get(one), part_of.get(other)) else {
        return;
    };
    let (keep, drop) = (one.min(other), one.max(other));
    for part in part_of.iter_mut().filter(|part| **part == drop) {
        *part = keep;
    }
}

#[cfg(test)]
mod tests {
    use super::super::BoardRules;
    use super::super::gap::{GapSeverity, NewGap};
    use super::super::moves::{Actor, GapMove};
    use super::super::sample::{block_on_gap, board, board_with, id, new_gap, proposal};
    use super::*;
    use GapSeverity::{Critical, High, Low, Medium};
    use proptest::prelude::*;
    use std::string::{String, ToString};

    fn work(board: &Board) -> RoundWork {
        match assign(board) {
            Assignment::Work(work) => work,
            other => panic!("{other:?}"),
        }
    }

    fn names(ids: &[GapId]) -> Vec<String> {
        ids.iter().map(ToString::to_string).collect()
    }

    // SR-16
    #[test]
    fn blocking_gaps_come_first_then_the_worst_then_the_oldest() {
        let mut board = board(&[("A", Medium), ("A", Critical), ("A", Low), ("A", High), ("A", Medium)]);
        block_on_gap(&mut board, "GAP-A-004", "GAP-A-003");
        assert_eq!(names(&work(&board).propose), ["GAP-A-003", "GAP-A-002", "GAP-A-001", "GAP-A-005"]);
    }

    // SR-16
    #[test]
    fn at_most_the_configured_number_of_gaps_is_assigned() {
        let board = board_with(
            &[("A", Low), ("A", High), ("A", Low)],
            BoardRules { assigned: 2, ..BoardRules::default() },
        );
        assert_eq!(names(&work(&board).propose), ["GAP-A-002", "GAP-A-001"]);
    }

    // SR-04
    #[test]
    fn unreviewed_proposals_are_reviewed_first_and_not_proposed_again() {
        let mut board = board(&[("A", Low), ("A", High)]);
        let wanted = GapMove::Propose(proposal("GAP-A-001", "S", "text"));
        board.move_gap(&id("GAP-A-001"), wanted, Actor::Engineer, "").unwrap();
        let work = work(&board);
        assert_eq!(
            (names(&work.review_first), names(&work.propose)),
            (std::vec!["GAP-A-001".into()], std::vec!["GAP-A-002".into()])
        );
    }

    // SR-06
    #[test]
    fn all_blocked_names_what_each_gap_waits_for() {
        let mut board = board(&[("A", Low)]);
        let on = BlockedOn::External("legal review".into());
        board.move_gap(&id("GAP-A-001"), GapMove::Block(on.clone()), Actor::Engine, "").unwrap();
        assert_eq!(
            assign(&board),
            Assignment::AllBlocked { waits: std::vec![Wait { gap: id("GAP-A-001"), on }] }
        );
    }

    // SR-06
    #[test]
    fn a_board_without_unsettled_gaps_has_nothing_to_assign() {
        let mut board = board(&[("A", Low)]);
        board.move_gap(&id("GAP-A-001"), GapMove::Waive, Actor::User, "").unwrap();
        assert_eq!(assign(&board), Assignment::NoneOpen);
    }

    fn gap_in_sections(sections: &[&str]) -> NewGap {
        NewGap { sections: sections.iter().map(|s| (*s).into()).collect(), ..new_gap("A", Low) }
    }

    // SR-13
    #[test]
    fn gaps_that_share_a_section_through_others_are_one_batch() {
        let gaps = [&["Errors"][..], &["Paths"], &["Retries", "# errors"], &["Client > retries"], &[], &[]];
        let board =
            Board::open(gaps.iter().map(|s| gap_in_sections(s)).collect(), BoardRules::default()).unwrap();
        let batches: Vec<_> = work(&board).batches.iter().map(|batch| names(batch)).collect();
        assert_eq!(
            batches,
            [
                std::vec!["GAP-A-001".to_string(), "GAP-A-003".into(), "GAP-A-004".into()],
                std::vec!["GAP-A-002".into()],
                std::vec!["GAP-A-005".into(), "GAP-A-006".into()],
            ]
        );
    }

    proptest! {
        // SR-13
        #[test]
        fn batches_partition_the_assigned_gaps_and_share_no_section(
            gaps in prop::collection::vec(prop::collection::vec("[a-f]", 0..3), 1..8)
        ) {
            let inventory = gaps.iter().map(|s| NewGap { sections: s.clone(), ..new_gap("A", Low) }).collect();
            let board = Board::open(inventory, BoardRules::default()).unwrap();
            let work = work(&board);
            let mut all: Vec<_> = work.batches.concat();
            all.sort();
            let mut assigned = work.propose.clone();
            assigned.sort();
            prop_assert_eq!(all, assigned);
            let sections: Vec<BTreeSet<&String>> = work.batches.iter()
                .map(|batch| batch.iter().flat_map(|id| &board.gap(id).unwrap().sections).collect())
                .collect();
            for (at, one) in sections.iter().enumerate() {
                for other in &sections[at + 1..] {
                    prop_assert!(one.is_disjoint(other));
                }
            }
        }
    }
}
