//! Tests that run real checks on small projects.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::run::{TestWatch, run_check};
use super::*;
use remand_kernel::change::TestEnd;
use remand_kernel::evidence::{EvidenceRow, GateDemand, GateResult, RowPhase, TaskSize, Tier, rule};
use remand_kernel::finding::{Category, FindingKind, Severity};
use remand_process::confine::{ContactLog, Policy};
use remand_process::{Cancel, JobEnd, ProcessJob, SpawnError};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

/// A project in a temporary folder, with a separate home.
pub struct Project {
    folder: TempDir,
    pub environment: BTreeMap<OsString, OsString>,
    pub cancel: Cancel,
}

impl Project {
    pub fn new(files: &[(&str, &str)]) -> Project {
        let folder = tempfile::tempdir().expect("a folder");
        // `CARGO` is the path of cargo; the compiler is in the same folder.
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

    /// The folder with the files before the change; it does not exist unless a test creates it.
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

    fn start(&self, mut job: ProcessJob) -> Result<JobEnd, SpawnError> {
        job.marker = format!("{}/{}", self.folder.path().display(), job.marker);
        remand_process::run(&job, &self.cancel)
    }

    pub fn detect(&self) -> Vec<CheckSpec> {
        let files = tree_files::all(&self.tree());
        detect(
            &self.tree(),
            &files,
            &ToolProbe { environment: &self.environment, runner: &|job| self.start(job) },
        )
    }

    pub fn configured(&self, settings: &[(&str, &str)]) -> Result<Vec<CheckSpec>, SpecError> {
        let mut choices: BTreeMap<String, CheckChoice> = BTreeMap::new();
        let mut detected = Detected::Used;
        for (key, value) in settings {
            let key = key.strip_prefix("checks.").expect("a key of checks");
            let Some((name, key)) = key.rsplit_once('.') else {
                assert_eq!((key, *value), ("detect", "false"));
                detected = Detected::Ignored;
                continue;
            };
            set(choices.entry(name.to_string()).or_default(), key, value);
        }
        specs(self.detect(), detected, &choices)
    }

    pub fn run(&self, specs: &[CheckSpec]) -> Vec<CheckResult> {
        self.run_on(specs, Selection::All, FileScope::Whole)
    }

    pub fn run_on(
        &self,
        specs: &[CheckSpec],
        selection: Selection,
        files: FileScope<'_>,
    ) -> Vec<CheckResult> {
        self.run_planned(&CheckPlan::once(specs, selection), files)
    }

    pub fn run_planned(&self, plan: &CheckPlan, files: FileScope<'_>) -> Vec<CheckResult> {
        self.with_context(files, |context| run_plan(plan, context))
    }

    fn with_context<T>(&self, files: FileScope<'_>, run: impl FnOnce(&CheckContext<'_>) -> T) -> T {
        let (tree, base, scratch) = (self.tree(), self.base(), self.scratch());
        run(&CheckContext {
            tree: &tree,
            environment: &self.environment,
            files,
            base: BaseFiles::Folder(&base),
            scratch: &scratch,
            cancel: &self.cancel,
            sandbox: None,
        })
    }

    /// Runs a shell command as a check.
    fn shell(&self, text: &str, parser: Parser) -> CheckResult {
        let mut spec = CheckSpec::new("custom", Tier::Two, CheckAction::Shell(text.to_string()));
        spec.parser = parser;
        self.run(&[spec]).remove(0)
    }
}

/// Not a test, but this binary in the role of `remand confine`.
#[test]
fn inside() {
    remand_process::testing::act_as_confine();
}

// BX-06
#[test]
fn a_check_whose_sandbox_cannot_be_set_up_does_not_run() {
    let project = Project::new(&[]);
    let program = project.folder.path().join("confine");
    remand_process::testing::install(&program, "run_tests::inside");
    let policy = Policy { private_required: true, ..Policy::default() };
    let (marker, contacts) = (None, ContactLog::default());
    let sandbox = CheckSandbox { program, policy, marker, contacts };
    let sandbox = sandbox.in_tree(&project.tree(), &project.scratch(), Vec::new(), &project.environment);
    fs::write(project.scratch().join("private"), "not a folder").unwrap();
    let spec = CheckSpec::new("custom", Tier::Two, CheckAction::Shell("echo ran".to_string()));
    let result = project.with_context(FileScope::Whole, |context| {
        run_check(&spec, &CheckContext { sandbox: Some(&sandbox), ..*context }, None)
    });
    assert_eq!(result.end, CheckEnd::Environment, "{result:?}");
    assert!(result.reason.contains("scratch/private"), "{}", result.reason);
}

// UP-09
#[test]
fn the_tests_of_a_check_are_counted_while_it_runs() {
    // The suite ends only once its tests have been counted.
    let script = "echo 'test a ... ok'\necho 'test b ... ignored'\necho 'test c ... FAILED'\nread line < counted\nexit 1\n";
    let project = Project::new(&[("suite.sh", script)]);
    let pipe = project.tree().join("counted");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let mut spec = CheckSpec::new("suite", Tier::Two, CheckAction::argv(&["sh", "suite.sh"]));
    (spec.parser, spec.time) = (Parser::Cargo, Duration::from_secs(60));
    let counted = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&counted);
    let watch: TestWatch = Arc::new(move |ended| {
        seen.lock().expect("the counts").push(ended);
        if ended == 2 {
            fs::write(&pipe, "counted\n").expect("the suite reads it");
        }
    });
    let result = project.with_context(FileScope::Whole, |context| run_check(&spec, context, Some(watch)));
    assert_eq!(*counted.lock().expect("the counts"), [1, 2]);
    assert_eq!((result.end, result.exit_code), (CheckEnd::Failed, Some(1)), "{}", result.reason);
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

fn ends(results: &[CheckResult]) -> Vec<(&str, CheckEnd)> {
    results.iter().map(|result| (result.name.as_str(), result.end)).collect()
}

fn tests(result: &CheckResult) -> Vec<(&str, TestEnd)> {
    result.tests.iter().map(|test| (test.name.as_str(), test.end)).collect()
}

pub fn baseline_rows(results: &[CheckResult]) -> Vec<EvidenceRow> {
    Occasion { task: None, phase: RowPhase::Baseline, round: 1, iteration: 0 }.rows(results)
}

pub fn after_rows(results: &[CheckResult]) -> Vec<EvidenceRow> {
    Occasion { task: None, phase: RowPhase::After, round: 1, iteration: 1 }.rows(results)
}

fn gate(baseline: &[CheckResult], after: &[CheckResult]) -> GateResult {
    let rows: Vec<EvidenceRow> = baseline_rows(baseline).into_iter().chain(after_rows(after)).collect();
    rule(&rows, TaskSize::Large, GateDemand::Proof)
}

// EP-15 EP-16 EP-18 EP-19 CORE-06
#[test]
fn a_cargo_project_passes_and_breaking_a_function_is_a_regression_of_each_of_its_tests() {
    let project = cargo_project();
    let specs = project.configured(&[]).expect("checks");
    let before = project.run(&specs);
    let all =
        [("syntax", CheckEnd::Passed), ("cargo-check", CheckEnd::Passed), ("cargo-test", CheckEnd::Passed)];
    assert_eq!(ends(&before), all, "{before:#?}");
    let names = ["demo doc src/lib.rs - add", "demo src/lib.rs tests::adds", "whole tests/whole.rs adds"];
    assert_eq!(tests(&before[2]), names.map(|name| (name, TestEnd::Passed)));
    assert_eq!((before[2].collected, before[2].exit_code), (Some(3), Some(0)));
    assert_eq!(gate(&before, &before), GateResult::Passed);

    let library = fs::read_to_string(project.tree().join("src/lib.rs")).expect("a file");
    project.write("src/lib.rs", &library.replace("a + b", "a - b.min(a)"));
    let after = project.run(&specs);
    assert_eq!((after[2].end, after[2].exit_code), (CheckEnd::Failed, Some(101)));
    assert!(after[2].snippet.chars().count() <= 500);
    assert!(after[2].snippet.contains("panicked at"), "{}", after[2].snippet);
    let findings = compare(&before, &after, &project.tree());
    let ids: Vec<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
    assert_eq!(ids, names.map(|name| format!("test:cargo-test:{name}")));
    let unit = &findings[1];
    assert_eq!((unit.severity, unit.category), (Severity::Critical, Category::Correctness));
    assert_eq!((unit.kind, unit.place.file.as_str()), (Some(FindingKind::Production), "src/lib.rs"));
    assert!(unit.evidence.contains("cargo test --workspace --no-fail-fast"), "{}", unit.evidence);
    assert_eq!(compare(&before, &project.run(&specs), &project.tree())[1].id, unit.id);
    assert!(matches!(gate(&before, &after), GateResult::Failed(_)));

    project.write("src/lib.rs", "pub fn add(a: u32, b: u32) -> u32 {\n    a + c\n}\n");
    let broken = project.run(&specs);
    let all =
        [("syntax", CheckEnd::Passed), ("cargo-check", CheckEnd::Failed), ("cargo-test", CheckEnd::Skipped)];
    assert_eq!(ends(&broken), all);
    let findings = compare(&before, &broken, &project.tree());
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!(
        (findings[0].id.as_str(), findings[0].place.file.as_str()),
        ("check:cargo-check", "src/lib.rs")
    );
    assert_eq!(findings[0].place.line, 2);
}

// EP-15 EP-19
#[test]
fn a_python_project_is_compiled_and_tested_without_new_files_in_its_tree() {
    let project = python_project();
    let specs = project.configured(&[]).expect("checks");
    let before = project.run(&specs);
    let all = [
        ("syntax", CheckEnd::Passed),
        ("python-compile", CheckEnd::Passed),
        (specs[2].name.as_str(), CheckEnd::Passed),
    ];
    assert_eq!(ends(&before), all, "{before:#?}");
    assert_eq!(before[2].collected, Some(2));
    assert_eq!(tree_files::all(&project.tree()), ["setup.cfg", "sums.py", "tests/test_sums.py"]);

    project.write("sums.py", "def add(a, b):\n    return a * b\n");
    let after = project.run(&specs);
    assert_eq!(after[2].end, CheckEnd::Failed);
    let findings = compare(&before, &after, &project.tree());
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert!(findings[0].claim.contains("test_adds"), "{}", findings[0].claim);
    assert_eq!(findings[0].place.file, "tests/test_sums.py");

    project.write("sums.py", "def add(a, b:\n    return a + b\n");
    let broken = project.run(&specs);
    assert_eq!(broken[1].end, CheckEnd::Failed);
    assert_eq!(broken[2].end, CheckEnd::Skipped);
    assert!(broken[1].snippet.contains("SyntaxError"), "{}", broken[1].snippet);
}

// EP-19
#[test]
fn a_removed_or_skipped_test_is_a_regression_although_the_check_passes() {
    let project = python_project();
    let specs = project.configured(&[]).expect("checks");
    let before = project.run(&specs);
    let text = fs::read_to_string(project.tree().join("tests/test_sums.py")).expect("a file");
    let skipped = text.replace("    def test_zero", "    @unittest.skip('later')\n    def test_zero");
    project.write("tests/test_sums.py", &skipped);
    let after = project.run(&specs);
    assert_eq!((after[2].end, after[2].collected), (CheckEnd::Passed, Some(1)));
    let findings = compare(&before, &after, &project.tree());
    assert_eq!(findings.len(), 1);
    assert!(findings[0].claim.contains("test_zero` of `"), "{}", findings[0].claim);
    assert!(findings[0].claim.ends_with("passed before and is now skipped"), "{}", findings[0].claim);
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
    assert_eq!(before.iter().map(|result| result.name.as_str()).collect::<Vec<_>>(), names);
    if !job::is_on_path(&project.environment, "node") || !job::is_on_path(&project.environment, "npm") {
        // Without Node, the missing tool must not count as a failure of the work.
        assert_eq!(before[1].end, CheckEnd::Environment);
        assert!(
            before[1].missing_from_environment().expect("a reason").contains("`node` is not on the PATH")
        );
        return;
    }
    assert_eq!(ends(&before), names.map(|name| (name, CheckEnd::Passed)), "{before:#?}");
    assert_eq!(tests(&before[2]), [("adds", TestEnd::Passed)]);
    project.write("sums.js", "exports.add = (a, b => a + b;\n");
    let changed = ["sums.js".to_string(), "gone.js".to_string()];
    let after = project.run_on(&specs, Selection::All, FileScope::Changed(&changed));
    assert_eq!(
        ends(&after),
        [("syntax", CheckEnd::Failed), ("node-check", CheckEnd::Failed), ("npm-test", CheckEnd::Skipped)]
    );
    assert_eq!(after[0].snippet, "sums.js:1:29: invalid JavaScript: `)` is missing");
    assert!(after[1].snippet.contains("SyntaxError"), "{}", after[1].snippet);
}

// CORE-06
#[test]
fn output_that_claims_success_does_not_outweigh_the_exit_code() {
    let project = Project::new(&[]);
    let false_claim = "echo 'test a ... ok'; echo 'test result: ok. 1 passed; 0 failed; 0 ignored'; exit 1";
    let result = project.shell(false_claim, Parser::Cargo);
    assert_eq!((result.end, result.exit_code, result.collected), (CheckEnd::Failed, Some(1), Some(1)));
    assert_eq!(tests(&result), [("a", TestEnd::Passed)]);
    let rows = after_rows(std::slice::from_ref(&result));
    assert!(!rows[0].passed);
    assert_eq!(compare(&[], &[result], &project.tree())[0].id, "check:custom");
}

// CORE-06 CORE-13
#[test]
fn exit_code_0_with_a_failed_test_is_not_a_pass() {
    let project = Project::new(&[]);
    let result = project
        .shell("echo 'test a ... FAILED'; echo 'test result: FAILED. 0 passed; 1 failed'", Parser::Cargo);
    assert_eq!((result.end, result.exit_code), (CheckEnd::Failed, Some(0)));
    assert_eq!(result.reason, "exit code 0, although `a` failed");
}

// CORE-13
#[test]
fn exit_code_0_without_a_test_is_not_a_pass() {
    let project = Project::new(&[("tests/test_none.py", "")]);
    let specs = project
        .configured(&[("checks.custom.command", "true"), ("checks.custom.parser", "cargo")])
        .expect("checks");
    let result = project.shell("echo 'test result: ok. 0 passed; 0 failed; 3 ignored'", Parser::Cargo);
    assert_eq!((result.end, result.exit_code, result.collected), (CheckEnd::Vacuous, Some(0), Some(0)));
    assert!(!result.passed() && !result.counts());
    assert_eq!(result.reason, "no test ran, so this is not a pass");
    let junit = CheckSpec { report: Some("none".to_string()), ..specs[0].clone() };
    let junit = CheckSpec { action: CheckAction::Shell("true".to_string()), parser: Parser::Junit, ..junit };
    assert_eq!(project.run(&[junit])[0].end, CheckEnd::Vacuous);
    let unittest = project.run(&project.configured(&[]).expect("checks"));
    assert!(!unittest[2].passed(), "{unittest:#?}");
    let rows = after_rows(&unittest);
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
    let GateResult::Failed(reasons) = gate(&none, &bad) else { panic!("passed") };
    assert!(
        reasons.iter().any(|reason| reason.contains("`custom` (tier 2, iteration 1) failed")),
        "{reasons:?}"
    );
    let tree = project.tree();
    assert_eq!(compare(&none, &bad, &tree).len(), 1);
    assert!(compare(&none, &none, &tree).is_empty());
    let lost = compare(&good, &none, &tree);
    assert_eq!(
        lost.iter().map(|finding| finding.claim.as_str()).collect::<Vec<_>>(),
        ["the check `custom` runs no test"]
    );
    assert_eq!(lost[0].severity, Severity::Critical);
}

// CORE-13
#[test]
fn a_report_of_an_earlier_run_is_not_read_again() {
    let project = Project::new(&[("good.xml", "<testsuite><testcase name='a'/></testsuite>")]);
    let mut spec = CheckSpec::new(
        "custom",
        Tier::Two,
        CheckAction::Shell("mkdir -p out && cp good.xml out/r.xml".to_string()),
    );
    spec.parser = Parser::Junit;
    spec.report = Some("out".to_string());
    let first = project.run(std::slice::from_ref(&spec)).remove(0);
    assert_eq!((first.end, tests(&first)), (CheckEnd::Passed, vec![("a", TestEnd::Passed)]));
    spec.action = CheckAction::Shell("true".to_string());
    let second = project.run(&[spec]).remove(0);
    assert_eq!((second.end, second.tests.len()), (CheckEnd::Vacuous, 0));
}

// EP-15
#[test]
fn a_check_that_exceeds_its_time_limit_is_not_a_failed_check() {
    let project = Project::new(&[]);
    let mut spec =
        CheckSpec::new("slow", Tier::Two, CheckAction::Shell("echo started; sleep 600".to_string()));
    spec.time = Duration::from_millis(300);
    let after = CheckSpec { needs: vec!["slow".to_string()], name: "next".to_string(), ..spec.clone() };
    let results = project.run(&[spec, after]);
    assert_eq!(ends(&results), [("slow", CheckEnd::TimedOut), ("next", CheckEnd::Skipped)]);
    assert_eq!(results[0].exit_code, None);
    assert_eq!(results[0].output, b"started\n");
    assert_eq!(results[0].reason, "exceeded its time limit of 300ms");
    assert_eq!(results[1].reason, "not run, because `slow` did not pass");
    let finding = &compare(&[], &results, &project.tree())[0];
    assert_eq!(finding.claim, "the check `slow` exceeds its time limit");
}

// CORE-09
#[test]
fn a_missing_tool_is_an_environment_problem_and_a_missing_script_of_the_tree_is_a_failure() {
    let project = Project::new(&[]);
    let argv = CheckSpec::new("argv", Tier::Two, CheckAction::argv(&["no-such-tool-anywhere", "test"]));
    let shell =
        CheckSpec::new("shell", Tier::Two, CheckAction::Shell("A=1 no-such-tool-anywhere".to_string()));
    let script = CheckSpec::new("script", Tier::Two, CheckAction::argv(&["./check.sh"]));
    let inner =
        CheckSpec::new("inner", Tier::Two, CheckAction::Shell("sh -c no-such-tool-anywhere".to_string()));
    let results = project.run(&[argv, shell, script, inner]);
    let expected = [
        ("argv", CheckEnd::Environment),
        ("shell", CheckEnd::Environment),
        ("script", CheckEnd::Failed),
        ("inner", CheckEnd::Failed),
    ];
    assert_eq!(ends(&results), expected);
    let reason = results[0].missing_from_environment().expect("a reason");
    assert_eq!(
        reason,
        "`no-such-tool-anywhere` is not on the PATH of the checks; install it, or correct the command"
    );
    let rows = after_rows(&results);
    assert_eq!(rows.iter().map(|row| row.tier.is_some()).collect::<Vec<_>>(), [false, false, true, true]);
    assert!(compare(&[], &results[..2], &project.tree()).is_empty());
}

// EP-15 EP-16 EP-18
#[test]
fn a_check_that_needs_a_failed_one_is_recorded_as_not_run_and_does_not_count() {
    let project = Project::new(&[("a.txt", "text\n")]);
    let settings = [
        ("checks.build.command", "exit 3"),
        ("checks.test.command", "touch ran"),
        ("checks.test.needs", "[\"build\"]"),
        ("checks.more.command", "touch ran"),
        ("checks.more.needs", "[\"test\"]"),
        ("checks.apart.command", "true"),
    ];
    let results = project.run(&project.configured(&settings).expect("checks"));
    let expected = [
        ("syntax", CheckEnd::Passed),
        ("apart", CheckEnd::Passed),
        ("build", CheckEnd::Failed),
        ("test", CheckEnd::Skipped),
        ("more", CheckEnd::Skipped),
    ];
    assert_eq!(ends(&results), expected);
    assert!(!project.tree().join("ran").exists());
    let gate_rows = after_rows(&results);
    assert_eq!((gate_rows[3].tier, gate_rows[3].passed), (None, false));
    assert_eq!(gate_rows[3].reason, "not run, because `build` did not pass");
    let GateResult::Failed(reasons) = gate(&results[..1], &results) else { panic!("passed") };
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    assert!(reasons[1].contains("`build`"), "{reasons:?}");
    let occasion = Occasion { task: Some("t1".to_string()), phase: RowPhase::After, round: 2, iteration: 1 };
    let recorded = occasion.facts(&results);
    assert_eq!(recorded.checks.len(), 5);
    let row = &recorded.checks[3];
    assert_eq!((row.name.as_str(), row.passed, row.tier, row.round), ("test", false, None, 2));
    assert_eq!(row.command.as_deref(), Some("touch ran"));
}

// EP-15
#[test]
fn a_check_runs_even_if_one_that_it_needs_has_no_files() {
    let project = Project::new(&[("a.ts", "export const a = 1;\n")]);
    let mut by_file = CheckSpec::new("by-file", Tier::One, CheckAction::argv(&["false"]));
    by_file.each = vec!["js".to_string()];
    let after = CheckSpec::new("after", Tier::Two, CheckAction::argv(&["true"])).needing("by-file");
    let results = project.run(&[by_file.clone(), after.clone()]);
    assert_eq!(ends(&results), [("by-file", CheckEnd::NoFiles), ("after", CheckEnd::Passed)]);
    project.write("a.js", "");
    let results = project.run(&[by_file, after]);
    assert_eq!(ends(&results), [("by-file", CheckEnd::Failed), ("after", CheckEnd::Skipped)]);
}

// EP-16
#[test]
fn the_full_output_and_individual_tests_are_stored_with_the_row() {
    let project = Project::new(&[]);
    let lines = "i=0; while [ $i -lt 300 ]; do echo \"line $i\"; i=$((i+1)); done";
    let text = format!(
        "{lines}; echo 'error: bad' >&2; {lines}; printf '\\033[31mtest a ... FAILED\\033[0m\\n'; exit 1"
    );
    let result = project.shell(&text, Parser::Cargo);
    assert!(result.snippet.starts_with("error: bad\nline 0\nline 1\n"), "{}", result.snippet);
    assert!(result.snippet.chars().count() <= 500 && result.snippet.ends_with('…'));
    let occasion = Occasion { task: None, phase: RowPhase::Baseline, round: 1, iteration: 0 };
    let recorded = occasion.facts(&[result.clone(), result]);
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
fn the_quick_checks_are_those_of_tier_1_unless_configured_otherwise() {
    let project = Project::new(&[("a.txt", "text\n")]);
    let settings = [
        ("checks.slow.command", "true"),
        ("checks.quick.command", "true"),
        ("checks.quick.quick", "true"),
        ("checks.quick.needs", "[\"slow\"]"),
        ("checks.first.command", "true"),
        ("checks.first.tier", "1"),
    ];
    let specs = project.configured(&settings).expect("checks");
    let results = project.run_on(&specs, Selection::Quick, FileScope::Whole);
    assert_eq!(
        ends(&results),
        [("syntax", CheckEnd::Passed), ("first", CheckEnd::Passed), ("quick", CheckEnd::Passed)]
    );
}

#[test]
fn cancelling_stops_the_running_check_and_no_other_is_started() {
    let project = Project::new(&[]);
    let started = |name: &str| project.tree().join(name);
    let spec = |name: &str| {
        let text = format!("touch {name}; sleep 600");
        CheckSpec::new(name, Tier::Two, CheckAction::Shell(text))
    };
    let results = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !started("one").exists() {
                std::thread::yield_now();
            }
            project.cancel.cancel();
        });
        project.run(&[spec("one"), spec("two")])
    });
    assert_eq!(ends(&results), [("one", CheckEnd::Cancelled), ("two", CheckEnd::Cancelled)]);
    assert!(!started("two").exists());
    assert!(results.iter().all(|result| !result.counts()));
}

// EP-15
#[test]
fn syntax_finds_conflicts_and_files_that_cannot_be_parsed() {
    let project = Project::new(&[
        ("good.json", "{\"a\": [1, 2]}\n"),
        ("good.yaml", "a: 1\n---\nb: !tag [2]\n"),
        ("good.toml", "a = 1\n"),
        ("tsconfig.json", "{ // a comment\n}\n"),
        ("chart.yaml", "{{ if .Values.a }}\na: 1\n"),
        ("title.md", "Title\n=======\n<<<<<<< alone is not a conflict\n"),
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
    let result = project.run(&specs).remove(0);
    assert_eq!((result.end, result.exit_code, result.tool.as_str()), (CheckEnd::Failed, None, "remand"));
    let text = String::from_utf8(result.output.clone()).expect("text");
    let starts: Vec<&str> = text.lines().map(|line| line.split(": ").next().expect("a location")).collect();
    assert_eq!(starts, ["bad.json:1:9", "bad.toml:2:1", "bad.yaml:2:2", "src/merged.c:2:1"], "{text}");
    let failed = result.tests.iter().filter(|test| test.end == TestEnd::Failed).count();
    assert_eq!((failed, result.collected), (4, Some(10)));

    let changed = ["good.json".to_string(), "bad.json".to_string()];
    let after = project.run_on(&specs, Selection::All, FileScope::Changed(&changed[..1]));
    assert_eq!((after[0].end, after[0].collected), (CheckEnd::Passed, Some(1)));
    let none = project.run_on(&specs, Selection::All, FileScope::Changed(&[]));
    assert_eq!(none[0].end, CheckEnd::NoFiles);

    // An invalid file at the base does not excuse another one.
    project.write("good.json", "{\n");
    let after = project.run_on(&specs, Selection::All, FileScope::Changed(&changed));
    let findings = compare(&[result], &after, &project.tree());
    let ids: Vec<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
    assert_eq!(ids, ["test:syntax:good.json"]);
}

// EP-15
#[test]
fn changed_sources_are_parsed_and_compared_with_the_base() {
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
    let result = project.run_on(&project.detect(), Selection::All, FileScope::Changed(&changed)).remove(0);
    let text = String::from_utf8(result.output.clone()).expect("text");
    assert_eq!(result.end, CheckEnd::Failed, "{text}");
    let failed: Vec<&str> = result
        .tests
        .iter()
        .filter(|test| test.end == TestEnd::Failed)
        .map(|test| test.name.as_str())
        .collect();
    assert_eq!(failed, ["a.py", "broken.c", "new.java"]);
    assert_eq!(result.tests.len(), 5, "{:?}", result.tests);
    let unjudged: Vec<&str> = text.lines().filter(|line| line.contains("not judged")).collect();
    assert!(unjudged[0].starts_with("macros.c:1:") && unjudged[0].ends_with("had an error at the base too"));
    assert!(unjudged[1].starts_with("new.c:1:") && unjudged[1].ends_with("the macros of a new file"));
    assert!(unjudged[2].starts_with("odd.ts:1:") && unjudged.len() == 3, "{text}");
    // Only changed files are parsed with a grammar, so these errors do not fail a check of the whole tree.
    let whole = project.run_on(&project.detect(), Selection::All, FileScope::Whole).remove(0);
    assert_eq!(whole.end, CheckEnd::Passed);
}

// EP-19
#[test]
fn a_failure_is_a_finding_unless_the_check_failed_on_every_earlier_tree() {
    let project = Project::new(&[]);
    let bad = project.shell("echo 'test a ... FAILED'; exit 1", Parser::Cargo);
    let good = project.shell("echo 'test a ... ok'", Parser::Cargo);
    let tree = project.tree();
    assert!(compare(std::slice::from_ref(&bad), std::slice::from_ref(&bad), &tree).is_empty());
    let both = [bad.clone(), good];
    let findings = compare(&both, &[bad], &tree);
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].id.as_str(), findings[0].severity), ("test:custom:a", Severity::Critical));
}

// CORE-13
#[test]
fn a_pass_that_is_much_shorter_or_runs_fewer_than_half_the_tests_is_doubtful() {
    let project = Project::new(&[]);
    let pass = project.shell("echo 'test result: ok. 4 passed; 0 failed'", Parser::Cargo);
    let pass = CheckResult { duration: Duration::from_millis(99), ..pass };
    let past = |duration_ms, collected| EarlierPass { duration_ms, collected: Some(collected) };
    let five = [past(1, 9), past(1000, 9), past(1000, 9), past(1000, 9), past(90_000, 8)];
    assert_eq!(
        doubt(&pass, &five).as_deref(),
        Some("`custom` took 99 ms; the median of earlier passes is 1000 ms")
    );
    assert_eq!(
        doubt(&pass, &five[..4]),
        Some("`custom` ran 4 tests; when it last passed, it ran 9".to_string())
    );
    assert_eq!(doubt(&pass, &[past(1000, 8)]), None);
    let slow = CheckResult { duration: Duration::from_millis(100), ..pass.clone() };
    assert_eq!(doubt(&slow, &five), None);
    assert_eq!(doubt(&CheckResult { end: CheckEnd::Failed, ..pass }, &five), None);
}

/// Sets one key of a check's configuration, as the TOML reader does.
fn set(choice: &mut CheckChoice, key: &str, value: &str) {
    let words = || serde_json::from_str::<Vec<String>>(value);
    match key {
        "command" => {
            let shell = |_| CommandLine::Shell(value.to_string());
            choice.command = Some(words().map_or_else(shell, CommandLine::Argv));
        }
        "needs" => choice.needs = Some(words().expect("names")),
        "folder" => choice.folder = Some(value.to_string()),
        "time" => choice.time = Some(remand_notation::amount::duration(value).expect("a duration")),
        "tier" => choice.tier = Some(if value == "1" { Tier::One } else { panic!("tier {value}") }),
        "quick" => choice.quick = Some(value == "true"),
        "parser" => choice.parser = Some(value.to_string()),
        "off" => choice.off = value == "true",
        other => panic!("no such key: {other}"),
    }
}
