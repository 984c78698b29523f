//! Tiers 3 and 4: what the engine does where checks do not show the program at work, and for large tasks (EP-15).

use super::checking::Checking;
use crate::checks::{self, CheckOutcome, CheckSpec, Files, LeftOut};
use crate::dispatch::{content, document, is_test};
use crate::git::TreeId;
use crate::workshop::{Job, LaneContent, Trouble};
use remand_kernel::evidence::Size;
use remand_kernel::finding::{Category, Finding, Severity};
use remand_ledger::query::DispatchStatus;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The contract of a verifier's result.
const VERIFICATION: &str = "verification-report";

/// What verifiers said about running the program, latest last.
#[derive(Default)]
struct Proposed {
    specs: Vec<CheckSpec>,
    why_not: Option<String>,
}

/// Loads what changed and runs the smoke commands that are proposed, unless a test ran.
pub fn third(
    checking: &Checking<'_>,
    task: Option<&str>,
    so_far: &[CheckOutcome],
) -> Result<Vec<CheckOutcome>, Trouble> {
    let Files::Changed(changed) = checking.files else {
        return Ok(Vec::new());
    };
    if checks::has_runtime_signal(so_far) {
        return Ok(Vec::new());
    }
    let proposed = proposed(checking.job, task)?;
    let there = present(checking.job, &checking.content.tree, changed)?;
    let mut specs = checks::loading(&there, &checking.job.site.pinned.checks, is_test);
    specs.extend(proposed.specs);
    let ran = if specs.is_empty() {
        Vec::new()
    } else {
        let files = Files::Changed(&there);
        Checking { files, left_out: &LeftOut::new(), ..*checking }.outcomes(&specs)?.outcomes
    };
    let ran = unless_serving(checking, ran, &there)?;
    Ok(checks::kept(ran, proposed.why_not.as_deref()))
}

/// Modules that hang when they are loaded are defects of the change, unless they do so at the base too.
fn unless_serving(
    checking: &Checking<'_>,
    ran: Vec<CheckOutcome>,
    files: &[String],
) -> Result<Vec<CheckOutcome>, Trouble> {
    if !ran.iter().any(checks::hangs) {
        return Ok(ran);
    }
    let there = present(checking.job, checking.base, files)?;
    let content = checking.content.holding(checking.base);
    let at_base = Checking { content: &content, files: Files::Whole, left_out: &LeftOut::new(), ..*checking };
    let loading = checks::loading(&there, &checking.job.site.pinned.checks, is_test);
    let before = at_base.outcomes(&loading)?.outcomes;
    let hung = |name: &str| before.iter().any(|outcome| outcome.name == name && checks::hangs(outcome));
    let judged = |outcome: CheckOutcome| {
        if checks::hangs(&outcome) && hung(&outcome.name) { checks::serving(outcome) } else { outcome }
    };
    Ok(ran.into_iter().map(judged).collect())
}

/// Those of some files that a tree has.
fn present(job: &Job, tree: &TreeId, files: &[String]) -> Result<Vec<String>, Trouble> {
    let mut there = Vec::new();
    for file in files {
        let content = job.site.repository().read(tree, Path::new(file))?;
        there.extend(content.map(|_| file.clone()));
    }
    Ok(there)
}

/// The rows of a large task, and a finding for each secret.
pub fn fourth(
    job: &Job,
    lane: &LaneContent,
    task: Option<&str>,
    size: Size,
) -> Result<(Vec<CheckOutcome>, Vec<Finding>), Trouble> {
    match size {
        Size::Standard => return Ok((Vec::new(), Vec::new())),
        Size::Large => {}
    }
    let base = job.site.repository().tree_of(&lane.base)?;
    let change = job.site.repository().change(&base, &lane.tree)?;
    let (rows, leaks) = checks::readiness(&change, &|text| job.site.redact(text));
    let findings = leaks.into_iter().enumerate().map(|(at, leak)| {
        let id = format!("secret-{}-{}", leak.file, at + 1);
        let claim = format!("an added line of {} holds what looks like a secret", leak.file);
        let mut found = super::finding(id, task, claim, leak.line);
        (found.severity, found.category) = (Severity::Critical, Category::Security);
        found.place.file = leak.file;
        found.recommendation = "take it out, and read it from the environment".to_string();
        found
    });
    Ok((rows, findings.collect()))
}

/// The smoke commands of the latest verifier of a task, or of every task.
fn proposed(job: &Job, task: Option<&str>) -> Result<Proposed, Trouble> {
    let reader = job.site.reader()?;
    let is_verifier =
        |role: &str| job.site.pinned.roles.get(role).is_some_and(|role| role.result == VERIFICATION);
    let mut latest: BTreeMap<String, Value> = BTreeMap::new();
    for row in reader.dispatches(&job.site.run)? {
        let is_asked = task.is_none() || row.task.as_deref() == task;
        let (true, true, DispatchStatus::Done, Some(result)) =
            (is_asked, is_verifier(&row.role), row.status, row.result)
        else {
            continue;
        };
        if let Some(value) = document(&content(&reader, result)?) {
            latest.insert(row.task.unwrap_or_default(), value);
        }
    }
    let mut proposed = Proposed::default();
    for (task, report) in latest {
        let lines = report.pointer("/payload/smoke").and_then(Value::as_array).into_iter().flatten();
        let lines: Vec<String> = lines.filter_map(Value::as_str).map(str::to_string).collect();
        if !lines.is_empty() {
            proposed.specs.push(checks::smoke(&task, &lines));
        }
        let why_not = report.pointer("/payload/smoke_infeasible").and_then(Value::as_str);
        let why_not = why_not.map(str::trim).filter(|why| !why.is_empty());
        proposed.why_not = why_not.map(|why| format!("the verifier says: {why}")).or(proposed.why_not);
    }
    Ok(proposed)
}
