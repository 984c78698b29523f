//! `check-stubs`: new symbols have the signatures of the plan and no bodies yet, and the tree compiles (OT-13).

use super::super::Done;
use super::super::verify::run_checks;
use super::signatures::functions;
use super::{of_symbol, stubs_of};
use crate::checks::Which;
use crate::dispatch::parsed;
use crate::workshop::{Job, LaneContent, Trouble};
use remand_kernel::evidence::RowPhase;
use remand_kernel::finding::Finding;
use remand_ledger::fact::NoteKind;
use remand_source::{Body, Function, signature};
use serde_json::Value;
use std::collections::BTreeSet;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let lane = LaneContent::of(job)?;
    let mut done = Done::saying("sound");
    let planned = planned(job)?;
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
        done.report.findings.extend(unsound(&file, &before, &now, &planned));
    }
    for missing in planned.iter().filter(|planned| !found.contains(*planned)) {
        let claim = format!("`{missing}`, which the plan names, is not there");
        done.report.findings.push(of_symbol("", missing, claim));
    }
    if planned.is_empty() {
        done.note(
            NoteKind::Warning,
            "the plan names no signatures, so that the stubs' were compared with nothing",
        );
    }
    let ran = run_checks(job, &lane, Which::Quick, None, RowPhase::After)?;
    for outcome in ran.outcomes.iter().filter(|outcome| !ran.is_no_worse(outcome)) {
        let claim = format!("`{}` fails on the stubs", outcome.name);
        let finding = of_symbol("", &outcome.name, claim);
        done.report.findings.push(Finding { evidence: outcome.snippet.clone(), ..finding });
    }
    ran.tell_rows(&mut done);
    if done.report.findings.is_empty() {
        job.trees.remember(&stubs_of(job), &lane.tree)?;
    } else {
        done.report.says = "unsound".to_string();
    }
    Ok(done)
}

/// What is no stub pass in one file.
fn unsound(file: &str, before: &[Function], now: &[Function], planned: &BTreeSet<String>) -> Vec<Finding> {
    let was = |name: &str| before.iter().find(|function| function.name == name);
    let mut findings = Vec::new();
    for function in now {
        let name = &function.name;
        let is_planned = planned.is_empty() || planned.contains(&function.signature);
        let claim = match (was(name), &function.body) {
            (Some(old), body) if old.signature == function.signature && old.body == *body => continue,
            (Some(old), Body::Written(_) | Body::Absent) if old.signature == function.signature => {
                format!("the body of `{name}` was changed, and stubs are for new symbols only")
            }
            (_, Body::Written(_)) => format!("the body of `{name}` is no stub"),
            (_, Body::Stub | Body::Absent) if !is_planned => {
                format!("`{}` is not among the signatures of the plan", function.signature)
            }
            (_, Body::Stub | Body::Absent) => continue,
        };
        findings.push(of_symbol(file, name, claim));
    }
    let is_gone = |function: &&Function| !now.iter().any(|other| other.name == function.name);
    findings.extend(
        before
            .iter()
            .filter(is_gone)
            .map(|function| of_symbol(file, &function.name, format!("`{}` was taken out", function.name))),
    );
    findings
}

/// The signatures that the plan gives the task which goes on: the first one.
fn planned(job: &Job) -> Result<BTreeSet<String>, Trouble> {
    let reader = job.site.reader()?;
    let documents = parsed(&reader.artifacts(&job.site.run)?, &reader)?;
    let task =
        ["tasks", "plan"].iter().find_map(|name| documents.get(*name)?.pointer("/payload/tasks/0").cloned());
    let signatures = task.and_then(|task| task.get("signatures").and_then(Value::as_array).cloned());
    let texts = signatures.unwrap_or_default();
    Ok(texts.iter().filter_map(Value::as_str).map(signature).collect())
}
