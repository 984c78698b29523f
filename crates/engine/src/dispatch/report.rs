//! Turns an agent's output into a report: finds the result, validates it against the contract and stores it.

use super::{Prepared, minimum_length, note};
use crate::artifacts;
use crate::outputs::{self, OutputDocument, ReviewSubject};
use crate::site::{TREES, Trouble};
use remand_agents::driver::{AgentReport, read_agent_file};
use remand_checks::{CheckEnd, CheckResult, Occasion, is_about_tests};
use remand_contract::{
    AcceptedResult, ContractProblem, RawResult, Rejection, ResultLimits, SchemaId, Shortfall,
};
use remand_git::TreeId;
use remand_kernel::Report;
use remand_kernel::change::{Change, Digest};
use remand_kernel::criteria::{CriterionJudgement, Proof};
use remand_kernel::evidence::RowPhase;
use remand_kernel::finding::Severity;
use remand_kernel::program::Work;
use remand_kernel::signal::Failure;
use remand_ledger::fact::{Artifact, Check, MalformedCause, Note, NoteKind};
use remand_ledger::{Blob, BlobId, Facts};

/// Reads a result. If it is malformed, the prompt of the retry quotes every problem.
pub fn read(
    prepared: &Prepared<'_>,
    agent_report: &AgentReport,
    after: &TreeId,
    facts: &mut Facts,
    blobs: &mut Vec<Blob>,
) -> Result<Report, Trouble> {
    let limits = ResultLimits::default();
    let site = &prepared.job.site;
    // Secrets are removed before anything is read, so no field can contain one.
    let file =
        read_agent_file(&prepared.folder.result(), limits.bytes).map(|bytes| site.blob_of_bytes(&bytes));
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
    let minimum = minimum_length(prepared.job, prepared.expected.schema);
    if let Some(problem) = remand_contract::too_short(&raw.text(), minimum) {
        return Err(malformed(&[problem], facts));
    }
    let found = remand_contract::find(&raw, &limits).map_err(|problem| malformed(&[problem], facts))?;
    let reading = match remand_contract::read(found.value, &prepared.expected, &limits) {
        Ok(reading) => reading,
        Err(Rejection::Failed { summary }) => {
            return Err(Trouble::new(Failure::Crashed, format!("the agent gave up: {summary}")));
        }
        // A security blocker counts even in a malformed result: a retry must not make it disappear.
        Err(Rejection::Malformed { blockers, .. }) if !blockers.is_empty() => {
            let says = prepared.expected.says.last().cloned().unwrap_or_default();
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
        model: Some(model(prepared, agent_report)),
        ..Report::default()
    };
    keep_artifacts(prepared, &reading, facts, blobs, &mut report);
    keep_lists(prepared, &reading, &mut report);
    keep_change(prepared, &reading, after, facts, blobs, &mut report)?;
    facts.checks.extend(review_row(prepared, &reading));
    facts.checks.extend(criteria_rows(prepared, &reading));
    keep_documents(prepared, &reading, &model(prepared, agent_report), facts, blobs)?;
    facts.notes.extend(reading.notes.iter().cloned().map(|note| with_decider(note, &prepared.title)));
    if prepared.expected.schema == SchemaId::PlanOutput {
        let reader = site.reader()?;
        let documents = artifacts::parsed(&reader.artifacts(&site.run)?, &reader)?;
        facts.notes.extend(outputs::planned_decisions(&reading.tasks, &documents));
    }
    if let Some(telemetry) = &mut facts.telemetry {
        telemetry.status = reading.status.name().to_string();
        telemetry.summary.clone_from(&reading.summary);
    }
    Ok(report)
}

/// The model that did the work. An agent that does not name its model uses the same default for all its dispatches.
fn model(prepared: &Prepared<'_>, agent_report: &AgentReport) -> String {
    agent_report.model.clone().unwrap_or_else(|| format!("the default of {}", prepared.driver.name()))
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
    prepared: &Prepared<'_>,
    reading: &AcceptedResult,
    facts: &mut Facts,
    blobs: &mut Vec<Blob>,
    report: &mut Report,
) {
    let job = prepared.job;
    let phase = job.program.phase(job.id.phase);
    let names = phase.writes.iter().map(|id| job.program.artifacts[id.index()].as_str());
    for name in names.filter(|name| !TREES.contains(name)) {
        let blob = job.site.blob(&remand_contract::to_yaml(&reading.value));
        let payload = reading.value.get("payload").unwrap_or(&reading.value);
        let digest = BlobId::of(remand_contract::to_yaml(payload).as_bytes()).digest();
        let part = prepared.dispatch.item.clone().unwrap_or_default();
        facts.artifacts.push(Artifact {
            name: name.to_string(),
            part,
            digest,
            blob: blob.id,
            by: prepared.title.clone(),
            format: "yaml".to_string(),
        });
        blobs.push(blob);
        report.wrote.push((name.to_string(), digest));
    }
}

/// Stores the documents about a result that is not an artifact.
fn keep_documents(
    prepared: &Prepared<'_>,
    reading: &AcceptedResult,
    model: &str,
    facts: &mut Facts,
    blobs: &mut Vec<Blob>,
) -> Result<(), Trouble> {
    let (job, schema) = (prepared.job, prepared.expected.schema);
    let phase = job.program.phase(job.id.phase);
    let writes_document =
        phase.writes.iter().any(|id| !TREES.contains(&job.program.artifacts[id.index()].as_str()));
    let mut documents = Vec::new();
    if let Some(subject) = review_subject(prepared) {
        documents.extend(outputs::review(schema, reading, &subject, prepared.round, model));
    } else if !writes_document {
        let task = prepared.dispatch.task.as_deref();
        let gate = match schema {
            SchemaId::VerificationReport => {
                let slug = &job.site.opened.slug;
                Some(outputs::evidence_gate(&job.site.reader()?, &job.site.run, slug, task)?)
            }
            _ => None,
        };
        let part = task.or(prepared.dispatch.item.as_deref()).unwrap_or(&phase.name);
        documents.extend(outputs::report(schema, reading, part, gate));
    }
    for OutputDocument { name, part, format, text } in documents {
        let blob = job.site.blob(&text);
        facts.artifacts.push(Artifact {
            name: name.to_string(),
            part,
            digest: blob.id.digest(),
            blob: blob.id,
            by: prepared.title.clone(),
            format: format.to_string(),
        });
        blobs.push(blob);
    }
    Ok(())
}

/// The note. If its decision does not name who decided, the role is named.
fn with_decider(mut note: Note, role: &str) -> Note {
    if let Some(decision) = note.decision.as_mut().filter(|decision| decision.decided_by.is_empty()) {
        decision.decided_by = role.to_string();
    }
    note
}

fn keep_lists(prepared: &Prepared<'_>, reading: &AcceptedResult, report: &mut Report) {
    let spec = prepared.job.program.contract(prepared.dispatch.contract);
    let produces =
        |name: &str| spec.lists.iter().any(|list| prepared.job.program.lists[list.index()] == name);
    report.lists = reading.lists.iter().filter(|(name, _)| produces(name)).cloned().collect();
}

/// Stores the change that the role made to the tree.
fn keep_change(
    prepared: &Prepared<'_>,
    reading: &AcceptedResult,
    after: &TreeId,
    facts: &mut Facts,
    blobs: &mut Vec<Blob>,
    report: &mut Report,
) -> Result<(), Trouble> {
    let job = prepared.job;
    let changes = &job.program.contract(prepared.dispatch.contract).changes;
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
    let untouched = prepared.dispatch.task.is_none() && *after == prepared.lane.tree;
    let (unchanged, written): (Vec<&str>, Vec<&str>) =
        written.into_iter().partition(|name| untouched && version(prepared, name).is_some());
    report
        .wrote
        .extend(unchanged.iter().filter_map(|name| Some((name.to_string(), version(prepared, name)?))));
    let base = job.site.repository().tree_of(&prepared.lane.base)?;
    let patch = job.site.repository().patch(&base, after)?;
    let digest = match &prepared.dispatch.task {
        Some(task) => digest_of_change(task, &patch),
        None => after.digest(),
    };
    job.trees.keep(digest, after, &prepared.lane.base)?;
    let mut change = prepared.lane.work.change(&prepared.lane.tree, after)?;
    for file in change.files.iter_mut().filter(|file| must_be_reverted(prepared, &file.path)) {
        // A revert that the engine demands does not count as going in circles.
        file.generated = true;
    }
    let files: Vec<String> = change.files.iter().map(|file| file.path.clone()).collect();
    report.change = Some(Change { hypothesis: reading.hypothesis.clone(), tree: digest, ..change });
    let patch = job.site.blob_of_bytes(&patch);
    for name in written {
        facts.artifacts.push(Artifact {
            name: name.to_string(),
            part: prepared.dispatch.task.clone().unwrap_or_default(),
            digest,
            blob: patch.id,
            by: prepared.title.clone(),
            format: "patch".to_string(),
        });
        report.wrote.push((name.to_string(), digest));
    }
    blobs.push(patch);
    if files.is_empty() && prepared.dispatch.findings.is_empty() {
        facts.notes.push(note(NoteKind::Warning, format!("{} changed no file", prepared.title)));
    }
    Ok(())
}

/// The current version of an artifact.
fn version(prepared: &Prepared<'_>, name: &str) -> Option<Digest> {
    let artifact = prepared.job.program.artifact_named(name)?;
    Some(prepared.job.state.digest(artifact)).filter(|digest| *digest != Digest::default())
}

/// The digest of a task's change. It does not change when other tasks are merged first.
fn digest_of_change(task: &str, patch: &[u8]) -> Digest {
    BlobId::of(&[task.as_bytes(), b"\0", patch].concat()).digest()
}

/// Whether the dispatch answers a finding of the engine that demands the previous version of this file.
fn must_be_reverted(prepared: &Prepared<'_>, path: &str) -> bool {
    let answered = prepared
        .dispatch
        .findings
        .iter()
        .filter_map(|index| prepared.job.state.findings.get(*index as usize));
    // A reviewer chooses the ids of its findings, so an id alone does not show who found it.
    let is_of_engine = |phase| matches!(prepared.job.program.phase(phase).work, Work::Operation { .. });
    answered.into_iter().any(|filed| {
        is_of_engine(filed.phase) && is_about_tests(&filed.finding) && filed.finding.place.file == path
    })
}

/// A reviewer's verdict as an evidence row.
fn review_row(prepared: &Prepared<'_>, reading: &AcceptedResult) -> Option<Check> {
    let ReviewSubject { scope, focus } = review_subject(prepared)?;
    let judged = JudgementRow {
        task: Some(format!("{}-{scope}-review", prepared.job.site.opened.slug)),
        name: format!("review-{scope}-{focus}"),
        command: "adversarial-review",
        snippet: &reading.summary,
        passed: prepared.expected.says.first() == Some(&reading.says),
    };
    let severity = reading.findings.iter().map(|finding| finding.severity).max();
    Some(Check { verdict: Some(reading.says.clone()), severity, ..judged.row(prepared) })
}

/// The subject of a review; `None` if the dispatch is not a review.
fn review_subject(prepared: &Prepared<'_>) -> Option<ReviewSubject> {
    let spec = prepared.job.program.contract(prepared.dispatch.contract);
    let judges = prepared.expected.says.iter().any(|verdict| verdict == "approve");
    let focus = prepared.dispatch.item.as_deref().unwrap_or("general").to_string();
    (spec.findings && judges).then(|| ReviewSubject { scope: scope(prepared), focus })
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
    fn row(self, prepared: &Prepared<'_>) -> Check {
        let end = if self.passed { CheckEnd::Passed } else { CheckEnd::Failed };
        let result = CheckResult {
            tool: prepared.title.clone(),
            command: Some(self.command.to_string()),
            snippet: self.snippet.chars().take(500).collect(),
            ..CheckResult::of_engine(&self.name, None, end, String::new())
        };
        let (phase, round) = (RowPhase::Review, prepared.round);
        Occasion { task: self.task, phase, round, iteration: round }.fact(&result)
    }
}

/// The scope of a review: the code, or the first document that the phase reads.
fn scope(prepared: &Prepared<'_>) -> String {
    let reads = &prepared.job.program.phase(prepared.job.id.phase).reads;
    let names: Vec<&str> =
        reads.iter().map(|id| prepared.job.program.artifacts[id.index()].as_str()).collect();
    let scope = if names.contains(&"code") { "code" } else { names.first().copied().unwrap_or("work") };
    scope.to_string()
}

/// An agent's judgement of acceptance criteria: recorded, and never counted as checks.
fn criteria_rows(prepared: &Prepared<'_>, reading: &AcceptedResult) -> Vec<Check> {
    reading
        .criteria
        .iter()
        .map(|judged| {
            let row = JudgementRow {
                task: prepared.dispatch.task.clone(),
                name: format!("criterion-{}", judged.criterion),
                command: "acceptance-criteria",
                snippet: &proof(judged),
                passed: judged.met,
            };
            Check { severity: (!judged.met).then_some(Severity::Major), ..row.row(prepared) }
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
