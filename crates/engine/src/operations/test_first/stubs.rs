//! `check-stubs`: verifies that new symbols have the planned signatures and no bodies yet, and that the tree compiles.

use super::super::Done;
use super::super::measurement::measure;
use super::super::planned;
use super::signatures::functions;
use super::{stub_tree_name, symbol_finding};
use crate::artifacts::TASK_LISTS;
use crate::site::{Job, LaneContent, Trouble};
use remand_checks::Selection;
use remand_kernel::evidence::RowPhase;
use remand_kernel::finding::Finding;
use remand_ledger::fact::NoteKind;
use remand_source::{Body, Function, signature};
use std::collections::BTreeSet;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let lane = LaneContent::of(job)?;
    let mut done = Done::with_signal("sound");
    let planned = planned_signatures(job)?;
    let mut found = BTreeSet::new();
    let base = job.trees.base_tree()?;
    for change in job.site.repository().changed(&base, &lane.tree)? {
        let (Some(before), Some(now)) =
            (functions(job, &base, &change.path)?, functions(job, &lane.tree, &change.path)?)
        else {
            continue;
        };
        found.extend(now.iter().map(|function| function.signature.clone()));
        let file = change.path.display().to_string();
        done.report.findings.extend(stub_findings(&file, &before, &now, &planned));
    }
    for missing in planned.iter().filter(|planned| !found.contains(*planned)) {
        let claim = format!("`{missing}`, which the plan names, is missing");
        done.report.findings.push(symbol_finding("", missing, claim));
    }
    if planned.is_empty() {
        done.note(NoteKind::Warning, "the plan names no signatures, so those of the stubs were not compared");
    }
    let measured = measure(job, &lane, Selection::Quick, None, RowPhase::After)?;
    for result in measured.results.iter().filter(|result| !measured.is_no_worse(result)) {
        let claim = format!("`{}` fails on the stubs", result.name);
        let finding = symbol_finding("", &result.name, claim);
        done.report.findings.push(Finding { evidence: result.snippet.clone(), ..finding });
    }
    measured.report_rows(&mut done);
    if done.report.findings.is_empty() {
        job.trees.remember(&stub_tree_name(job), &lane.tree)?;
    } else {
        done.report.says = "unsound".to_string();
    }
    Ok(done)
}

/// Findings about the stubs of one file.
fn stub_findings(
    file: &str,
    before: &[Function],
    now: &[Function],
    planned: &BTreeSet<String>,
) -> Vec<Finding> {
    let function_before = |name: &str| before.iter().find(|function| function.name == name);
    let mut findings = Vec::new();
    for function in now {
        let name = &function.name;
        let is_planned = planned.is_empty() || planned.contains(&function.signature);
        let claim = match (function_before(name), &function.body) {
            (Some(old), body) if old.signature == function.signature && old.body == *body => continue,
            (Some(old), Body::Written(_) | Body::Absent) if old.signature == function.signature => {
                format!("the body of `{name}` changed, but stubs are for new symbols only")
            }
            (_, Body::Written(_)) => format!("the body of `{name}` is not a stub"),
            (_, Body::Stub | Body::Absent) if !is_planned => {
                format!("`{}` is not among the signatures of the plan", function.signature)
            }
            (_, Body::Stub | Body::Absent) => continue,
        };
        findings.push(symbol_finding(file, name, claim));
    }
    let is_gone = |function: &&Function| !now.iter().any(|other| other.name == function.name);
    findings.extend(
        before
            .iter()
            .filter(is_gone)
            .map(|function| symbol_finding(file, &function.name, format!("`{}` was removed", function.name))),
    );
    findings
}

/// The signatures that the plan gives to the run's task, which is the first one.
fn planned_signatures(job: &Job) -> Result<BTreeSet<String>, Trouble> {
    let tasks = planned::tasks(job, &job.site.reader()?, &TASK_LISTS)?.unwrap_or_default();
    Ok(tasks.first().into_iter().flat_map(|task| &task.signatures).map(|text| signature(text)).collect())
}
