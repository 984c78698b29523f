//! `quick-checks`, `checks`, `integrate`: the engine runs the checks and judges by its own evidence rows.

use super::measurement::{Measurement, measure};
use super::old_tests;
use super::planned::task_size;
use super::proving::prove;
use super::test_first::{broken_signatures, skipped_new_tests};
use super::tested_change::TestedChange;
use super::{Done, finding, tiers};
use crate::pinned::{Guards, ProofDemand};
use crate::row_names::MERGED;
use crate::site::{Job, LaneContent, Trouble};
use remand_checks::Selection;
use remand_kernel::evidence::{self, GateResult, RowPhase, TaskSize};
use remand_kernel::finding::Severity;
use remand_ledger::fact::NoteKind;
use std::collections::BTreeSet;

/// Runs the quick checks on a task's tree. They are not a gate: a pass proves nothing yet.
pub fn quick(job: &Job, task: Option<&str>) -> Result<Done, Trouble> {
    let lane = LaneContent::of(job)?;
    let mut measured = measure(job, &lane, Selection::Quick, task, RowPhase::After)?;
    measured.count_regressions();
    let passed = measured.results.iter().all(|result| measured.is_no_worse(result))
        && !measured.findings.iter().any(|finding| finding.severity >= Severity::Critical);
    let mut done = Done::with_signal(if passed { "passed" } else { "failed" });
    measured.report(job, task, &mut done);
    Ok(done)
}

/// Runs all checks on a task's tree, or on the run's tree if there are no tasks.
pub fn all(job: &Job, task: Option<&str>) -> Result<Done, Trouble> {
    let size = match task {
        Some(task) => task_size(job, task)?,
        None => TaskSize::Standard,
    };
    gate(job, task, task, size, Proofs::Demanded)
}

/// Runs all checks on the merged tree. A failure there counts against the task that was merged last.
pub fn integrate(job: &Job) -> Result<Done, Trouble> {
    let operations = job.site.reader()?.operations(&job.site.run)?;
    let merged = operations.iter().rev().find(|row| row.result.as_deref() == Some(MERGED));
    gate(job, None, merged.and_then(|row| row.task.as_deref()), TaskSize::Standard, Proofs::Made)
}

/// Whether the tests as they were must pass, and whether new tests must be able to fail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Proofs {
    Demanded,
    /// Each merged task was checked.
    Made,
}

fn gate(
    job: &Job,
    task: Option<&str>,
    blamed: Option<&str>,
    size: TaskSize,
    proofs: Proofs,
) -> Result<Done, Trouble> {
    let lane = LaneContent::of(job)?;
    let mut measured = measure(job, &lane, Selection::All, task, RowPhase::After)?;
    measured.findings.extend(broken_signatures(job, &lane.tree)?);
    measured.findings.extend(skipped_new_tests(job, &measured.results)?);
    measured.count_regressions();
    let (readiness, leaks) = tiers::tier_four(job, &lane, blamed, size)?;
    measured.add_results(job, &readiness, leaks);
    let mut done = Done::default();
    let rule = |measured: &Measurement| evidence::rule(&measured.rows, size, job.state.demand());
    let mut gate_result = rule(&measured);
    let is_demanded = proofs == Proofs::Demanded && job.site.pinned.proof != ProofDemand::Nothing;
    if gate_result == GateResult::Passed
        && is_demanded
        && let Some(tested) = TestedChange::find(job, &lane, &measured)?
    {
        let guards = job.site.pinned.guards;
        // Both use trees of their own, so neither waits for the other.
        let (old, proving) = std::thread::scope(|scope| {
            let old = guards
                .has(Guards::OldTests)
                .then(|| scope.spawn(|| old_tests::run(job, &lane, task, &tested, &measured)));
            let proving = guards.has(Guards::Proof).then(|| prove(job, &lane, task, &tested, &measured));
            let panicked = |_| Err(Trouble::environment("the old tests panicked".to_string()));
            (old.map(|old| old.join().unwrap_or_else(panicked)), proving)
        });
        if let Some(old) = old {
            old?.report(job, &mut measured, &mut done);
        }
        if let Some(proving) = proving {
            proving?.judge(job, task, &mut measured, &mut done)?;
        }
        gate_result = rule(&measured);
    }
    done.report.says = match &gate_result {
        GateResult::Passed => "passed".to_string(),
        GateResult::Failed(_) => "failed".to_string(),
    };
    done.report.rows.clone_from(&measured.rows);
    done.report.size = Some(size);
    let excused =
        if gate_result == GateResult::Passed { evidence::excused(&measured.rows) } else { BTreeSet::new() };
    if gate_result == GateResult::Passed {
        for text in &measured.red.ruled {
            done.note(NoteKind::Warning, job.site.redact(text));
        }
        for text in &measured.red.unclear {
            done.note(NoteKind::Degradation, job.site.redact(text));
        }
    }
    for check in excused {
        let text = format!("`{check}` also failed before the change, so it proves nothing about the change");
        done.note(NoteKind::Degradation, text);
    }
    measured.report(job, blamed, &mut done);
    if let (GateResult::Failed(reasons), true) = (&gate_result, done.report.findings.is_empty()) {
        let subject = blamed.unwrap_or(&job.site.opened.slug);
        done.report.findings = reasons
            .iter()
            .enumerate()
            .map(|(at, reason)| {
                finding(format!("gate-{subject}-{}", at + 1), blamed, reason.clone(), String::new())
            })
            .collect();
    }
    Ok(done)
}
