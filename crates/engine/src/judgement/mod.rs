//! The judgement of a given change, read from the ledger: verdict, checks, tests, findings, and what to look at first.

mod checks;
mod findings;
mod look;
mod proofs;

use crate::artifacts;
use crate::clock;
use crate::given_change::ARTIFACT;
use crate::pinned::Pinned;
use crate::site::Trouble;
use checks::summaries;
use findings::{explain_tests, secrets, summary};
use remand_kernel::evidence::{self, GateDemand, GateResult, RowPhase, TaskSize};
use remand_kernel::finding::Severity;
use remand_ledger::fact::NoteKind;
use remand_ledger::query::{CheckFilter, CheckRow, OperationRow, RunRow, RunStage};
use remand_ledger::{LedgerError, Reader, RunId};
use remand_reports::{
    ChangeReport, ChangeSource, ChangeVerdict, CheckVerdict, FindingSummary, JudgedChange, ProofSummary,
    TestChange, Unmeasured, UnmeasuredKind,
};
use std::collections::BTreeSet;

/// The operations that judge by the evidence gate.
const GATES: [&str; 2] = ["checks", "integrate"];

/// Reads the judgement of a run that was given a change.
pub fn report(reader: &Reader, run: &RunId) -> Result<ChangeReport, Trouble> {
    let row = reader.run(&run.0)?;
    let unreadable = || Trouble::denied(format!("another version of Remand pinned run {run}"));
    let pinned = Pinned::of(reader, run)?.ok_or_else(unreadable)?;
    let no_change = || Trouble::denied(format!("run {run} was given no change; `remand vet` judges one"));
    let given = pinned.change.as_ref().ok_or_else(no_change)?;
    let rows = reader.checks(run, CheckFilter::default())?;
    let operations = reader.operations(run)?;
    let found = reader.findings(run)?;
    let mut checks = summaries(reader, &rows, &pinned.checks)?;
    explain_tests(&mut checks, &found);
    let change = judged_change(reader, run)?.unwrap_or_else(|| JudgedChange {
        source: given.source.clone(),
        base: row.base.clone(),
        head: given.parts.last().map_or_else(|| row.base.clone(), |part| part.commit.to_string()),
        paths: Vec::new(),
        parts: Vec::new(),
    });
    let mut findings: Vec<_> = found
        .iter()
        .filter(|finding| !finding.id.starts_with("secret-"))
        .map(|finding| summary(finding, &checks))
        .collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let mut report = ChangeReport {
        format: ChangeReport::FORMAT,
        run: run.to_string(),
        workflow: row.workflow.clone(),
        engine_version: row.version.clone(),
        started: clock::iso(row.created_at),
        ended: clock::iso(row.updated_at),
        duration_ms: u64::try_from(row.updated_at.0 - row.created_at.0).unwrap_or(0),
        change,
        verdict: ChangeVerdict::Blocked,
        reason: String::new(),
        look: None,
        checks,
        findings,
        releases: given.releases.clone(),
        old_tests: checks::old_tests(&rows),
        proofs: proofs::summary(reader, run, &rows)?,
        secrets: secrets(&found),
        warnings: warnings(reader, run)?,
        unmeasured: unmeasured(reader, run, &rows)?,
    };
    let judged = judge(reader, &row, &rows, &operations, &report)?;
    (report.verdict, report.reason) = judged;
    report.look = look::first_look(&report, given);
    Ok(report)
}

/// The change as the run took it; `None` if it did not get that far.
fn judged_change(reader: &Reader, run: &RunId) -> Result<Option<JudgedChange>, LedgerError> {
    let rows = reader.artifacts(run)?;
    let Some(row) = rows.iter().find(|row| row.name == ARTIFACT && row.format == "json") else {
        return Ok(None);
    };
    Ok(serde_json::from_str(&artifacts::content(reader, row.blob)?).ok())
}

/// The verdict and its reason in one sentence.
fn judge(
    reader: &Reader,
    row: &RunRow,
    rows: &[CheckRow],
    operations: &[OperationRow],
    report: &ChangeReport,
) -> Result<(ChangeVerdict, String), Trouble> {
    let result_of = |names: &[&str]| {
        let of_name = |operation: &&OperationRow| names.contains(&operation.name.as_str());
        operations.iter().rev().filter(of_name).find_map(|operation| operation.result.as_deref())
    };
    match (result_of(&["take-change"]), result_of(&GATES)) {
        (Some("conflict"), _) => return Ok((ChangeVerdict::Fail, "it cannot be merged".to_string())),
        (Some("empty"), _) => return Ok((ChangeVerdict::Pass, "it changes nothing".to_string())),
        (_, Some("passed")) if matches!(row.stage, RunStage::LeftToYou | RunStage::Committed) => {
            return Ok((ChangeVerdict::Pass, passed(report)));
        }
        (_, Some("failed")) => {
            let evidence: Vec<_> = rows.iter().map(CheckRow::evidence).collect();
            let failures = evidence::rule(&evidence, TaskSize::Standard, GateDemand::NoFailure);
            return Ok(match failures {
                GateResult::Failed(_) => (ChangeVerdict::Fail, failed(report)),
                GateResult::Passed => {
                    let missing = evidence::rule(&evidence, TaskSize::Standard, GateDemand::Proof);
                    let GateResult::Failed(reasons) = missing else {
                        return Ok((ChangeVerdict::Fail, failed(report)));
                    };
                    (ChangeVerdict::Unmeasured, format!("nothing proves it: {}", reasons.join("; ")))
                }
            });
        }
        (_, Some("passed")) if row.stage == RunStage::Failed => {
            let serious =
                |finding: &&FindingSummary| finding.rule == "review" && finding.severity > Severity::Minor;
            let count = report.findings.iter().filter(serious).count();
            // A reviewer that reports nothing has not judged.
            if count > 0 {
                let defects = if count == 1 { "a defect".to_string() } else { format!("{count} defects") };
                return Ok((ChangeVerdict::Fail, format!("the review reports {defects}")));
            }
        }
        _ => {}
    }
    let trouble = operations.iter().rev().find_map(|operation| operation.detail.clone());
    let ruled = reader.rulings(&row.run, 0)?.last().map(|last| last.ruling.why.clone());
    let why = trouble.filter(|detail| !detail.is_empty()).or(ruled);
    Ok((
        ChangeVerdict::Blocked,
        why.or_else(|| row.reason.clone()).unwrap_or_else(|| "the run has not ended".to_string()),
    ))
}

fn passed(report: &ChangeReport) -> String {
    let checks = report.checks.iter().filter(|check| check.verdict == CheckVerdict::Passed).count();
    let tests: usize = report.checks.iter().map(|check| check.tests.len()).sum();
    let word = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let end = match report.proofs.as_ref().is_some_and(ProofSummary::is_unnoticed) {
        true => "but no test notices the change",
        false => "and nothing is worse than at the base",
    };
    format!("{} pass with {}, {end}", word(checks, "check"), word(tests, "test"))
}

/// What is worse than at the base, counted.
fn failed(report: &ChangeReport) -> String {
    let mut parts: Vec<String> = TestChange::ALL
        .into_iter()
        .filter(|change| change.is_worse())
        .map(|change| (report.count(change), change))
        .filter(|(count, _)| *count > 0)
        .map(|(count, change)| {
            format!("{count} {} {}", if count == 1 { "test is" } else { "tests are" }, phrase(change))
        })
        .collect();
    let of_rule = |rule: &str| report.findings.iter().filter(|finding| finding.rule == rule).count();
    let more = [
        (
            of_rule("old-test-fails"),
            "test as it was does not pass on the new code",
            "tests as they were do not pass on the new code",
        ),
        (of_rule("syntax-error"), "file cannot be parsed", "files cannot be parsed"),
        (of_rule("test-weakened"), "change to a test weakens it", "changes to tests weaken them"),
        (
            of_rule("settings-changed"),
            "file that decides what is tested is changed",
            "files that decide what is tested are changed",
        ),
        (report.secrets.len(), "added line contains a secret", "added lines contain secrets"),
        (of_rule("check-failed"), "check fails", "checks fail"),
    ];
    for (count, one, many) in more.into_iter().filter(|(count, _, _)| *count > 0) {
        parts.push(format!("{count} {}", if count == 1 { one } else { many }));
    }
    if parts.is_empty() {
        let claims: Vec<&str> = report.findings.iter().map(|finding| finding.claim.as_str()).collect();
        return claims.join("; ");
    }
    parts.join(", ")
}

fn phrase(change: TestChange) -> &'static str {
    match change {
        TestChange::Regressed => "red that passed before",
        TestChange::Gone => "gone",
        other => other.name(),
    }
}

/// What a reader of the report should know, each once.
fn warnings(reader: &Reader, run: &RunId) -> Result<Vec<String>, LedgerError> {
    let notes = reader.notes(run)?.into_iter().filter(|note| note.kind == NoteKind::Warning);
    let texts: BTreeSet<String> = notes.map(|note| note.text).collect();
    Ok(texts.into_iter().collect())
}

/// What the verdict does not cover.
fn unmeasured(reader: &Reader, run: &RunId, rows: &[CheckRow]) -> Result<Vec<Unmeasured>, LedgerError> {
    let mut all = Vec::new();
    for note in reader.notes(run)? {
        let (kind, why) = match note.kind {
            NoteKind::Unenforced => (UnmeasuredKind::NotHeld, "the sandbox cannot enforce it here"),
            NoteKind::Degradation => (UnmeasuredKind::NotChecked, ""),
            NoteKind::Violation
            | NoteKind::Concern
            | NoteKind::Warning
            | NoteKind::Decision
            | NoteKind::Lesson
            | NoteKind::Regression
            | NoteKind::Proposal
            | NoteKind::Mapped
            | NoteKind::Interrupted => continue,
        };
        all.push(Unmeasured { kind, what: note.text, why: why.to_string() });
    }
    let latest = rows.iter().filter(|row| row.phase == RowPhase::After && !row.superseded);
    let skipped = latest.filter(|row| !row.passed && row.tier.is_none() && row.command.is_some());
    all.extend(skipped.map(|row| Unmeasured {
        kind: UnmeasuredKind::NotChecked,
        what: format!("the check `{}`", row.name),
        why: row.reason.clone(),
    }));
    Ok(all)
}

/// The name of a change, for the title of its run.
pub fn title(source: &ChangeSource) -> String {
    format!("vet {}", source.describe())
}
