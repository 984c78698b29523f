//! What the tests as they were and the proof that tests can fail cost, relative to the tests, on small projects with honest
//! work: a fix, and one more test in a file of tests that exists.

use super::folder::BenchFolder;
use super::project::{commit_all, play_quick};
use super::report::{Figure, Goal, Unit};
use super::sample::{Durations, ratio};
use super::workload::bug;
use crate::gauntlet::{ProjectName, TestRunners};
use remand_agents::rehearsal::{FileContent, Script, ScriptAction, ScriptEntry, ScriptedContent};
use remand_engine::operations::{OLD_TESTS, PROOF};
use remand_kernel::evidence::RowPhase;
use remand_ledger::Reader;
use remand_ledger::query::{CheckFilter, CheckRow};
use remand_terminal::CommandFailure;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::time::Duration;

const RUST_TEST: &str =
    "\n#[test]\nfn signs_become_dashes() {\n    assert_eq!(slug(\"a, b & c\"), \"a-b-c\");\n}\n";
const PYTEST_TEST: &str = "\n\ndef test_signs_become_dashes():\n    assert slug(\"a, b & c\") == \"a-b-c\"\n";
const UNITTEST_TEST: &str = "\n\nclass SignTest(unittest.TestCase):\n    def test_signs_become_dashes(self):\n        \
                             self.assertEqual(slug(\"a, b & c\"), \"a-b-c\")\n";
const NODE_TEST: &str =
    "\ntest(\"signs become dashes\", () => {\n  assert.equal(slug(\"a, b & c\"), \"a-b-c\");\n});\n";
const EXPECT_TEST: &str =
    "\ntest(\"signs become dashes\", () => {\n  expect(slug(\"a, b & c\")).toBe(\"a-b-c\");\n});\n";
const GO_TEST: &str = "\nfunc TestSignsBecomeDashes(t *testing.T) {\n\tif got := Slug(\"a, b & c\"); got != \"a-b-c\" \
                       {\n\t\tt.Errorf(\"Slug is %q\", got)\n\t}\n}\n";

const DURATION_TEST: &str = "\n\nclass LongDurationTest(unittest.TestCase):\n    def test_three_units_add_up(self):\n        \
                             self.assertEqual(seconds(\"1h1m1s\"), 3661)\n";
const CACHE_TEST: &str = "\ntest(\"reading the newest entry keeps the order\", () => {\n  const cache = new Lru(2);\n  \
                          for (const key of [\"a\", \"b\"]) cache.set(key, key);\n  cache.get(\"a\");\n  cache.set(\"c\", 3);\n  \
                          assert.equal(cache.get(\"b\"), undefined);\n});\n";
const IMPLEMENTER: &str = "implementer";

/// The test that the change adds, and its file.
fn added_test(project: ProjectName) -> (&'static str, &'static str) {
    match project {
        ProjectName::Rust | ProjectName::CargoTest => ("tests/slug.rs", RUST_TEST),
        ProjectName::Workspace => ("text/tests/slug.rs", RUST_TEST),
        ProjectName::Python => ("tests/test_duration.py", DURATION_TEST),
        ProjectName::Unittest => ("tests/test_text.py", UNITTEST_TEST),
        ProjectName::Pytest => ("tests/test_text.py", PYTEST_TEST),
        ProjectName::Node => ("test/lru.test.js", CACHE_TEST),
        ProjectName::NodeTest => ("tests/text.test.js", NODE_TEST),
        ProjectName::Vitest | ProjectName::Jest => ("tests/text.test.ts", EXPECT_TEST),
        ProjectName::Go => ("slug_test.go", GO_TEST),
    }
}

/// The rehearsal of honest work on a project.
fn rehearsal(name: ProjectName) -> Result<String, CommandFailure> {
    let project = name.project();
    let mut script =
        Script::parse(project.cast(), "the honest cast").map_err(|error| bug(error.to_string()))?;
    if !script.dispatches.iter().any(|entry| entry.role == IMPLEMENTER) {
        let changes = json!([{ "file": added_test(name).0, "what": "a fix with a test" }]);
        let payload = json!({ "verdict": "done", "hypothesis": "Runs become one dash.", "changes": changes });
        let actions = project.fix().into_iter().chain([ScriptAction::Result(json!({ "payload": payload }))]);
        let works =
            ScriptEntry { role: IMPLEMENTER.into(), actions: actions.collect(), ..ScriptEntry::default() };
        script.dispatches.insert(0, works);
    }
    let (path, test) = added_test(name);
    let test = FileContent { path: path.to_string(), content: ScriptedContent::Text(test.to_string()) };
    for entry in script.dispatches.iter_mut().filter(|entry| entry.role == IMPLEMENTER) {
        let result = entry.actions.iter().position(|action| matches!(action, ScriptAction::Result(_)));
        let end = result.unwrap_or(entry.actions.len());
        entry.actions.insert(end, ScriptAction::Append(test.clone()));
    }
    serde_json::to_string(&script).map_err(|error| bug(error.to_string()))
}

/// Measures each project whose test runner is there twice: the second run makes the same change.
pub fn measure(
    bench: &BenchFolder,
    runners: &TestRunners,
    progress: impl Fn(&str),
) -> Result<Vec<Figure>, CommandFailure> {
    let (mut first, mut second, mut notes) = (Vec::new(), Durations::default(), Vec::new());
    for name in ProjectName::ALL {
        let project = name.project();
        if !runners.has(project.needs) {
            notes.push(format!("{} is left out", name.name()));
            continue;
        }
        progress(&format!("proofs of tests, {}", name.name()));
        let folder = bench.subfolder(&format!("proofs-{}", name.name()))?;
        let (root, state) = (folder.join("checkout"), folder.join("state"));
        for file in project.files() {
            let path = root.join(file.real_path());
            let parent = path.parent().unwrap_or(&root);
            fs::create_dir_all(parent)
                .and_then(|()| fs::write(&path, file.text))
                .map_err(|error| bug(error.to_string()))?;
        }
        runners.link(project.needs, &root)?;
        commit_all(&root)?;
        let rehearsal = rehearsal(name)?;
        for is_first in [true, false] {
            play_quick(bench, &root, &state, (project.request, &rehearsal))?;
            let (proof, tests) = times(&state)?;
            if is_first {
                let times = 1.0 + ratio(proof, tests);
                let (proof, tests) = (proof.as_secs_f64(), tests.as_secs_f64());
                first.push(times);
                notes.push(format!("{} {times:.1} ({proof:.1} s for {tests:.1} s of tests)", name.name()));
            } else {
                second.add(proof);
            }
        }
    }
    first.sort_by(f64::total_cmp);
    let median = first.get(first.len() / 2).copied().unwrap_or_default();
    Ok(vec![
        Figure {
            what: "tests, as they were too, with the proof that they can fail".to_string(),
            value: median,
            unit: Unit::Times,
            goal: Goal::AtMost(2.5),
            note: format!("relative to the tests alone; {}; the median counts", notes.join(", ")),
        },
        Figure {
            what: "the same a second time".to_string(),
            value: second.median().as_secs_f64() * 1e3,
            unit: Unit::Millis,
            goal: Goal::AtMost(0.0),
            note: "a later run on the same change reuses both".to_string(),
        },
    ])
}

/// The time of the old tests and of the proof in the latest run, which run side by side, and the time of the tests. The tests
/// took what they take without build output: their run before the change.
fn times(state: &Path) -> Result<(Duration, Duration), CommandFailure> {
    let home = fs::read_dir(state).map_err(|error| bug(error.to_string()))?;
    let ledger = home.flatten().map(|entry| entry.path().join("ledger.db")).find(|path| path.is_file());
    let reader = Reader::open(&ledger.ok_or_else(|| bug("a measured run left no ledger".to_string()))?)?;
    let run = reader.latest()?.ok_or_else(|| bug("the ledger has no run".to_string()))?.run;
    let rows = reader.checks(&run, CheckFilter::default())?;
    let time = |phase: RowPhase, of: &dyn Fn(&CheckRow) -> bool| -> Duration {
        let rows = rows.iter().filter(|row| row.phase == phase && row.origin.is_none() && of(row));
        Duration::from_millis(rows.map(|row| row.duration_ms).sum())
    };
    let of_proof = |row: &CheckRow| row.name == PROOF;
    let of_old_tests = |row: &CheckRow| row.name.starts_with(OLD_TESTS);
    if !rows.iter().any(of_proof) {
        return Err(bug("a measured run proved no test".to_string()));
    }
    let both = time(RowPhase::After, &of_proof).max(time(RowPhase::After, &of_old_tests));
    Ok((both, time(RowPhase::Baseline, &|row| row.collected.is_some() && row.command.is_some())))
}
