//! The assignment: which gaps a round works on, in which order, and what can go on side by side (SR-16).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::cmp::Reverse;
use serde::{Deserialize, Serialize};

use super::board::Board;
use super::gap::{BlockedOn, Gap, GapId};
use super::section::Places;

/// What a round has to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assignment {
    Work(Work),
    /// Every gap that is left waits for something; the decisions among these are to be asked.
    AllBlocked {
        waits: Vec<Wait>,
    },
    NoneOpen,
}

/// The work of one round. `propose` is empty when only reviews are owed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Work {
    /// Proposals of earlier rounds that nobody reviewed; the reviewer's first work. The limit does not cut
    /// them: they are already made.
    pub review_first: Vec<GapId>,
    /// The gaps the engineer is given, most urgent first.
    pub propose: Vec<GapId>,
    /// `propose` in parts that share no section; each may be worked on without knowing the others.
    pub batches: Vec<Vec<GapId>>,
}

/// A blocked gap and what it waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Wait {
    pub gap: GapId,
    pub on: BlockedOn,
}

/// Assigns the round under way: blocking gaps first, then by severity, then by id.
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
    Assignment::Work(Work {
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

/// Gaps that share a section, directly or through others, stay together. Gaps without a named section share
/// one part, because nothing shows that they are independent of each other.
fn batches(gaps: &[&Gap]) -> Vec<Vec<GapId>> {
    let mut part_of: Vec<usize> = (0..gaps.len()).collect();
    for (at, gap) in gaps.iter().enumerate() {
        for earlier in (0..at).filter(|earlier| share_section(gaps[*earlier], gap)) {
            join(&mut part_of, earlier, at);
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
    let places = Places::default();
    let mut pairs = one.sections.iter().flat_map(|a| other.sections.iter().map(move |b| (a, b)));
    pairs.any(|(a, b)| places.is_same(a, b))
}

/// Gives the members of both parts the number of the earlier one.
fn join(part_of: &mut [usize], one: usize, other: usize) {
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
    use super::super::Rules;
    use super::super::gap::{GapSeverity, NewGap};
    use super::super::lifecycle::{Actor, Move};
    use super::super::sample::{block_on_gap, board, board_with, id, new_gap, proposal};
    use super::*;
    use GapSeverity::{Critical, High, Low, Medium};
    use proptest::prelude::*;
    use std::string::{String, ToString};

    fn work(board: &Board) -> Work {
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
    fn no_more_than_the_configured_number_is_assigned() {
        let board =
            board_with(&[("A", Low), ("A", High), ("A", Low)], Rules { assigned: 2, ..Rules::default() });
        assert_eq!(names(&work(&board).propose), ["GAP-A-002", "GAP-A-001"]);
    }

    // SR-04
    #[test]
    fn unreviewed_proposals_are_reviewed_first_and_not_proposed_again() {
        let mut board = board(&[("A", Low), ("A", High)]);
        let wanted = Move::Propose(proposal("GAP-A-001", "S", "text"));
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
        board.move_gap(&id("GAP-A-001"), Move::Block(on.clone()), Actor::Engine, "").unwrap();
        assert_eq!(
            assign(&board),
            Assignment::AllBlocked { waits: std::vec![Wait { gap: id("GAP-A-001"), on }] }
        );
    }

    // SR-06
    #[test]
    fn no_gap_left_is_said() {
        let mut board = board(&[("A", Low)]);
        board.move_gap(&id("GAP-A-001"), Move::Waive, Actor::User, "").unwrap();
        assert_eq!(assign(&board), Assignment::NoneOpen);
    }

    fn touching(sections: &[&str]) -> NewGap {
        NewGap { sections: sections.iter().map(|s| (*s).into()).collect(), ..new_gap("A", Low) }
    }

    // SR-13
    #[test]
    fn gaps_that_share_a_section_through_others_are_one_batch() {
        let gaps = [&["Errors"][..], &["Paths"], &["Retries", "# errors"], &["Client > retries"], &[], &[]];
        let board = Board::open(gaps.iter().map(|s| touching(s)).collect(), Rules::default()).unwrap();
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
            let board = Board::open(inventory, Rules::default()).unwrap();
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
