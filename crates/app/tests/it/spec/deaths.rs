//! A refinement that is killed at any point comes to the same end.

use super::documents::two_rounds;
use super::{FILE, Place, place};
use crate::deaths::{Doomed, at_each};
use crate::three_tasks::{Outcome, outcome};

/// Run `k` dies at its `k`-th point, and each process that resumes it dies at its own point of this number.
const RUNS: u64 = 14;

fn die_at(first: u64, undisturbed: &(Outcome, String)) -> u64 {
    let place = place();
    let agent = format!("rehearsal:{}", place.beside("rehearsal.yaml", &two_rounds().text()));
    let begin = ["run", "--spec", FILE, "--agent", &agent].map(str::to_string);
    let deaths = Doomed { place: &place, begin: &begin, code: 0 }.die_at(first, Some(RUNS));
    let whole = (undisturbed.0.clone().with_interrupted(&place), undisturbed.1.clone());
    assert_eq!(left(&place), whole, "first at {first}, {deaths} deaths");
    deaths
}

/// What the run comes to, and what people read of it.
fn left(place: &Place) -> (Outcome, String) {
    let papers = ["round_001/engineer.md", "round_001/reviewer.md", "round_002/engineer.md", "decisions.md"];
    let spec = super::committed(place, "specs/sessions_v1.0.md");
    let told: String = papers.iter().map(|name| super::paper(place, name)).collect();
    (outcome(place), format!("{spec}{told}"))
}

// SR-12, CORE-04
#[test]
fn a_refinement_that_is_killed_at_any_point_has_the_same_result() {
    let whole = place();
    let shown = super::begin(&whole, &two_rounds(), &[]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let undisturbed = left(&whole);
    let deaths = at_each(RUNS, |first| die_at(first, &undisturbed));
    assert!(deaths >= 2 * RUNS, "{deaths} deaths");
}
