//! The tiers of verification beyond checks: loading, smoke commands, and the requirements on a large task.

use crate::place::Place;
use crate::rehearsed::{Script, implemented, role, task, verified};
use remand_kernel::evidence::{RowPhase, Tier};
use remand_ledger::query::{CheckFilter, CheckRow};
use serde_json::{Value, json};

/// Checks that do not run the program.
const STATIC: &str = "[checks]\ndetect = false\n\n[checks.shape]\ncommand = \"test -d sums\"\ntier = 1\n\n\
                      [checks.more]\ncommand = \"test -f README.md\"\ntier = 1\n";

fn rows(place: &Place) -> Vec<CheckRow> {
    place.reader().checks(&place.latest().run, CheckFilter::default()).expect("rows")
}

fn row<'r>(rows: &'r [CheckRow], task: Option<&str>, name: &str) -> Option<&'r CheckRow> {
    rows.iter().find(|row| row.phase == RowPhase::After && row.task.as_deref() == task && row.name == name)
}

/// One task that writes a file, and a verifier that adds `said` about running the program to its result.
fn script(task_of: Value, file: &str, text: &str, said: &[(&str, Value)]) -> Script {
    let mut report = verified("task-1", "met");
    for (key, value) in said {
        report[*key] = value.clone();
    }
    Script::feature(&[task_of])
        .with(role("implementer").task("task-1").writes(file, text).says(implemented("task-1")))
        .with(role("verifier").task("task-1").says(report))
}

// EP-15 EP-16
#[test]
fn if_no_test_ran_changed_modules_are_loaded_and_smoke_commands_run_on_the_merged_tree() {
    let place = Place::configured(STATIC);
    let smoke = json!(["python3 -c 'from sums.sub import sub; assert sub(3, 2) == 1'"]);
    let text = "def sub(a, b):\n    return a - b\n";
    let script =
        script(task("task-1", &[("sums/sub.py", "green")], &[]), "sums/sub.py", text, &[("smoke", smoke)]);

    let shown = place.feature(&script, &["--autonomous"]);

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let rows = rows(&place);
    let load = row(&rows, Some("task-1"), "load-python").expect("a row");
    assert_eq!((load.passed, load.tier, load.exit_code), (true, Some(Tier::Three), Some(0)));
    let smoke = row(&rows, None, "smoke:task-1").expect("a row");
    assert_eq!((smoke.passed, smoke.tier, smoke.exit_code), (true, Some(Tier::Three), Some(0)));
    assert!(smoke.command.as_deref().is_some_and(|command| command.contains("sub(3, 2) == 1")));
}

/// Compiles a passing test to the file that Python loads instead of the existing source.
const COMPILE_ANOTHER: &str = "\
import os, py_compile
from importlib.util import cache_from_source

with open('other.py', 'w') as other:
    other.write('import unittest\\n\\nclass AddTest(unittest.TestCase):\\n    def test_adds(self):\\n        pass\\n')
unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
py_compile.compile('other.py', cache_from_source('tests/test_add.py'), 'tests/test_add.py', invalidation_mode=unchecked)
os.remove('other.py')
os.remove('compile_another.py')
";

// CORE-01 CORE-13
#[test]
fn compiled_code_in_a_change_is_not_run_instead_of_its_source() {
    let place = Place::configured(
        "[checks]\ndetect = false\n\n[checks.tests]\ncommand = \"python3 -m unittest discover -v\"\ntier = 2\n\n\
         [checks.lint]\ncommand = \"true\"\ntier = 1\n",
    );
    place.write(".gitignore", "");
    place.git(&["commit", "-q", "-a", "-m", "Nothing is ignored"]);
    let lie = role("implementer")
        .writes("sums/add.py", "def add(a, b):\n    return a - b\n")
        .writes("compile_another.py", COMPILE_ANOTHER)
        .runs("python3 compile_another.py");
    let script = Script::quick().with(lie.says(implemented("")));

    let shown = place.quick(&script, &[]);

    assert_eq!(shown.code, 4, "{}{}", shown.out, shown.err);
    let rows = rows(&place);
    let tests = row(&rows, None, "tests").expect("a row");
    assert!(!tests.passed && tests.snippet.contains("-1 != 3"), "{}", tests.snippet);
}

// EP-15 EP-18
#[test]
fn if_nothing_can_be_run_the_row_says_why() {
    let place = Place::configured(STATIC);
    let why = ("smoke_infeasible", json!("there is nothing but prose"));
    let text = "# sums\n\nThere will be a subtraction.\n";
    let script = script(task("task-1", &[("README.md", "green")], &[]), "README.md", text, &[why]);

    let shown = place.feature(&script, &["--autonomous"]);

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let rows = rows(&place);
    let first = row(&rows, Some("task-1"), "tier3-infeasible").expect("a row");
    assert!(first.reason.starts_with("no test ran, no changed file can be loaded"), "{}", first.reason);
    assert!(!first.passed && first.tier.is_none());
    let merged = row(&rows, None, "tier3-infeasible").expect("a row");
    assert_eq!(merged.reason, "no test ran; the verifier says: there is nothing but prose");
}

const TESTS_OF_SUB: &str = "\
import unittest
from sums.sub import sub


class SubTest(unittest.TestCase):
    def test_subtracts(self):
        self.assertEqual(sub(3, 2), 1)
";

// EP-15 EP-18 EP-30
#[test]
fn a_secret_in_a_large_task_fails_its_gate_and_guesses_fail_nothing() {
    let place = Place::new();
    let mut large = task("task-1", &[("sums/sub.py", "green"), ("tests/test_sub.py", "green")], &[]);
    large["size"] = json!("large");
    let sound = "import urllib.request\n\n\ndef sub(a, b):\n    urllib.request.urlopen\n    return a - b\n";
    let tested = role("implementer").task("task-1").writes("sums/sub.py", sound);
    let tested = tested.writes("tests/test_sub.py", TESTS_OF_SUB).says(implemented("task-1"));
    let passing = script(large.clone(), "sums/sub.py", sound, &[]).with(tested);
    let shown = place.feature(&passing, &["--autonomous"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let passed = rows(&place);
    let ends: Vec<(&str, bool)> = passed
        .iter()
        .filter(|row| row.tier == Some(Tier::Four))
        .map(|row| (row.name.as_str(), row.passed))
        .collect();
    let expected =
        [("readiness-secrets", true), ("readiness-observability", true), ("readiness-degradation", false)];
    assert_eq!(ends, expected);

    let key = format!("ghp_{}", "a1B2".repeat(9));
    // A script must not contain text that looks like a secret, so a command writes it.
    let text = "KEY = \"@\"\n\n\ndef sub(a, b):\n    return a - b\n";
    let leaking = role("implementer")
        .task("task-1")
        .writes("sums/sub.py", text)
        .runs("sed -i \"s/@/ghp_$(printf 'a1B2%.0s' 1 2 3 4 5 6 7 8 9)/\" sums/sub.py")
        .says(implemented("task-1"));
    let shown = place.feature(&script(large, "sums/sub.py", "", &[]).with(leaking), &["--autonomous"]);
    assert_ne!(shown.code, 0, "{}{}", shown.out, shown.err);
    let failed = rows(&place);
    let secrets = row(&failed, Some("task-1"), "readiness-secrets").expect("a row");
    assert!(
        !secrets.passed && secrets.reason.contains("sums/sub.py: KEY = \"[secret: "),
        "{}",
        secrets.reason
    );
    let findings = place.reader().findings(&place.latest().run).expect("findings");
    assert!(findings.iter().any(|found| found.claim.contains("seems to contain a secret")), "{findings:?}");
    assert!(!format!("{failed:?}{findings:?}").contains(&key));
}
