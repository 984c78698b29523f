//! The evidence gate: a result that contradicts its rows is refused.

use super::{reports, ruled, with_tasks};
use remand_kernel::event::Report;
use remand_kernel::evidence::{Row, RowPhase, Size, Source, Tier};

// EP-18
#[test]
fn checks_that_passed_by_their_rows_pass() {
    let mut run = with_tasks(1);
    run.until("cascade");
    let rows = vec![baseline("build"), after("build", Tier::Two), after("syntax", Tier::One)];
    reports(&mut run, "cascade", said("passed", rows, Size::Standard)).expect("taken");
    ruled(&run, "cascade[t1]: passed → next (verify)");
}

// EP-18, CORE-06
#[test]
fn checks_cannot_pass_against_a_failed_row() {
    let rows = vec![
        baseline("build"),
        after("syntax", Tier::One),
        after("lint", Tier::Two),
        failed("build", Tier::Two),
    ];
    let refused = refusal("passed", rows, Size::Standard);
    let reason = "`build` (tier 2, iteration 1) failed with exit code 1 and did not fail at the baseline";
    assert_eq!(
        refused,
        format!("the kernel refuses it: says `passed`, but the evidence says `failed`: {reason}")
    );
}

// EP-18
#[test]
fn checks_cannot_pass_without_a_baseline() {
    let refused =
        refusal("passed", vec![after("syntax", Tier::One), after("build", Tier::Two)], Size::Standard);
    assert!(refused.contains("there is no baseline row"), "{refused}");
}

// EP-18
#[test]
fn zero_rows_are_never_enough() {
    let refused = refusal("passed", Vec::new(), Size::Standard);
    assert!(refused.contains("0 passing after-rows of tiers 1 to 3, but 2 are needed"), "{refused}");
}

// EP-18
#[test]
fn a_large_task_needs_three_passing_rows() {
    let rows = || vec![baseline("build"), after("syntax", Tier::One), after("build", Tier::Two)];
    let refused = refusal("passed", rows(), Size::Large);
    assert!(refused.contains("2 passing after-rows of tiers 1 to 3, but 3 are needed"), "{refused}");
    let mut run = with_tasks(1);
    run.until("cascade");
    reports(&mut run, "cascade", said("passed", rows(), Size::Standard)).expect("taken");
}

// EP-18
#[test]
fn two_rows_of_the_first_tier_are_not_enough() {
    let rows = vec![baseline("syntax"), after("syntax", Tier::One), after("format", Tier::One)];
    let refused = refusal("passed", rows, Size::Standard);
    assert!(refused.contains("no passing after-row is of tier 2 or 3"), "{refused}");
}

// EP-18
#[test]
fn superseded_rows_do_not_count() {
    let old = Row { superseded: true, ..after("build", Tier::Two) };
    let refused = refusal("passed", vec![baseline("build"), old, after("lint", Tier::Two)], Size::Standard);
    assert!(refused.contains("1 passing after-rows"), "{refused}");
}

// EP-18
#[test]
fn only_the_latest_iteration_counts() {
    let later = Row { iteration: 2, ..after("lint", Tier::Two) };
    let rows = vec![baseline("build"), after("build", Tier::Two), after("syntax", Tier::One), later];
    let refused = refusal("passed", rows, Size::Standard);
    assert!(refused.contains("1 passing after-rows"), "{refused}");
}

// EP-18
#[test]
fn a_check_that_failed_at_the_baseline_too_fails_nothing() {
    let before = Row { phase: RowPhase::Baseline, iteration: 0, ..failed("doc", Tier::Two) };
    let rows = vec![before, failed("doc", Tier::Two), after("build", Tier::Two), after("lint", Tier::Two)];
    let mut run = with_tasks(1);
    run.until("cascade");
    reports(&mut run, "cascade", said("passed", rows, Size::Standard)).expect("taken");
}

// EP-18
#[test]
fn checks_cannot_fail_against_rows_that_all_passed() {
    let rows = vec![baseline("build"), after("build", Tier::Two), after("lint", Tier::Two)];
    let refused = refusal("failed", rows, Size::Standard);
    assert_eq!(refused, "the kernel refuses it: says `failed`, but the evidence says `passed`: ");
}

// EP-18
#[test]
fn the_merged_tree_is_held_to_its_rows_too() {
    let mut run = with_tasks(1);
    run.until("integrate");
    let rows = vec![baseline("build"), failed("build", Tier::Two), after("lint", Tier::Two)];
    let refused = reports(&mut run, "integrate", said("passed", rows, Size::Standard)).expect_err("refused");
    assert!(refused.to_string().contains("but the evidence says `failed`"), "{refused}");
}

// EP-18
#[test]
fn failed_rows_without_a_size_are_no_pass() {
    let mut run = with_tasks(1);
    run.until("cascade");
    let rows = vec![baseline("build"), failed("build", Tier::Two)];
    let report = Report { rows, ..Report::saying("passed") };
    assert!(reports(&mut run, "cascade", report).is_err(), "{}", run.trace());
}

/// How the kernel refuses a report of the cascade; the state is as it was.
fn refusal(says: &str, rows: Vec<Row>, size: Size) -> String {
    let mut run = with_tasks(1);
    run.until("cascade");
    let before = run.walker.state.clone();
    let refused = reports(&mut run, "cascade", said(says, rows, size)).expect_err("refused");
    assert_eq!(run.walker.state, before);
    refused.to_string()
}

fn said(says: &str, rows: Vec<Row>, size: Size) -> Report {
    Report { rows, size: Some(size), ..Report::saying(says) }
}

fn after(check: &str, tier: Tier) -> Row {
    Row {
        check: check.to_string(),
        phase: RowPhase::After,
        tier: Some(tier),
        passed: true,
        exit_code: Some(0),
        iteration: 1,
        superseded: false,
        collected: None,
        duration_ms: 10,
        reason: String::new(),
        source: Source::Engine,
    }
}

fn baseline(check: &str) -> Row {
    Row { phase: RowPhase::Baseline, iteration: 0, ..after(check, Tier::Two) }
}

fn failed(check: &str, tier: Tier) -> Row {
    Row { passed: false, exit_code: Some(1), ..after(check, tier) }
}
