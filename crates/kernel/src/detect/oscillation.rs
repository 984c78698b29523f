//! Oscillation: whether a proposed approach was tried before.
//!
//! A match blocks the approach, so a false match is worse than a missed one: shared decisions alone never match, and
//! without them the words must be more similar.

use super::permille::Permille;
use super::words::Words;
use crate::change::Approach;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The word similarity needed if both approaches cite a common decision.
const SIMILAR_WITH_SHARED_DECISIONS: Permille = Permille(650);
/// The word similarity needed if one of the approaches cites no decision.
const SIMILAR_WITHOUT_DECISIONS: Permille = Permille(720);
/// The word similarity needed if the approaches cite different decisions.
const SIMILAR_WITH_OTHER_DECISIONS: Permille = Permille(800);

/// A proposed approach that matches a previous one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Oscillation {
    /// 1-based number of the previous approach in the list.
    pub approach: u32,
    /// The word similarity.
    pub share: Permille,
    /// Decisions that both cite, sorted.
    pub shared: Vec<String>,
}

impl Oscillation {
    /// Explains the match in one sentence.
    pub fn sentence(&self) -> String {
        let Self { approach, share, shared } = self;
        if shared.is_empty() {
            return format!(
                "The proposed approach repeats previous approach {approach} (word similarity {share})."
            );
        }
        let shared = shared.join(", ");
        format!(
            "The proposed approach repeats previous approach {approach} (word similarity {share}), and both rest on {shared}."
        )
    }
}

/// Finds the previous approach that a proposal repeats: the most similar one, or the earliest of equally similar ones.
pub fn oscillation(proposed: &Approach, previous: &[Approach]) -> Option<Oscillation> {
    let words = Words::of(&proposed.text);
    let cited = decisions(proposed);
    let mut closest: Option<Oscillation> = None;
    for (number, earlier) in (1..).zip(previous) {
        let found = compare(&words, &cited, earlier, number);
        let best = closest.as_ref().map_or(Permille::default(), |closest| closest.share);
        closest = found.filter(|found| found.share > best).or(closest);
    }
    closest
}

fn compare(
    words: &Words,
    cited: &BTreeSet<String>,
    earlier: &Approach,
    approach: u32,
) -> Option<Oscillation> {
    let before = decisions(earlier);
    let shared: Vec<String> = cited.intersection(&before).cloned().collect();
    let needed = if !shared.is_empty() {
        SIMILAR_WITH_SHARED_DECISIONS
    } else if cited.is_empty() || before.is_empty() {
        SIMILAR_WITHOUT_DECISIONS
    } else {
        SIMILAR_WITH_OTHER_DECISIONS
    };
    let share = words.plan_similarity(&Words::of(&earlier.text));
    (share >= needed).then_some(Oscillation { approach, share, shared })
}

fn decisions(approach: &Approach) -> BTreeSet<String> {
    let ids = approach.decisions.iter().map(|id| id.trim().to_ascii_uppercase());
    ids.filter(|id| !id.is_empty()).collect()
}

#[cfg(test)]
#[path = "oscillation_tests.rs"]
mod tests;
