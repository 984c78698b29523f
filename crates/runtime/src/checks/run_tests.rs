//! Real checks of real small projects.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::*;
use crate::config::{Config, Flag, Sources};
use crate::process::{self, Cancel, Ended, Job, SpawnError};
use remand_kernel::change::TestEnd;
use remand_kernel::evidence::{Row, RowPhase, Ruled, Size, Tier, rule};
use remand_kernel::finding::{Category, FindingKind, Severity};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// A project in a folder of its own, with a home of its own.
pub struct Project {
    folder: TempDir,
    pub environment: BTreeMap<OsString, OsString>,
    pub cancel: Cancel,
}

impl Project {
    pub fn new(files: &[(&str, &str)]) -> Project {
        let folder = tempfile::tempdir().expect("a folder");
        // Cargo tells where it is; beside it is the compiler that belongs to it.
        let cargo = std::env::var_os("CARGO").expect("tests are run by cargo");
        let tools = Path::new(&cargo).parent().expect("a folder").to_path_buf();
        let path = std::env::var_os("PATH").expect("a path");
        let path =
            std::env::join_paths([tools].into_iter().chain(std::env::split_paths(&path))).expect("a path");
        let home = folder.path().join("home");
        let environment =
            [("PATH", path), ("HOME", home.clone().into()), ("CARGO_HOME", home.join("cargo").into())];
        let project = Project {
            environment: environment.into_iter().map(|(name, value)| (name.into(), value)).collect(),
            cancel: Cancel::new(),
            folder,
        };
        for folder in [project.tree(), project.scratch(), home] {
            fs::create_dir_all(folder).expect("a folder");
        }
        for (file, text) in files {
            project.write(file, text);
        }
        project
    }

    pub fn tree(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    /// The files before the change; none, unless a test puts them there.
    fn base(&self) -> PathBuf {
        self.folder.path().join("base")
    }

    fn scratch(&self) -> PathBuf {
        self.folder.path().join("scratch")
    }

    pub fn write(&self, file: &str, text: &str) {
        let path = self.tree().join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn start(&self, mut job: Job) -> Result<Ended, SpawnError> {
        job.marker = format!("{}/{}", self.folder.path().display(), job.marker);
        process::run(&job, &self.cancel)
    }

    pub fn detect(&self) -> Vec<CheckSpec> {
        let files = tree_files::all(&self.tree());
        detect(
            &self.tree(),
            &files,
            &Probe { environment: &self.environment, runner: &|job| self.start(job) },
        )
    }

    pub fn configured(&self, flags: &[(&str, &str)]) -> Result<Vec<CheckSpec>, SpecError> {
        let flag = |(key, value): &(&str, &str)| Flag {
            name: "--set".to_string(),
            key: key.to_string(),
            value: value.to_string(),
        };
        let sources = Sources { flags: flags.iter().map(flag).collect(), ..Sources::default() };
        specs(self.detect(), &Config::load(&sources).expect("a configuration"))
    }

    pub fn run(&self, specs: &[CheckSpec]) -> Vec<CheckOutcome> {
        self.run_on(specs, Which::All, Files::Whole, &|_| {})
    }

    pub fn run_on(
        &self,
        specs: &[CheckSpec],
        which: Which,
        files: Files<'_>,
        progress: &dyn Fn(Progress<'_>),
    ) -> Vec<CheckOutcome> {
        let context = Context {
            environment: &self.environment,
            which,
            files,
            left_out: &LeftOut::new(),
            base: &|file| fs::read(self.base().join(file)).ok(),
            scratch: &self.scratch(),
            cancel: &self.cancel,
            progress,
            runner: &|_, job| self.start(job),
        };
        run(specs, &self.tree(), &context)
    }

    /// One configured check and its outcome.
    fn shell(&self, text: &str, parser: Parser) -> CheckOutcome {
        let mut spec = CheckSpec::new("own", Tier::Two, Action::Shell(text.to_string()));
        spec.parser = parser;
        self.run(&[spec]).remove(0)
    }
}

fn cargo_project() -> Project {
    Project::new(&[
        ("Cargo.toml", "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        (
            "src/lib.rs",
            "/// ```\n/// assert_eq!(demo::add(1, 1), 2);\n/// ```\npub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n\n\
             #[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        assert_eq!(super::add(1, 2), 3);\n    }\n}\n",
        ),
        ("tests/whole.rs", "#[test]\nfn adds() {\n    assert_eq!(demo::add(2, 2), 4);\n}\n"),
    ])
}

fn python_project() -> Project {
    Project::new(&[
        ("setup.cfg", "[metadata]\nname = demo\n"),
        ("sums.py", "def add(a, b):\n    return a + b\n"),
        (
            "tests/test_sums.py",
            "import sys\nimport unittest\nimport sums\n\n\nclass Sums(unittest.TestCase):\n    def test_adds(self):\n        \
             self.assertEqual(sums.add(1, 1), 2)\n\n    def test_zero(self):\n        print('ok', file=sys.stderr)\n        \
             self.assertEqual(sums.add(0, 0), 0)\n",
        ),
    ])
}

fn ends(outcomes: &[CheckOutcome]) -> Vec<(&str, End)> {
    outcomes.iter().map(|outcome| (outcome.name.as_str(), outcome.end)).collect()
}

fn tests(outcome: &CheckOutcome) -> Vec<(&str, TestEnd)> {
    outcome.tests.iter().map(|test| (test.name.as_str(), test.end)).collect()
}

fn befores(outcomes: &[CheckOutcome]) -> Vec<Before> {
    outcomes.iter().filter_map(Before::of).collect()
}

fn gate(baseline: &[CheckOutcome], after: &[CheckOutcome]) -> Ruled {
    let rows: Vec<Row> =
        rows(baseline, RowPhase::Baseline, 0).into_iter().chain(rows(after, RowPhase::After, 1)).collect();
    rule(&rows, Size::Large)
}

// EP-15 EP-16 EP-18 EP-19 CORE-06
#[test]
fn a_cargo_project_passes_then_a_broken_function_is_a_regression_of_each_of_its_tests() {
    let project = cargo_project();
    let specs = project.configured(&[]).expect("checks");
    let before = project.run(&specs);
    let all = [("syntax", End::Passed), ("cargo-check", End::Passed), ("cargo-test", End::Passed)];
    assert_eq!(ends(&before), all, "{before:#?}");
    let names = ["demo doc src/lib.rs - add", "demo src/lib.rs tests::adds", "whole tests/whole.rs adds"];
    assert_eq!(tests(&before[2]), names.map(|name| (name, TestEnd::Passed)));
    assert_eq!((before[2].collected, before[2].exit_code), (Some(3), Some(0)));
    assert_eq!(gate(&before, &before), Ruled::Passed);

    let library = fs::read_to_string(project.tree().join("src/lib.rs")).expect("a file");
    project.write("src/lib.rs", &library.replace("a + b", "a - b.min(a)"));
    let after = project.run(&specs);
    assert_eq!((after[2].end, after[2].exit_code), (End::Failed, Some(101)));
    assert!(after[2].snippet.chars().count() <= 500);
    assert!(after[2].snippet.contains("panicked at"), "{}", after[2].snippet);
    let findings = compare(&befores(&before), &after, &project.tree());
    let ids: Vec<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
    assert_eq!(ids, names.map(|name| format!("test:cargo-test:{name}")));
    let unit = &findings[1];
    assert_eq!((unit.severity, unit.category), (Severity::Critical, Category::Correctness));
    assert_eq!((unit.kind, unit.place.file.as_str()), (Some(FindingKind::Production), "src/lib.rs"));
    assert!(unit.evidence.contains("cargo test --workspace --no-fail-fast"), "{}", unit.evidence);
    assert_eq!(compare(&befores(&before), &project.run(&specs), &project.tree())[1].id, unit.id);
    assert!(matches!(gate(&before, &after), Ruled::Failed(_)));

    project.write("src/lib.rs", "pub fn add(a: u32, b: u32) -> u32 {\n    a + c\n}\n");
    let broken = project.run(&specs);
    let all = [("syntax", End::Passed), ("cargo-check", End::Failed), ("cargo-test", End::Skipped)];
    assert_eq!(ends(&broken), all);
    let findings = compare(&befores(&before), &broken, &project.tree());
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!(
        (findings[0].id.as_str(), findings[0].place.file.as_str()),
        ("check:cargo-check", "src/lib.rs")
    );
    assert_eq!(findings[0].place.line, 2);
}

// EP-15 EP-19
#[test]
fn a_python_project_is_compiled_and_tested_without_a_trace_in_its_tree() {
    let project = python_project();
    let specs = project.configured(&[]).expect("checks");
    let before = project.run(&specs);
    let all =
        [("syntax", End::Passed), ("python-compile", End::Passed), (specs[2].name.as_str(), End::Passed)];
    assert_eq!(ends(&before), all, "{before:#?}");
    assert_eq!(before[2].collected, Some(2));
    assert_eq!(tree_files::all(&project.tree()), ["setup.cfg", "sums.py", "tests/test_sums.py"]);

    project.write("sums.py", "def add(a, b):\n    return a * b\n");
    let after = project.run(&specs);
    assert_eq!(after[2].end, End::Failed);
    let findings = compare(&befores(&before), &after, &project.tree());
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert!(findings[0].claim.contains("test_adds"), "{}", findings[0].claim);
    assert_eq!(findings[0].place.file, "tests/test_sums.py");

    project.write("sums.py", "def add(a, b:\n    return a + b\n");
    let broken = project.run(&specs);
    assert_eq!(broken[1].end, End::Failed);
    assert_eq!(broken[2].end, End::Skipped);
    assert!(broken[1].snippet.contains("SyntaxError"), "{}", broken[1].snippet);
}

// EP-19
#[test]
fn a_test_that_is_taken_out_or_skipped_is_a_regression_though_the_check_passes() {
    let project = python_project();
    let specs = project.configured(&[]).expect("checks");
    let before = project.run(&specs);
    let text = fs::read_to_string(project.tree().join("tests/test_sums.py")).expect("a file");
    let skipped = text.replace("    def test_zero", "    @unittest.skip('later')\n    def test_zero");
    project.write("tests/test_sums.py", &skipped);
    let after = project.run(&specs);
    assert_eq!((after[2].end, after[2].collected), (End::Passed, Some(1)));
    let findings = compare(&befores(&before), &after, &project.tree());
    assert_eq!(findings.len(), 1);
    assert!(findings[0].claim.contains("test_zero` of `"), "{}", findings[0].claim);
    assert!(findings[0].claim.ends_with("passed before and is skipped"), "{}", findings[0].claim);
}

// EP-15
#[test]
fn a_node_project_is_checked_file_by_file_and_tested() {
    let project = Project::new(&[
        ("package.json", "{\"name\": \"demo\", \"scripts\": {\"test\": \"node --test\"}}\n"),
        ("sums.js", "exports.add = (a, b) => a + b;\n"),
        (
            "sums.test.js",
            "const test = require('node:test');\nconst assert = require('node:assert');\n\
             test('adds', () => assert.equal(require('./sums.js').add(1, 1), 2));\n",
        ),
    ]);
    let specs = project.configured(&[]).expect("checks");
    let before = project.run(&specs);
    let names = ["syntax", "node-check", "npm-test"];
    assert_eq!(before.iter().map(|outcome| outcome.name.as_str()).collect::<Vec<_>>(), names);
    if !job::finds(&project.environment, "node") || !job::finds(&project.environment, "npm") {
        // Without Node the same project proves the other half: nothing is called a failure of the work.
        assert_eq!(before[1].end, End::Environment);
        assert!(before[1].lacks().expect("a reason").contains("`node` is not on the PATH"));
        return;
    }
    assert_eq!(ends(&before), names.map(|name| (name, End::Passed)), "{before:#?}");
    assert_eq!(tests(&before[2]), [("adds", TestEnd::Passed)]);
    project.write("sums.js", "exports.add = (a, b => a + b;\n");
    let changed = ["sums.js".to_string(), "gone.js".to_string()];
    let after = project.run_on(&specs, Which::All, Files::Changed(&changed), &|_| {});
    assert_eq!(
        ends(&after),
        [("syntax", End::Failed), ("node-check", End::Failed), ("npm-test", End::Skipped)]
    );
    assert_eq!(after[0].snippet, "sums.js:1:29: no JavaScript: `)` is missing");
    assert!(after[1].snippet.contains("SyntaxError"), "{}", after[1].snippet);
}

// CORE-06
#[test]
fn output_that_claims_success_does_not_outweigh_the_exit_code() {
    let project = Project::new(&[]);
    let lie = "echo 'test a ... ok'; echo 'test result: ok. 1 passed; 0 failed; 0 ignored'; exit 1";
    let outcome = project.shell(lie, Parser::Cargo);
    assert_eq!((outcome.end, outcome.exit_code, outcome.collected), (End::Failed, Some(1), Some(1)));
    assert_eq!(tests(&outcome), [("a", TestEnd::Passed)]);
    let rows = rows(std::slice::from_ref(&outcome), RowPhase::After, 1);
    assert!(!rows[0].passed);
    assert_eq!(compare(&[], &[outcome], &project.tree())[0].id, "check:own");
}

// CORE-06 CORE-13
#[test]
fn exit_code_0_with_a_failed_test_is_no_pass() {
    let project = Project::new(&[]);
    let outcome = project
        .shell("echo 'test a ... FAILED'; echo 'test result: FAILED. 0 passed; 1 failed'", Parser::Cargo);
    assert_eq!((outcome.end, outcome.exit_code), (End::Failed, Some(0)));
    assert_eq!(outcome.reason, "it ended with exit code 0, although `a` failed");
}

// CORE-13
#[test]
fn exit_code_0_without_a_test_is_no_pass() {
    let project = Project::new(&[("tests/test_none.py", "")]);
    let specs = project
        .configured(&[("checks.own.command", "true"), ("checks.own.parser", "cargo")])
        .expect("checks");
    let outcome = project.shell("echo 'test result: ok. 0 passed; 0 failed; 3 ignored'", Parser::Cargo);
    assert_eq!((outcome.end, outcome.exit_code, outcome.collected), (End::Vacuous, Some(0), Some(0)));
    assert!(!outcome.passed() && !outcome.counts());
    assert_eq!(outcome.reason, "no test was run, which is no pass");
    let junit = CheckSpec { report: Some("none".to_string()), ..specs[0].clone() };
    let junit = CheckSpec { action: Action::Shell("true".to_string()), parser: Parser::Junit, ..junit };
    assert_eq!(project.run(&[junit])[0].end, End::Vacuous);
    let unittest = project.run(&project.configured(&[]).expect("checks"));
    assert!(!unittest[2].passed(), "{unittest:#?}");
    let rows = rows(&unittest, RowPhase::After, 1);
    assert_eq!(
        (rows[2].passed, rows[2].exit_code == Some(0), rows[2].tier),
        (false, true, None),
        "{rows:#?}"
    );
}

// CORE-13 EP-18 EP-19
#[test]
fn a_baseline_without_tests_excuses_no_failure_and_losing_all_tests_is_a_finding() {
    let project = Project::new(&[("a.txt", "text\n")]);
    let none = [project.shell("echo 'test result: ok. 0 passed; 0 failed'", Parser::Cargo)];
    let good =
        [project.shell("echo 'test a ... ok'; echo 'test result: ok. 1 passed; 0 failed'", Parser::Cargo)];
    let bad = [project.shell("echo 'test a ... FAILED'; exit 1", Parser::Cargo)];
    let Ruled::Failed(reasons) = gate(&none, &bad) else { panic!("passed") };
    assert!(
        reasons.iter().any(|reason| reason.contains("`own` (tier 2, iteration 1) failed")),
        "{reasons:?}"
    );
    let tree = project.tree();
    assert_eq!(compare(&befores(&none), &bad, &tree).len(), 1);
    assert!(compare(&befores(&none), &none, &tree).is_empty());
    let lost = compare(&befores(&good), &none, &tree);
    assert_eq!(
        lost.iter().map(|finding| finding.claim.as_str()).collect::<Vec<_>>(),
        ["the check `own` runs no test"]
    );
    assert_eq!(lost[0].severity, Severity::Critical);
}

// CORE-13
#[test]
fn a_report_of_an_earlier_run_is_not_read_again() {
    let project = Project::new(&[("good.xml", "<testsuite><testcase name='a'/></testsuite>")]);
    let mut spec =
        CheckSpec::new("own", Tier::Two, Action::Shell("mkdir -p out && cp good.xml out/r.xml".to_string()));
    spec.parser = Parser::Junit;
    spec.report = Some("out".to_string());
    let first = project.run(std::slice::from_ref(&spec)).remove(0);
    assert_eq!((first.end, tests(&first)), (End::Passed, vec![("a", TestEnd::Passed)]));
    spec.action = Action::Shell("true".to_string());
    let second = project.run(&[spec]).remove(0);
    assert_eq!((second.end, second.tests.len()), (End::Vacuous, 0));
}

// EP-15
#[test]
fn a_check_that_takes_too_long_is_told_apart_from_one_that_fails() {
    let project = Project::new(&[]);
    let mut spec = CheckSpec::new("slow", Tier::Two, Action::Shell("echo begun; sleep 600".to_string()));
    spec.time = Duration::from_millis(300);
    let after = CheckSpec { needs: vec!["slow".to_string()], name: "next".to_string(), ..spec.clone() };
    let outcomes = project.run(&[spec, after]);
    assert_eq!(ends(&outcomes), [("slow", End::TimedOut), ("next", End::Skipped)]);
    assert_eq!(outcomes[0].exit_code, None);
    assert_eq!(outcomes[0].output, b"begun\n");
    assert_eq!(outcomes[0].reason, "ended from outside, since it took longer than 300ms");
    assert_eq!(outcomes[1].reason, "not run, since `slow` did not pass");
    let finding = &compare(&[], &outcomes, &project.tree())[0];
    assert_eq!(finding.claim, "the check `slow` does not come to its end in time");
}

// CORE-09
#[test]
fn a_missing_tool_is_the_environment_and_a_missing_script_of_the_tree_is_a_failure() {
    let project = Project::new(&[]);
    let argv = CheckSpec::new("argv", Tier::Two, Action::argv(&["no-such-tool-anywhere", "test"]));
    let shell = CheckSpec::new("shell", Tier::Two, Action::Shell("A=1 no-such-tool-anywhere".to_string()));
    let script = CheckSpec::new("script", Tier::Two, Action::argv(&["./check.sh"]));
    let inner = CheckSpec::new("inner", Tier::Two, Action::Shell("sh -c no-such-tool-anywhere".to_string()));
    let outcomes = project.run(&[argv, shell, script, inner]);
    let told = [
        ("argv", End::Environment),
        ("shell", End::Environment),
        ("script", End::Failed),
        ("inner", End::Failed),
    ];
    assert_eq!(ends(&outcomes), told);
    let lacks = outcomes[0].lacks().expect("a reason");
    assert_eq!(
        lacks,
        "`no-such-tool-anywhere` is not on the PATH of the checks; install it, or correct the command"
    );
    let rows = rows(&outcomes, RowPhase::After, 1);
    assert_eq!(rows.iter().map(|row| row.tier.is_some()).collect::<Vec<_>>(), [false, false, true, true]);
    assert!(compare(&[], &outcomes[..2], &project.tree()).is_empty());
}

// EP-15 EP-16 EP-18
#[test]
fn what_needs_a_failed_check_is_recorded_as_not_run_and_counts_neither_way() {
    let project = Project::new(&[("a.txt", "text\n")]);
    let flags = [
        ("checks.build.command", "exit 3"),
        ("checks.test.command", "touch ran"),
        ("checks.test.needs", "[\"build\"]"),
        ("checks.more.command", "touch ran"),
        ("checks.more.needs", "[\"test\"]"),
        ("checks.apart.command", "true"),
    ];
    let outcomes = project.run(&project.configured(&flags).expect("checks"));
    let told = [
        ("syntax", End::Passed),
        ("apart", End::Passed),
        ("build", End::Failed),
        ("test", End::Skipped),
        ("more", End::Skipped),
    ];
    assert_eq!(ends(&outcomes), told);
    assert!(!project.tree().join("ran").exists());
    let gate_rows = rows(&outcomes, RowPhase::After, 1);
    assert_eq!((gate_rows[3].tier, gate_rows[3].passed), (None, false));
    assert_eq!(gate_rows[3].reason, "not run, since `build` did not pass");
    let Ruled::Failed(reasons) = gate(&outcomes[..1], &outcomes) else { panic!("passed") };
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    assert!(reasons[1].contains("`build`"), "{reasons:?}");
    let occasion = Occasion { task: Some("t1".to_string()), phase: RowPhase::After, round: 2, iteration: 1 };
    let recorded = checks(&outcomes, &occasion);
    assert_eq!(recorded.checks.len(), 5);
    let row = &recorded.checks[3];
    assert_eq!((row.name.as_str(), row.passed, row.tier, row.round), ("test", false, None, 2));
    assert_eq!(row.command.as_deref(), Some("touch ran"));
}

// EP-15
#[test]
fn what_needs_a_check_without_a_file_to_look_at_is_run_all_the_same() {
    let project = Project::new(&[("a.ts", "export const a = 1;\n")]);
    let mut by_file = CheckSpec::new("by-file", Tier::One, Action::argv(&["false"]));
    by_file.each = vec!["js".to_string()];
    let after = CheckSpec::new("after", Tier::Two, Action::argv(&["true"])).needing("by-file");
    let outcomes = project.run(&[by_file.clone(), after.clone()]);
    assert_eq!(ends(&outcomes), [("by-file", End::Skipped), ("after", End::Passed)]);
    project.write("a.js", "");
    let outcomes = project.run(&[by_file, after]);
    assert_eq!(ends(&outcomes), [("by-file", End::Failed), ("after", End::Skipped)]);
}

// EP-16
#[test]
fn whole_outputs_and_single_tests_are_kept_beside_the_row() {
    let project = Project::new(&[]);
    let lines = "i=0; while [ $i -lt 300 ]; do echo \"line $i\"; i=$((i+1)); done";
    let text = format!(
        "{lines}; echo 'error: bad' >&2; {lines}; printf '\\033[31mtest a ... FAILED\\033[0m\\n'; exit 1"
    );
    let outcome = project.shell(&text, Parser::Cargo);
    assert!(outcome.snippet.starts_with("error: bad\nline 0\nline 1\n"), "{}", outcome.snippet);
    assert!(outcome.snippet.chars().count() <= 500 && outcome.snippet.ends_with('…'));
    let occasion = Occasion { task: None, phase: RowPhase::Baseline, round: 1, iteration: 0 };
    let recorded = checks(&[outcome.clone(), outcome], &occasion);
    let [row, _] = recorded.checks.as_slice() else { panic!("two rows") };
    let blob = |id| recorded.blobs.iter().find(|blob| Some(blob.id) == id).map(|blob| blob.bytes.as_slice());
    let output = String::from_utf8_lossy(blob(row.output).expect("an output")).into_owned();
    assert_eq!(output.lines().count(), 602);
    assert_eq!(blob(row.tests), Some(&br#"[{"name":"a","end":"failed"}]"#[..]));
    assert_eq!(recorded.blobs.len(), 2);
    let passed = project.shell(&format!("{lines}; {lines}"), Parser::None);
    assert!(
        passed.snippet.starts_with("…line ") && passed.snippet.ends_with("line 299"),
        "{}",
        passed.snippet
    );
}

// EP-15
#[test]
fn the_quick_checks_are_those_of_tier_1_unless_said_otherwise() {
    let project = Project::new(&[("a.txt", "text\n")]);
    let flags = [
        ("checks.slow.command", "true"),
        ("checks.quick.command", "true"),
        ("checks.quick.quick", "true"),
        ("checks.quick.needs", "[\"slow\"]"),
        ("checks.first.command", "true"),
        ("checks.first.tier", "1"),
    ];
    let specs = project.configured(&flags).expect("checks");
    let outcomes = project.run_on(&specs, Which::Quick, Files::Whole, &|_| {});
    assert_eq!(ends(&outcomes), [("syntax", End::Passed), ("first", End::Passed), ("quick", End::Passed)]);
}

#[test]
fn cancelling_ends_the_check_under_way_and_starts_no_other() {
    let project = Project::new(&[]);
    let spec = |name: &str| CheckSpec::new(name, Tier::Two, Action::Shell("sleep 600".to_string()));
    let seen = RefCell::new(Vec::new());
    let outcomes =
        project.run_on(&[spec("one"), spec("two")], Which::All, Files::Whole, &|progress| match progress {
            Progress::Started(spec) => {
                seen.borrow_mut().push(spec.name.clone());
                project.cancel.cancel();
            }
            Progress::Ended(_) => {}
        });
    assert_eq!(ends(&outcomes), [("one", End::Cancelled), ("two", End::Cancelled)]);
    assert_eq!(*seen.borrow(), ["one"]);
    assert!(befores(&outcomes).is_empty());
}

// EP-15
#[test]
fn syntax_finds_conflicts_and_files_that_cannot_be_read() {
    let project = Project::new(&[
        ("good.json", "{\"a\": [1, 2]}\n"),
        ("good.yaml", "a: 1\n---\nb: !own [2]\n"),
        ("good.toml", "a = 1\n"),
        ("tsconfig.json", "{ // a comment\n}\n"),
        ("chart.yaml", "{{ if .Values.a }}\na: 1\n"),
        ("title.md", "Title\n=======\n<<<<<<< is no conflict by itself\n"),
        ("bad.json", "{\"a\": 1,}\n"),
        ("bad.yaml", "a: [1\nb: 2\n"),
        ("bad.toml", "a = 1\na = 2\n"),
        ("src/merged.c", "int a;\n<<<<<<< ours\nint b;\n=======\nint c;\n>>>>>>> theirs\n"),
        ("binary.json", "\u{0}"),
        (".git/bad.json", "{"),
    ]);
    fs::write(project.tree().join("binary.json"), [0xff, 0xfe, 0x00]).expect("a file");
    let specs = project.detect();
    assert_eq!(specs.len(), 1);
    let outcome = project.run(&specs).remove(0);
    assert_eq!((outcome.end, outcome.exit_code, outcome.tool.as_str()), (End::Failed, None, "remand"));
    let text = String::from_utf8(outcome.output.clone()).expect("text");
    let starts: Vec<&str> = text.lines().map(|line| line.split(": ").next().expect("a place")).collect();
    assert_eq!(starts, ["bad.json:1:9", "bad.toml:2:1", "bad.yaml:2:2", "src/merged.c:2:1"], "{text}");
    let failed = outcome.tests.iter().filter(|test| test.end == TestEnd::Failed).count();
    assert_eq!((failed, outcome.collected), (4, Some(10)));

    let changed = ["good.json".to_string(), "bad.json".to_string()];
    let after = project.run_on(&specs, Which::All, Files::Changed(&changed[..1]), &|_| {});
    assert_eq!((after[0].end, after[0].collected), (End::Passed, Some(1)));
    let none = project.run_on(&specs, Which::All, Files::Changed(&[]), &|_| {});
    assert_eq!(none[0].end, End::Skipped);

    // A file that could not be read before is no excuse for another one.
    project.write("good.json", "{\n");
    let after = project.run_on(&specs, Which::All, Files::Changed(&changed), &|_| {});
    let findings = compare(&befores(&[outcome]), &after, &project.tree());
    let ids: Vec<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
    assert_eq!(ids, ["test:syntax:good.json"]);
}

// EP-15
#[test]
fn changed_sources_are_read_by_their_grammars_and_held_against_the_base() {
    let project = Project::new(&[
        ("a.rs", "fn a() -> u8 { 1 }\n"),
        ("a.py", "def a(:\n    return 1\n"),
        ("new.java", "class A { int b( { return 1; } }\n"),
        ("odd.ts", "const a: = 2;\n"),
        ("macros.c", "BEGIN(x) int a; }\n"),
        ("new.c", "MODULE_INIT( int a; }\n"),
        ("broken.c", "int a(void) { return 1;\n"),
        ("a.html", "<p>\n"),
    ]);
    let base = [
        ("a.py", "def a():\n    return 1\n"),
        ("odd.ts", "const a: = 1;\n"),
        ("macros.c", "BEGIN(x) int b; }\n"),
    ];
    fs::create_dir_all(project.base()).expect("a folder");
    for (file, text) in base.iter().chain(&[("broken.c", "int a(void) { return 1; }\n")]) {
        fs::write(project.base().join(file), text).expect("a file");
    }
    let changed = tree_files::all(&project.tree());
    let outcome = project.run_on(&project.detect(), Which::All, Files::Changed(&changed), &|_| {}).remove(0);
    let text = String::from_utf8(outcome.output.clone()).expect("text");
    assert_eq!(outcome.end, End::Failed, "{text}");
    let failed: Vec<&str> = outcome
        .tests
        .iter()
        .filter(|test| test.end == TestEnd::Failed)
        .map(|test| test.name.as_str())
        .collect();
    assert_eq!(failed, ["a.py", "broken.c", "new.java"]);
    assert_eq!(outcome.tests.len(), 5, "{:?}", outcome.tests);
    let unjudged: Vec<&str> = text.lines().filter(|line| line.contains("not judged")).collect();
    assert!(unjudged[0].starts_with("macros.c:1:") && unjudged[0].ends_with("was no better at the base"));
    assert!(unjudged[1].starts_with("new.c:1:") && unjudged[1].ends_with("the macros of a new file"));
    assert!(unjudged[2].starts_with("odd.ts:1:") && unjudged.len() == 3, "{text}");
    // The base itself is what changes are held against, and its own errors fail nothing there.
    let whole = project.run_on(&project.detect(), Which::All, Files::Whole, &|_| {}).remove(0);
    assert_eq!(whole.end, End::Passed);
}

// EP-19
#[test]
fn what_failed_on_every_earlier_tree_is_no_finding_and_one_pass_makes_it_one() {
    let project = Project::new(&[]);
    let bad = project.shell("echo 'test a ... FAILED'; exit 1", Parser::Cargo);
    let good = project.shell("echo 'test a ... ok'", Parser::Cargo);
    let tree = project.tree();
    assert!(compare(&befores(std::slice::from_ref(&bad)), std::slice::from_ref(&bad), &tree).is_empty());
    let both = befores(&[bad.clone(), good]);
    let findings = compare(&both, &[bad], &tree);
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].id.as_str(), findings[0].severity), ("test:own:a", Severity::Critical));
}

// CORE-13
#[test]
fn a_pass_that_is_much_shorter_or_has_half_the_tests_is_doubtful() {
    let project = Project::new(&[]);
    let pass = project.shell("echo 'test result: ok. 4 passed; 0 failed'", Parser::Cargo);
    let pass = CheckOutcome { duration: Duration::from_millis(99), ..pass };
    let past = |duration_ms, collected| Past { duration_ms, collected: Some(collected) };
    let five = [past(1, 9), past(1000, 9), past(1000, 9), past(1000, 9), past(90_000, 8)];
    assert_eq!(doubt(&pass, &five).as_deref(), Some("`own` took 99 ms, and 1000 ms in the median before"));
    assert_eq!(doubt(&pass, &five[..4]), Some("`own` ran 4 tests, and 9 the time before".to_string()));
    assert_eq!(doubt(&pass, &[past(1000, 8)]), None);
    let slow = CheckOutcome { duration: Duration::from_millis(100), ..pass.clone() };
    assert_eq!(doubt(&slow, &five), None);
    assert_eq!(doubt(&CheckOutcome { end: End::Failed, ..pass }, &five), None);
}
