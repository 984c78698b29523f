//! `quick-checks`, `checks`, `integrate`: the engine runs the checks itself and rules by its own rows (EP-16, EP-18).

use super::begun::Begun;
use super::checking::{Checked, Checking};
use super::integrity::{self, Plan};
use super::test_first::{broken_signatures, not_run};
use super::{Done, claims, finding, tiers};
use crate::checks::{
    self, Before, Change, CheckOutcome, Files, HadTests, Integrity, LeftOut, Listed, Occasion, Past,
    Recorded, Which,
};
use crate::dispatch::content;
use crate::git::WorkTree;
use crate::workshop::{Job, LaneContent, Trouble};
use remand_kernel::change::{TestEnd, TestResult};
use remand_kernel::evidence::{self, Row, RowPhase, Ruled, Size, Source, Tier};
use remand_kernel::finding::{Category, Finding, Severity};
use remand_ledger::fact::{Check, Note, NoteKind};
use remand_ledger::query::{CheckFilter, CheckRow};
use remand_ledger::{Blob, Reader};
use std::collections::BTreeSet;
use std::path::Path;

/// The checks that answer within seconds, on a task's own tree. They are no gate: a pass proves nothing yet.
pub fn quick(job: &Job, task: Option<&str>) -> Result<Done, Trouble> {
    let lane = LaneContent::of(job)?;
    let mut ran = run_checks(job, &lane, Which::Quick, task, RowPhase::After)?;
    ran.count_regressions();
    let passed = ran.outcomes.iter().all(|outcome| ran.is_no_worse(outcome))
        && !ran.findings.iter().any(|finding| finding.severity >= Severity::Critical);
    let mut done = Done::saying(if passed { "passed" } else { "failed" });
    ran.tell(job, task, &mut done);
    Ok(done)
}

/// The whole cascade on a task's own tree, or on the run's where there are no tasks.
pub fn cascade(job: &Job, task: Option<&str>) -> Result<Done, Trouble> {
    let size = match task {
        Some(task) => task_size(job, task)?,
        None => Size::Standard,
    };
    gate(job, task, task, size)
}

/// The whole cascade on the merged tree. What fails there is laid to the task that was merged last.
pub fn integrate(job: &Job) -> Result<Done, Trouble> {
    let merged = job.site.reader()?.operations(&job.site.run)?;
    let last = merged
        .iter()
        .rev()
        .find(|row| row.result.as_deref() == Some("merged"))
        .and_then(|row| row.task.clone());
    gate(job, None, last.as_deref(), Size::Standard)
}

fn gate(job: &Job, task: Option<&str>, blamed: Option<&str>, size: Size) -> Result<Done, Trouble> {
    let lane = LaneContent::of(job)?;
    let mut ran = run_checks(job, &lane, Which::All, task, RowPhase::After)?;
    ran.findings.extend(broken_signatures(job, &lane.tree)?);
    ran.findings.extend(not_run(job, &ran.outcomes)?);
    ran.count_regressions();
    let (readiness, leaks) = tiers::fourth(job, &lane, blamed, size)?;
    ran.add(job, &readiness, leaks);
    let ruled = evidence::rule(&ran.rows, size);
    let mut done = match &ruled {
        Ruled::Passed => Done::saying("passed"),
        Ruled::Failed(_) => Done::saying("failed"),
    };
    done.report.rows.clone_from(&ran.rows);
    done.report.size = Some(size);
    let excused = if ruled == Ruled::Passed { evidence::excused(&ran.rows) } else { BTreeSet::new() };
    for check in excused {
        let text = format!("`{check}` fails as it did before any change, so it shows nothing of this one");
        done.note(NoteKind::Degradation, text);
    }
    ran.tell(job, blamed, &mut done);
    if let (Ruled::Failed(reasons), true) = (&ruled, done.report.findings.is_empty()) {
        let of = blamed.unwrap_or(&job.site.opened.slug);
        done.report.findings = reasons
            .iter()
            .enumerate()
            .map(|(at, reason)| {
                finding(format!("gate-{of}-{}", at + 1), blamed, reason.clone(), String::new())
            })
            .collect();
    }
    Ok(done)
}

/// What a run of checks gave.
pub struct Ran {
    pub outcomes: Vec<CheckOutcome>,
    pub checks: Vec<Check>,
    pub blobs: Vec<Blob>,
    /// For the gate: the baseline's and these.
    pub rows: Vec<Row>,
    /// What is worse than before, check by check and test by test.
    findings: Vec<Finding>,
    /// For reviewers.
    notes: Vec<String>,
    /// Claims about the baseline that are not so.
    discrepancies: Vec<String>,
    /// The files that differ from the base.
    changed: Vec<String>,
    occasion: Occasion,
}

impl Ran {
    /// Whether a check passed, says nothing, or failed at the baseline too (EP-18).
    pub(super) fn is_no_worse(&self, outcome: &CheckOutcome) -> bool {
        let failed_before =
            |row: &Row| row.phase == RowPhase::Baseline && row.check == outcome.name && !row.passed;
        outcome.passed() || !outcome.counts() || self.rows.iter().any(failed_before)
    }

    /// Holds the outcomes against earlier trees, and the change against the plan.
    fn judge(
        &mut self,
        job: &Job,
        reader: &Reader,
        content: &LaneContent,
        before: &[Before],
        tree: &Path,
    ) -> Result<(), Trouble> {
        let plan = Plan::read(job, reader)?;
        let announced = plan.announced(self.occasion.task.as_deref());
        let integrity = integrity::judge(job, content, &announced, had_tests(&self.rows), before)?;
        let all = plan.announced(None);
        let is_excused =
            |test: &str, outcome: &CheckOutcome| all.has_run(test) || is_told(test, outcome, &integrity);
        self.findings.extend(checks::compare_but(before, &self.outcomes, tree, &is_excused));
        self.findings.extend(integrity.findings);
        self.notes.extend(integrity.notes);
        Ok(())
    }

    /// A claim about the baseline that the engine's own contradicts never passes, and is shown to the reviewers.
    fn take_claims(&mut self, claimed: Vec<Row>) {
        for row in claimed {
            self.checks.push(self.row_of_engine(&row));
            self.discrepancies.push(row.reason.clone());
            self.rows.push(row);
        }
    }

    fn row_of_engine(&self, row: &Row) -> Check {
        Check {
            task: self.occasion.task.clone(),
            phase: row.phase,
            name: row.check.clone(),
            tool: "remand".to_string(),
            command: None,
            exit_code: None,
            snippet: row.reason.chars().take(500).collect(),
            output: None,
            passed: row.passed,
            verdict: None,
            severity: None,
            round: self.occasion.round,
            tier: row.tier,
            iteration: row.iteration,
            collected: None,
            duration_ms: 0,
            reason: row.reason.clone(),
            tests: None,
            reuse: None,
        }
    }

    /// A test that passed before and is gone or skipped now fails the gate, although its check ends well.
    pub(super) fn count_regressions(&mut self) {
        let worse: Vec<&str> = self
            .findings
            .iter()
            .filter(|finding| finding.severity >= Severity::Critical)
            .map(|finding| finding.claim.as_str())
            .collect();
        if worse.is_empty() {
            return;
        }
        let reason = worse.join("; ");
        let row = Row {
            check: "regressions".to_string(),
            phase: self.occasion.phase,
            tier: Some(Tier::Two),
            passed: false,
            exit_code: None,
            iteration: self.occasion.iteration,
            superseded: false,
            collected: None,
            duration_ms: 0,
            reason,
            source: Source::Engine,
        };
        self.checks.push(self.row_of_engine(&row));
        self.rows.push(row);
    }

    /// Puts the evidence into a result, and leaves it to others what it means.
    pub(super) fn tell_rows(self, done: &mut Done) {
        done.report.tests = self.outcomes.iter().flat_map(|outcome| outcome.tests.iter().cloned()).collect();
        done.facts.checks = self.checks;
        done.blobs.extend(self.blobs);
    }

    /// Takes more rows in, with findings of their own.
    fn add(&mut self, job: &Job, outcomes: &[CheckOutcome], findings: Vec<Finding>) {
        let mut recorded = checks::checks(outcomes, &self.occasion);
        redact(job, &mut recorded.checks, &mut recorded.blobs);
        self.checks.extend(recorded.checks);
        self.blobs.extend(recorded.blobs);
        self.rows.extend(checks::rows(outcomes, self.occasion.phase, self.occasion.iteration));
        self.findings.extend(findings);
    }

    /// Puts evidence and findings into a result.
    fn tell(self, job: &Job, task: Option<&str>, done: &mut Done) {
        done.report.tests = self.outcomes.iter().flat_map(|outcome| outcome.tests.iter().cloned()).collect();
        for mut found in self.findings {
            found.task = task.map(str::to_string);
            if found.severity >= Severity::Critical && found.category == Category::Correctness {
                let text = format!("{}: {}", task.unwrap_or("the merged tree"), found.claim);
                done.facts.notes.push(Note {
                    kind: NoteKind::Regression,
                    text: job.site.redact(&text),
                    files: self.changed.clone(),
                    blob: None,
                });
            }
            done.report.findings.push(found);
        }
        for note in self.notes {
            let text = format!("{}: {note}", task.unwrap_or("the merged tree"));
            done.note(NoteKind::Warning, job.site.redact(&text));
        }
        for claim in self.discrepancies {
            let text = format!("{}: {claim}", task.unwrap_or("the merged tree"));
            done.note(NoteKind::Degradation, job.site.redact(&text));
        }
        done.facts.checks = self.checks;
        done.blobs.extend(self.blobs);
    }
}

/// Runs the pinned checks on some content, or takes over what holds for it already, and makes evidence of it.
pub fn run_checks(
    job: &Job,
    content: &LaneContent,
    which: Which,
    task: Option<&str>,
    phase: RowPhase,
) -> Result<Ran, Trouble> {
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
    let failed = last_failed(&earlier, task);
    let left_out = match task {
        Some(_) => {
            let change = Change { own: &own_changes(job, content)?, all: &changed };
            checks::left_out(&job.site.pinned.checks, change)
        }
        None => LeftOut::new(),
    };
    let mut before = Vec::new();
    let mut begun = Begun::default();
    if phase != RowPhase::Baseline {
        begun = Begun::on(job, content, &reader, &earlier, (&base, task, which, &left_out))?;
        // What other tasks began on is their matter.
        earlier.retain(|row| row.phase != RowPhase::Baseline || begun.counts(row));
        before = befores(&reader, &earlier)?;
        before.extend(begun.outcomes.iter().filter_map(Before::of));
    }
    let files = if phase == RowPhase::Baseline { Files::Whole } else { Files::Changed(&changed) };
    let checking = Checking {
        job,
        reader: &reader,
        content,
        which,
        files,
        left_out: &left_out,
        base: &base,
        before: &before,
        failed: &failed,
    };
    let Checked { mut outcomes, tree } = checking.outcomes(&job.site.pinned.checks)?;
    if which == Which::All && phase != RowPhase::Baseline && !job.cancel.is_cancelled() {
        let more = tiers::third(&checking, task, &outcomes)?;
        outcomes.extend(more);
    }
    refuse_unfit(job, &outcomes)?;
    let doubts = doubted(&reader, &mut outcomes)?;
    let occasion =
        Occasion { task: task.map(str::to_string), phase, round: u32::from(job.id.visit), iteration };
    let mut recorded = checks::checks(&outcomes, &occasion);
    let of_start = Occasion { phase: RowPhase::Baseline, iteration: 0, ..occasion.clone() };
    let start = checks::checks(&begun.outcomes, &of_start);
    recorded.checks.extend(start.checks);
    recorded.blobs.extend(start.blobs);
    redact(job, &mut recorded.checks, &mut recorded.blobs);
    let mut rows: Vec<Row> = earlier
        .iter()
        .filter(|row| row.phase == RowPhase::Baseline && phase != RowPhase::Baseline)
        .map(CheckRow::evidence)
        .collect();
    rows.extend(checks::rows(&begun.outcomes, RowPhase::Baseline, 0));
    rows.extend(checks::rows(&outcomes, phase, iteration));
    let Recorded { checks, blobs } = recorded;
    let (notes, discrepancies) = (Vec::new(), Vec::new());
    let mut ran =
        Ran { outcomes, checks, blobs, rows, findings: doubts, notes, discrepancies, changed, occasion };
    if phase != RowPhase::Baseline {
        let tree = match tree {
            // Places of failures are looked up in a tree.
            None if ran.outcomes.iter().any(|outcome| !outcome.passed()) => Some(content.check_out(job)?),
            tree => tree,
        };
        let nowhere = Path::new("");
        ran.judge(job, &reader, content, &before, tree.as_ref().map_or(nowhere, WorkTree::path))?;
        let claimed = claims::discrepancies(job, &reader, task, &earlier, iteration)?;
        ran.take_claims(claimed);
    }
    Ok(ran)
}

/// The checks that failed when they were last run for a task, or for the whole run.
fn last_failed(rows: &[CheckRow], task: Option<&str>) -> BTreeSet<String> {
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

pub(super) fn refuse_unfit(job: &Job, outcomes: &[CheckOutcome]) -> Result<(), Trouble> {
    if job.cancel.is_cancelled() {
        return Err(Trouble::cancelled());
    }
    match outcomes.iter().find_map(|outcome| outcome.lacks()) {
        Some(lacking) => Err(Trouble::environment(lacking.to_string())),
        None => Ok(()),
    }
}

/// Passes that look too easy: said in their rows, and to the reviewers (CORE-13).
fn doubted(reader: &Reader, outcomes: &mut [CheckOutcome]) -> Result<Vec<Finding>, Trouble> {
    let mut findings = Vec::new();
    // What looks at changed files only has another number of them each time.
    let whole = |outcome: &&mut CheckOutcome| {
        outcome.passed() && !outcome.is_taken() && outcome.listed != Listed::Part
    };
    for outcome in outcomes.iter_mut().filter(whole) {
        let passes = reader.passes(&outcome.name, outcome.command.as_deref(), Past::COMPARED)?;
        let past: Vec<Past> = passes
            .iter()
            .map(|row| Past { duration_ms: row.duration_ms, collected: row.collected })
            .collect();
        let Some(why) = checks::doubt(outcome, &past) else { continue };
        let mut doubt =
            finding(format!("doubt:{}", outcome.name), None, why.clone(), outcome.snippet.clone());
        doubt.severity = Severity::Minor;
        doubt.recommendation = "look whether it still runs what it should".to_string();
        findings.push(doubt);
        outcome.reason = if outcome.reason.is_empty() { why } else { format!("{}; {why}", outcome.reason) };
    }
    Ok(findings)
}

fn had_tests(rows: &[Row]) -> HadTests {
    let ran = |row: &&Row| row.phase == RowPhase::Baseline && row.tier > Some(Tier::One);
    let some = rows.iter().filter(ran).any(|row| row.collected.is_some_and(|count| count > 0));
    if some { HadTests::Yes } else { HadTests::No }
}

/// Whether a test that is not run any more runs under another name, or is a finding by its text already.
fn is_told(test: &str, outcome: &CheckOutcome, integrity: &Integrity) -> bool {
    let passes = |own: &str| {
        let named = |now: &&TestResult| now.name != test && checks::ends_with_name(&now.name, own);
        outcome.tests.iter().filter(named).any(|now| now.end == TestEnd::Passed)
    };
    let renamed = |(old, new): &(String, String)| checks::ends_with_name(test, old) && passes(new);
    integrity.renamed.iter().any(renamed)
        || integrity.findings.iter().any(|finding| checks::ends_with_name(test, &finding.place.symbol))
}

/// What the lane itself changed: a task is checked by what that can affect, and the merged tree by everything.
fn own_changes(job: &Job, content: &LaneContent) -> Result<Vec<String>, Trouble> {
    let base = job.site.repository().tree_of(&content.base)?;
    let changed = job.site.repository().changed(&base, &content.tree)?;
    Ok(changed.iter().map(|change| change.path.display().to_string()).collect())
}

/// Secrets are taken out before anything is stored (EP-30).
fn redact(job: &Job, rows: &mut [Check], blobs: &mut [Blob]) {
    let renamed: Vec<(remand_ledger::BlobId, remand_ledger::BlobId)> = blobs
        .iter_mut()
        .filter_map(|blob| {
            let clean = job.site.blob_of_bytes(&blob.bytes);
            let old = blob.id;
            *blob = clean;
            (old != blob.id).then_some((old, blob.id))
        })
        .collect();
    let renew = |id: &mut Option<remand_ledger::BlobId>| {
        if let Some((_, new)) = renamed.iter().find(|(old, _)| Some(*old) == *id) {
            *id = Some(*new);
        }
    };
    for row in rows {
        row.snippet = job.site.redact(&row.snippet);
        renew(&mut row.output);
        renew(&mut row.tests);
    }
}

/// What the checks gave on earlier trees, by the rows of the ledger.
pub(super) fn befores(reader: &Reader, rows: &[CheckRow]) -> Result<Vec<Before>, Trouble> {
    rows.iter()
        .filter(|row| row.phase == RowPhase::Baseline && row.tier.is_some())
        .map(|row| {
            let tests = match &row.tests {
                Some(blob) => serde_json::from_str(&content(reader, *blob)?).unwrap_or_default(),
                None => Vec::new(),
            };
            Ok(Before { check: row.name.clone(), passed: row.passed, tests })
        })
        .collect()
}

/// The size that the plan gives a task; a large one needs more evidence.
fn task_size(job: &Job, task: &str) -> Result<Size, Trouble> {
    let reader = job.site.reader()?;
    let documents = crate::dispatch::parsed(&reader.artifacts(&job.site.run)?, &reader)?;
    let large = documents
        .get("plan")
        .and_then(|plan| plan.pointer("/payload/tasks")?.as_array())
        .and_then(|tasks| tasks.iter().find(|entry| entry.get("id").and_then(|id| id.as_str()) == Some(task)))
        .and_then(|entry| entry.get("size")?.as_str())
        == Some("large");
    Ok(if large { Size::Large } else { Size::Standard })
}
