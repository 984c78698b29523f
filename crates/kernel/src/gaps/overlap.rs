//! Proposals and where their text goes: overlaps are found before anything is merged.

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
    /// They name different sections, but the passages they replace share text.
    Passage,
}

/// One text to insert into the document; equal texts for one section are inserted once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    pub section: String,
    pub replaces: String,
    pub text: String,
    /// The gaps that this text resolves.
    pub gaps: Vec<GapId>,
}

/// Finds every overlapping pair, in the order of the proposals.
///
/// Two proposals with the same text for the same section do not overlap: one of them serves both gaps.
pub fn overlaps(proposals: &[Proposal], places: &SectionPaths) -> Vec<Overlap> {
    let mut found = Vec::new();
    for (at, first) in proposals.iter().enumerate() {
        for second in proposals.iter().skip(at + 1) {
            found.extend(overlap(first, second, places));
        }
    }
    found
}

/// The placements of the accepted proposals, worst gap first, and the overlaps that hold back the others.
pub(super) fn placements(board: &Board, places: &SectionPaths) -> (Vec<Placement>, Vec<Overlap>) {
    let mut placed: Vec<Placement> = Vec::new();
    let mut merged: Vec<Proposal> = Vec::new();
    let mut held = Vec::new();
    for proposal in accepted(board) {
        if let Some(overlap) = merged.iter().find_map(|earlier| overlap(earlier, &proposal, places)) {
            held.push(overlap);
            continue;
        }
        match placed.iter_mut().find(|placement| places.is_same(&placement.section, &proposal.section)) {
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

fn accepted(board: &Board) -> Vec<Proposal> {
    let mut found: Vec<(GapSeverity, Proposal)> = board
        .gaps()
        .filter(|gap| gap.status == GapStatus::Accepted)
        .filter_map(|gap| gap.proposal.clone().map(|proposal| (gap.severity, proposal)))
        .collect();
    found.sort_by_key(|(severity, _)| core::cmp::Reverse(*severity));
    found.into_iter().map(|(_, proposal)| proposal).collect()
}

fn overlap(first: &Proposal, second: &Proposal, places: &SectionPaths) -> Option<Overlap> {
    let same_section = places.is_same(&first.section, &second.section);
    let same_text = squeeze(&first.text) == squeeze(&second.text)
        && squeeze(&first.replaces) == squeeze(&second.replaces);
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
    let (first, second) = (squeeze(first), squeeze(second));
    !first.is_empty() && !second.is_empty() && (first.contains(&second) || second.contains(&first))
}

fn squeeze(text: &str) -> String {
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

    fn replacing(gap: &str, section: &str, replaces: &str) -> Proposal {
        Proposal { replaces: replaces.into(), ..proposal(gap, section, gap) }
    }

    // SR-13
    #[test]
    fn two_texts_for_one_section_overlap_however_its_name_is_written() {
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
    fn texts_for_one_passage_overlap_even_under_different_section_names() {
        let found = overlaps(&[
            replacing("GAP-FLOW-001", "Errors", "a retry is\nmade once, then it fails"),
            replacing("GAP-FLOW-002", "Retries", "A passage elsewhere"),
            replacing("GAP-FLOW-003", "Retries of errors", "a retry is made once"),
        ]);
        assert_eq!(found.len(), 1);
        assert_eq!((&found[0].first, found[0].kind), (&id("GAP-FLOW-001"), OverlapKind::Passage));
    }

    #[test]
    fn one_text_for_two_gaps_does_not_overlap() {
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
            let of = |n: usize, gap: &str| Proposal {
                replaces: passages[n].clone(),
                ..proposal(gap, &sections[n], &texts[n])
            };
            let (a, b) = (of(0, "GAP-A-001"), of(1, "GAP-B-001"));
            let there = overlaps(&[a.clone(), b.clone()]);
            let back = overlaps(&[b, a]);
            prop_assert_eq!(there.iter().map(|o| o.kind).collect::<Vec<_>>(), back.iter().map(|o| o.kind).collect::<Vec<_>>());
        }
    }
}
