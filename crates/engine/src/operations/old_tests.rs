//! Runs the tests as they were before a change on the changed code.

use super::checking::refuse_incomplete;
use super::integrity::PlannedTests;
use super::measurement::Measurement;
use super::sides::{ExchangedTree, SidedChange};
use super::tested_change::TestedChange;
use super::{Done, finding};
use crate::pinned::Cache;
use crate::red_tests::current_request;
use crate::row_names::OLD_TESTS;
use crate::site::{Job, LaneContent, Trouble};
use remand_checks::{
    Announced, BrokenHow, BrokenTest, CheckEnd, CheckPlan, CheckRequest, CheckResult, CheckSpec, GoneNames,
    Half, KnownResults, LeftOut, Mended, ReadBack, Release, Selection, accepted_files, broken, expected,
    mend, read_back,
};
use remand_git::FileContents;
use remand_kernel::evidence::Tier;
use remand_kernel::finding::{Category, Finding, FindingKind, Severity};
use remand_ledger::fact::NoteKind;
use remand_ledger::{BlobId, Reader};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How often old tests that do not build are mended.
const MAX_MENDS: usize = 4;
/// Tests that become findings; further ones are only counted.
const MAX_FINDINGS: usize = 20;
/// Tests that the reason of a row names.
const MAX_NAMED: usize = 5;
/// Characters of a tree id in the name of a work tree.
const SHORT_ID_DIGITS: usize = 12;

/// Runs each affected check with the tests of the base. The checks have passed with the new tests.
pub fn run(
    job: &Job,
    lane: &LaneContent,
    task: Option<&str>,
    tested: &TestedChange,
    measured: &Measurement,
) -> Result<OldTestsOutcome, Trouble> {
    let reader = job.site.reader()?;
    let announced = PlannedTests::read(job, &reader)?.announced(task);
    let words = current_request(&job.site, &reader)?;
    let mut outcome = OldTestsOutcome::default();
    let Some(old) = OldTests::new(job, lane, tested, measured, (announced, words))? else {
        return Ok(outcome);
    };
    let results = old.results(&reader)?;
    refuse_incomplete(job, &results)?;
    for (path, why) in &old.accepted {
        outcome.releases.push(format!("`{path}` counts in its new version, because {why}"));
    }
    for result in results {
        outcome.add(&old, result)?;
    }
    Ok(outcome)
}

struct OldTests<'o> {
    job: &'o Job,
    lane: &'o LaneContent,
    tested: &'o TestedChange,
    measured: &'o Measurement,
    announced: Announced,
    words: String,
    /// The change, with the old tests adapted to what the request names.
    change: SidedChange,
    names: GoneNames,
    /// Files whose new version counts, each with the reason.
    accepted: Vec<(String, String)>,
    composed: ExchangedTree,
    /// The checks with the tests that must pass.
    checks: Vec<(CheckSpec, BTreeSet<String>)>,
}

impl<'o> OldTests<'o> {
    /// `None` if the change does not touch the side of the tests, or if no test must pass.
    fn new(
        job: &'o Job,
        lane: &'o LaneContent,
        tested: &'o TestedChange,
        measured: &'o Measurement,
        (announced, words): (Announced, String),
    ) -> Result<Option<OldTests<'o>>, Trouble> {
        let names = GoneNames::find(&tested.change.sides, &words);
        let accepted = accepted_files(&tested.change.sides, &announced, &words);
        let sides = tested.change.sides.clone().accepting(accepted.iter().map(|(path, _)| path.clone()));
        let sides = sides.adapted(|language, text| names.renamed_in(language, text));
        let change = SidedChange { sides, ..tested.change.clone() };
        if change.sides.adds_only_isolated_tests(&tested.specs) {
            return Ok(None);
        }
        let Some(composed) = change.with_tests_of(job, Half::Base)? else { return Ok(None) };
        let checks: Vec<(CheckSpec, BTreeSet<String>)> = tested
            .specs
            .iter()
            .map(|spec| (spec.clone(), expected(&spec.name, &measured.at_start, &measured.must_pass)))
            .filter(|(_, expected)| !expected.is_empty())
            .collect();
        let old = OldTests {
            job,
            lane,
            tested,
            measured,
            announced,
            words,
            change,
            names,
            accepted,
            composed,
            checks,
        };
        Ok((!old.checks.is_empty()).then_some(old))
    }

    /// One result for each check.
    fn results(&self, reader: &Reader) -> Result<Vec<CheckResult>, Trouble> {
        let tree = format!("{} with the tests of {}", self.composed.tree, self.tested.base);
        let mut known = BTreeMap::new();
        let mut missing: Vec<CheckSpec> = Vec::new();
        for (spec, _) in &self.checks {
            let result = match self.known_by_tree(&spec.name) {
                Some(result) => Some(result),
                None => {
                    self.known(reader, self.tested.with_conditions(self.job, &tree, |all| all.key(spec)))?
                }
            };
            match result {
                Some(result) => {
                    known.insert(spec.name.clone(), result);
                }
                None => missing.push(spec.clone()),
            }
        }
        if !missing.is_empty() {
            let ran = self.run(&missing, &tree)?;
            known.extend(ran.into_iter().map(|result| (result.name.clone(), result)));
        }
        Ok(self.checks.iter().filter_map(|(spec, _)| known.remove(&spec.name)).collect())
    }

    /// The result of a check on the same content, if it is the base or the changed code. The row of the old tests has another
    /// name, so it must not be found under the key of that result.
    fn known_by_tree(&self, check: &str) -> Option<CheckResult> {
        let of_check = |results: &[CheckResult]| {
            let result = results.iter().find(|result| result.name == check && result.counts())?;
            Some(CheckResult { reuse: None, ..result.clone() })
        };
        if self.composed.tree == self.tested.base {
            of_check(&self.measured.at_start)
        } else if self.composed.tree == self.lane.tree {
            of_check(&self.measured.results)
        } else {
            None
        }
    }

    /// The result that the ledger has for a key, with its output.
    fn known(&self, reader: &Reader, key: BlobId) -> Result<Option<CheckResult>, Trouble> {
        if self.job.site.pinned.cache == Cache::Off {
            return Ok(None);
        }
        let Some(row) = reader.result(key)? else { return Ok(None) };
        let Some(check) = row.name.strip_prefix(OLD_TESTS) else { return Ok(None) };
        let mut result = read_back(reader, &row, ReadBack::TestsAndFailures)?;
        if let Some(output) = row.output {
            result.output = reader.blob(output)?;
        }
        result.end = if row.exit_code == Some(0) { CheckEnd::Passed } else { CheckEnd::Failed };
        result.listing = remand_checks::TestListing::All;
        result.name = check.to_string();
        Ok(Some(result))
    }

    /// Runs checks with the old tests, in a tree that nothing else builds in. Tests that do not build are taken out, so that
    /// the others run.
    fn run(&self, specs: &[CheckSpec], tree: &str) -> Result<Vec<CheckResult>, Trouble> {
        let site = &self.job.site;
        let folders: BTreeSet<String> = specs.iter().map(|spec| spec.folder.clone()).collect();
        let no_results: BTreeMap<BlobId, CheckResult> = BTreeMap::new();
        let known: &dyn KnownResults = &no_results;
        let plan = self.tested.with_conditions(self.job, tree, |conditions| {
            let (left_out, suspects) = (LeftOut::new(), BTreeSet::new());
            let before = &self.measured.at_start;
            let request = CheckRequest {
                specs,
                selection: Selection::All,
                left_out: &left_out,
                before,
                suspects: &suspects,
            };
            CheckPlan::new(request, conditions, known)
        });
        site.settings().activity.report(&site.run, self.job.id, "the tests as they were".to_string());
        let mut mended = Mended::new(&self.change.sides);
        let mut content = self.lane.holding(&self.composed.tree);
        let purpose: String =
            self.composed.tree.to_string().chars().take(SHORT_ID_DIGITS).collect::<String>();
        let (mut mends, mut spent) = (0, Duration::ZERO);
        let results = loop {
            let apart = content.apart(&format!("the tests as they were, {purpose}"));
            let results = self.tested.run(self.job, &apart, &plan)?;
            if self.job.cancel.is_cancelled() || mends == MAX_MENDS || !self.lacks_tests(&results) {
                break results;
            }
            let outputs: String =
                results.iter().map(|result| String::from_utf8_lossy(&result.output).into_owned()).collect();
            let Some(files) = mend(&mut mended, &outputs, &folders, &self.names) else { break results };
            let files: FileContents =
                files.into_iter().map(|(path, text)| (path, text.map(String::into_bytes))).collect();
            content = content.holding(&self.job.trees.with_files(&content.tree, &files)?);
            spent += results.iter().map(|result| result.duration).sum::<Duration>();
            mends += 1;
        };
        self.lane.apart(&format!("the tests as they were, {purpose}")).give_back(self.job)?;
        let section = mended.section();
        let with_section = |mut result: CheckResult| {
            result.duration += std::mem::take(&mut spent);
            result.output.extend_from_slice(section.as_bytes());
            result
        };
        Ok(results.into_iter().map(with_section).collect())
    }

    /// Whether a check fails and does not list tests that must pass.
    fn lacks_tests(&self, results: &[CheckResult]) -> bool {
        results.iter().any(|result| {
            let lists = |name: &String| result.tests.iter().any(|test| test.name == *name);
            let expected = self.checks.iter().find(|(spec, _)| spec.name == result.name);
            !result.passed() && expected.is_some_and(|(_, tests)| !tests.iter().all(lists))
        })
    }

    fn broken(&self, result: &CheckResult) -> Vec<BrokenTest> {
        let Some((spec, expected)) = self.checks.iter().find(|(spec, _)| spec.name == result.name) else {
            return Vec::new();
        };
        let head = self.measured.results.iter().find(|head| head.name == result.name);
        let mut found = head.map(|head| broken(expected, spec.parser, result, head)).unwrap_or_default();
        for test in found.iter_mut().filter(|test| test.how == BrokenHow::Missing) {
            let names_it = |(_, name): &&(String, String)| remand_checks::ends_with_name(&test.name, name);
            if self.composed.unplaced.iter().any(|unplaced| names_it(&unplaced)) {
                test.how = BrokenHow::Unbuilt;
                test.message = "the code around it is gone".to_string();
            }
        }
        found
    }
}

/// What is reported about the old tests.
#[derive(Default)]
pub struct OldTestsOutcome {
    rows: Vec<CheckResult>,
    findings: Vec<Finding>,
    releases: Vec<String>,
}

impl OldTestsOutcome {
    /// Adds a row for each check, findings for tests that do not pass, and warnings for those that are released.
    pub fn report(self, job: &Job, measured: &mut Measurement, done: &mut Done) {
        for text in &self.releases {
            done.note(NoteKind::Warning, job.site.redact(text));
        }
        measured.add_results(job, &self.rows, self.findings);
    }

    fn add(&mut self, old: &OldTests<'_>, result: CheckResult) -> Result<(), Trouble> {
        let Some((spec, expected)) = old.checks.iter().find(|(spec, _)| spec.name == result.name) else {
            return Ok(());
        };
        let broken = old.broken(&result);
        let code = if broken.is_empty() { Vec::new() } else { old.change.code(old.job)? };
        let head = old.measured.results.iter().find(|head| head.name == result.name).unwrap_or(&result);
        let release = Release {
            announced: &old.announced,
            words: &old.words,
            names: &old.names,
            sides: &old.tested.change.sides,
            code: &code,
            parser: spec.parser,
            head,
            now: &result,
        };
        let judged: Vec<(BrokenTest, Option<String>)> = broken
            .into_iter()
            .map(|test| {
                let why = release.why(&test);
                (test, why)
            })
            .collect();
        let released: Vec<String> = judged
            .iter()
            .filter_map(|(test, why)| {
                Some(format!("{}; this is released, because {}", test.clause(), why.as_ref()?))
            })
            .collect();
        let failed: Vec<&BrokenTest> =
            judged.iter().filter(|(_, why)| why.is_none()).map(|(test, _)| test).collect();
        let row = row(&result, expected.len(), &failed, &released);
        let files: Vec<String> = failed.iter().take(MAX_FINDINGS).map(|test| release.file_of(test)).collect();
        self.findings.extend(findings(&result, &failed, files));
        self.rows.push(row);
        self.releases.extend(released);
        Ok(())
    }
}

/// The row of a check. It counts at the gate only if a test fails without a release.
fn row(result: &CheckResult, expected: usize, failed: &[&BrokenTest], released: &[String]) -> CheckResult {
    let broken = failed.len() + released.len();
    let passing = expected.saturating_sub(broken);
    let mut reason = format!("{passing} of {expected} tests pass as they were on the new code");
    let names: Vec<String> = failed.iter().map(|test| format!("`{}`", test.name)).collect();
    for (what, all) in [("", released), ("not released: ", &names)] {
        for one in all.iter().take(MAX_NAMED) {
            reason.push_str(&format!("; {what}{one}"));
        }
        let more = all.len().saturating_sub(MAX_NAMED);
        if more > 0 {
            reason.push_str(&format!("; and {more} more"));
        }
    }
    let (tier, end) =
        if failed.is_empty() { (None, CheckEnd::Passed) } else { (Some(Tier::Two), CheckEnd::Failed) };
    CheckResult {
        tier,
        end,
        exit_code: result.exit_code,
        output: result.output.clone(),
        snippet: if broken == 0 { String::new() } else { result.snippet.clone() },
        collected: Some(u32::try_from(expected).unwrap_or(u32::MAX)),
        duration: result.duration,
        tests: result.tests.clone(),
        reuse: result.reuse.clone(),
        stored: result.stored,
        ..CheckResult::of_engine(&format!("{OLD_TESTS}{}", result.name), tier, end, reason)
    }
}

fn findings(result: &CheckResult, failed: &[&BrokenTest], files: Vec<String>) -> Vec<Finding> {
    let more = failed.len().saturating_sub(MAX_FINDINGS);
    let finding = |(test, file): (&&BrokenTest, String)| {
        let id = format!("old-test:{}:{}", result.name, test.name);
        let mut found = finding(id, None, test.clause(), result.snippet.clone());
        found.severity = Severity::Critical;
        found.category = Category::Correctness;
        found.kind = Some(FindingKind::Production);
        found.place.file = file;
        found.place.symbol.clone_from(&test.name);
        found.impact = "what the test guaranteed before the change no longer holds".to_string();
        found.recommendation = "make the new code pass the test as it was; if it shall expect something else, the request must name the \
                                new value, or the plan must list the test in `removes_tests` of the task (`--release TEST` for a given change)"
            .to_string();
        found
    };
    let mut findings: Vec<Finding> = failed.iter().zip(files).map(finding).collect();
    if more > 0
        && let Some(last) = findings.last_mut()
    {
        last.impact = format!("{more} more tests do not pass as they were");
    }
    findings
}
