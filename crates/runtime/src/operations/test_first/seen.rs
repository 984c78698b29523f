//! What the new tests do on the tree that the code is to be written on.

use super::super::verify::{Ran, befores, run_checks};
use super::{of_tests, red, stubs_of};
use crate::checks::{CheckOutcome, FailureKind, Parser, Which, failures, kind_of, may_be_silent};
use crate::dispatch::is_test;
use crate::git::{Files, TreeId};
use crate::workshop::{Job, LaneContent, Trouble};
use remand_kernel::change::{TestEnd, TestResult};
use remand_kernel::evidence::RowPhase;
use remand_kernel::finding::{Finding, Severity};
use remand_ledger::query::CheckFilter;
use remand_source::with_test_modules;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The operation by which a workflow has tests come first.
const RED: &str = "verify-red";

/// One test that the base does not have.
pub struct NewTest {
    pub name: String,
    pub end: TestEnd,
    /// None where it did not fail, or its runner does not say why.
    pub kind: Option<FailureKind>,
    parser: Parser,
}

/// Why it is not known how a test fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untold {
    /// The format of its runner leaves it open to say so.
    ByItsFormat,
    Otherwise,
}

impl NewTest {
    /// Why it is not known how it fails, where that is so.
    pub fn untold(&self) -> Option<Untold> {
        let is_silent = if may_be_silent(self.parser) { Untold::ByItsFormat } else { Untold::Otherwise };
        (self.end == TestEnd::Failed && self.kind.is_none()).then_some(is_silent)
    }
}

/// What was seen.
pub struct Seen {
    pub ran: Ran,
    pub new: Vec<NewTest>,
    /// Checks that brought no test to its end, with what they said: the tests do not even start.
    pub unstarted: Vec<(String, String)>,
    /// Tests that passed at the base and fail or are gone now.
    pub worse: Vec<String>,
    /// Whether new symbols have stubs that the tests can reach.
    pub has_stubs: bool,
}

/// Runs the whole suite on the tree as it is handed to whoever writes the code: the base or the stubs, with the tests
/// as they are now.
pub fn look(job: &Job) -> Result<Seen, Trouble> {
    let stubs = job.trees.remembered(&stubs_of(job))?;
    let has_stubs = stubs.is_some();
    let handed = stubs.map_or_else(|| job.trees.base_tree(), Ok)?;
    let now = LaneContent::of(job)?;
    let tree = with_tests_of(job, &handed, &now)?;
    let ran = run_checks(job, &now.holding(&tree), Which::All, None, RowPhase::After)?;
    let known = known(job)?;
    let mut new = Vec::new();
    let mut unstarted = Vec::new();
    let mut ends: BTreeMap<&str, TestEnd> = BTreeMap::new();
    for outcome in &ran.outcomes {
        ends.extend(outcome.tests.iter().map(|test| (test.name.as_str(), test.end)));
        new.extend(new_tests(job, outcome, &known));
        if outcome.tests.is_empty() && outcome.counts() && !outcome.passed() {
            unstarted.push((outcome.name.clone(), outcome.snippet.clone()));
        }
    }
    let is_worse =
        |name: &&String| !matches!(ends.get(name.as_str()), Some(TestEnd::Passed | TestEnd::Flaky));
    let worse = known.passed.iter().filter(is_worse).cloned().collect();
    Ok(Seen { new, unstarted, worse, has_stubs, ran })
}

/// The tests of the base.
struct Known {
    names: BTreeSet<String>,
    passed: BTreeSet<String>,
}

fn known(job: &Job) -> Result<Known, Trouble> {
    let reader = job.site.reader()?;
    let all = befores(&reader, &reader.checks(&job.site.run, CheckFilter::default())?)?;
    let of_tests = all.into_iter().filter(|before| parser(job, &before.check) != Parser::None);
    let tests: Vec<_> = of_tests.flat_map(|before| before.tests).collect();
    let passed = tests.iter().filter(|test| test.end == TestEnd::Passed).map(|test| test.name.clone());
    Ok(Known { passed: passed.collect(), names: tests.into_iter().map(|test| test.name).collect() })
}

/// How a check's tests are read. One that has no parser lists files, if anything, and no tests.
fn parser(job: &Job, check: &str) -> Parser {
    let spec = job.site.pinned.checks.iter().find(|spec| spec.name == check);
    spec.map_or(Parser::None, |spec| spec.parser)
}

fn new_tests(job: &Job, outcome: &CheckOutcome, known: &Known) -> Vec<NewTest> {
    let parser = parser(job, &outcome.name);
    if parser == Parser::None {
        return Vec::new();
    }
    let told = failures(parser, &String::from_utf8_lossy(&outcome.output));
    // An example in documentation that is marked as one to be left alone is no test.
    let is_example = |test: &TestResult| {
        parser == Parser::Cargo && test.end == TestEnd::Skipped && test.name.split(' ').nth(1) == Some("doc")
    };
    let is_new = |test: &&TestResult| !known.names.contains(&test.name) && !is_example(test);
    let tests = outcome.tests.iter().filter(is_new);
    let kind =
        |test: &TestResult| if test.end == TestEnd::Failed { kind_of(&told, &test.name) } else { None };
    tests.map(|test| NewTest { name: test.name.clone(), end: test.end, kind: kind(test), parser }).collect()
}

/// New tests that were not run although the code is there, where tests come first.
pub fn not_run(job: &Job, outcomes: &[CheckOutcome]) -> Result<Vec<Finding>, Trouble> {
    if !job.program.operations.iter().any(|operation| operation.name == RED) {
        return Ok(Vec::new());
    }
    let known = known(job)?;
    let new = outcomes.iter().flat_map(|outcome| new_tests(job, outcome, &known));
    let skipped = new.filter(|test| test.end == TestEnd::Skipped);
    Ok(skipped
        .map(|test| Finding {
            severity: Severity::Critical,
            ..of_tests(&test.name, red::skipped(&test.name), String::new())
        })
        .collect())
}

/// A tree with the tests of the lane and everything else as it was handed over: test files as a whole, and test modules
/// beside the code, put into the file that was handed over.
fn with_tests_of(job: &Job, handed: &TreeId, now: &LaneContent) -> Result<TreeId, Trouble> {
    let repository = job.site.repository();
    let changed = repository.changed(handed, &now.tree)?;
    let (tests, others): (BTreeSet<PathBuf>, BTreeSet<PathBuf>) =
        changed.into_iter().map(|change| change.path).partition(|path| is_test(path));
    let mut modules = Files::new();
    for path in others.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "rs")) {
        let read = |tree: &TreeId| -> Result<Option<String>, Trouble> {
            Ok(repository.read(tree, &path)?.and_then(|bytes| String::from_utf8(bytes).ok()))
        };
        // A file that the code brings along is not there yet, and neither are the tests in it.
        let (Some(code), Some(tests)) = (read(handed)?, read(&now.tree)?) else { continue };
        let spliced = with_test_modules(&code, &tests);
        if spliced != code {
            modules.insert(path, Some(spliced.into_bytes()));
        }
    }
    let tree = job.trees.with_paths(handed, &now.tree, &tests)?;
    Ok(job.trees.with_files(&tree, &modules)?)
}
