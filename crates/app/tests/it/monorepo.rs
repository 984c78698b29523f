//! A repository of many packages: a task runs the checks that its change can affect, the merged tree runs all.

use crate::place::{Place, Shown, shown, with_rust};
use crate::rehearsed::{REQUEST, Script, implemented, role, task};
use remand_kernel::evidence::RowPhase;
use remand_ledger::query::{CheckFilter, CheckRow, RunStage};
use serde_json::json;
use std::collections::BTreeSet;

const PACKAGES: usize = 20;

const FEATURE: &str = include_str!("../../../../workflows/feature.yaml");

/// Packages in Python; the second depends on the first, and the third on the second.
fn monorepo(packages: usize) -> Place {
    let place = Place::new();
    place.git(&["rm", "-q", "-r", "pyproject.toml", "tests"]);
    for at in 1..=packages {
        let name = format!("p{at:02}");
        let needs = if at == 2 || at == 3 { format!("\"p{:02}\"", at - 1) } else { String::new() };
        place.write(
            &format!("packages/{name}/pyproject.toml"),
            &format!("[project]\nname = \"{name}\"\nversion = \"0.1.0\"\ndependencies = [{needs}]\n"),
        );
        place.write(&format!("packages/{name}/{name}.py"), "def number():\n    return 1\n");
        let test = format!(
            "import unittest\n\nimport {name}\n\n\nclass NumberTest(unittest.TestCase):\n    \
             def test_number(self):\n        self.assertEqual({name}.number(), 1)\n"
        );
        place.write(&format!("packages/{name}/test_{name}.py"), &test);
    }
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "Packages"]);
    place
}

/// The packages with tests that ran, and the packages with tests that did not run.
fn packages<'r>(rows: impl Iterator<Item = &'r CheckRow>) -> (BTreeSet<&'r str>, BTreeSet<&'r str>) {
    let of_tests = rows.filter(|row| row.name.starts_with("pytest:") || row.name.starts_with("unittest:"));
    let (run, left): (Vec<&CheckRow>, Vec<&CheckRow>) = of_tests.partition(|row| row.tier.is_some());
    for row in &left {
        assert!(row.reason.starts_with("not affected: the change touches nothing in "), "{}", row.reason);
        assert!(!row.passed && row.exit_code.is_none());
    }
    let package = |row: &&'r CheckRow| row.name.rsplit('/').next().expect("a package");
    (run.iter().map(package).collect(), left.iter().map(package).collect())
}

/// Runs the usual request with a workflow.
fn run(place: &Place, script: &Script, workflow: &str) -> Shown {
    let rehearsal = format!("rehearsal:{}", place.write_outside("rehearsal.yaml", &script.text()));
    let mut command = place.command(&["run", REQUEST, "--agent", &rehearsal, "--workflow", workflow]);
    // Shims that choose a version each time take longer than the checks.
    let path = std::env::var_os("PATH").expect("a path");
    let plain = std::env::split_paths(&path).filter(|folder| !folder.ends_with("shims"));
    command.env("PATH", std::env::join_paths(plain).expect("a path"));
    shown(command)
}

// EP-15 EP-16
#[test]
fn a_changed_file_runs_the_checks_that_it_can_affect_and_the_merged_tree_runs_all() {
    let place = monorepo(PACKAGES);
    let files = [("packages/p02/more.py", "green"), ("packages/p02/test_more.py", "green")];
    let test = "import unittest\nfrom more import more\n\n\nclass MoreTest(unittest.TestCase):\n    \
                def test_more(self):\n        self.assertEqual(more(), 2)\n";
    let script = Script::feature(&[task("task-1", &files, &[])]).with(
        role("implementer")
            .task("task-1")
            .writes("packages/p02/more.py", "def more():\n    return 2\n")
            .writes("packages/p02/test_more.py", test)
            .says(implemented("task-1")),
    );

    let shown = run(&place, &script, "feature");

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let rows = place.reader().checks(&place.latest().run, CheckFilter::default()).expect("rows");
    let all = |phase: RowPhase, task: Option<&str>| {
        packages(rows.iter().filter(move |row| row.phase == phase && row.task.as_deref() == task))
    };
    let (run, left) = all(RowPhase::Baseline, None);
    assert_eq!((run.len(), left.len()), (PACKAGES, 0));
    let (run, left) = all(RowPhase::After, Some("task-1"));
    assert_eq!(run, BTreeSet::from(["p02", "p03"]));
    assert_eq!(left.len(), PACKAGES - 2);
    let (run, left) = all(RowPhase::After, None);
    assert_eq!((run.len(), left.len()), (PACKAGES, 0));
}

/// Four crates in a workspace; the third depends on the second.
fn workspace() -> Place {
    let place = Place::new();
    place.git(&["rm", "-q", "-r", "pyproject.toml", "tests"]);
    place.write("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"3\"\n");
    place.write(".gitignore", "target/\n");
    let mut lock = "version = 4\n".to_string();
    for at in 1..=4 {
        let name = format!("c{at}");
        let (needs, locked) = if at == 3 {
            ("[dependencies]\nc2 = { path = \"../c2\" }\n", "dependencies = [\n \"c2\",\n]\n")
        } else {
            ("", "")
        };
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[lib]\ndoctest = false\n{needs}"
        );
        place.write(&format!("crates/{name}/Cargo.toml"), &manifest);
        place.write(&format!("crates/{name}/src/lib.rs"), &code("1"));
        lock.push_str(&format!("\n[[package]]\nname = \"{name}\"\nversion = \"0.1.0\"\n{locked}"));
    }
    place.write("Cargo.lock", &lock);
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "Four crates"]);
    place
}

fn code(number: &str) -> String {
    format!(
        "pub fn number() -> u32 {{\n    {number}\n}}\n\n#[test]\nfn is_one() {{\n    assert_eq!(number(), 1);\n}}\n"
    )
}

// EP-15 EP-16 EP-18 EP-19
#[test]
fn a_task_in_a_workspace_is_tested_by_the_members_it_can_affect_and_the_others_are_no_regression() {
    let place = workspace();
    let script = Script::feature(&[task("task-1", &[("crates/c2/src/lib.rs", "green")], &[])]).with(
        role("implementer")
            .task("task-1")
            .writes("crates/c2/src/lib.rs", &code("2 - 1"))
            .says(implemented("task-1")),
    );
    let rehearsal = format!("rehearsal:{}", place.write_outside("rehearsal.yaml", &script.text()));
    let mut command = place.command(&["run", REQUEST, "--workflow", "feature", "--agent", &rehearsal]);
    with_rust(&mut command);
    let shown = shown(command);

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let rows = place.reader().checks(&place.latest().run, CheckFilter::default()).expect("rows");
    let tests = |phase: RowPhase, task: Option<&str>| {
        let mut found = rows
            .iter()
            .filter(|row| row.name == "cargo-test" && row.phase == phase && row.task.as_deref() == task);
        let row = found.next_back().expect("a row");
        (row.command.clone().expect("a command"), row.collected, row.passed)
    };
    let whole = ("cargo test --workspace --no-fail-fast".to_string(), Some(4), true);
    assert_eq!(tests(RowPhase::Baseline, None), whole);
    let some = ("cargo test -p c2 -p c3 --no-fail-fast".to_string(), Some(2), true);
    assert_eq!(tests(RowPhase::After, Some("task-1")), some);
    assert_eq!(tests(RowPhase::After, None), whole);
    assert!(rows.iter().all(|row| row.name != "regressions"), "{rows:#?}");
}

// EP-19
#[test]
fn a_check_that_a_later_round_affects_is_run_on_the_tree_that_the_task_started_from() {
    let place = monorepo(5);
    // A failing task is sent back immediately.
    let passed = "        reads: [code]\n        on: {passed: next, failed: raise unverified}";
    let rework = "        reads: [code]\n        rounds: 3\n        \
                  on: {passed: next, failed: remand implement spending round, spent: raise unverified}";
    let bound = "  - never more than 42 + 48 per task dispatches\n";
    let workflow = FEATURE.replace(passed, rework).replace(bound, "");
    let mut other = implemented("task-2");
    other["hypothesis"] = json!("The name has to be bound before anybody reads it.");
    let files = [("packages/p04/p04.py", "green"), ("packages/p05/more.py", "green")];
    let tasks =
        [task("task-1", &[("packages/p01/more.py", "green")], &[]), task("task-2", &files, &["task-1"])];
    let second = |round: u32| role("implementer").task("task-2").round(round);
    let script = Script::feature(&tasks)
        .with(
            role("implementer").task("task-1").writes("packages/p01/more.py", "").says(implemented("task-1")),
        )
        .with(
            second(1)
                .writes("packages/p04/p04.py", "def number():\n    return ONE\n")
                .says(implemented("task-2")),
        )
        .with(
            second(2)
                .writes("packages/p04/p04.py", "ONE = 1\n\n\ndef number():\n    return ONE\n")
                .writes("packages/p05/more.py", "")
                .says(other),
        );

    let shown = run(&place, &script, &place.write_outside("rework.yaml", &workflow));

    assert_eq!(place.latest().stage, RunStage::Committed, "{}{}", shown.out, shown.err);
    let rows = place.reader().checks(&place.latest().run, CheckFilter::default()).expect("rows");
    let begun = rows.iter().filter(|row| {
        row.phase == RowPhase::Baseline && row.task.as_deref() == Some("task-2") && row.tier.is_some()
    });
    let of_tests = begun.filter(|row| row.name.starts_with("pytest:") || row.name.starts_with("unittest:"));
    let mut names: Vec<&str> = of_tests.filter_map(|row| row.name.rsplit('/').next()).collect();
    names.sort_unstable();
    assert_eq!(names, ["p04", "p05"], "each once: {}", shown.err);
}
