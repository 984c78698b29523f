//! Runs the pinned checks on the content of a lane, and turns the results into evidence and findings.

use super::checking::{CheckedContent, Checking, refuse_incomplete};
use super::integrity::{self, PlannedTests};
use super::red_results::{RedNotes, RedRulings};
use super::task_baseline::{TaskBaseline, TaskScope};
use super::{Done, claims, finding, names, tiers};
use crate::config::NewNames;
use crate::pinned::Guards;
use crate::red_tests::baseline_results;
use crate::site::{Job, LaneContent, Trouble};
use remand_checks::{
    CheckEnd, CheckFacts, CheckResult, EarlierPass, FileScope, HadTests, Integrity, LeftOut, Occasion,
    Selection, TaskChange, TestListing,
};
use remand_git::WorkTree;
use remand_kernel::change::{TestEnd, TestResult};
use remand_kernel::evidence::{EvidenceRow, RowPhase, Tier};
use remand_kernel::finding::{Category, Finding, Severity};
use remand_ledger::fact::{Note, NoteKind};
use remand_ledger::query::{CheckFilter, CheckRow};
use remand_ledger::{BlobId, Reader};
use std::collections::BTreeSet;
use std::path::Path;

/// The row that fails a gate because of individual tests.
const REGRESSIONS: &str = "regressions";

/// Evidence and findings of one run of the checks.
pub struct Measurement {
    pub results: Vec<CheckResult>,
    /// The results as the ledger stores them.
    pub facts: CheckFacts,
    /// The rows for the gate, from the baseline and from these results.
    pub rows: Vec<EvidenceRow>,
    /// Findings about everything that is worse than before, and about doubtful passes.
    pub findings: Vec<Finding>,
    /// Notes for reviewers.
    notes: Vec<String>,
    /// About the tests that failed before the change.
    pub red: RedNotes,
    /// Claims about the baseline that are wrong.
    discrepancies: Vec<String>,
    /// The results before the change, from the run's baseline and from the task's.
    pub before: Vec<CheckResult>,
    /// The results on the tree that the lane started from.
    pub at_start: Vec<CheckResult>,
    /// The tests that failed before the change and must pass.
    pub must_pass: BTreeSet<String>,
    /// The files that differ from the base.
    changed: Vec<String>,
    /// The tree of the task's baseline rows, if any were measured.
    baseline_tree: Option<String>,
    occasion: Occasion,
}

/// Checks the content of a lane. Known results that are valid for it are reused.
pub fn measure(
    job: &Job,
    content: &LaneContent,
    selection: Selection,
    task: Option<&str>,
    phase: RowPhase,
) -> Result<Measurement, Trouble> {
    let reader = job.site.reader()?;
    let base = job.trees.base_tree()?;
    let changed: Vec<String> = job
        .site
        .repository()
        .changed(&base, &content.tree)?
        .iter()
        .map(|change| change.path.display().to_string())
        .collect();
    let mut earlier = reader.checks(&job.site.run, CheckFilter::default())?;
    let iteration = match phase {
        RowPhase::Baseline => 0,
        RowPhase::After | RowPhase::Review => {
            let of_task = earlier.iter().filter(|row| row.phase == phase && row.task.as_deref() == task);
            of_task.map(|row| row.iteration).max().unwrap_or(0) + 1
        }
    };
    let occasion =
        Occasion { task: task.map(str::to_string), phase, round: u32::from(job.id.visit), iteration };
    let suspects = last_failed_checks(&earlier, task);
    let left_out = match task {
        Some(_) => {
            let change = TaskChange { by_task: &lane_changes(job, content)?, since_detection: &changed };
            remand_checks::left_out(&job.site.pinned.checks, change)
        }
        None => LeftOut::new(),
    };
    let (mut before, mut at_start) = (Vec::new(), Vec::new());
    let mut start = TaskBaseline::default();
    if phase != RowPhase::Baseline {
        let scope = TaskScope { task, selection, left_out: &left_out };
        start = TaskBaseline::measure(job, content, &reader, &earlier, &base, scope)?;
        // Baselines of other tasks do not concern this task.
        earlier.retain(|row| row.phase != RowPhase::Baseline || start.includes(row));
        before = baseline_results(&reader, &earlier)?;
        before.extend(start.results.iter().cloned());
        let of_task: Vec<CheckRow> = earlier.iter().filter(|row| row.task.is_some()).cloned().collect();
        at_start = baseline_results(&reader, &of_task)?;
        at_start.extend(start.results.iter().cloned());
        let has_own = |check: &str| at_start.iter().any(|result| result.name == check);
        let of_run: Vec<CheckResult> =
            before.iter().filter(|result| !has_own(&result.name)).cloned().collect();
        at_start.extend(of_run);
    }
    let files = if phase == RowPhase::Baseline { FileScope::Whole } else { FileScope::Changed(&changed) };
    let checking = Checking {
        job,
        reader: &reader,
        content,
        selection,
        files,
        left_out: &left_out,
        base: &base,
        before: &before,
        suspects: &suspects,
    };
    let CheckedContent { mut results, tree } = checking.run(&job.site.pinned.checks)?;
    if selection == Selection::All && phase != RowPhase::Baseline && !job.cancel.is_cancelled() {
        let more = tiers::tier_three(&checking, task, &results)?;
        results.extend(more);
    }
    refuse_incomplete(job, &results)?;
    let findings = question_passes(&reader, &mut results)?;
    let red = match phase {
        RowPhase::Baseline => RedRulings::default(),
        RowPhase::After | RowPhase::Review => {
            RedRulings::apply(job, &reader, content, task, &before, &mut results)?
        }
    };
    let mut rows: Vec<EvidenceRow> = earlier
        .iter()
        .filter(|row| row.phase == RowPhase::Baseline && phase != RowPhase::Baseline)
        .map(CheckRow::evidence)
        .collect();
    let start_occasion = Occasion { phase: RowPhase::Baseline, iteration: 0, ..occasion.clone() };
    rows.extend(start_occasion.rows(&start.results));
    rows.extend(occasion.rows(&results));
    let mut facts = occasion.facts(&results);
    facts.extend(start_occasion.facts(&start.results));
    redact(job, &mut facts);
    let mut measured = Measurement {
        results,
        facts,
        rows,
        findings,
        notes: Vec::new(),
        red: RedNotes::default(),
        discrepancies: Vec::new(),
        before: Vec::new(),
        at_start,
        must_pass: red.must_pass(),
        changed,
        baseline_tree: start.tree.filter(|_| !start.results.is_empty()),
        occasion,
    };
    if phase != RowPhase::Baseline {
        let tree = match tree {
            // The file and line of a failure are looked up in a tree.
            None if measured.results.iter().any(|result| !result.passed()) => Some(content.check_out(job)?),
            tree => tree,
        };
        let tree = tree.as_ref().map_or(Path::new(""), WorkTree::path);
        measured.findings.extend(red.findings(&measured.results, tree));
        measured.red = red.notes(&measured.results);
        measured.compare(job, &reader, content, &before, tree)?;
        measured.add_discrepancies(claims::discrepancies(job, &reader, task, &earlier, iteration)?);
    }
    measured.before = before;
    Ok(measured)
}

impl Measurement {
    /// The verification iteration, from 1.
    pub fn iteration(&self) -> u32 {
        self.occasion.iteration
    }

    /// Whether a check passed, does not count, or also failed at the baseline.
    pub fn is_no_worse(&self, result: &CheckResult) -> bool {
        let failed_before =
            |row: &EvidenceRow| row.phase == RowPhase::Baseline && row.check == result.name && !row.passed;
        result.passed() || !result.counts() || self.rows.iter().any(failed_before)
    }

    /// If a finding is critical, adds a row that fails the gate. Without this row, the gate would overlook a test that
    /// passed before and is now gone or skipped, because such a test does not fail its check.
    pub fn count_regressions(&mut self) {
        let critical: Vec<&str> = self
            .findings
            .iter()
            .filter(|finding| finding.severity >= Severity::Critical)
            .map(|finding| finding.claim.as_str())
            .collect();
        if critical.is_empty() {
            return;
        }
        let reason = critical.join("; ");
        let result = CheckResult::of_engine(REGRESSIONS, Some(Tier::Two), CheckEnd::Failed, reason);
        self.add(&[result]);
    }

    /// Adds results and their findings.
    pub fn add_results(&mut self, job: &Job, results: &[CheckResult], findings: Vec<Finding>) {
        self.add(results);
        redact(job, &mut self.facts);
        self.findings.extend(findings);
    }

    /// Puts the evidence into the result of an operation, without findings.
    pub fn report_rows(self, done: &mut Done) {
        done.report.tests = self.results.iter().flat_map(|result| result.tests.iter().cloned()).collect();
        done.facts.checks = self.facts.checks;
        done.facts.baseline_tree = self.baseline_tree;
        done.blobs.extend(self.facts.blobs);
    }

    /// Puts evidence and findings into the result of an operation.
    pub fn report(mut self, job: &Job, task: Option<&str>, done: &mut Done) {
        let subject = task.unwrap_or("the merged tree");
        for mut found in std::mem::take(&mut self.findings) {
            found.task = task.map(str::to_string);
            if found.severity >= Severity::Critical && found.category == Category::Correctness {
                let text = job.site.redact(&format!("{subject}: {}", found.claim));
                done.facts
                    .notes
                    .push(Note { files: self.changed.clone(), ..Note::new(NoteKind::Regression, text) });
            }
            done.report.findings.push(found);
        }
        for note in &self.notes {
            done.note(NoteKind::Warning, job.site.redact(&format!("{subject}: {note}")));
        }
        for claim in &self.discrepancies {
            done.note(NoteKind::Degradation, job.site.redact(&format!("{subject}: {claim}")));
        }
        self.report_rows(done);
    }

    /// Compares the results with earlier trees, and the change with the plan.
    fn compare(
        &mut self,
        job: &Job,
        reader: &Reader,
        content: &LaneContent,
        before: &[CheckResult],
        tree: &Path,
    ) -> Result<(), Trouble> {
        let plan = PlannedTests::read(job, reader)?;
        let announced = plan.announced(self.occasion.task.as_deref());
        let integrity = if job.site.pinned.guards.has(Guards::Syntax) {
            integrity::judge(job, content, &announced, had_tests(&self.rows), before)?
        } else {
            Integrity::default()
        };
        let all = plan.announced(None);
        let is_excused = |test: &str, result: &CheckResult| {
            all.has_reported_test(test) || is_accounted_for(test, result, &integrity)
        };
        self.findings.extend(remand_checks::compare_except(before, &self.results, tree, &is_excused));
        self.findings.extend(integrity.findings);
        self.judge_names(names::misleading(job, content)?, job.site.settings().names);
        self.notes.extend(integrity.notes);
        Ok(())
    }

    /// Adds misleading names as findings or, if they are permitted, as notes for reviewers.
    fn judge_names(&mut self, misleading: Vec<Finding>, names: NewNames) {
        match names {
            NewNames::Plain => self.findings.extend(misleading),
            NewNames::Any => self.notes.extend(misleading.into_iter().map(|finding| finding.claim)),
        }
    }

    /// Adds failed rows for claims about the baseline that the engine's rows contradict. Reviewers see them.
    fn add_discrepancies(&mut self, rows: Vec<EvidenceRow>) {
        for row in rows {
            self.discrepancies.push(row.reason.clone());
            self.add(&[CheckResult::from(row)]);
        }
    }

    fn add(&mut self, results: &[CheckResult]) {
        self.rows.extend(self.occasion.rows(results));
        self.facts.extend(self.occasion.facts(results));
    }
}

/// The checks that failed in their last run for a task, or for the whole run.
fn last_failed_checks(rows: &[CheckRow], task: Option<&str>) -> BTreeSet<String> {
    let mut failed = BTreeSet::new();
    let has_run = |row: &&CheckRow| row.exit_code.is_some() || row.duration_ms > 0;
    let of_task = |row: &&CheckRow| row.phase == RowPhase::After && row.task.as_deref() == task;
    for row in rows.iter().filter(of_task).filter(has_run) {
        if row.passed {
            failed.remove(&row.name);
        } else {
            failed.insert(row.name.clone());
        }
    }
    failed
}

/// Reports passes that look too easy, and adds the reason to their results.
fn question_passes(reader: &Reader, results: &mut [CheckResult]) -> Result<Vec<Finding>, Trouble> {
    let mut findings = Vec::new();
    // A check of changed files covers a different number of files each time.
    let is_comparable = |result: &&mut CheckResult| {
        result.passed() && !result.is_reused() && result.listing != TestListing::ChangedFiles
    };
    for result in results.iter_mut().filter(is_comparable) {
        let passes = reader.passes(&result.name, result.command.as_deref(), EarlierPass::COMPARED)?;
        let passes: Vec<EarlierPass> = passes
            .iter()
            .map(|row| EarlierPass { duration_ms: row.duration_ms, collected: row.collected })
            .collect();
        let Some(why) = remand_checks::doubt(result, &passes) else { continue };
        let mut doubt = finding(format!("doubt:{}", result.name), None, why.clone(), result.snippet.clone());
        doubt.severity = Severity::Minor;
        doubt.recommendation = "make sure that the check still runs everything it should".to_string();
        findings.push(doubt);
        result.add_reason(&why);
    }
    Ok(findings)
}

fn had_tests(rows: &[EvidenceRow]) -> HadTests {
    let may_test = |row: &&EvidenceRow| row.phase == RowPhase::Baseline && row.tier > Some(Tier::One);
    let has_tests = rows.iter().filter(may_test).any(|row| row.collected.is_some_and(|count| count > 0));
    if has_tests { HadTests::Yes } else { HadTests::No }
}

/// Whether a missing test now passes under another name, is released by the file that it is in, or already has a finding.
fn is_accounted_for(test: &str, result: &CheckResult, integrity: &Integrity) -> bool {
    let passes = |name: &str| {
        let has_name =
            |now: &&TestResult| now.name != test && remand_checks::ends_with_title(&now.name, name);
        result.tests.iter().filter(has_name).any(|now| now.end == TestEnd::Passed)
    };
    let renamed = |(old, new): &(String, String)| remand_checks::ends_with_name(test, old) && passes(new);
    integrity.renamed.iter().any(renamed)
        || integrity.removed.iter().any(|name| remand_checks::ends_with_name(test, name))
        || integrity.released.iter().any(|name| remand_checks::ends_with_name(test, name))
        || integrity.findings.iter().any(|finding| remand_checks::ends_with_name(test, &finding.place.symbol))
}

/// The files that the lane changed. A task runs only the checks that they can affect; the merged tree needs all checks.
pub fn lane_changes(job: &Job, content: &LaneContent) -> Result<Vec<String>, Trouble> {
    let base = job.site.repository().tree_of(&content.base)?;
    let changed = job.site.repository().changed(&base, &content.tree)?;
    Ok(changed.iter().map(|change| change.path.display().to_string()).collect())
}

/// Removes secrets before anything is stored.
fn redact(job: &Job, facts: &mut CheckFacts) {
    let renamed: Vec<(BlobId, BlobId)> = facts
        .blobs
        .iter_mut()
        .filter_map(|blob| {
            let old = blob.id;
            *blob = job.site.blob_of_bytes(&blob.bytes);
            (old != blob.id).then_some((old, blob.id))
        })
        .collect();
    let update_id = |id: &mut Option<BlobId>| {
        if let Some((_, new)) = renamed.iter().find(|(old, _)| Some(*old) == *id) {
            *id = Some(*new);
        }
    };
    for check in &mut facts.checks {
        check.snippet = job.site.redact(&check.snippet);
        update_id(&mut check.output);
        update_id(&mut check.tests);
    }
}
