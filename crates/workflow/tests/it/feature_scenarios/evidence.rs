//! The evidence gate: a result that contradicts its rows is refused.

use super::{reports, ruled, with_tasks};
use remand_kernel::event::Report;
use remand_kernel::evidence::{EvidenceRow, RowPhase, RowSource, TaskSize, Tier};

// EP-18
#[test]
fn checks_that_passed_by_their_rows_pass() {
    let mut run = with_tasks(1);
    run.until("cascade");
    let rows = vec![baseline("build"), row_after("build", Tier::Two), row_after("syntax", Tier::One)];
    reports(&mut run, "cascade", report_with("passed", rows, TaskSize::Standard)).expect("taken");
    ruled(&run, "cascade[t1]: passed → next (verify)");
}

// EP-18, CORE-06
#[test]
fn checks_cannot_pass_against_a_failed_row() {
    let rows = vec![
        baseline("build"),
        row_after("syntax", Tier::One),
        row_after("lint", Tier::Two),
        failed("build", Tier::Two),
    ];
    let refused = refusal("passed", rows, TaskSize::Standard);
    let reason = "`build` (tier 2, iteration 1) failed with exit code 1 but not at the baseline";
    assert_eq!(
        refused,
        format!("the kernel refuses this: the result is `passed`, but the evidence is `failed`: {reason}")
    );
}

// EP-18
#[test]
fn checks_cannot_pass_without_a_baseline() {
    let refused = refusal(
        "passed",
        vec![row_after("syntax", Tier::One), row_after("build", Tier::Two)],
        TaskSize::Standard,
    );
    assert!(refused.contains("there is no baseline"), "{refused}");
}

// EP-18
#[test]
fn zero_rows_are_never_enough() {
    let refused = refusal("passed", Vec::new(), TaskSize::Standard);
    assert!(refused.contains("0 of 2 required checks of tiers 1 to 3 passed"), "{refused}");
}

// EP-18
#[test]
fn a_large_task_needs_three_passing_rows() {
    let rows = || vec![baseline("build"), row_after("syntax", Tier::One), row_after("build", Tier::Two)];
    let refused = refusal("passed", rows(), TaskSize::Large);
    assert!(refused.contains("2 of 3 required checks of tiers 1 to 3 passed"), "{refused}");
    let mut run = with_tasks(1);
    run.until("cascade");
    reports(&mut run, "cascade", report_with("passed", rows(), TaskSize::Standard)).expect("taken");
}

// EP-18
#[test]
fn two_rows_of_the_first_tier_are_not_enough() {
    let rows = vec![baseline("syntax"), row_after("syntax", Tier::One), row_after("format", Tier::One)];
    let refused = refusal("passed", rows, TaskSize::Standard);
    assert!(refused.contains("no build, test or smoke check (tier 2 or 3) passed"), "{refused}");
}

// EP-18
#[test]
fn superseded_rows_do_not_count() {
    let old = EvidenceRow { superseded: true, ..row_after("build", Tier::Two) };
    let refused =
        refusal("passed", vec![baseline("build"), old, row_after("lint", Tier::Two)], TaskSize::Standard);
    assert!(refused.contains("1 of 2 required checks"), "{refused}");
}

// EP-18
#[test]
fn only_the_latest_iteration_counts() {
    let later = EvidenceRow { iteration: 2, ..row_after("lint", Tier::Two) };
    let rows = vec![baseline("build"), row_after("build", Tier::Two), row_after("syntax", Tier::One), later];
    let refused = refusal("passed", rows, TaskSize::Standard);
    assert!(refused.contains("1 of 2 required checks"), "{refused}");
}

// EP-18
#[test]
fn a_check_that_failed_at_the_baseline_too_fails_nothing() {
    let before = EvidenceRow { phase: RowPhase::Baseline, iteration: 0, ..failed("doc", Tier::Two) };
    let rows =
        vec![before, failed("doc", Tier::Two), row_after("build", Tier::Two), row_after("lint", Tier::Two)];
    let mut run = with_tasks(1);
    run.until("cascade");
    reports(&mut run, "cascade", report_with("passed", rows, TaskSize::Standard)).expect("taken");
}

// EP-18
#[test]
fn checks_cannot_fail_against_rows_that_all_passed() {
    let rows = vec![baseline("build"), row_after("build", Tier::Two), row_after("lint", Tier::Two)];
    let refused = refusal("failed", rows, TaskSize::Standard);
    assert_eq!(refused, "the kernel refuses this: the result is `failed`, but the evidence is `passed`: ");
}

// EP-18
#[test]
fn the_merged_tree_is_checked_against_its_rows_too() {
    let mut run = with_tasks(1);
    run.until("integrate");
    let rows = vec![baseline("build"), failed("build", Tier::Two), row_after("lint", Tier::Two)];
    let refused =
        reports(&mut run, "integrate", report_with("passed", rows, TaskSize::Standard)).expect_err("refused");
    assert!(refused.to_string().contains("but the evidence is `failed`"), "{refused}");
}

// EP-18
#[test]
fn failed_rows_without_a_size_are_not_a_pass() {
    let mut run = with_tasks(1);
    run.until("cascade");
    let rows = vec![baseline("build"), failed("build", Tier::Two)];
    let report = Report { rows, ..Report::saying("passed") };
    assert!(reports(&mut run, "cascade", report).is_err(), "{}", run.trace());
}

/// The error for a report of the cascade that the kernel refuses; the state is unchanged.
fn refusal(says: &str, rows: Vec<EvidenceRow>, size: TaskSize) -> String {
    let mut run = with_tasks(1);
    run.until("cascade");
    let before = run.walker.state.clone();
    let refused = reports(&mut run, "cascade", report_with(says, rows, size)).expect_err("refused");
    assert_eq!(run.walker.state, before);
    refused.to_string()
}

fn report_with(says: &str, rows: Vec<EvidenceRow>, size: TaskSize) -> Report {
    Report { rows, size: Some(size), ..Report::saying(says) }
}

fn row_after(check: &str, tier: Tier) -> EvidenceRow {
    EvidenceRow {
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
        source: RowSource::Engine,
        red_before: 0,
    }
}

fn baseline(check: &str) -> EvidenceRow {
    EvidenceRow { phase: RowPhase::Baseline, iteration: 0, ..row_after(check, Tier::Two) }
}

fn failed(check: &str, tier: Tier) -> EvidenceRow {
    EvidenceRow { passed: false, exit_code: Some(1), ..row_after(check, tier) }
}
