//! Tests of `oscillation`: which previous approach is reported, and how it is explained.

use super::*;
use alloc::borrow::ToOwned;

fn approach(text: &str, decisions: &[&str]) -> Approach {
    Approach { text: text.to_owned(), decisions: decisions.iter().map(|id| (*id).to_owned()).collect() }
}

const LEASE: &str = "The scheduler takes a lease in the database and renews the lease every few seconds.";
const QUEUE: &str = "Serialise all writes through one queue with a single consumer.";

// DR-12
#[test]
fn the_most_similar_previous_approach_is_reported_with_its_evidence() {
    let previous = [approach(QUEUE, &[]), approach(LEASE, &["DD-0075-001", "DD-0075-002"])];
    let again = approach(
        "Every few seconds the scheduler renews a lease that it takes in the database.",
        &["dd-0075-002"],
    );
    let found = oscillation(&again, &previous);
    assert_eq!(
        found.map(|found| found.sentence()).as_deref(),
        Some(
            "The proposed approach repeats previous approach 2 (word similarity 100 %), and both rest on DD-0075-002."
        )
    );
    let found = oscillation(&approach(QUEUE, &[]), &previous);
    assert_eq!(
        found.map(|found| found.sentence()).as_deref(),
        Some("The proposed approach repeats previous approach 1 (word similarity 100 %).")
    );
}

// DR-12
#[test]
fn shared_decisions_alone_never_block() {
    let decisions = ["DD-0075-001", "DD-0075-002", "DD-0075-003"];
    assert_eq!(oscillation(&approach(QUEUE, &decisions), &[approach(LEASE, &decisions)]), None);
    assert_eq!(oscillation(&approach("", &decisions), &[approach("", &decisions)]), None);
}

#[test]
fn the_earliest_of_equally_similar_approaches_is_reported() {
    let previous = [approach(LEASE, &[]), approach(LEASE, &[])];
    assert_eq!(oscillation(&approach(LEASE, &[]), &previous).map(|found| found.approach), Some(1));
    assert_eq!(oscillation(&approach(LEASE, &[]), &[]), None);
}
