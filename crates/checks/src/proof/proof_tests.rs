#![allow(clippy::unwrap_used)]

use super::*;
use crate::action::CheckAction;
use crate::integrity::Edited;
use crate::result::{CheckEnd, CheckResult};
use crate::spec::{CheckSpec, Parser};
use remand_kernel::change::{TestEnd, TestResult};
use remand_kernel::evidence::Tier;
use remand_ledger::proof::{MutantFate, ProvenTest, TestOrigin, TestProof};
use remand_mutants::AlteredSource;
use std::collections::BTreeSet;
use std::path::Path;

const BEFORE: &str = "def fee(weight):\n    return weight\n";
const AFTER: &str = "def fee(weight):\n    if weight > 20:\n        return weight * 2\n    return weight\n";

fn spec() -> CheckSpec {
    CheckSpec::new("pytest", Tier::Two, CheckAction::argv(&["pytest"])).parsed_by(Parser::Pytest)
}

fn result(ends: &[(&str, TestEnd)], output: &str) -> CheckResult {
    let failed = ends.iter().any(|(_, end)| *end == TestEnd::Failed) || ends.is_empty();
    let end = if failed { CheckEnd::Failed } else { CheckEnd::Passed };
    CheckResult {
        exit_code: Some(i32::from(failed)),
        tests: ends.iter().map(|(name, end)| TestResult { name: name.to_string(), end: *end }).collect(),
        output: output.as_bytes().to_vec(),
        ..CheckResult::of_engine("pytest", Some(Tier::Two), end, String::new())
    }
}

fn edited(path: &str, before: &str, after: &str) -> Edited {
    let before = (!before.is_empty()).then(|| before.to_string());
    Edited { path: path.to_string(), before, after: Some(after.to_string()) }
}

const HEAVY: &str = "test_fee.py::test_heavy";
const LIGHT: &str = "test_fee.py::test_light";

// TE-03
#[test]
fn new_changed_and_fixed_tests_are_in_question() {
    use TestEnd::{Failed, Passed};
    let tests = "from fee import fee\n\ndef check(a, b):\n    assert a == b\n\ndef test_light():\n    check(fee(1), 1)\n\ndef test_none():\n    assert fee(0) == 0\n";
    let found =
        |after: &str, before: &[(&str, TestEnd)], now: &[(&str, TestEnd)]| -> Vec<(String, TestOrigin)> {
            let edited = [edited("test_fee.py", tests, after)];
            let questions = tests_in_question(&edited, &[result(before, "")], &[result(now, "")]);
            questions.into_iter().map(|test| (test.name, test.origin)).collect()
        };
    let none = "test_fee.py::test_none";
    let before = [(LIGHT, Passed), (none, Passed)];
    assert_eq!(found(tests, &before, &before), []);
    let more = format!("{tests}\ndef test_heavy():\n    check(fee(30), 60)\n");
    let now = [(LIGHT, Passed), (none, Passed), (HEAVY, Passed)];
    assert_eq!(found(&more, &before, &now), [(HEAVY.to_string(), TestOrigin::New)]);
    let edited = tests.replace("fee(1), 1", "fee(2), 2");
    assert_eq!(found(&edited, &before, &before), [(LIGHT.to_string(), TestOrigin::Changed)]);
    let helper = tests.replace("assert a == b", "pass");
    assert_eq!(
        found(&helper, &before, &before),
        [(LIGHT.to_string(), TestOrigin::Changed)],
        "a helper counts"
    );
    let red = [(LIGHT, Failed), (none, Passed)];
    assert_eq!(found(tests, &red, &before), [(LIGHT.to_string(), TestOrigin::Fixed)]);
}

fn in_question(name: &str) -> TestInQuestion {
    let uses = BTreeSet::from(["fee".to_string(), "toll".to_string()]);
    TestInQuestion {
        check: "pytest".to_string(),
        name: name.to_string(),
        origin: TestOrigin::New,
        uses,
        is_green_at_base: false,
    }
}

// TE-03
#[test]
fn a_test_is_red_at_the_base_by_an_assertion_or_by_a_name_that_the_change_brings() {
    let judge = |result: &CheckResult, added: &[&str]| {
        let added = added.iter().map(|name| name.to_string()).collect();
        at_base(&in_question(HEAVY), Parser::Pytest, result, &added, &|_, _| false)
    };
    let failed = |why: &str| result(&[(HEAVY, TestEnd::Failed)], &format!("FAILED {HEAVY} - {why}\n"));
    assert_eq!(judge(&failed("assert 30 == 60"), &[]), Some(TestProof::RedAtBase));
    let missing = failed("AttributeError: module 'fee' has no attribute 'toll'");
    assert_eq!(judge(&missing, &["toll"]), Some(TestProof::MissingAtBase));
    assert_eq!(judge(&missing, &["other"]), None, "the test does not use what the change brings");
    assert_eq!(judge(&result(&[(HEAVY, TestEnd::Passed)], ""), &["toll"]), None);
    let unloaded = result(&[], "ImportError: cannot import name 'toll' from 'fee'");
    assert_eq!(judge(&unloaded, &["toll"]), Some(TestProof::MissingAtBase));
    assert_eq!(judge(&result(&[], "SyntaxError"), &["toll"]), None);
}

/// Plays a hunt in which these tests pass, and this function says how a test ends on a copy: `None` for a pass.
fn hunt(tests: &[&str], fails: impl Fn(&str, &str) -> Option<&'static str>) -> HuntEnd {
    hunt_of(tests, false, fails)
}

fn hunt_of(
    tests: &[&str],
    decides_equality: bool,
    fails: impl Fn(&str, &str) -> Option<&'static str>,
) -> HuntEnd {
    let lines = BTreeSet::from([2, 3]);
    let files = [AlteredSource { path: Path::new("fee.py"), text: AFTER, lines: &lines }];
    let specs = [spec()];
    let passing: Vec<(&str, TestEnd)> = tests.iter().map(|test| (*test, TestEnd::Passed)).collect();
    let head = [result(&passing, "")];
    let change =
        HuntedChange { files: &files, specs: &specs, head: &head, decides_equality, read: &|_| None };
    let questions = tests.iter().map(|test| (in_question(test), None)).collect();
    let mut hunt = MutantHunt::new(change, questions);
    let mut trials = 0;
    while let Some(trial) = hunt.next_trial() {
        trials += 1;
        assert!(trials < 50, "the hunt does not end");
        let copy: String = trial.texts().into_iter().map(|(_, text)| text).collect();
        let ends: Vec<(&str, TestEnd, &str)> = tests
            .iter()
            .map(|test| match fails(test, &copy) {
                Some(why) => (*test, TestEnd::Failed, why),
                None => (*test, TestEnd::Passed, ""),
            })
            .collect();
        let output: String = ends
            .iter()
            .filter(|(_, end, _)| *end == TestEnd::Failed)
            .map(|(test, _, why)| format!("FAILED {test} - {why}\n"))
            .collect();
        let ends: Vec<(&str, TestEnd)> = ends.iter().map(|(test, end, _)| (*test, *end)).collect();
        hunt.record(&trial, &[result(&ends, &output)]);
    }
    hunt.end()
}

// TE-05
#[test]
fn if_the_change_decides_what_is_equal_no_mutant_is_a_value_of_another_type() {
    let kinds = |decides_equality: bool| -> BTreeSet<String> {
        let end = hunt_of(&[HEAVY], decides_equality, |_, _| None);
        end.mutants.into_iter().map(|mutant| mutant.kind).collect()
    };
    assert!(kinds(false).contains("returned value"), "{:?}", kinds(false));
    assert!(!kinds(true).contains("returned value") && !kinds(true).is_empty(), "{:?}", kinds(true));
}

fn proofs(end: &HuntEnd) -> Vec<(&str, TestProof)> {
    end.tests.iter().map(|ProvenTest { test, proof, .. }| (test.as_str(), *proof)).collect()
}

// TE-03, TE-04
#[test]
fn a_hunt_ends_when_each_test_that_reaches_the_change_has_killed_a_mutant() {
    let end = hunt(&[HEAVY, LIGHT], |test, copy| match (test, copy.contains("reached")) {
        (HEAVY, true) => Some("SystemError: reached"),
        (HEAVY, false) if !copy.contains("weight * 2") => Some("assert 1 == 2"),
        _ => None,
    });
    assert_eq!(proofs(&end), [(HEAVY, TestProof::KillsMutant), (LIGHT, TestProof::Nothing)]);
    assert!(end.is_noticed && end.untried > 0, "{end:?}");
    assert_eq!(end.tests[1].detail, "it does not run the changed code");
    assert_eq!(end.mutants.iter().filter(|mutant| mutant.fate == MutantFate::Killed).count(), 1);
}

// TE-04
#[test]
fn a_change_that_no_test_runs_costs_one_probe() {
    let end = hunt(&[LIGHT], |_, _| None);
    assert!(!end.is_noticed && end.untried == 0);
    assert!(end.mutants.iter().all(|mutant| mutant.fate == MutantFate::NotReached), "{end:?}");
    assert_eq!(proofs(&end), [(LIGHT, TestProof::Nothing)]);
}

// TE-03, TE-04
#[test]
fn only_a_failed_assertion_kills_and_a_neighbour_proves_nothing() {
    let reached = |copy: &str| copy.contains("reached").then_some("SystemError: reached");
    let broken = hunt(&[HEAVY], |_, copy| reached(copy).or(Some("TypeError: expected str")));
    assert!(!broken.is_noticed);
    assert!(broken.mutants.iter().all(|mutant| mutant.fate == MutantFate::Unjudged));
    let swallowed = hunt(&[HEAVY], |_, copy| reached(copy));
    assert!(!swallowed.is_noticed);
    assert!(swallowed.mutants.iter().all(|mutant| mutant.fate == MutantFate::Survived));
    assert_eq!(proofs(&swallowed), [(HEAVY, TestProof::Nothing)]);
    let neighbour = hunt(&[HEAVY, LIGHT], |test, copy| {
        reached(copy).or_else(|| (test == LIGHT).then_some("assert 1 == 2"))
    });
    assert!(neighbour.is_noticed);
    assert_eq!(proofs(&neighbour), [(HEAVY, TestProof::Nothing), (LIGHT, TestProof::KillsMutant)]);
}

// TE-04
#[test]
fn mutants_have_identities_that_survive_moved_lines() {
    let ids = |text: &str| -> Vec<String> {
        let lines: BTreeSet<usize> = (1..=text.lines().count()).collect();
        let files = [AlteredSource { path: Path::new("fee.py"), text, lines: &lines }];
        let specs = [spec()];
        let head = [result(&[(HEAVY, TestEnd::Passed)], "")];
        let change = HuntedChange {
            files: &files,
            specs: &specs,
            head: &head,
            decides_equality: false,
            read: &|_| None,
        };
        let mut hunt = MutantHunt::new(change, vec![(in_question(HEAVY), None)]);
        while let Some(trial) = hunt.next_trial() {
            hunt.record(&trial, &[result(&[(HEAVY, TestEnd::Failed)], "FAILED x - TypeError\n")]);
        }
        let mut ids: Vec<String> = hunt.end().mutants.into_iter().map(|mutant| mutant.identity).collect();
        ids.sort();
        ids
    };
    let found = ids(AFTER);
    assert_eq!(found, ids(&format!("import os\n\n\n{AFTER}")));
    assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), found.len());
    assert!(found.len() > 4 && BEFORE.len() < AFTER.len());
}
