use super::*;
use insta::assert_snapshot;
use proptest::prelude::*;
use std::vec;

fn row(check: &str, tier: u8, passed: bool) -> EvidenceRow {
    EvidenceRow {
        check: check.into(),
        phase: RowPhase::After,
        tier: Some(Tier::try_from(tier).unwrap()),
        passed,
        exit_code: Some(i32::from(!passed)),
        iteration: 1,
        superseded: false,
        collected: None,
        duration_ms: 10,
        reason: String::new(),
        source: RowSource::Engine,
        red_before: 0,
    }
}

fn baseline(check: &str, tier: u8, passed: bool) -> EvidenceRow {
    EvidenceRow { phase: RowPhase::Baseline, iteration: 0, ..row(check, tier, passed) }
}

fn infeasible(reason: &str) -> EvidenceRow {
    EvidenceRow { reason: reason.into(), ..row(INFEASIBLE, 3, true) }
}

/// A baseline, diagnostics and a build.
fn enough() -> Vec<EvidenceRow> {
    vec![baseline("build", 2, true), row("diagnostics", 1, true), row("build", 2, true)]
}

fn reasons(rows: &[EvidenceRow], size: TaskSize) -> String {
    match rule(rows, size, GateDemand::Proof) {
        GateResult::Passed => "passed".into(),
        GateResult::Failed(reasons) => reasons.join("\n"),
    }
}

// EP-18
#[test]
fn two_passing_rows_prove_a_standard_task_and_three_a_large_one() {
    assert_eq!(reasons(&enough(), TaskSize::Standard), "passed");
    assert_snapshot!(reasons(&enough(), TaskSize::Large), @"2 of 3 required checks of tiers 1 to 3 passed");
    let mut rows = enough();
    rows.push(row("tests", 2, true));
    assert_eq!(reasons(&rows, TaskSize::Large), "passed");
}

/// A test check after the change, with 3 tests; `red_before` of them fail, and are allowed to keep failing.
fn tests_with_red(red_before: u32) -> EvidenceRow {
    EvidenceRow { collected: Some(3), red_before, ..row("tests", 2, false) }
}

// UP-05 EP-18
#[test]
fn a_check_still_proves_if_every_failing_test_also_failed_before_and_is_excused() {
    let with =
        |now: EvidenceRow, before: bool| vec![baseline("tests", 2, before), row("diagnostics", 1, true), now];
    assert_eq!(reasons(&with(tests_with_red(1), false), TaskSize::Standard), "passed");
    assert!(excused(&with(tests_with_red(1), false)).is_empty(), "it proves the rest, so nothing is excused");
    assert_snapshot!(notes(&with(tests_with_red(1), false)).join("\n"), @"`tests` (tier 2, iteration 1) has 1 failing test, red before the change too");
    // The count alone proves nothing: the check must have failed before, and some test must pass.
    assert_ne!(reasons(&with(tests_with_red(1), true), TaskSize::Standard), "passed");
    assert_ne!(reasons(&with(tests_with_red(3), false), TaskSize::Standard), "passed");
    assert_ne!(reasons(&with(tests_with_red(0), false), TaskSize::Standard), "passed");
}

// UP-05 EP-18
#[test]
fn a_check_without_tests_that_also_failed_before_neither_proves_nor_fails_the_task() {
    let rows = vec![
        baseline("build", 2, true),
        baseline("make", 2, false),
        row("diagnostics", 1, true),
        row("build", 2, true),
        row("make", 2, false),
    ];
    assert_eq!(reasons(&rows, TaskSize::Standard), "passed");
    assert_eq!(excused(&rows).into_iter().collect::<Vec<_>>(), ["make"]);
}

// UP-06
#[test]
fn without_a_demand_for_proof_only_failures_count() {
    let ruled = |rows: &[EvidenceRow]| rule(rows, TaskSize::Large, GateDemand::NoFailure);
    assert_eq!(ruled(&[]), GateResult::Passed);
    assert_ne!(ruled(&[row("build", 2, false)]), GateResult::Passed);
    assert_eq!(ruled(&[baseline("build", 2, false), row("build", 2, false)]), GateResult::Passed);
}

// EP-18
#[test]
fn an_empty_set_of_rows_does_not_pass() {
    assert_snapshot!(reasons(&[], TaskSize::Standard), @"
    there is no baseline: run the checks on the tree before the task
    0 of 2 required checks of tiers 1 to 3 passed
    no build, test or smoke check (tier 2 or 3) passed, and no `tier3-infeasible` with a reason is recorded
    ");
}

// EP-18
#[test]
fn a_row_without_a_tier_is_not_a_baseline() {
    let mut rows = enough();
    rows[0].tier = None;
    assert_snapshot!(reasons(&rows, TaskSize::Standard), @"there is no baseline: run the checks on the tree before the task");
}

// EP-18
#[test]
fn tier_one_alone_is_not_enough_unless_tier_three_is_infeasible_for_a_reason() {
    let mut rows = vec![baseline("lint", 1, true), row("diagnostics", 1, true), row("syntax", 1, true)];
    assert_snapshot!(reasons(&rows, TaskSize::Standard), @"no build, test or smoke check (tier 2 or 3) passed, and no `tier3-infeasible` with a reason is recorded");
    rows.push(infeasible(" "));
    assert_ne!(reasons(&rows, TaskSize::Standard), "passed");
    rows.push(infeasible("a document has nothing to load"));
    assert_eq!(reasons(&rows, TaskSize::Standard), "passed");
}

// EP-18
#[test]
fn the_infeasible_marker_does_not_count_as_a_passing_row() {
    let rows = [baseline("lint", 1, true), row("diagnostics", 1, true), infeasible("nothing to load")];
    assert_snapshot!(reasons(&rows, TaskSize::Standard), @"1 of 2 required checks of tiers 1 to 3 passed");
}

// EP-18
#[test]
fn a_failed_build_outweighs_any_number_of_passes() {
    let mut rows = enough();
    rows.extend([row("tests", 2, true), row("lint", 1, true), row("types", 2, false)]);
    assert_snapshot!(reasons(&rows, TaskSize::Standard), @"`types` (tier 2, iteration 1) failed with exit code 1 but not at the baseline");
}

// EP-18
#[test]
fn a_check_that_failed_at_the_baseline_too_is_excused_and_noted() {
    let mut rows = enough();
    rows.extend([baseline("types", 2, false), row("types", 2, false)]);
    assert_eq!(reasons(&rows, TaskSize::Standard), "passed");
    assert_eq!(notes(&rows), ["`types` (tier 2, iteration 1) failed at the baseline too"]);
    assert_eq!(excused(&rows), BTreeSet::from(["types"]));
    // EP-19: it passed on one of the two earlier trees.
    rows.push(baseline("types", 2, true));
    assert_ne!(reasons(&rows, TaskSize::Standard), "passed");
}

// EP-18
#[test]
fn a_check_that_has_failed_since_the_baseline_proves_nothing_and_must_be_fixed() {
    let mut rows = vec![baseline("tests", 2, false), row("diagnostics", 1, true), row("syntax", 1, true)];
    rows.push(row("tests", 2, false));
    assert_snapshot!(reasons(&rows, TaskSize::Standard), @"`tests` failed at the baseline and still fails, and nothing else of tier 2 or 3 passed: fix it");
    rows.extend([baseline("build", 2, true), row("build", 2, true)]);
    assert_eq!(reasons(&rows, TaskSize::Standard), "passed");
}

// EP-18
#[test]
fn found_secrets_fail_the_gate_and_other_readiness_checks_only_add_a_note() {
    let mut rows = enough();
    rows.push(row("readiness-observability", 4, false));
    assert_eq!(reasons(&rows, TaskSize::Standard), "passed");
    assert_eq!(
        notes(&rows),
        ["`readiness-observability` (tier 4, iteration 1) failed, which does not affect the gate"]
    );
    rows.push(row(SECRETS, 4, false));
    assert_snapshot!(reasons(&rows, TaskSize::Standard), @"`readiness-secrets` (tier 4, iteration 1) failed with exit code 1 but not at the baseline");
    rows.push(baseline(SECRETS, 4, false));
    assert_eq!(reasons(&rows, TaskSize::Standard), "passed");
}

// EP-18
#[test]
fn readiness_never_counts_as_a_passing_row() {
    let rows = [
        baseline("build", 2, true),
        row("build", 2, true),
        row(SECRETS, 4, true),
        row("readiness-degradation", 4, true),
    ];
    assert_snapshot!(reasons(&rows, TaskSize::Standard), @"1 of 2 required checks of tiers 1 to 3 passed");
}

// EP-18
#[test]
fn superseded_rows_and_earlier_iterations_do_not_count() {
    let mut rows = enough();
    rows.push(EvidenceRow { superseded: true, ..row("types", 2, false) });
    assert_eq!(reasons(&rows, TaskSize::Standard), "passed");
    rows.push(EvidenceRow { iteration: 2, ..row("build", 2, true) });
    assert_snapshot!(reasons(&rows, TaskSize::Standard), @"1 of 2 required checks of tiers 1 to 3 passed");
    let none: Vec<_> = enough().into_iter().map(|row| EvidenceRow { superseded: true, ..row }).collect();
    assert_eq!(reasons(&none, TaskSize::Standard), reasons(&[], TaskSize::Standard));
}

// CORE-13
#[test]
fn a_check_that_collected_no_tests_does_not_pass() {
    let mut rows = enough();
    rows[2].collected = Some(0);
    assert_snapshot!(reasons(&rows, TaskSize::Standard), @"
    1 of 2 required checks of tiers 1 to 3 passed
    no build, test or smoke check (tier 2 or 3) passed, and no `tier3-infeasible` with a reason is recorded
    ");
    assert_eq!(
        notes(&rows),
        ["`build` (tier 2, iteration 1) collected no tests, so it does not count as passed"]
    );
    rows[2].collected = Some(1);
    assert_eq!(reasons(&rows, TaskSize::Standard), "passed");
}

#[test]
fn a_pass_with_a_bad_exit_code_is_a_failure() {
    let mut rows = enough();
    rows.push(EvidenceRow { exit_code: Some(101), ..row("tests", 2, true) });
    assert_snapshot!(reasons(&rows, TaskSize::Standard), @"`tests` (tier 2, iteration 1) failed with exit code 101 but not at the baseline");
}

fn test(name: &str, end: TestEnd) -> TestResult {
    TestResult { name: name.into(), end }
}

// EP-19
#[test]
fn a_test_that_passed_before_and_fails_or_is_gone_is_a_regression() {
    use TestEnd::{Failed, Flaky, Passed};
    let run = [test("a", Passed), test("b", Passed), test("c", Failed), test("d", Passed), test("f", Flaky)];
    let task = [test("c", Passed), test("e", Failed)];
    let after =
        [test("a", Passed), test("b", Failed), test("c", Failed), test("e", Failed), test("f", Failed)];
    let found: Vec<_> = regressions(&[&run, &task], &after).into_iter().map(|r| (r.test, r.how)).collect();
    assert_eq!(
        found,
        [
            ("b".into(), RegressionKind::Failed),
            ("c".into(), RegressionKind::Failed),
            ("d".into(), RegressionKind::Gone),
        ]
    );
}

// EP-19
#[test]
fn a_flaky_test_is_neither_a_pass_nor_a_regression() {
    use TestEnd::{Failed, Passed};
    let twice = [test("a", Passed), test("a", Failed)];
    assert_eq!(regressions(&[&twice], &[]), []);
    assert_eq!(regressions(&[&[test("a", Passed)]], &twice), []);
}

// EP-19
#[test]
fn a_false_claim_about_the_baseline_becomes_a_failed_row() {
    let claim = |check: &str, passed| BaselineClaim { check: check.into(), passed };
    let mut rows = vec![baseline("build", 2, true), baseline("types", 2, false)];
    let claims = [claim("build", true), claim("types", true), claim("bench", true)];
    let found = baseline_discrepancies(&claims, &rows, 1);
    let reasons: Vec<_> =
        found.iter().map(|row| (row.check.as_str(), row.passed, row.reason.as_str())).collect();
    assert_eq!(
        reasons,
        [
            (
                DISCREPANCY,
                false,
                "the agent claims that `types` passed at the baseline; the engine did not see that"
            ),
            (
                DISCREPANCY,
                false,
                "the agent claims that `bench` passed at the baseline; the engine did not see that"
            ),
        ]
    );
    rows.extend([row("diagnostics", 1, true), row("build", 2, true)]);
    rows.extend(found);
    assert_eq!(rule(&rows, TaskSize::Standard, GateDemand::Proof), GateResult::Passed);
    assert_eq!(notes(&rows).len(), 2);
}

fn any_row() -> impl Strategy<Value = EvidenceRow> {
    let checks = vec!["build", "tests", "lint", SECRETS, INFEASIBLE, "readiness-degradation"];
    let phases = vec![RowPhase::Baseline, RowPhase::After, RowPhase::Review];
    let numbers = (1..=4u8, 0..3u32, prop::option::of(0..3u32), prop::option::of(0..2i32));
    (prop::sample::select(checks), prop::sample::select(phases), any::<(bool, bool)>(), numbers).prop_map(
        |(check, phase, (passed, superseded), (tier, iteration, collected, exit_code))| EvidenceRow {
            phase,
            superseded,
            iteration,
            collected,
            exit_code,
            ..row(check, tier, passed)
        },
    )
}

proptest! {
    // EP-18
    #[test]
    fn a_superseded_row_changes_nothing(rows in prop::collection::vec(any_row(), 0..12)) {
        let others: Vec<_> = rows.iter().filter(|row| !row.superseded).cloned().collect();
        prop_assert_eq!(rule(&rows, TaskSize::Large, GateDemand::Proof), rule(&others, TaskSize::Large, GateDemand::Proof));
    }

    // EP-18
    #[test]
    fn rows_that_pass_a_large_task_pass_a_standard_one(rows in prop::collection::vec(any_row(), 0..12)) {
        if reasons(&rows, TaskSize::Large) == "passed" {
            prop_assert_eq!(reasons(&rows, TaskSize::Standard), "passed");
        }
    }

    // EP-18
    #[test]
    fn a_pass_needs_a_baseline_and_two_passing_rows(rows in prop::collection::vec(any_row(), 0..12)) {
        if reasons(&rows, TaskSize::Standard) == "passed" {
            prop_assert!(rows.iter().any(|row| row.phase == RowPhase::Baseline && !row.superseded));
            let passes = rows.iter().filter(|row| row.phase == RowPhase::After && !row.superseded && row.passed);
            prop_assert!(passes.filter(|row| row.collected != Some(0)).count() >= 2);
        }
    }
}
