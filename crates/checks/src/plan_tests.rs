#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::*;
use crate::action::CheckAction;
use crate::members::MEMBERS;
use crate::{FileScope, Member, Members, Naming, Occasion, TaskChange, ToolVersions, compare, left_out};
use remand_kernel::evidence::{RowPhase, Tier};
use remand_kernel::finding::Severity;
use std::ffi::OsString;
use std::path::Path;

fn spec(name: &str) -> CheckSpec {
    CheckSpec::new(name, Tier::Two, CheckAction::argv(&["true"]))
}

fn result(spec: &CheckSpec, end: CheckEnd, tests: &[(&str, TestEnd)]) -> CheckResult {
    let exit_code = Some(i32::from(end != CheckEnd::Passed));
    let tests = tests.iter().map(|(name, end)| TestResult { name: name.to_string(), end: *end }).collect();
    CheckResult { exit_code, tests, ..CheckResult::not_run(spec, end, String::new()) }
}

fn conditions<'c>(environment: &'c BTreeMap<OsString, OsString>, tools: &'c ToolVersions) -> Conditions<'c> {
    Conditions { tree: "t", base: "b", files: FileScope::Whole, environment, tools, installed: "" }
}

fn plan(spec: &CheckSpec, left_out: &LeftOut, before: &[CheckResult]) -> CheckPlan {
    let (environment, tools) = (BTreeMap::new(), ToolVersions::default());
    let specs = std::slice::from_ref(spec);
    let suspects = &BTreeSet::new();
    let request = CheckRequest { specs, selection: Selection::All, left_out, before, suspects };
    CheckPlan::new(request, &conditions(&environment, &tools), &BTreeMap::new())
}

/// Feeds these results to a plan of one check; returns the final result and the number of runs.
fn final_result(spec: &CheckSpec, before: &[CheckResult], runs: Vec<CheckResult>) -> (CheckResult, usize) {
    let plan = plan(spec, &LeftOut::new(), before);
    let (mut run, mut runs, mut count) = (CheckRun::new(&plan), runs.into_iter(), 0);
    while run.next_check().is_some() {
        count += 1;
        run.record(runs.next().expect("one more run"));
    }
    (run.into_results().remove(0), count)
}

fn passed_before(tests: &[(&str, TestEnd)]) -> CheckResult {
    result(&spec("check"), CheckEnd::Passed, tests)
}

// CORE-21
#[test]
fn a_test_that_ends_differently_on_one_tree_is_flaky_and_its_result_is_withdrawn() {
    use TestEnd::{Failed, Flaky, Passed};
    let (check, before) = (spec("check"), [passed_before(&[("a", Passed), ("b", Passed)])]);
    let runs = vec![
        result(&check, CheckEnd::Failed, &[("a", Passed), ("b", Failed)]),
        result(&check, CheckEnd::Passed, &[("a", Passed), ("b", Passed)]),
    ];
    let (result, count) = final_result(&check, &before, runs);
    assert_eq!((count, result.end, result.steadiness), (2, CheckEnd::Passed, Steadiness::Flaky));
    assert_eq!(result.tests.iter().map(|test| test.end).collect::<Vec<_>>(), [Passed, Flaky]);
    assert!(matches!(result.reuse, Some(Reuse::Withdrawn { .. })), "{:?}", result.reuse);
    let findings = compare(&before, &[result], Path::new(""));
    let claims: Vec<_> = findings.iter().map(|finding| (finding.severity, finding.claim.as_str())).collect();
    assert_eq!(claims.len(), 1, "{claims:?}");
    assert!(claims[0].0 == Severity::Major && claims[0].1.contains("is flaky"), "{claims:?}");
}

// CORE-21
#[test]
fn a_new_test_that_is_flaky_refuses_the_change() {
    let before = [passed_before(&[("a", TestEnd::Passed)])];
    let now = result(&spec("check"), CheckEnd::Passed, &[("a", TestEnd::Passed), ("b", TestEnd::Flaky)]);
    let findings = compare(&before, &[now], Path::new(""));
    let claims: Vec<_> = findings.iter().map(|finding| (finding.severity, finding.claim.as_str())).collect();
    let claim = "the test `b` of `check` is new and flaky: it passes and fails on the same tree";
    assert_eq!(claims, [(Severity::Critical, claim)]);
}

// CORE-21
#[test]
fn a_flaky_test_that_was_flaky_or_failed_before_is_not_a_finding() {
    use TestEnd::{Failed, Flaky, Passed};
    for end in [Flaky, Failed] {
        let before = [passed_before(&[("a", Passed), ("b", end)])];
        let now = result(&spec("check"), CheckEnd::Passed, &[("a", Passed), ("b", Flaky)]);
        assert_eq!(compare(&before, &[now], Path::new("")), []);
    }
}

// EP-19
#[test]
fn a_check_that_keeps_failing_runs_three_times_and_its_result_is_kept() {
    use TestEnd::{Failed, Passed};
    let (check, before) = (spec("check"), [passed_before(&[("a", Passed)])]);
    let failure = || result(&check, CheckEnd::Failed, &[("a", Failed)]);
    let (result, count) = final_result(&check, &before, vec![failure(), failure(), failure()]);
    assert_eq!((count, result.end), (3, CheckEnd::Failed));
    assert!(matches!(result.reuse, Some(Reuse::Kept { .. })));
    assert_eq!(compare(&before, &[result], Path::new(""))[0].severity, Severity::Critical);
}

#[test]
fn an_old_failure_is_not_repeated_and_reruns_can_be_switched_off() {
    use TestEnd::Failed;
    let mut check = spec("check");
    let failed = CheckResult { end: CheckEnd::Failed, ..passed_before(&[("a", Failed)]) };
    let failure = || result(&spec("check"), CheckEnd::Failed, &[("a", Failed)]);
    assert_eq!(final_result(&check, &[failed], vec![failure()]).1, 1);
    check.reruns = 0;
    assert_eq!(final_result(&check, &[passed_before(&[])], vec![failure()]).1, 1);
}

// CORE-21
#[test]
fn one_failed_run_fails_a_check_that_reports_no_tests() {
    let (check, before) = (spec("check"), [passed_before(&[])]);
    let runs = vec![result(&check, CheckEnd::Failed, &[]), result(&check, CheckEnd::Passed, &[])];
    let (result, _) = final_result(&check, &before, runs);
    assert_eq!((result.end, result.steadiness), (CheckEnd::Failed, Steadiness::Flaky));
    let occasion = Occasion { task: None, phase: RowPhase::After, round: 1, iteration: 1 };
    assert!(!occasion.rows(&[result])[0].passed);
}

#[test]
fn a_result_that_depends_on_the_machine_is_not_kept() {
    let check = spec("check");
    for end in [CheckEnd::TimedOut, CheckEnd::Environment, CheckEnd::Cancelled] {
        let (result, _) = final_result(&check, &[], vec![CheckResult::not_run(&check, end, String::new())]);
        assert_eq!(result.reuse, None, "{end:?}");
    }
}

#[test]
fn keys_differ_by_tree_command_environment_and_files_in_scope() {
    let tools = ToolVersions::default();
    let (none, some) = (BTreeMap::new(), BTreeMap::from([("A".into(), "1".into())]));
    let plain = conditions(&none, &tools);
    let check = spec("check");
    let other = CheckSpec { action: CheckAction::argv(&["true", "-v"]), ..check.clone() };
    let key = plain.key(&check);
    assert_eq!(key, plain.key(&check));
    assert_ne!(key, plain.key(&other));
    assert_ne!(key, Conditions { tree: "u", ..plain }.key(&check));
    assert_ne!(key, Conditions { environment: &some, ..plain }.key(&check));
    let files = ["a.rs".to_string()];
    let changed = Conditions { files: FileScope::Changed(&files), ..plain };
    assert_eq!(key, changed.key(&check), "a check of the whole tree does not depend on the changed files");
    let each = CheckSpec { each: vec!["rs".to_string()], ..check };
    assert_ne!(plain.key(&each), changed.key(&each));
}

// EP-15
#[test]
fn an_inconclusive_result_for_some_members_is_decided_by_the_whole_workspace() {
    use TestEnd::{Failed, Passed};
    let member = |name: &str| Member {
        name: name.to_string(),
        folders: vec![name.to_string()],
        reads: Vec::new(),
        dependencies: Vec::new(),
    };
    let members = Members {
        all: vec![member("a"), member("b")],
        ..Members::of_command(&["true", MEMBERS], Naming::List)
    };
    let check = spec("check").with_members(members);
    let files = ["a/x".to_string()];
    let left_out =
        left_out(std::slice::from_ref(&check), TaskChange { by_task: &files, since_detection: &files });
    let before = [passed_before(&[("a", Passed), ("b", Passed)])];
    let plan = plan(&check, &left_out, &before);
    let final_result = |first: CheckResult| {
        let (mut run, mut commands) = (CheckRun::new(&plan), Vec::new());
        while let Some(spec) = run.next_check() {
            commands.push(spec.action.typed().unwrap());
            let whole = || result(spec, CheckEnd::Passed, &[("a", Passed), ("b", Passed)]);
            run.record(if commands.len() == 1 { first.clone() } else { whole() });
        }
        (commands, run.into_results().remove(0))
    };
    for first in [result(&check, CheckEnd::Vacuous, &[]), result(&check, CheckEnd::Failed, &[])] {
        let (commands, result) = final_result(first);
        let whole = (vec!["true a".to_string(), "true".to_string()], TestListing::All);
        assert_eq!((commands, result.listing), whole);
    }
    let (commands, passed) = final_result(result(&check, CheckEnd::Passed, &[("a", Passed)]));
    assert_eq!((commands, passed.listing), (vec!["true a".to_string()], TestListing::Members));
    let narrowed = left_out.narrowed(&check).unwrap();
    let (environment, tools) = (BTreeMap::new(), ToolVersions::default());
    let conditions = conditions(&environment, &tools);
    assert_eq!(passed.reuse, Some(Reuse::Kept { key: conditions.key(&narrowed) }));
    assert_ne!(conditions.key(&narrowed), conditions.key(&check));
    assert_eq!(compare(&before, &[passed], Path::new("")), []);
    let (commands, failed) = final_result(result(&check, CheckEnd::Failed, &[("a", Failed)]));
    // The check runs again for the same members, to see whether the failure is flaky.
    assert_eq!((commands, failed.listing), (vec!["true a".to_string(); 2], TestListing::Members));
}

/// The names of the checks that a plan runs if every run passes, and the final results.
fn run_all(plan: &CheckPlan) -> (Vec<String>, Vec<CheckResult>) {
    let (mut run, mut ran) = (CheckRun::new(plan), Vec::new());
    while let Some(spec) = run.next_check() {
        ran.push(spec.name.clone());
        run.record(result(spec, CheckEnd::Passed, &[]));
    }
    (ran, run.into_results())
}

// EP-16
#[test]
fn a_plan_runs_only_checks_without_a_known_result_and_the_checks_they_need() {
    let specs = [spec("build"), spec("test").needing("build"), spec("lint")];
    let (environment, tools) = (BTreeMap::new(), ToolVersions::default());
    let conditions = conditions(&environment, &tools);
    let left_out = LeftOut::new();
    let planned = |known: &BTreeMap<BlobId, CheckResult>, suspects: &BTreeSet<String>| {
        let (specs, selection) = (specs.as_slice(), Selection::All);
        let request = CheckRequest { specs, selection, left_out: &left_out, before: &[], suspects };
        CheckPlan::new(request, &conditions, known)
    };
    let entry = |at: usize, end: CheckEnd| (conditions.key(&specs[at]), result(&specs[at], end, &[]));
    let no_suspects = BTreeSet::new();
    let all_but_lint = BTreeMap::from([entry(0, CheckEnd::Passed), entry(1, CheckEnd::Passed)]);
    assert_eq!(run_all(&planned(&all_but_lint, &no_suspects)).0, ["lint"]);
    let all_but_test = BTreeMap::from([entry(0, CheckEnd::Passed), entry(2, CheckEnd::Passed)]);
    assert_eq!(run_all(&planned(&all_but_test, &no_suspects)).0, ["build", "test"]);
    let broken_build = BTreeMap::from([entry(0, CheckEnd::Failed), entry(2, CheckEnd::Passed)]);
    let (ran, results) = run_all(&planned(&broken_build, &no_suspects));
    assert_eq!(
        (ran.len(), results[1].end),
        (0, CheckEnd::Skipped),
        "the build that it needs is known to fail"
    );
    let suspects = BTreeSet::from(["lint".to_string()]);
    let plan = planned(&all_but_lint, &suspects);
    assert!(plan.needs_clean_run(&run_all(&plan).1), "a pass after a failure counts only on a clean tree");
}
