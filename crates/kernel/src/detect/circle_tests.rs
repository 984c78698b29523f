//! Tests what a trail holds, and how circles are explained.

use super::*;
use crate::change::{FileChange, Hunk};

fn swap(tree: u64, from: &str, to: &str) -> Change {
    let hunk = Hunk { removed: lines_of(from), added: lines_of(to) };
    let file = FileChange { path: "src/retry.rs".to_string(), hunks: Vec::from([hunk]), generated: false };
    Change { tree: Digest(tree), files: Vec::from([file]), ..Change::default() }
}

fn lines_of(text: &str) -> Vec<String> {
    text.lines().map(String::from).collect()
}

fn restore(change: Change) -> Change {
    Change { restored: true, ..change }
}

fn results(end: TestEnd) -> Vec<TestResult> {
    Vec::from([TestResult { name: "slow".to_string(), end }])
}

fn sentence(circle: Option<Circle>) -> String {
    circle.map(|circle| circle.sentence()).unwrap_or_default()
}

// DR-04
#[test]
fn a_repeated_tree_is_reported_with_both_attempts() {
    let mut trail = Trail::default();
    trail.record_results(Digest(9), &results(TestEnd::Failed));
    trail.record_change(&swap(1, "a()", "b()"));
    trail.record_change(&swap(2, "c()", "d()"));
    let again = trail.clone().record_change(&swap(1, "e()", "f()"));
    assert_eq!(sentence(again), "Attempt 3 produced exactly the same files as attempt 1.");
    let start = trail.record_change(&swap(9, "e()", "f()"));
    assert_eq!(sentence(start), "Attempt 3 restored exactly the files from before the first attempt.");
}

// DR-04
#[test]
fn a_constant_changed_back_and_forth_is_reported_with_its_file_and_attempts() {
    let mut trail = Trail::default();
    assert_eq!(trail.record_change(&swap(1, "let limit = 1;", "let limit = 2;")), None);
    assert_eq!(trail.record_change(&swap(2, "let limit = 2;", "let limit = 3;")), None);
    let circle = trail.record_change(&swap(3, "let limit = 3;", "let limit = 2;"));
    assert_eq!(
        sentence(circle),
        "Attempts 1, 2 and 3 edited the same lines of src/retry.rs (similarity at least 100 %)."
    );
}

// DR-04
#[test]
fn rewriting_a_function_is_healthy_while_it_repairs_tests() {
    let body = |n: u32| format!("fn next(&self) {{\nlet step = self.base * {n};\nself.wait(step + {n});\n}}");
    let suite = |passing: u32| -> Vec<TestResult> {
        let end = |n| {
            if n <= passing { TestEnd::Passed } else { TestEnd::Failed }
        };
        (1..9).map(|n| TestResult { name: n.to_string(), end: end(n) }).collect()
    };
    let [mut healthy, mut circling, mut green] = [(); 3].map(|()| Trail::default());
    healthy.record_results(Digest(9), &suite(0));
    for n in 1..=5 {
        let change = swap(n.into(), &body(n), &body(n + 1));
        assert_eq!(healthy.record_change(&change), None);
        healthy.record_results(change.tree, &suite(n));
        assert_eq!(circling.record_change(&change).is_some(), n >= 3);
        circling.record_results(change.tree, &suite(0));
        assert_eq!(green.record_change(&change), None, "a rework while all tests pass");
        green.record_results(change.tree, &suite(9));
    }
}

// DR-04 TE-07
#[test]
fn a_test_that_breaks_twice_is_reported_with_the_attempts_that_flipped_it() {
    let mut trail = Trail::default();
    trail.record_results(Digest(9), &results(TestEnd::Failed));
    let ends = [TestEnd::Passed, TestEnd::Failed, TestEnd::Passed];
    for (tree, end) in (1..).zip(ends) {
        trail.record_change(&swap(tree, &format!("a{tree}()"), &format!("b{tree}()")));
        assert_eq!(trail.record_results(Digest(tree), &results(end)), None);
    }
    trail.record_change(&swap(4, "c()", "d()"));
    assert_eq!(
        sentence(trail.record_results(Digest(4), &results(TestEnd::Failed))),
        "The test slow changed its result after attempts 1, 2, 3 and 4, each of which changed code, and now fails."
    );
    assert_eq!(trail.record_results(Digest(4), &results(TestEnd::Failed)), None);
}

// DR-04
#[test]
fn repairing_a_broken_test_is_healthy_work() {
    let mut trail = Trail::default();
    trail.record_results(Digest(9), &results(TestEnd::Passed));
    trail.record_change(&swap(1, "a()", "b()"));
    assert_eq!(trail.record_results(Digest(1), &results(TestEnd::Failed)), None);
    trail.record_change(&swap(2, "c()", "d()"));
    assert_eq!(trail.record_results(Digest(2), &results(TestEnd::Passed)), None);
}

// DR-04 TE-07
#[test]
fn a_failed_hypothesis_counts_only_if_the_attempt_reworks_the_same_lines() {
    let text = "The guard is held across the await point";
    let attempt = |change| Change { hypothesis: Some(text.to_string()), ..change };
    let mut trail = Trail::default();
    assert_eq!(trail.record_change(&attempt(swap(1, "lock();", "let guard = lock();"))), None);
    let again = attempt(swap(2, "let guard = lock();", "with(lock);"));
    assert_eq!(trail.clone().record_change(&again), None, "nothing has failed yet");
    trail.record_results(Digest(1), &results(TestEnd::Failed));
    let elsewhere = attempt(swap(2, "", "let other = lock();"));
    assert_eq!(trail.clone().record_change(&elsewhere), None, "words alone decide nothing");
    assert_eq!(
        sentence(trail.record_change(&again)),
        "Attempt 2 reworks the lines of attempt 1, which failed, and repeats its hypothesis (\"The guard is held across the await point\", word similarity 100 %)."
    );
}

// CORE-22 TE-07
#[test]
fn undoing_a_change_that_broke_a_test_is_a_repair() {
    let (mut trail, mut last) = (Trail::default(), None);
    let (old, new) = ("a();\nb();", "c();\nd();");
    let steps = [(1, "", "x();\ny();", TestEnd::Passed), (2, old, new, TestEnd::Failed)];
    for (tree, from, to, end) in steps {
        assert_eq!(super::super::check_change(&mut trail, &mut last, &swap(tree, from, to)), (None, None));
        assert_eq!(trail.record_results(Digest(tree), &results(end)), None);
    }
    let undone = swap(1, new, old);
    assert_eq!(super::super::check_change(&mut trail.clone(), &mut last.clone(), &undone), (None, None));
    let (mut green, mut last) = (Trail::default(), None);
    for (tree, from, to, _) in steps {
        super::super::check_change(&mut green, &mut last, &swap(tree, from, to));
        green.record_results(Digest(tree), &results(TestEnd::Passed));
    }
    let (circle, reversal) = super::super::check_change(&mut green, &mut last, &undone);
    assert!(circle.is_some() && reversal.is_some());
}

// DR-04
#[test]
fn a_restore_by_the_engine_is_not_an_attempt_and_does_not_flip_a_test() {
    let mut trail = Trail::default();
    trail.record_results(Digest(9), &results(TestEnd::Passed));
    for tree in [1, 2, 3] {
        trail.record_change(&swap(tree, "a()", "b()"));
        assert_eq!(trail.record_results(Digest(tree), &results(TestEnd::Failed)), None);
        assert_eq!(trail.record_change(&restore(swap(9, "b()", "a()"))), None);
        assert_eq!(trail.record_results(Digest(9), &results(TestEnd::Passed)), None);
    }
    assert_eq!(trail.attempt, 3);
}

// DR-04
#[test]
fn a_new_window_remembers_nothing() {
    let mut trail = Trail::default();
    trail.record_change(&swap(1, "a()", "b()"));
    trail.record_results(Digest(1), &results(TestEnd::Failed));
    trail.clear();
    assert_eq!(trail, Trail::default());
}

#[test]
fn empty_changes_and_results_record_nothing() {
    let mut trail = Trail::default();
    for _ in 0..1000 {
        assert_eq!(trail.record_change(&Change::default()), None);
        assert_eq!(trail.record_results(Digest(7), &[]), None);
    }
    assert_eq!(trail, Trail { attempt: 1000, ..Trail::default() });
}

#[test]
fn a_trail_of_large_changes_stays_small() {
    let mut trail = Trail::default();
    for tree in 1..=40 {
        let text: String = (0..5000).map(|n| format!("let v{tree}x{n} = call(a{n}, {tree});\n")).collect();
        trail.record_change(&swap(tree, "", &text));
    }
    let stored = serde_json::to_string(&trail).unwrap();
    assert!(stored.len() < 200_000, "{} bytes", stored.len());
}
