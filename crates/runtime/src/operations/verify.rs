//! `quick-checks`, `checks`, `integrate`: the engine runs the checks itself and rules by its own rows (EP-16, EP-18).

use super::integrity::{self, Plan};
use super::test_first::broken_signatures;
use super::{Done, finding};
use crate::checks::{
    self, Before, CheckOutcome, Context, Files, HadTests, Integrity, LeftOut, Occasion, Recorded, Which,
};
use crate::confine::Policy;
use crate::dispatch::content;
use crate::process::{self, Confined, Job as Process};
use crate::workshop::{Job, LaneTree, Trouble};
use remand_kernel::change::{TestEnd, TestResult};
use remand_kernel::evidence::{self, Row, RowPhase, Ruled, Size, Source, Tier};
use remand_kernel::finding::{Finding, Severity};
use remand_ledger::fact::{Check, Note, NoteKind};
use remand_ledger::query::CheckFilter;
use remand_ledger::{Blob, Reader};

/// The checks that answer within seconds, on a task's own tree. They are no gate: a pass proves nothing yet.
pub fn quick(job: &Job, task: Option<&str>) -> Result<Done, Trouble> {
    let lane = LaneTree::for_checks(job)?;
    let mut ran = run_checks(job, &lane, Which::Quick, task, RowPhase::After)?;
    ran.count_regressions();
    let passed = ran.outcomes.iter().all(|outcome| outcome.passed() || !outcome.counts())
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
    let lane = LaneTree::for_checks(job)?;
    let mut ran = run_checks(job, &lane, Which::All, task, RowPhase::After)?;
    ran.findings.extend(broken_signatures(job, &lane.tree)?);
    ran.count_regressions();
    let ruled = evidence::rule(&ran.rows, size);
    let mut done = match &ruled {
        Ruled::Passed => Done::saying("passed"),
        Ruled::Failed(_) => Done::saying("failed"),
    };
    done.report.rows.clone_from(&ran.rows);
    done.report.size = Some(size);
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
    /// The files that differ from the base.
    changed: Vec<String>,
    occasion: Occasion,
}

impl Ran {
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
            reason: reason.clone(),
            source: Source::Engine,
        };
        self.checks.push(Check {
            task: self.occasion.task.clone(),
            phase: row.phase,
            name: row.check.clone(),
            tool: "remand".to_string(),
            command: None,
            exit_code: None,
            snippet: reason.chars().take(500).collect(),
            output: None,
            passed: false,
            verdict: None,
            severity: None,
            round: self.occasion.round,
            tier: row.tier,
            iteration: row.iteration,
            collected: None,
            duration_ms: 0,
            reason,
            tests: None,
        });
        self.rows.push(row);
    }

    /// Puts the evidence into a result, and leaves it to others what it means.
    pub(super) fn tell_rows(self, done: &mut Done) {
        done.report.tests = self.outcomes.iter().flat_map(|outcome| outcome.tests.iter().cloned()).collect();
        done.facts.checks = self.checks;
        done.blobs.extend(self.blobs);
    }

    /// Puts evidence and findings into a result.
    fn tell(self, job: &Job, task: Option<&str>, done: &mut Done) {
        done.report.tests = self.outcomes.iter().flat_map(|outcome| outcome.tests.iter().cloned()).collect();
        for mut found in self.findings {
            found.task = task.map(str::to_string);
            if found.severity >= Severity::Critical {
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
        done.facts.checks = self.checks;
        done.blobs.extend(self.blobs);
    }
}

/// Runs the pinned checks on a tree and makes evidence of what came out.
pub fn run_checks(
    job: &Job,
    lane: &LaneTree,
    which: Which,
    task: Option<&str>,
    phase: RowPhase,
) -> Result<Ran, Trouble> {
    let reader = job.site.reader()?;
    let base = job.site.trees.base_tree()?;
    let changed: Vec<String> = job
        .site
        .repository()
        .changed(&base, &lane.tree)?
        .iter()
        .map(|change| change.path.display().to_string())
        .collect();
    let files = if phase == RowPhase::Baseline { Files::Whole } else { Files::Changed(&changed) };
    let outcomes = outcomes(job, lane, which, task, files)?;
    if job.cancel.is_cancelled() {
        return Err(Trouble::cancelled());
    }
    if let Some(lacking) = outcomes.iter().find_map(|outcome| outcome.lacks()) {
        return Err(Trouble::environment(lacking.to_string()));
    }
    let earlier = reader.checks(&job.site.run, CheckFilter::default())?;
    let iteration = match phase {
        RowPhase::Baseline => 0,
        RowPhase::After | RowPhase::Review => {
            let of_task = earlier.iter().filter(|row| row.phase == phase && row.task.as_deref() == task);
            of_task.map(|row| row.iteration).max().unwrap_or(0) + 1
        }
    };
    let occasion =
        Occasion { task: task.map(str::to_string), phase, round: u32::from(job.id.visit), iteration };
    let mut recorded = checks::checks(&outcomes, &occasion);
    redact(job, &mut recorded.checks, &mut recorded.blobs);
    let mut rows: Vec<Row> = earlier
        .iter()
        .filter(|row| row.phase == RowPhase::Baseline && phase != RowPhase::Baseline)
        .map(remand_ledger::query::CheckRow::evidence)
        .collect();
    rows.extend(checks::rows(&outcomes, phase, iteration));
    let mut findings = Vec::new();
    let mut notes = Vec::new();
    if phase != RowPhase::Baseline {
        let plan = Plan::read(job, &reader)?;
        let integrity = integrity::judge(job, lane, &plan.announced(task), had_tests(&rows))?;
        let all = plan.announced(None);
        let is_excused =
            |test: &str, outcome: &CheckOutcome| all.has_run(test) || is_told(test, outcome, &integrity);
        findings = checks::compare_but(&before(&reader, job)?, &outcomes, lane.work.path(), &is_excused);
        findings.extend(integrity.findings);
        notes = integrity.notes;
    }
    let Recorded { checks, blobs } = recorded;
    Ok(Ran { outcomes, checks, blobs, rows, findings, notes, changed, occasion })
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

fn outcomes(
    job: &Job,
    lane: &LaneTree,
    which: Which,
    task: Option<&str>,
    files: Files<'_>,
) -> Result<Vec<CheckOutcome>, Trouble> {
    let settings = job.site.settings();
    let scratch = job.site.folder().join("scratch").join(job.id.to_string());
    crate::home::private_folder(&scratch)?;
    let policy = Policy {
        read_write: vec![lane.work.path().to_path_buf(), scratch.clone(), "/dev/null".into()],
        hidden: vec![settings.home.above().to_path_buf()],
        ..Policy::default()
    };
    let runner = |spec: &checks::CheckSpec, mut process: Process| {
        process.marker = job.marker();
        let policy = Policy { network: spec.network, ..policy.clone() };
        process.confine = Some(Confined { exe: settings.program.clone(), policy });
        process::run(&process, &job.cancel)
    };
    let mut environment = settings.environment.clone();
    environment.insert("HOME".into(), settings.user_home.clone());
    environment.insert("TMPDIR".into(), scratch.clone().into_os_string());
    let left_out = match task {
        Some(_) => checks::left_out(&job.site.pinned.checks, &own_changes(job, lane)?),
        None => LeftOut::new(),
    };
    let base = job.site.trees.base_tree()?;
    let before = |file: &str| job.site.repository().read(&base, std::path::Path::new(file)).ok().flatten();
    let context = Context {
        environment: &environment,
        which,
        files,
        left_out: &left_out,
        base: &before,
        scratch: &scratch,
        cancel: &job.cancel,
        progress: &|_| {},
        runner: &runner,
    };
    let outcomes = checks::run(&job.site.pinned.checks, lane.work.path(), &context);
    std::fs::remove_dir_all(&scratch)?;
    // What checks leave behind in the tree is no part of the change.
    lane.work.restore(&lane.tree)?;
    Ok(outcomes)
}

/// What the lane itself changed: a task is checked by what that can affect, and the merged tree by everything.
fn own_changes(job: &Job, lane: &LaneTree) -> Result<Vec<String>, Trouble> {
    let base = job.site.repository().tree_of(&lane.base)?;
    let changed = job.site.repository().changed(&base, &lane.tree)?;
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

/// What the checks gave at the baseline.
pub(super) fn before(reader: &Reader, job: &Job) -> Result<Vec<Before>, Trouble> {
    let filter = CheckFilter { task: None, phase: Some(RowPhase::Baseline) };
    let rows = reader.checks(&job.site.run, filter)?;
    rows.into_iter()
        .filter(|row| row.tier.is_some())
        .map(|row| {
            let tests = match &row.tests {
                Some(blob) => serde_json::from_str(&content(reader, *blob)?).unwrap_or_default(),
                None => Vec::new(),
            };
            Ok(Before { check: row.name, passed: row.passed, tests })
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
