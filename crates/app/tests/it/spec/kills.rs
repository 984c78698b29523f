//! A refinement that is killed at any point has the same result.

use super::documents::two_rounds;
use super::{FILE, Place, place};
use crate::kills::{KilledRun, kill_at_each_point};
use crate::three_tasks::{Outcome, outcome};

/// Run `k` is killed at its `k`-th point, and each process that resumes it is killed at its `RUNS`-th point.
const RUNS: u64 = 14;

fn run_with_kills(first: u64, undisturbed: &(Outcome, String)) -> u64 {
    let place = place();
    let agent = format!("rehearsal:{}", place.write_outside("rehearsal.yaml", &two_rounds().text()));
    let begin = ["run", "--spec", FILE, "--agent", &agent].map(str::to_string);
    let kills = KilledRun { place: &place, begin: &begin, code: 0 }.run_with_kills(first, Some(RUNS));
    let whole = (undisturbed.0.clone().with_interrupted(&place), undisturbed.1.clone());
    assert_eq!(result(&place), whole, "first at {first}, {kills} kills");
    kills
}

/// The outcome of the run, and the text of its documents.
fn result(place: &Place) -> (Outcome, String) {
    let names = ["round_001/engineer.md", "round_001/reviewer.md", "round_002/engineer.md", "decisions.md"];
    let spec = super::committed(place, "specs/sessions_v1.0.md");
    let documents: String = names.iter().map(|name| super::document(place, name)).collect();
    (outcome(place), format!("{spec}{documents}"))
}

// SR-12, CORE-04
#[test]
fn a_refinement_that_is_killed_at_any_point_has_the_same_result() {
    let whole = place();
    let shown = super::begin(&whole, &two_rounds(), &[]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let undisturbed = result(&whole);
    let kills = kill_at_each_point(RUNS, |first| run_with_kills(first, &undisturbed));
    assert!(kills >= 2 * RUNS, "{kills} kills");
}
