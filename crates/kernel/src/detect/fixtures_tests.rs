//! Runs the detectors on the labelled cases in `fixtures/detectors/`, and prints precision and recall by split.

use super::*;
use crate::change::{Approach, Change, Digest, TestResult};
use crate::finding::Finding;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::println;

#[derive(Deserialize)]
struct Set<T> {
    proves: String,
    cases: Vec<T>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Split {
    Tuned,
    HeldOut,
}

#[derive(Deserialize)]
struct FindingCase {
    name: String,
    same: bool,
    split: Split,
    a: Finding,
    b: Finding,
}

#[derive(Deserialize)]
struct ApproachCase {
    name: String,
    same: bool,
    split: Split,
    previous: Vec<Approach>,
    proposed: Approach,
}

#[derive(Deserialize)]
struct ReversalCase {
    name: String,
    fires: bool,
    split: Split,
    previous: Change,
    current: Change,
}

#[derive(Deserialize)]
struct CircleCase {
    name: String,
    /// The kind of circle that the last step completes.
    fires: Option<String>,
    split: Split,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Step {
    Change(Change),
    Results { tree: Digest, results: Vec<TestResult> },
    Clear,
}

/// The results of a detector on the cases of one split.
#[derive(Debug, Default)]
struct Score {
    hits: usize,
    misses: Vec<String>,
    false_alarms: Vec<String>,
}

type Scores = BTreeMap<Split, Score>;

fn record(scores: &mut Scores, split: Split, name: &str, expected: bool, fired: bool) {
    let score = scores.entry(split).or_default();
    match (expected, fired) {
        (true, true) => score.hits += 1,
        (true, false) => score.misses.push(name.into()),
        (false, true) => score.false_alarms.push(name.into()),
        (false, false) => {}
    }
}

fn report(detector: &str, scores: &Scores) {
    for (split, score) in scores {
        let precision = Permille::share(score.hits, score.hits + score.false_alarms.len());
        let recall = Permille::share(score.hits, score.hits + score.misses.len());
        println!("{detector}, {split:?}: precision {precision}, recall {recall}; {score:?}");
    }
}

/// Asserts that the detector fires on no negative case, and misses exactly the known misses.
fn assert_scores(detector: &str, scores: &Scores, known_misses: &[&str]) {
    report(detector, scores);
    let all = |pick: fn(&Score) -> &Vec<String>| scores.values().flat_map(pick).cloned().collect::<Vec<_>>();
    assert_eq!(all(|score| &score.false_alarms), Vec::<String>::new());
    assert_eq!(all(|score| &score.misses), known_misses);
}

fn load<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let path = format!("{}/../../fixtures/detectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.trim_start_matches(['{', '\n', ' ']).starts_with("\"proves\""));
    let set: Set<T> = serde_json::from_str(&text).unwrap();
    assert!(!set.proves.is_empty());
    set.cases
}

pub(super) fn kind(circle: &Circle) -> &'static str {
    match circle {
        Circle::Tree { .. } => "tree",
        Circle::Edits { .. } => "edits",
        Circle::Test { .. } => "test",
        Circle::Hypothesis { .. } => "hypothesis",
    }
}

fn play(case: &CircleCase) -> Vec<Option<Circle>> {
    let mut trail = Trail::default();
    let mut circles = Vec::new();
    for step in &case.steps {
        circles.push(match step {
            Step::Change(change) => trail.record_change(change),
            Step::Results { tree, results } => trail.record_results(*tree, results),
            Step::Clear => {
                trail.clear();
                None
            }
        });
        let stored = serde_json::to_string(&trail).unwrap();
        assert_eq!(serde_json::from_str::<Trail>(&stored).unwrap(), trail);
    }
    circles
}

// CORE-12
#[test]
fn reports_are_the_same_finding_exactly_when_they_make_the_same_claim_about_one_location() {
    let mut scores = Scores::new();
    for case in load::<FindingCase>("findings") {
        let found = same_finding(&case.a, &case.b);
        let swapped = same_finding(&case.b, &case.a);
        assert_eq!(found.as_ref().map(|same| same.by), swapped.map(|same| same.by), "{}", case.name);
        record(&mut scores, case.split, &case.name, case.same, found.is_some());
    }
    assert_scores("same finding", &scores, &["effect-first", "entirely-different-words"]);
}

// DR-12
#[test]
fn only_a_repeated_approach_is_blocked() {
    let mut scores = Scores::new();
    for case in load::<ApproachCase>("approaches") {
        let fired = oscillation(&case.proposed, &case.previous).is_some();
        record(&mut scores, case.split, &case.name, case.same, fired);
    }
    assert_scores("oscillation", &scores, &["entirely-different-words"]);
}

// CORE-22
#[test]
fn only_a_change_that_undoes_the_previous_one_is_a_reversal() {
    let mut scores = Scores::new();
    for case in load::<ReversalCase>("reversals") {
        let fired = reversal(&case.previous, &case.current).is_some();
        record(&mut scores, case.split, &case.name, case.fires, fired);
    }
    assert_scores("reversal", &scores, &[]);
}

// DR-04
#[test]
fn a_circle_is_found_at_the_step_that_closes_it_and_never_in_healthy_work() {
    let mut scores = Scores::new();
    for case in load::<CircleCase>("circles") {
        let mut circles = play(&case);
        let last = circles.pop().flatten();
        if let (Some(expected), Some(circle)) = (&case.fires, &last) {
            assert_eq!(kind(circle), expected, "{}", case.name);
        }
        let early = circles.iter().any(Option::is_some);
        record(&mut scores, case.split, &case.name, case.fires.is_some(), last.is_some());
        record(&mut scores, case.split, &case.name, false, early);
    }
    assert_scores("circle", &scores, &[]);
}
