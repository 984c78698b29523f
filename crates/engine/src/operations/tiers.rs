//! Tiers 3 and 4: loads the change and runs smoke commands if no test ran, and inspects the change of a large task.

use super::checking::Checking;
use super::planned::result_of;
use crate::site::{Job, LaneContent, Trouble};
use remand_checks::{CheckResult, CheckSpec, FileScope, Leak, LeftOut};
use remand_contract::SchemaId;
use remand_contract::schema::verification::Verification;
use remand_git::TreeId;
use remand_kernel::evidence::TaskSize;
use remand_kernel::finding::{Category, Finding, Severity};
use remand_ledger::query::DispatchStatus;
use remand_source::is_test_file;
use std::collections::BTreeMap;
use std::path::Path;

/// The smoke commands that verifiers propose, or why they propose none.
#[derive(Default)]
struct SmokeProposals {
    specs: Vec<CheckSpec>,
    why_not: Option<String>,
}

/// Loads the changed files and runs the proposed smoke commands, unless a test ran.
pub fn tier_three(
    checking: &Checking<'_>,
    task: Option<&str>,
    so_far: &[CheckResult],
) -> Result<Vec<CheckResult>, Trouble> {
    let FileScope::Changed(changed) = checking.files else {
        return Ok(Vec::new());
    };
    if remand_checks::has_runtime_signal(so_far) {
        return Ok(Vec::new());
    }
    let proposed = smoke_proposals(checking.job, task)?;
    let existing = existing_files(checking.job, &checking.content.tree, changed)?;
    let mut specs = remand_checks::loading(&existing, &checking.job.site.pinned.checks, is_test_file);
    specs.extend(proposed.specs);
    let ran = if specs.is_empty() {
        Vec::new()
    } else {
        let files = FileScope::Changed(&existing);
        Checking { files, left_out: &LeftOut::new(), ..*checking }.run(&specs)?.results
    };
    let ran = excuse_hangs_at_base(checking, ran, &existing)?;
    Ok(remand_checks::tier_3_results(ran, proposed.why_not.as_deref()))
}

/// Excuses modules that hang when they are loaded and also hang at the base: the change did not cause that.
fn excuse_hangs_at_base(
    checking: &Checking<'_>,
    ran: Vec<CheckResult>,
    files: &[String],
) -> Result<Vec<CheckResult>, Trouble> {
    if !ran.iter().any(remand_checks::hangs) {
        return Ok(ran);
    }
    let existing = existing_files(checking.job, checking.base, files)?;
    let content = checking.content.holding(checking.base);
    let at_base =
        Checking { content: &content, files: FileScope::Whole, left_out: &LeftOut::new(), ..*checking };
    let loading = remand_checks::loading(&existing, &checking.job.site.pinned.checks, is_test_file);
    let before = at_base.run(&loading)?.results;
    let hung_before =
        |name: &str| before.iter().any(|result| result.name == name && remand_checks::hangs(result));
    let judged = |result: CheckResult| {
        if remand_checks::hangs(&result) && hung_before(&result.name) {
            remand_checks::skipped_as_server(result)
        } else {
            result
        }
    };
    Ok(ran.into_iter().map(judged).collect())
}

/// The given files that exist in a tree.
fn existing_files(job: &Job, tree: &TreeId, files: &[String]) -> Result<Vec<String>, Trouble> {
    let mut existing = Vec::new();
    for file in files {
        let content = job.site.repository().read(tree, Path::new(file))?;
        existing.extend(content.map(|_| file.clone()));
    }
    Ok(existing)
}

/// The results for a large task or a given change, and a finding for each secret.
pub fn tier_four(
    job: &Job,
    lane: &LaneContent,
    task: Option<&str>,
    size: TaskSize,
) -> Result<(Vec<CheckResult>, Vec<Finding>), Trouble> {
    match size {
        TaskSize::Standard if job.site.pinned.change.is_none() => return Ok((Vec::new(), Vec::new())),
        TaskSize::Standard | TaskSize::Large => {}
    }
    let base = job.site.repository().tree_of(&lane.base)?;
    let change = job.site.repository().change(&base, &lane.tree)?;
    let (mut rows, leaks) = remand_checks::readiness(&change, &|text| job.site.redact(text));
    if size == TaskSize::Standard {
        rows.truncate(1); // only secrets can fail the gate
    }
    let line_of = |leak: &Leak| -> Result<u32, Trouble> {
        let text = job.site.repository().read(&lane.tree, Path::new(&leak.file))?.unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let is_leak = |line: &str| job.site.redact(line).trim() == leak.line;
        Ok(text.lines().position(is_leak).and_then(|at| u32::try_from(at + 1).ok()).unwrap_or(0))
    };
    let lines = leaks.iter().map(line_of).collect::<Result<Vec<u32>, Trouble>>()?;
    let findings = leaks.into_iter().zip(lines).enumerate().map(|(at, (leak, line))| {
        let id = format!("secret-{}-{}", leak.file, at + 1);
        let claim = format!("an added line of {} seems to contain a secret", leak.file);
        let mut found = super::finding(id, task, claim, leak.line);
        (found.severity, found.category) = (Severity::Critical, Category::Security);
        (found.place.file, found.place.line) = (leak.file, line);
        found.recommendation = "remove it, and read it from the environment".to_string();
        found
    });
    Ok((rows, findings.collect()))
}

/// The smoke commands that the last verifier of a task proposed; without a task, those for each task.
fn smoke_proposals(job: &Job, task: Option<&str>) -> Result<SmokeProposals, Trouble> {
    let reader = job.site.reader()?;
    let is_verifier = |role: &str| {
        job.site.pinned.roles.get(role).is_some_and(|role| role.result == SchemaId::VerificationReport.name())
    };
    let mut latest: BTreeMap<String, Verification> = BTreeMap::new();
    for row in reader.dispatches(&job.site.run)? {
        let is_in_scope = task.is_none() || row.task.as_deref() == task;
        if !is_in_scope || !is_verifier(&row.role) || row.status != DispatchStatus::Done {
            continue;
        }
        if let Some(report) = result_of::<Verification>(&reader, &row, SchemaId::VerificationReport)? {
            latest.insert(row.task.unwrap_or_default(), report);
        }
    }
    let mut proposed = SmokeProposals::default();
    for (task, report) in latest {
        if !report.smoke.is_empty() {
            proposed.specs.push(remand_checks::smoke(&task, &report.smoke));
        }
        let why_not = report.smoke_infeasible.as_deref().map(str::trim).filter(|why| !why.is_empty());
        proposed.why_not = why_not.map(|why| format!("the verifier says: {why}")).or(proposed.why_not);
    }
    Ok(proposed)
}
