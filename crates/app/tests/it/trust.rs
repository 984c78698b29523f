//! Agents that cheat to get green checks, and how the engine reacts.

use crate::place::Place;
use crate::rehearsed::{Script, TEST_SUB, implemented, role, task};
use remand_ledger::query::CheckFilter;
use serde_json::json;

/// The findings of the engine after the first round ran this command on the tests, and the second gave up.
fn findings_after(place: &Place, first: &str) -> Vec<(String, String)> {
    let work = role("implementer").round(1).writes("sums/sub.py", crate::rehearsed::SUB);
    let stuck =
        json!({"verdict": "stuck", "hypothesis": "None is left.", "changes": [], "open": ["the test"]});
    let script = Script::quick()
        .with(work.writes("tests/test_sub.py", TEST_SUB).runs(first).says(implemented("")))
        .with(role("implementer").round(2).says(stuck));
    let shown = place.quick(&script, &[]);
    assert_eq!(shown.code, 6, "nothing is committed: {}{}", shown.out, shown.err);
    let run = place.latest().run;
    let findings = place.reader().findings(&run).expect("findings");
    findings.into_iter().map(|row| (row.id, format!("{:?}", row.severity))).collect()
}

// CORE-21 EP-19
#[test]
fn the_gate_refuses_a_change_that_deletes_skips_or_empties_a_test() {
    let off =
        "sed -i 's/    def test_adds/    @unittest.skip(\"later\")\\n    def test_adds/' tests/test_add.py";
    let void = "sed -i 's/add(1, 2), 3/3, 3/' tests/test_add.py";
    for first in ["rm tests/test_add.py", off, void] {
        let place = Place::new();
        let found = findings_after(&place, first);
        let wanted = ("tests:tests/test_add.py:AddTest::test_adds".to_string(), "Critical".to_string());
        assert_eq!(found, [wanted], "{first}");
        let rows = place.reader().checks(&place.latest().run, CheckFilter::default()).expect("rows");
        let gate: Vec<bool> =
            rows.iter().filter(|row| row.name == "regressions").map(|row| row.passed).collect();
        assert_eq!(gate, [false], "{first}");
    }
}

// CORE-21 CORE-22
#[test]
fn restoring_a_test_as_the_finding_asks_is_not_a_reversal() {
    let place = Place::new();
    let text = std::fs::read_to_string(place.project().join("tests/test_add.py")).expect("the test");
    let work = role("implementer").round(1).writes("sums/sub.py", crate::rehearsed::SUB);
    let back = json!({"verdict": "done", "hypothesis": "The test stays.", "changes": [{"file": "x", "what": "put back"}]});
    let script = Script::quick()
        .with(work.writes("tests/test_sub.py", TEST_SUB).runs("rm tests/test_add.py").says(implemented("")))
        .with(role("implementer").round(2).writes("tests/test_add.py", &text).says(back));
    let shown = place.quick(&script, &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
}

// CORE-21
#[test]
fn settings_that_decide_which_tests_run_are_not_changed_unasked() {
    let place = Place::new();
    let found = findings_after(&place, "printf '[pytest]\\naddopts = --ignore=tests\\n' > pytest.ini");
    assert!(found.iter().any(|(id, _)| id == "settings:pytest.ini"), "{found:?}");
}

// CORE-21
#[test]
fn a_plan_may_remove_a_test_and_reviewers_are_informed() {
    let place = Place::new();
    let files = [("sums/sub.py", "green"), ("tests/test_sub.py", "green"), ("tests/test_add.py", "green")];
    let mut planned = task("task-1", &files, &[]);
    planned["removes_tests"] = json!(["AddTest::test_adds"]);
    let work = role("implementer").task("task-1").writes("sums/sub.py", crate::rehearsed::SUB);
    let work = work.writes("tests/test_sub.py", TEST_SUB).runs("rm tests/test_add.py");
    let script = Script::feature(&[planned]).with(work.says(implemented("task-1")));
    let shown = place.feature(&script, &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let run = place.latest();
    assert_eq!(place.reader().findings(&run.run).expect("findings"), []);
    let notes = place.reader().notes(&run.run).expect("notes");
    assert!(notes.iter().any(|note| note.text.contains("is removed, as announced")), "{notes:?}");
}

/// Checks with a different output each time they run.
const CHANGING_OUTPUT: &str = "[checks]\ndetect = false\n\n[checks.shape]\ncommand = \"test -d sums && cat /proc/sys/kernel/random/uuid\"\n\
                       tier = 1\n\n[checks.build]\ncommand = \"test -f sums/add.py && cat /proc/sys/kernel/random/uuid\"\n\
                       needs = [\"shape\"]\n";

/// The results of the checks of the newest run, by phase and name.
fn outputs(place: &Place) -> Vec<(String, String, bool)> {
    let rows = place.reader().checks(&place.latest().run, CheckFilter::default()).expect("rows");
    let changing = rows.iter().filter(|row| row.name == "shape" || row.name == "build");
    changing
        .map(|row| {
            (format!("{:?} {}", row.phase, row.name), format!("{:?}", row.output), row.origin.is_some())
        })
        .collect()
}

// CORE-13 EP-13
#[test]
fn the_same_change_verified_twice_runs_nothing_the_second_time() {
    let place = Place::configured(CHANGING_OUTPUT);
    assert_eq!(place.quick(&Script::quick(), &[]).code, 0);
    let (first, original) = (outputs(&place), place.latest().run);
    assert!(first.iter().all(|(_, _, is_taken)| !is_taken), "{first:?}");
    assert_eq!(place.quick(&Script::quick(), &[]).code, 0);
    let second = outputs(&place);
    assert_eq!(first.len(), second.len());
    for ((name, output, _), (again, same, is_taken)) in first.iter().zip(&second) {
        assert_eq!((name, output, true), (again, same, *is_taken), "each run of a check says something else");
    }
    let rows = place.reader().checks(&place.latest().run, CheckFilter::default()).expect("rows");
    let origin = rows.iter().find_map(|row| row.origin.clone()).expect("an origin");
    assert_eq!(origin.run, original);
    assert!(
        place.remand(&["evidence"]).out.contains(&format!("of run {original}")),
        "the bundle says where from"
    );

    assert_eq!(place.quick(&Script::quick(), &["--no-cache"]).code, 0);
    let third = outputs(&place);
    assert!(third.iter().all(|(_, _, is_taken)| !is_taken), "{third:?}");
    assert!(third.iter().zip(&first).all(|(now, before)| now.1 != before.1), "{third:?}");
    let audit = place.remand(&["audit"]);
    assert_eq!(audit.code, 0, "{}{}", audit.out, audit.err);
}

// EP-19 EP-32
#[test]
fn a_baseline_that_an_agent_invents_is_recorded_as_a_failed_row() {
    let place = Place::configured(crate::rehearsed::TRIVIAL);
    let mut lie = implemented("");
    lie["baseline"] = json!([{"name": "build", "passed": false}, {"name": "shape", "passed": true}]);
    let work = role("implementer").round(1).writes("sums/sub.py", crate::rehearsed::SUB);
    let script = Script::quick().with(work.writes("tests/test_sub.py", TEST_SUB).says(lie));
    let shown = place.quick(&script, &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let rows = place.reader().checks(&place.latest().run, CheckFilter::default()).expect("rows");
    let reported: Vec<_> = rows.iter().filter(|row| row.name == "baseline-discrepancy").collect();
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(!reported[0].passed && reported[0].reason.contains("claims that `build` failed"), "{reported:?}");
    let (run, all) = (place.latest(), "one confidence, in every report");
    assert_eq!(run.confidence, "medium", "{all}");
    assert!(shown.out.contains("committed, confidence medium"), "{all}: {}", shown.out);
    assert!(place.remand(&["evidence"]).out.contains("## Confidence: medium"), "{all}");
    assert!(
        place.git(&["log", "-1", "--format=%B", &run.branch]).contains("Remand-Confidence: medium"),
        "{all}"
    );
    let status: serde_json::Value =
        serde_json::from_str(&place.remand(&["status", "latest", "--json"]).out).expect("JSON");
    assert_eq!(status["confidence"]["level"], "medium", "{all}");
}

// CORE-13
#[test]
fn doctor_shows_that_each_check_goes_red_and_names_one_that_cannot_fail() {
    let place = Place::new();
    let shown = place.remand(&["doctor", "--checks"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert!(shown.out.contains("syntax turns red with a failure in remand_planted.json"), "{}", shown.out);
    assert!(shown.out.contains("python-compile turns red"), "{}", shown.out);
    assert!(
        shown.out.contains("test turns red with a failure in tests/test_remand_planted.py"),
        "{}",
        shown.out
    );
    assert_eq!(place.git(&["status", "--porcelain"]), "");

    let settings = "[checks]\ndetect = false\n\n[checks.deaf]\ncommand = \"true\"\n\n[checks.deaf.plant]\n\
                    file = \"sums/add.py\"\ntext = \"oh no\"\n\n[checks.odd]\ncommand = \"test -d sums\"\n";
    let deaf = Place::configured(settings);
    let shown = deaf.remand(&["doctor", "--checks", "--json"]);
    assert_eq!(shown.code, 1, "{}{}", shown.out, shown.err);
    let reported: serde_json::Value = serde_json::from_str(&shown.out).expect("JSON");
    let lines = reported["lines"].as_array().expect("lines");
    let about = |name: &str| {
        let of = |line: &&serde_json::Value| {
            line["part"] == "plants" && line["what"].as_str().is_some_and(|what| what.starts_with(name))
        };
        lines.iter().find(of).expect("a line").clone()
    };
    assert_eq!(about("deaf")["health"], "fail", "{reported}");
    assert_eq!(about("odd")["health"], "warn", "{reported}");
    assert!(about("odd")["remedy"].as_str().is_some_and(|text| text.contains("plant =")), "{reported}");
}

// UP-03
#[test]
fn doctor_names_the_uncommitted_file_that_a_check_needs_and_a_copy_of_it_makes_it_pass() {
    let place = Place::new();
    let test = "import unittest\n\nfrom sums import local\n\n\nclass Here(unittest.TestCase):\n    def test_needs(self):\n        \
                self.assertEqual(local.PORT, 80)\n";
    place.write("tests/test_here.py", test);
    place.write(".gitignore", "local.py\nnotes\n__pycache__\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-qm", "A test that needs a local file"]);
    place.write("sums/local.py", "PORT = 80\n");
    place.write("notes/mine.txt", "other\n");
    let shown = place.remand(&["doctor", "--checks"]);
    assert_eq!(shown.code, 1, "{}{}", shown.out, shown.err);
    let text = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("passes in your checkout and fails on the last commit"), "{}", shown.out);
    assert!(text.contains("it needs `sums/local.py`, which is not committed"), "{}", shown.out);
    assert!(text.contains("`copies = [\"sums/local.py\"]` under `[sandbox]`"), "{}", shown.out);

    place.add_user_settings("[sandbox]\ncopies = [\"sums/local.py\"]\n");
    let shown = place.remand(&["doctor", "--checks"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert!(!shown.out.contains("not committed"), "{}", shown.out);
}

// UP-03
#[test]
fn doctor_names_the_restriction_that_breaks_a_check_and_its_setting() {
    for (needs, what, setting) in [
        (
            "self.assertEqual(os.environ.get('TICKET'), 'ABC-1')",
            "it needs an environment variable that checks do not get",
            "`checks-environment = […]` under `[sandbox]`",
        ),
        (
            "self.assertTrue(os.path.exists(os.path.expanduser('~/samples.txt')))",
            "it needs a file of your home or of your checkout that is not in the commit",
            "`reads = […]` under `[sandbox]`",
        ),
    ] {
        let place = Place::new();
        let test = format!(
            "import os\nimport unittest\n\n\nclass Here(unittest.TestCase):\n    def test_needs(self):\n        {needs}\n"
        );
        place.write("tests/test_here.py", &test);
        place.git(&["add", "-A"]);
        place.git(&["commit", "-qm", "A test that needs something"]);
        std::fs::write(place.user_home().join("samples.txt"), "one\n").expect("a file");
        let mut command = place.command(&["doctor", "--checks"]);
        command.env("TICKET", "ABC-1");
        let shown = crate::place::shown(command);
        assert_eq!(shown.code, 1, "{}{}", shown.out, shown.err);
        let text = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
        for expected in ["passes on your machine and fails in the sandbox", "test_needs", what, setting] {
            assert!(text.contains(expected), "{expected}: {}", shown.out);
        }
    }
}
