//! Detectors: pure functions that recognize, from what the host observed, that work goes in circles.
//!
//! Each detection explains itself in one sentence. Detectors compare identities (lines, trees, tests, claims), never
//! counts, topics or trends. The labelled cases are in `fixtures/detectors/`.

mod circle;
mod edits;
mod lines;
mod oscillation;
mod permille;
mod repetition;
mod reversal;
mod tokens;
mod vocabulary;
mod words;

#[cfg(test)]
mod fixtures_tests;
#[cfg(test)]
mod sequences_tests;

pub use circle::{Circle, Trail};
pub use oscillation::{Oscillation, oscillation};
pub use permille::Permille;
pub use repetition::{Sameness, SamenessBy, same_finding};
pub use reversal::{Reversal, Trace, reversal};

use crate::change::Change;

/// Checks whether a change closes a circle, and whether it undoes the previous change.
pub(crate) fn check_change(
    trail: &mut Trail,
    last: &mut Option<Trace>,
    change: &Change,
) -> (Option<Circle>, Option<Reversal>) {
    let files = lines::touched_lines(change);
    let undone = last.as_ref().filter(|_| !trail.last_attempt_broke_a_test());
    let reversal = undone.and_then(|last| last.find_reversal(change, &files));
    let circle = trail.record_lines(change, &files);
    *last = Some(Trace::new(change, &files));
    (circle, reversal)
}
