//! A refinement that is killed at any point comes to the same end.

use super::documents::two_rounds;
use super::{FILE, Place, place};
use crate::three_tasks::{Outcome, outcome};
use remand_ledger::Reader;
use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Run `k` dies at its `k`-th point, and each process that goes on with it at its own point of this number.
const RUNS: u64 = 14;

fn die_at(first: u64, undisturbed: &(Outcome, String)) -> u64 {
    let place = place();
    let agent = format!("rehearsal:{}", place.beside("rehearsal.yaml", &two_rounds().text()));
    let (mut deaths, mut point) = (0, first);
    loop {
        let words: Vec<&str> =
            if is_begun(&place) { vec!["resume"] } else { vec!["run", "--spec", FILE, "--agent", &agent] };
        let output =
            place.command(&words).env("REMAND_DIE_AT", point.to_string()).output().expect("the binary runs");
        if output.status.signal() == Some(9) {
            (deaths, point) = (deaths + 1, RUNS);
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "first at {first}, {deaths} deaths: {output:?}");
        break;
    }
    assert_eq!(left(&place), *undisturbed, "first at {first}, {deaths} deaths");
    deaths
}

/// What the run comes to, and what people read of it.
fn left(place: &Place) -> (Outcome, String) {
    let papers = ["round_001/engineer.md", "round_001/reviewer.md", "round_002/engineer.md", "decisions.md"];
    let spec = super::committed(place, "specs/sessions_v1.0.md");
    let told: String = papers.iter().map(|name| super::paper(place, name)).collect();
    (outcome(place), format!("{spec}{told}"))
}

fn is_begun(place: &Place) -> bool {
    let folder = place.state().read_dir().expect("state").flatten().next();
    let ledger = folder.map(|entry| entry.path().join("ledger.db")).filter(|ledger| ledger.exists());
    ledger.is_some_and(|ledger| {
        Reader::open(&ledger).is_ok_and(|reader| reader.latest().expect("a query").is_some())
    })
}

// SR-12, CORE-04
#[test]
fn a_refinement_that_is_killed_at_any_point_comes_to_the_same_end() {
    let whole = place();
    let shown = super::begin(&whole, &two_rounds(), &[]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let undisturbed = left(&whole);
    let (next, deaths) = (AtomicU64::new(1), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let first = next.fetch_add(1, Ordering::SeqCst);
                    if first > RUNS {
                        return;
                    }
                    deaths.fetch_add(die_at(first, &undisturbed), Ordering::SeqCst);
                }
            });
        }
    });
    let deaths = deaths.into_inner();
    assert!(deaths >= 2 * RUNS, "{deaths} deaths");
}
