//! Turns an agent's output into a report: finds the result, validates it against the contract and stores it.

use super::{Brief, minimum_length, note};
use crate::site::{TREES, Trouble};
use remand_agents::driver::{AgentReport, read_agent_file};
use remand_checks::{CheckEnd, CheckResult, Occasion, is_about_tests};
use remand_contract::{AcceptedResult, ContractProblem, RawResult, Rejection, ResultLimits, Shortfall};
use remand_git::TreeId;
use remand_kernel::Report;
use remand_kernel::change::{Change, Digest};
use remand_kernel::criteria::{CriterionJudgement, Proof};
use remand_kernel::evidence::RowPhase;
use remand_kernel::finding::Severity;
use remand_kernel::signal::Failure;
use remand_ledger::fact::{Artifact, Check, MalformedCause, NoteKind};
use remand_ledger::{Blob, BlobId, Facts};

/// Reads a result. If it is malformed, the prompt of the retry quotes every problem.
pub fn read(
    brief: &Brief<'_>,
    agent_report: &AgentReport,
    after: &TreeId,
    facts: &mut Facts,
    blobs: &mut Vec<Blob>,
) -> Result<Report, Trouble> {
    let limits = ResultLimits::default();
    let site = &brief.job.site;
    // Secrets are removed before anything is read, so no field can contain one.
    let file = read_agent_file(&brief.folder.result(), limits.bytes).map(|bytes| site.blob_of_bytes(&bytes));
    let answer = site.redact(&agent_report.answer);
    if let Some(telemetry) = &mut facts.telemetry {
        // An agent program wraps the answer in other output, so a recording needs the extracted answer.
        let is_blank = |blob: &Blob| blob.bytes.iter().all(u8::is_ascii_whitespace);
        let uses_answer = file.as_ref().is_none_or(is_blank) && !answer.is_empty();
        let answer_blob = uses_answer.then(|| site.blob(&answer));
        telemetry.result = file.as_ref().map(|blob| blob.id);
        telemetry.answer = answer_blob.as_ref().map(|blob| blob.id);
        blobs.extend(file.iter().cloned().chain(answer_blob));
    }
    let raw = RawResult { file: file.map(|blob| blob.bytes), answer };
    let minimum = minimum_length(brief.job, brief.expected.schema);
    if let Some(problem) = remand_contract::too_short(&raw.text(), minimum) {
        return Err(malformed(&[problem], facts));
    }
    let found = remand_contract::find(&raw, &limits).map_err(|problem| malformed(&[problem], facts))?;
    let reading = match remand_contract::read(found.value, &brief.expected, &limits) {
        Ok(reading) => reading,
        Err(Rejection::Failed { summary }) => {
            return Err(Trouble::new(Failure::Crashed, format!("the agent gave up: {summary}")));
        }
        // A security blocker counts even in a malformed result: a retry must not make it disappear.
        Err(Rejection::Malformed { blockers, .. }) if !blockers.is_empty() => {
            let says = brief.expected.says.last().cloned().unwrap_or_default();
            return Ok(Report { says, findings: blockers, ..Report::default() });
        }
        Err(Rejection::Malformed { problems, .. }) => return Err(malformed(&problems, facts)),
    };
    let mut report = Report {
        says: reading.says.clone(),
        findings: reading.findings.clone(),
        approach: reading.approach.clone(),
        flags: reading.flags.clone(),
        risk: reading.risk,
        disputes: !reading.disputes.is_empty(),
        model: Some(model(brief, agent_report)),
        ..Report::default()
    };
    keep_artifacts(brief, &reading, facts, blobs, &mut report);
    keep_lists(brief, &reading, &mut report);
    keep_change(brief, &reading, after, facts, blobs, &mut report)?;
    facts.checks.extend(review_row(brief, &reading));
    facts.checks.extend(criteria_rows(brief, &reading));
    facts.notes.extend(reading.notes.iter().cloned());
    if let Some(telemetry) = &mut facts.telemetry {
        telemetry.status = reading.status.name().to_string();
        telemetry.summary.clone_from(&reading.summary);
    }
    Ok(report)
}

/// The model that did the work. An agent that does not name its model uses the same default for all its dispatches.
fn model(brief: &Brief<'_>, agent_report: &AgentReport) -> String {
    agent_report.model.clone().unwrap_or_else(|| format!("the default of {}", brief.driver.name()))
}

/// The failure of a malformed result. Also records the cause, which decides what help the retry gets.
fn malformed(problems: &[ContractProblem], facts: &mut Facts) -> Trouble {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let detail = lines.join("; ");
    facts.malformed = Some(match Shortfall::of(problems) {
        Shortfall::Missing => MalformedCause::Missing,
        Shortfall::Short => MalformedCause::TooShort,
        Shortfall::NoGap => MalformedCause::UnassignedGap,
        Shortfall::Form => MalformedCause::WrongForm,
    });
    Trouble::new(Failure::Malformed, detail)
}

/// Stores a version of every artifact that the phase writes. The digest depends on the payload alone.
fn keep_artifacts(
    brief: &Brief<'_>,
    reading: &AcceptedResult,
    facts: &mut Facts,
    blobs: &mut Vec<Blob>,
    report: &mut Report,
) {
    let job = brief.job;
    let phase = job.program.phase(job.id.phase);
    let names = phase.writes.iter().map(|id| job.program.artifacts[id.index()].as_str());
    for name in names.filter(|name| !TREES.contains(name)) {
        let blob = job.site.blob(&remand_contract::to_yaml(&reading.value));
        let payload = reading.value.get("payload").unwrap_or(&reading.value);
        let digest = BlobId::of(remand_contract::to_yaml(payload).as_bytes()).digest();
        let part = brief.dispatch.item.clone().unwrap_or_default();
        facts.artifacts.push(Artifact {
            name: name.to_string(),
            part,
            digest,
            blob: blob.id,
            by: brief.title.clone(),
            format: "yaml".to_string(),
        });
        blobs.push(blob);
        report.wrote.push((name.to_string(), digest));
    }
}

fn keep_lists(brief: &Brief<'_>, reading: &AcceptedResult, report: &mut Report) {
    let spec = brief.job.program.contract(brief.dispatch.contract);
    let produces = |name: &str| spec.lists.iter().any(|list| brief.job.program.lists[list.index()] == name);
    report.lists = reading.lists.iter().filter(|(name, _)| produces(name)).cloned().collect();
}

/// Stores the change that the role made to the tree.
fn keep_change(
    brief: &Brief<'_>,
    reading: &AcceptedResult,
    after: &TreeId,
    facts: &mut Facts,
    blobs: &mut Vec<Blob>,
    report: &mut Report,
) -> Result<(), Trouble> {
    let job = brief.job;
    let changes = &job.program.contract(brief.dispatch.contract).changes;
    let phase = job.program.phase(job.id.phase);
    let written: Vec<&str> = phase
        .writes
        .iter()
        .filter(|id| changes.contains(id))
        .map(|id| job.program.artifacts[id.index()].as_str())
        .collect();
    if written.is_empty() {
        return Ok(());
    }
    // Each of these artifacts is the whole tree, which other roles change too: without a change there is no new version.
    let untouched = brief.dispatch.task.is_none() && *after == brief.lane.tree;
    let (unchanged, written): (Vec<&str>, Vec<&str>) =
        written.into_iter().partition(|name| untouched && version(brief, name).is_some());
    report.wrote.extend(unchanged.iter().filter_map(|name| Some((name.to_string(), version(brief, name)?))));
    let base = job.site.repository().tree_of(&brief.lane.base)?;
    let patch = job.site.repository().patch(&base, after)?;
    let digest = match &brief.dispatch.task {
        Some(task) => digest_of_change(task, &patch),
        None => after.digest(),
    };
    job.trees.keep(digest, after, &brief.lane.base)?;
    let mut change = brief.lane.work.change(&brief.lane.tree, after)?;
    for file in change.files.iter_mut().filter(|file| must_be_reverted(brief, &file.path)) {
        // A revert that the engine demands does not count as going in circles.
        file.generated = true;
    }
    let files: Vec<String> = change.files.iter().map(|file| file.path.clone()).collect();
    report.change = Some(Change { hypothesis: reading.hypothesis.clone(), tree: digest, ..change });
    let patch = job.site.blob_of_bytes(&patch);
    for name in written {
        facts.artifacts.push(Artifact {
            name: name.to_string(),
            part: brief.dispatch.task.clone().unwrap_or_default(),
            digest,
            blob: patch.id,
            by: brief.title.clone(),
            format: "patch".to_string(),
        });
        report.wrote.push((name.to_string(), digest));
    }
    blobs.push(patch);
    if files.is_empty() && brief.dispatch.findings.is_empty() {
        facts.notes.push(note(NoteKind::Warning, format!("{} changed no file", brief.title)));
    }
    Ok(())
}

/// The current version of an artifact.
fn version(brief: &Brief<'_>, name: &str) -> Option<Digest> {
    let artifact = brief.job.program.artifact_named(name)?;
    Some(brief.job.state.digest(artifact)).filter(|digest| *digest != Digest::default())
}

/// The digest of a task's change. It does not change when other tasks are merged first.
fn digest_of_change(task: &str, patch: &[u8]) -> Digest {
    BlobId::of(&[task.as_bytes(), b"\0", patch].concat()).digest()
}

/// Whether the dispatch answers a finding of the engine that demands the previous version of this file.
fn must_be_reverted(brief: &Brief<'_>, path: &str) -> bool {
    let answered =
        brief.dispatch.findings.iter().filter_map(|index| brief.job.state.findings.get(*index as usize));
    answered.into_iter().any(|filed| is_about_tests(&filed.finding) && filed.finding.place.file == path)
}

/// A reviewer's verdict as an evidence row.
fn review_row(brief: &Brief<'_>, reading: &AcceptedResult) -> Option<Check> {
    let spec = brief.job.program.contract(brief.dispatch.contract);
    let judges = brief.expected.says.iter().any(|verdict| verdict == "approve");
    if !spec.findings || !judges {
        return None;
    }
    let scope = scope(brief);
    let focus = brief.dispatch.item.as_deref().unwrap_or("general");
    let judged = JudgementRow {
        task: Some(format!("{}-{scope}-review", brief.job.site.opened.slug)),
        name: format!("review-{scope}-{focus}"),
        command: "adversarial-review",
        snippet: &reading.summary,
        passed: brief.expected.says.first() == Some(&reading.says),
    };
    let severity = reading.findings.iter().map(|finding| finding.severity).max();
    Some(Check { verdict: Some(reading.says.clone()), severity, ..judged.row(brief) })
}

/// An agent's judgement, to be recorded as an evidence row.
struct JudgementRow<'j> {
    task: Option<String>,
    name: String,
    command: &'static str,
    snippet: &'j str,
    passed: bool,
}

impl JudgementRow<'_> {
    fn row(self, brief: &Brief<'_>) -> Check {
        let end = if self.passed { CheckEnd::Passed } else { CheckEnd::Failed };
        let result = CheckResult {
            tool: brief.title.clone(),
            command: Some(self.command.to_string()),
            snippet: self.snippet.chars().take(500).collect(),
            ..CheckResult::of_engine(&self.name, None, end, String::new())
        };
        let (phase, round) = (RowPhase::Review, brief.round);
        Occasion { task: self.task, phase, round, iteration: round }.fact(&result)
    }
}

/// The scope of a review: the code, or the first document that the phase reads.
fn scope(brief: &Brief<'_>) -> String {
    let reads = &brief.job.program.phase(brief.job.id.phase).reads;
    let names: Vec<&str> = reads.iter().map(|id| brief.job.program.artifacts[id.index()].as_str()).collect();
    let scope = if names.contains(&"code") { "code" } else { names.first().copied().unwrap_or("work") };
    scope.to_string()
}

/// An agent's judgement of acceptance criteria: recorded, and never counted as checks.
fn criteria_rows(brief: &Brief<'_>, reading: &AcceptedResult) -> Vec<Check> {
    reading
        .criteria
        .iter()
        .map(|judged| {
            let row = JudgementRow {
                task: brief.dispatch.task.clone(),
                name: format!("criterion-{}", judged.criterion),
                command: "acceptance-criteria",
                snippet: &proof(judged),
                passed: judged.met,
            };
            Check { severity: (!judged.met).then_some(Severity::Major), ..row.row(brief) }
        })
        .collect()
}

fn proof(judged: &CriterionJudgement) -> String {
    match &judged.proof {
        Some(Proof::Row(row)) => format!("by row {row}"),
        Some(Proof::Place(place)) if place.line > 0 => format!("at {}:{}", place.file, place.line),
        Some(Proof::Place(place)) => format!("at {} {}", place.file, place.symbol),
        None => "no proof given".to_string(),
    }
}
