//! Runs the new tests on the tree from which the code will be written.

use super::super::measurement::{Measurement, baseline_results, measure};
use super::{of_tests, skipped, stubs_of};
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

/// A workflow with this operation writes tests first.
const RED: EngineOperation = EngineOperation::VerifyRed;

/// A test that the base does not have.
pub struct NewTest {
    pub name: String,
    pub end: TestEnd,
    /// None where it did not fail, or its runner does not say why it did.
    pub kind: Option<FailureKind>,
    parser: Parser,
}

/// Why the reason of a failure is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownReason {
    /// The format of the runner allows a failure without a reason.
    Format,
    Other,
}

impl NewTest {
    /// Why the reason of its failure is unknown; none if it is known or the test did not fail.
    pub fn unknown_reason(&self) -> Option<UnknownReason> {
        let reason = if may_be_silent(self.parser) { UnknownReason::Format } else { UnknownReason::Other };
        (self.end == TestEnd::Failed && self.kind.is_none()).then_some(reason)
    }
}

/// What the suite shows about the new tests.
pub struct NewTests {
    pub measured: Measurement,
    pub new: Vec<NewTest>,
    /// Checks that failed without running a test, with their snippets.
    pub unstarted: Vec<(String, String)>,
    /// Tests that passed at the base and now fail or are gone.
    pub worse: Vec<String>,
    /// Whether new symbols have stubs that the tests can reach.
    pub has_stubs: bool,
}

/// Runs the whole suite on the tree that the author of the code gets: the base or the stubs, with the current tests.
pub fn run_suite(job: &Job) -> Result<NewTests, Trouble> {
    let stubs = job.trees.remembered(&stubs_of(job))?;
    let has_stubs = stubs.is_some();
    let handed = stubs.map_or_else(|| job.trees.base_tree(), Ok)?;
    let now = LaneContent::of(job)?;
    let tree = with_tests_of(job, &handed, &now)?;
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

/// The tests of the base.
struct BaseTests {
    names: BTreeSet<String>,
    passed: BTreeSet<String>,
}

fn base_tests(job: &Job) -> Result<BaseTests, Trouble> {
    let reader = job.site.reader()?;
    let all = baseline_results(&reader, &reader.checks(&job.site.run, CheckFilter::default())?)?;
    let of_tests = all.into_iter().filter(|before| parser(job, &before.name) != Parser::None);
    let tests: Vec<_> = of_tests.flat_map(|before| before.tests).collect();
    let passed = tests.iter().filter(|test| test.end == TestEnd::Passed).map(|test| test.name.clone());
    Ok(BaseTests { passed: passed.collect(), names: tests.into_iter().map(|test| test.name).collect() })
}

/// How a check's tests are read. A check without a parser lists files, if anything.
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

/// New tests that do not run although the code exists, in a workflow that writes tests first.
pub fn not_run(job: &Job, results: &[CheckResult]) -> Result<Vec<Finding>, Trouble> {
    if !job.program.operations.iter().any(|operation| operation.name == RED) {
        return Ok(Vec::new());
    }
    let known = base_tests(job)?;
    let new = results.iter().flat_map(|result| new_tests(job, result, &known));
    let not_run = new.filter(|test| test.end == TestEnd::Skipped);
    Ok(not_run
        .map(|test| Finding {
            severity: Severity::Critical,
            ..of_tests(&test.name, skipped(&test.name), String::new())
        })
        .collect())
}

/// The handed-over tree with the tests of the lane: whole test files, and test modules spliced into source files.
fn with_tests_of(job: &Job, handed: &TreeId, now: &LaneContent) -> Result<TreeId, Trouble> {
    let repository = job.site.repository();
    let changed = repository.changed(handed, &now.tree)?;
    let (tests, others): (BTreeSet<PathBuf>, BTreeSet<PathBuf>) =
        changed.into_iter().map(|change| change.path).partition(|path| is_test_file(path));
    let mut modules = FileContents::new();
    for path in others.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "rs")) {
        let read = |tree: &TreeId| -> Result<Option<String>, Trouble> {
            Ok(repository.read(tree, &path)?.and_then(|bytes| String::from_utf8(bytes).ok()))
        };
        // A file that the code adds does not exist yet, and neither do the tests in it.
        let (Some(code), Some(tests)) = (read(handed)?, read(&now.tree)?) else { continue };
        let spliced = with_test_modules(&code, &tests);
        if spliced != code {
            modules.insert(path, Some(spliced.into_bytes()));
        }
    }
    let tree = job.trees.with_paths(handed, &now.tree, &tests)?;
    Ok(job.trees.with_files(&tree, &modules)?)
}
