//! Detectors: pure functions from what the host saw to evidence that work goes in circles, or nothing.
//!
//! Each result explains itself in one sentence. They judge identities (lines, trees, tests, claims), never
//! counts, topics or trends. The labelled cases are in `fixtures/detectors/`.

mod repetition;

mod reversal;

mod circle;

mod edits;

mod oscillation;

mod words;

mod tokens;

mod vocabulary;

mod lines;

mod permille;

#[cfg(test)]
mod fixtures_tests;

pub use circle::{Circle, Trail};
pub use oscillation::{Oscillation, oscillation};
pub use permille::Permille;
pub use repetition::{Sameness, SamenessBy, same_finding};
pub use reversal::{Reversal, Trace, reversal};

use crate::change::Change;

/// What the detectors of changes see in one: whether it undoes the one before, and whether the work goes round.
pub(crate) fn change(
    trail: &mut Trail,
    last: &mut Option<Trace>,
    change: &Change,
) -> (Option<Circle>, Option<Reversal>) {
    let files = lines::touched(change);
    let reversal = last.as_ref().and_then(|last| last.undone_by(change, &files));
    let circle = trail.note_touched(change, &files);
    *last = Some(Trace::of(change, &files));
    (circle, reversal)
}
