//! Runs the new tests on the tree that the author of the code will get.

use super::super::measurement::{Measurement, measure};
use super::{skipped_claim, stub_tree_name, test_finding};
use crate::red_tests::baseline_results;
use crate::site::{Job, LaneContent, Trouble};
use remand_checks::{CheckResult, FailureKind, Parser, Selection, failures, kind_of, may_be_silent};
use remand_git::{FileContents, TreeId};
use remand_kernel::EngineOperation;
use remand_kernel::change::{TestEnd, TestResult};
use remand_kernel::evidence::RowPhase;
use remand_kernel::finding::{Finding, Severity};
use remand_ledger::query::CheckFilter;
use remand_source::is_test_file;
use remand_source::with_test_modules;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Only a workflow that writes tests first has this operation.
const RED: EngineOperation = EngineOperation::VerifyRed;

/// A test that the base does not have.
pub struct NewTest {
    pub name: String,
    pub end: TestEnd,
    /// `None` if the test did not fail, or if its runner does not report why it failed.
    pub kind: Option<FailureKind>,
    parser: Parser,
}

/// Why the reason for a failure is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownReason {
    /// The runner's output format allows a failure without a reason.
    Format,
    Other,
}

impl NewTest {
    /// Why the reason for the failure is unknown; `None` if it is known or the test did not fail.
    pub fn unknown_reason(&self) -> Option<UnknownReason> {
        let reason = if may_be_silent(self.parser) { UnknownReason::Format } else { UnknownReason::Other };
        (self.end == TestEnd::Failed && self.kind.is_none()).then_some(reason)
    }
}

/// The results of the suite: the new tests, and the tests that got worse.
pub struct NewTests {
    pub measured: Measurement,
    pub new: Vec<NewTest>,
    /// Checks that failed without running a test, with snippets of their output.
    pub unstarted: Vec<(String, String)>,
    /// Tests that passed at the base and no longer pass.
    pub worse: Vec<String>,
    /// Whether new symbols have stubs that the tests can reach.
    pub has_stubs: bool,
}

/// Runs the whole suite on the tree that the author of the code will get: base or stubs, with the current tests.
pub fn run_suite(job: &Job) -> Result<NewTests, Trouble> {
    let stubs = job.trees.remembered(&stub_tree_name(job))?;
    let has_stubs = stubs.is_some();
    let start = stubs.map_or_else(|| job.trees.base_tree(), Ok)?;
    let now = LaneContent::of(job)?;
    let tree = with_lane_tests(job, &start, &now)?;
    let measured = measure(job, &now.holding(&tree), Selection::All, None, RowPhase::After)?;
    let known = base_tests(job)?;
    let mut new = Vec::new();
    let mut unstarted = Vec::new();
    let mut ends: BTreeMap<&str, TestEnd> = BTreeMap::new();
    for result in &measured.results {
        ends.extend(result.tests.iter().map(|test| (test.name.as_str(), test.end)));
        new.extend(new_tests(job, result, &known));
        if result.tests.is_empty() && result.counts() && !result.passed() {
            unstarted.push((result.name.clone(), result.snippet.clone()));
        }
    }
    let is_worse =
        |name: &&String| !matches!(ends.get(name.as_str()), Some(TestEnd::Passed | TestEnd::Flaky));
    let worse = known.passed.iter().filter(is_worse).cloned().collect();
    Ok(NewTests { new, unstarted, worse, has_stubs, measured })
}

/// The tests that ran at the base.
struct BaseTests {
    names: BTreeSet<String>,
    passed: BTreeSet<String>,
}

fn base_tests(job: &Job) -> Result<BaseTests, Trouble> {
    let reader = job.site.reader()?;
    let all = baseline_results(&reader, &reader.checks(&job.site.run, CheckFilter::default())?)?;
    let with_parser = all.into_iter().filter(|before| parser(job, &before.name) != Parser::None);
    let tests: Vec<_> = with_parser.flat_map(|before| before.tests).collect();
    let passed = tests.iter().filter(|test| test.end == TestEnd::Passed).map(|test| test.name.clone());
    Ok(BaseTests { passed: passed.collect(), names: tests.into_iter().map(|test| test.name).collect() })
}

/// The parser of a check's output. A check without a parser may list files, but they are not tests.
fn parser(job: &Job, check: &str) -> Parser {
    let spec = job.site.pinned.checks.iter().find(|spec| spec.name == check);
    spec.map_or(Parser::None, |spec| spec.parser)
}

fn new_tests(job: &Job, result: &CheckResult, known: &BaseTests) -> Vec<NewTest> {
    let parser = parser(job, &result.name);
    if parser == Parser::None {
        return Vec::new();
    }
    let reasons = failures(parser, &String::from_utf8_lossy(&result.output));
    // A documentation example that is marked as ignored is not a test.
    let is_example = |test: &TestResult| {
        parser == Parser::Cargo && test.end == TestEnd::Skipped && test.name.split(' ').nth(1) == Some("doc")
    };
    let is_new = |test: &&TestResult| !known.names.contains(&test.name) && !is_example(test);
    let tests = result.tests.iter().filter(is_new);
    let kind =
        |test: &TestResult| if test.end == TestEnd::Failed { kind_of(&reasons, &test.name) } else { None };
    tests.map(|test| NewTest { name: test.name.clone(), end: test.end, kind: kind(test), parser }).collect()
}

/// Reports new tests that are skipped although the code exists, in a workflow that writes tests first.
pub fn skipped_new_tests(job: &Job, results: &[CheckResult]) -> Result<Vec<Finding>, Trouble> {
    if !job.program.operations.iter().any(|operation| operation.name == RED) {
        return Ok(Vec::new());
    }
    let known = base_tests(job)?;
    let new = results.iter().flat_map(|result| new_tests(job, result, &known));
    let skipped = new.filter(|test| test.end == TestEnd::Skipped);
    Ok(skipped
        .map(|test| Finding {
            severity: Severity::Critical,
            ..test_finding(&test.name, skipped_claim(&test.name), String::new())
        })
        .collect())
}

/// The start tree with the tests of the lane: whole test files, and test modules spliced into source files.
fn with_lane_tests(job: &Job, start: &TreeId, now: &LaneContent) -> Result<TreeId, Trouble> {
    let repository = job.site.repository();
    let changed = repository.changed(start, &now.tree)?;
    let (tests, others): (BTreeSet<PathBuf>, BTreeSet<PathBuf>) =
        changed.into_iter().map(|change| change.path).partition(|path| is_test_file(path));
    let mut modules = FileContents::new();
    for path in others.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
    {
        let read = |tree: &TreeId| -> Result<Option<String>, Trouble> {
            Ok(repository.read(tree, &path)?.and_then(|bytes| String::from_utf8(bytes).ok()))
        };
        // A source file that is missing in the start tree is written later, with the code. So its tests cannot run yet.
        let (Some(code), Some(tests)) = (read(start)?, read(&now.tree)?) else { continue };
        let spliced = with_test_modules(&code, &tests);
        if spliced != code {
            modules.insert(path, Some(spliced.into_bytes()));
        }
    }
    let tree = job.trees.with_paths(start, &now.tree, &tests)?;
    Ok(job.trees.with_files(&tree, &modules)?)
}
