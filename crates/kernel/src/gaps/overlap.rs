//! Decides where the text of proposals goes, and finds overlaps before anything is merged.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

use super::board::Board;
use super::gap::{GapId, GapSeverity, GapStatus, Proposal};
use super::section::SectionPaths;

/// Two proposals that cannot both be merged as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overlap {
    pub first: GapId,
    pub second: GapId,
    pub kind: OverlapKind,
    /// The section or passage that both change.
    pub place: String,
}

/// What two proposals have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OverlapKind {
    /// Both name the same section.
    Section,
    /// They name different sections, but one replaces a passage that contains the other's.
    Passage,
}

/// One passage to insert into the document; equal text for one section is inserted once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    pub section: String,
    pub replaces: String,
    pub text: String,
    /// The gaps that the passage resolves.
    pub gaps: Vec<GapId>,
}

/// Finds every overlapping pair, in the order of the proposals.
///
/// Two proposals with the same text for the same section do not overlap: one of them serves both gaps.
pub fn overlaps(proposals: &[Proposal], paths: &SectionPaths) -> Vec<Overlap> {
    let mut found = Vec::new();
    for (at, first) in proposals.iter().enumerate() {
        for second in proposals.iter().skip(at + 1) {
            found.extend(overlap(first, second, paths));
        }
    }
    found
}

/// The placements of the accepted proposals, worst gap first, and the overlaps that hold back the others.
pub(super) fn placements(board: &Board, paths: &SectionPaths) -> (Vec<Placement>, Vec<Overlap>) {
    let mut placed: Vec<Placement> = Vec::new();
    let mut merged: Vec<Proposal> = Vec::new();
    let mut held = Vec::new();
    for proposal in accepted_proposals(board) {
        if let Some(overlap) = merged.iter().find_map(|earlier| overlap(earlier, &proposal, paths)) {
            held.push(overlap);
            continue;
        }
        match placed.iter_mut().find(|placement| paths.is_same(&placement.section, &proposal.section)) {
            Some(placement) => placement.gaps.push(proposal.gap.clone()),
            None => placed.push(Placement {
                section: proposal.section.clone(),
                replaces: proposal.replaces.clone(),
                text: proposal.text.clone(),
                gaps: alloc::vec![proposal.gap.clone()],
            }),
        }
        merged.push(proposal);
    }
    (placed, held)
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            OverlapKind::Section => "section",
            OverlapKind::Passage => "passage",
        };
        write!(f, "{} and {} both write {what} `{}`", self.first, self.second, self.place)
    }
}

fn accepted_proposals(board: &Board) -> Vec<Proposal> {
    let mut found: Vec<(GapSeverity, Proposal)> = board
        .gaps()
        .filter(|gap| gap.status == GapStatus::Accepted)
        .filter_map(|gap| gap.proposal.clone().map(|proposal| (gap.severity, proposal)))
        .collect();
    found.sort_by_key(|(severity, _)| core::cmp::Reverse(*severity));
    found.into_iter().map(|(_, proposal)| proposal).collect()
}

fn overlap(first: &Proposal, second: &Proposal, paths: &SectionPaths) -> Option<Overlap> {
    let same_section = paths.is_same(&first.section, &second.section);
    let same_text = collapse_spaces(&first.text) == collapse_spaces(&second.text)
        && collapse_spaces(&first.replaces) == collapse_spaces(&second.replaces);
    let (kind, place) = if same_section && same_text {
        return None;
    } else if same_section {
        (OverlapKind::Section, second.section.clone())
    } else if share_passage(&first.replaces, &second.replaces) {
        (OverlapKind::Passage, second.replaces.clone())
    } else {
        return None;
    };
    Some(Overlap { first: first.gap.clone(), second: second.gap.clone(), kind, place })
}

fn share_passage(first: &str, second: &str) -> bool {
    let (first, second) = (collapse_spaces(first), collapse_spaces(second));
    !first.is_empty() && !second.is_empty() && (first.contains(&second) || second.contains(&first))
}

fn collapse_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::sample::{id, proposal};
    use super::overlaps as overlaps_in;
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    fn overlaps(proposals: &[Proposal]) -> Vec<Overlap> {
        overlaps_in(proposals, &SectionPaths::default())
    }

    fn replacement(gap: &str, section: &str, replaces: &str) -> Proposal {
        Proposal { replaces: replaces.into(), ..proposal(gap, section, gap) }
    }

    // SR-13
    #[test]
    fn two_proposals_for_one_section_overlap_however_its_name_is_written() {
        let found = overlaps(&[
            proposal("GAP-FLOW-001", "Retry policy", "three times"),
            proposal("GAP-FLOW-002", "Paths", "relative"),
            proposal("GAP-UX-001", "## Retry  Policy", "never"),
        ]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].to_string(), "GAP-FLOW-001 and GAP-UX-001 both write section `## Retry  Policy`");
    }

    // SR-13
    #[test]
    fn proposals_for_one_passage_overlap_even_under_different_section_names() {
        let found = overlaps(&[
            replacement("GAP-FLOW-001", "Errors", "a retry is\nmade once, then it fails"),
            replacement("GAP-FLOW-002", "Retries", "A passage elsewhere"),
            replacement("GAP-FLOW-003", "Retries of errors", "a retry is made once"),
        ]);
        assert_eq!(found.len(), 1);
        assert_eq!((&found[0].first, found[0].kind), (&id("GAP-FLOW-001"), OverlapKind::Passage));
    }

    #[test]
    fn equal_text_for_two_gaps_does_not_overlap() {
        assert!(
            overlaps(&[proposal("GAP-FLOW-001", "A", "x  y"), proposal("GAP-FLOW-002", "a", "x y")])
                .is_empty()
        );
    }

    #[test]
    fn new_sections_without_a_passage_do_not_overlap() {
        assert!(
            overlaps(&[proposal("GAP-FLOW-001", "A", "x"), proposal("GAP-FLOW-002", "B", "x")]).is_empty()
        );
    }

    proptest! {
        #[test]
        fn an_overlap_does_not_depend_on_the_order(
            sections in prop::collection::vec("[AB]", 2),
            passages in prop::collection::vec("[xy ]{0,3}", 2),
            texts in prop::collection::vec("[uv]", 2),
        ) {
            let nth_proposal = |n: usize, gap: &str| Proposal {
                replaces: passages[n].clone(),
                ..proposal(gap, &sections[n], &texts[n])
            };
            let (a, b) = (nth_proposal(0, "GAP-A-001"), nth_proposal(1, "GAP-B-001"));
            let forward = overlaps(&[a.clone(), b.clone()]);
            let backward = overlaps(&[b, a]);
            let kinds = |found: &[Overlap]| found.iter().map(|overlap| overlap.kind).collect::<Vec<_>>();
            prop_assert_eq!(kinds(&forward), kinds(&backward));
        }
    }
}
