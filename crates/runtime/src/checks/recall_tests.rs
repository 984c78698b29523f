#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::*;
use crate::checks::members::MEMBERS;
use crate::checks::spec::Action;
use crate::checks::{Change, Files, Member, Members, Naming, Tools, compare, left_out, rows};
use remand_kernel::evidence::{RowPhase, Tier};
use remand_kernel::finding::Severity;
use std::convert::Infallible;
use std::path::Path;

fn spec(name: &str) -> CheckSpec {
    CheckSpec::new(name, Tier::Two, Action::argv(&["true"]))
}

fn outcome(spec: &CheckSpec, end: End, tests: &[(&str, TestEnd)]) -> CheckOutcome {
    let exit_code = Some(i32::from(end != End::Passed));
    let tests = tests.iter().map(|(name, end)| TestResult { name: name.to_string(), end: *end }).collect();
    CheckOutcome { exit_code, tests, ..not_run(spec, end, String::new()) }
}

/// Gives these outcomes one after the other, and what comes of them with the number of runs.
fn told(spec: &CheckSpec, before: &[Before], runs: Vec<CheckOutcome>) -> (CheckOutcome, usize) {
    let (environment, tools) = (BTreeMap::new(), Tools::default());
    let setting = Setting {
        tree: "t",
        base: "b",
        files: Files::Whole,
        environment: &environment,
        tools: &tools,
        installed: "",
    };
    let left_out = &LeftOut::new();
    let recall = Recall { which: Which::All, setting, reader: None, left_out, before };
    let (mut runs, mut count) = (runs.into_iter(), 0);
    let mut run = |_: &CheckSpec| {
        count += 1;
        Ok::<_, Infallible>(runs.next().expect("one more run"))
    };
    let outcomes = recall.outcomes(std::slice::from_ref(spec), &mut run).unwrap();
    (outcomes.into_iter().next().unwrap(), count)
}

fn passed_before(tests: &[(&str, TestEnd)]) -> Before {
    Before::of(&outcome(&spec("own"), End::Passed, tests)).unwrap()
}

// CORE-21
#[test]
fn a_test_that_ends_differently_on_one_tree_is_flaky_and_neither_kept_nor_passed() {
    use TestEnd::{Failed, Flaky, Passed};
    let (own, before) = (spec("own"), [passed_before(&[("a", Passed), ("b", Passed)])]);
    let runs = vec![
        outcome(&own, End::Failed, &[("a", Passed), ("b", Failed)]),
        outcome(&own, End::Passed, &[("a", Passed), ("b", Passed)]),
    ];
    let (outcome, count) = told(&own, &before, runs);
    assert_eq!((count, outcome.end, outcome.steadiness), (2, End::Passed, Steadiness::Flaky));
    assert_eq!(outcome.tests.iter().map(|test| test.end).collect::<Vec<_>>(), [Passed, Flaky]);
    assert!(matches!(outcome.known, Known::Withdraw(_)), "{:?}", outcome.known);
    let findings = compare(&before, &[outcome], Path::new(""));
    let seen: Vec<_> = findings.iter().map(|finding| (finding.severity, finding.claim.as_str())).collect();
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert!(seen[0].0 == Severity::Major && seen[0].1.contains("is flaky"), "{seen:?}");
}

// CORE-21
#[test]
fn what_was_flaky_or_failed_before_is_no_finding_when_it_is_flaky_now() {
    use TestEnd::{Failed, Flaky, Passed};
    for end in [Flaky, Failed] {
        let before = [passed_before(&[("a", Passed), ("b", end)])];
        let now = outcome(&spec("own"), End::Passed, &[("a", Passed), ("b", Flaky)]);
        assert_eq!(compare(&before, &[now], Path::new("")), []);
    }
}

// EP-19
#[test]
fn a_failure_that_stays_is_run_three_times_and_kept() {
    use TestEnd::{Failed, Passed};
    let (own, before) = (spec("own"), [passed_before(&[("a", Passed)])]);
    let failure = || outcome(&own, End::Failed, &[("a", Failed)]);
    let (outcome, count) = told(&own, &before, vec![failure(), failure(), failure()]);
    assert_eq!((count, outcome.end), (3, End::Failed));
    assert!(matches!(outcome.known, Known::Keep(_)));
    assert_eq!(compare(&before, &[outcome], Path::new(""))[0].severity, Severity::Critical);
}

#[test]
fn what_failed_before_is_not_run_again_and_reruns_can_be_switched_off() {
    use TestEnd::Failed;
    let mut own = spec("own");
    let failed = Before { passed: false, ..passed_before(&[("a", Failed)]) };
    let failure = || outcome(&spec("own"), End::Failed, &[("a", Failed)]);
    assert_eq!(told(&own, &[failed], vec![failure()]).1, 1);
    own.reruns = 0;
    assert_eq!(told(&own, &[passed_before(&[])], vec![failure()]).1, 1);
}

// CORE-21
#[test]
fn a_check_that_does_not_tell_its_tests_has_failed_if_it_failed_once() {
    let (own, before) = (spec("own"), [passed_before(&[])]);
    let runs = vec![outcome(&own, End::Failed, &[]), outcome(&own, End::Passed, &[])];
    let (outcome, _) = told(&own, &before, runs);
    assert_eq!((outcome.end, outcome.steadiness), (End::Failed, Steadiness::Flaky));
    assert!(!rows(&[outcome], RowPhase::After, 1)[0].passed);
}

#[test]
fn what_depends_on_the_machine_is_not_kept() {
    let own = spec("own");
    for end in [End::TimedOut, End::Environment, End::Cancelled] {
        let (outcome, _) = told(&own, &[], vec![not_run(&own, end, String::new())]);
        assert_eq!(outcome.known, Known::Unkept, "{end:?}");
    }
}

#[test]
fn keys_differ_by_tree_command_environment_and_the_files_that_are_looked_at() {
    let tools = Tools::default();
    let (none, some) = (BTreeMap::new(), BTreeMap::from([("A".into(), "1".into())]));
    let plain = Setting {
        tree: "t",
        base: "b",
        files: Files::Whole,
        environment: &none,
        tools: &tools,
        installed: "",
    };
    let own = spec("own");
    let other = CheckSpec { action: Action::argv(&["true", "-v"]), ..own.clone() };
    let key = plain.key(&own);
    assert_eq!(key, plain.key(&own));
    assert_ne!(key, plain.key(&other));
    assert_ne!(key, Setting { tree: "u", ..plain }.key(&own));
    assert_ne!(key, Setting { environment: &some, ..plain }.key(&own));
    let files = ["a.rs".to_string()];
    let changed = Setting { files: Files::Changed(&files), ..plain };
    assert_eq!(key, changed.key(&own), "a whole check does not depend on what changed");
    let each = CheckSpec { each: vec!["rs".to_string()], ..own };
    assert_ne!(plain.key(&each), changed.key(&each));
}

// EP-15
#[test]
fn members_that_tell_nothing_by_themselves_are_judged_by_the_whole() {
    use TestEnd::{Failed, Passed};
    let member = |name: &str| Member {
        name: name.to_string(),
        own: vec![name.to_string()],
        reads: Vec::new(),
        leans: Vec::new(),
    };
    let some = Members {
        all: vec![member("a"), member("b")],
        ..Members::of_command(&["true", MEMBERS], Naming::List)
    };
    let own = spec("own").by_member(some);
    let files = ["a/x".to_string()];
    let left_out = left_out(std::slice::from_ref(&own), Change { own: &files, all: &files });
    let (environment, tools) = (BTreeMap::new(), Tools::default());
    let setting = Setting {
        tree: "t",
        base: "b",
        files: Files::Whole,
        environment: &environment,
        tools: &tools,
        installed: "",
    };
    let before = [passed_before(&[("a", Passed), ("b", Passed)])];
    let recall = Recall { which: Which::All, setting, reader: None, left_out: &left_out, before: &before };
    let told = |first: CheckOutcome| {
        let mut commands = Vec::new();
        let mut run = |spec: &CheckSpec| {
            commands.push(spec.action.typed().unwrap());
            let is_first = commands.len() == 1;
            let whole = || outcome(spec, End::Passed, &[("a", Passed), ("b", Passed)]);
            Ok::<_, Infallible>(if is_first { first.clone() } else { whole() })
        };
        let outcomes = recall.outcomes(std::slice::from_ref(&own), &mut run).unwrap();
        (commands, outcomes.into_iter().next().unwrap())
    };
    for first in [outcome(&own, End::Vacuous, &[]), outcome(&own, End::Failed, &[])] {
        let (commands, outcome) = told(first);
        assert_eq!((commands, outcome.listed), (vec!["true a".to_string(), "true".to_string()], Listed::All));
    }
    let (commands, passed) = told(outcome(&own, End::Passed, &[("a", Passed)]));
    assert_eq!((commands, passed.listed), (vec!["true a".to_string()], Listed::Members));
    let narrowed = left_out.narrowed(&own).unwrap();
    assert_eq!(passed.known, Known::Keep(setting.key(&narrowed)));
    assert_ne!(setting.key(&narrowed), setting.key(&own));
    assert_eq!(compare(&before, &[passed], Path::new("")), []);
    let (commands, failed) = told(outcome(&own, End::Failed, &[("a", Failed)]));
    // It is run again for the same members, to know whether it is flaky.
    assert_eq!((commands, failed.listed), (vec!["true a".to_string(); 2], Listed::Members));
}
