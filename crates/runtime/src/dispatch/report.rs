//! From an agent's words to a report: found, validated against the contract, kept, and told to the kernel.

use super::{Brief, least, note};
use crate::checks::is_about_tests;
use crate::contract::{self, Limits, RawResult, Reading, Unread};
use crate::driver::{Heard, left_by_agent};
use crate::git::TreeId;
use crate::workshop::{TREES, Trouble};
use remand_kernel::Report;
use remand_kernel::change::{Change, Digest};
use remand_kernel::criteria::{CriterionJudgement, Proof};
use remand_kernel::evidence::RowPhase;
use remand_kernel::finding::Severity;
use remand_kernel::signal::Failure;
use remand_ledger::fact::{Artifact, Check, NoteKind};
use remand_ledger::{Blob, BlobId, Facts};

/// Reads a result. What is wrong with it goes back word for word in the retry.
pub fn read(
    brief: &Brief<'_>,
    heard: &Heard,
    after: &TreeId,
    facts: &mut Facts,
    blobs: &mut Vec<Blob>,
) -> Result<Report, Trouble> {
    let limits = Limits::default();
    let site = &brief.job.site;
    // Secrets are taken out before anything is read, so that no field carries one on (EP-30).
    let file = left_by_agent(&brief.folder.result(), limits.bytes).map(|bytes| site.blob_of_bytes(&bytes));
    let answer = site.redact(&heard.answer);
    if let Some(telemetry) = &mut facts.telemetry {
        // Where the words of an agent are wrapped in lines of its program, only what was heard can be played again.
        let is_blank = |blob: &Blob| blob.bytes.iter().all(u8::is_ascii_whitespace);
        let counts = file.as_ref().is_none_or(is_blank) && !answer.is_empty();
        let spoken = counts.then(|| site.blob(&answer));
        telemetry.result = file.as_ref().map(|blob| blob.id);
        telemetry.answer = spoken.as_ref().map(|blob| blob.id);
        blobs.extend(file.iter().cloned().chain(spoken));
    }
    let raw = RawResult { file: file.map(|blob| blob.bytes), answer };
    if let Some(problem) = contract::too_short(&raw.words(), least(brief.job, brief.expected.schema)) {
        return Err(Trouble::new(Failure::Malformed, told(&[problem])));
    }
    let found = contract::find(&raw, &limits)
        .map_err(|problem| Trouble::new(Failure::Malformed, told(&[problem])))?;
    let reading = match contract::read(found.value, &brief.expected, &limits) {
        Ok(reading) => reading,
        Err(Unread::Failed { summary }) => {
            return Err(Trouble::new(Failure::Crashed, format!("it gave up: {summary}")));
        }
        // A security blocker counts whatever else is wrong with the result: a retry must not make it vanish.
        Err(Unread::Malformed { blockers, .. }) if !blockers.is_empty() => {
            let says = brief.expected.says.last().cloned().unwrap_or_default();
            return Ok(Report { says, findings: blockers, ..Report::default() });
        }
        Err(Unread::Malformed { problems, .. }) => {
            return Err(Trouble::new(Failure::Malformed, told(&problems)));
        }
    };
    let mut report = Report {
        says: reading.says.clone(),
        findings: reading.findings.clone(),
        approach: reading.approach.clone(),
        flags: reading.flags.clone(),
        risk: reading.risk,
        disputes: !reading.disputes.is_empty(),
        model: Some(model(brief, heard)),
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

/// The model that did the work. An agent that names none has a default one, which is the same for all its dispatches.
fn model(brief: &Brief<'_>, heard: &Heard) -> String {
    heard.model.clone().unwrap_or_else(|| format!("the default of {}", brief.driver.name()))
}

fn told(problems: &[contract::Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(|problem| problem.to_string()).collect();
    lines.join("; ")
}

/// Every version of what the phase writes is kept; its identity is its content, not when it was written.
fn keep_artifacts(
    brief: &Brief<'_>,
    reading: &Reading,
    facts: &mut Facts,
    blobs: &mut Vec<Blob>,
    report: &mut Report,
) {
    let job = brief.job;
    let phase = job.program.phase(job.id.phase);
    let names = phase.writes.iter().map(|id| job.program.artifacts[id.index()].as_str());
    for name in names.filter(|name| !TREES.contains(name)) {
        let blob = job.site.blob(&contract::to_yaml(&reading.value));
        let payload = reading.value.get("payload").unwrap_or(&reading.value);
        let digest = BlobId::of(contract::to_yaml(payload).as_bytes()).digest();
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

fn keep_lists(brief: &Brief<'_>, reading: &Reading, report: &mut Report) {
    let spec = brief.job.program.contract(brief.dispatch.contract);
    let brings = |name: &str| spec.lists.iter().any(|list| brief.job.program.lists[list.index()] == name);
    report.lists = reading.lists.iter().filter(|(name, _)| brings(name)).cloned().collect();
}

/// What a role that changes a tree did to it.
fn keep_change(
    brief: &Brief<'_>,
    reading: &Reading,
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
    // Each of these artifacts is the whole tree, which others change too: whoever left it alone wrote nothing new.
    let untouched = brief.dispatch.task.is_none() && *after == brief.lane.tree;
    let (stands, written): (Vec<&str>, Vec<&str>) =
        written.into_iter().partition(|name| untouched && version(brief, name).is_some());
    report.wrote.extend(stands.iter().filter_map(|name| Some((name.to_string(), version(brief, name)?))));
    let base = job.site.repository().tree_of(&brief.lane.base)?;
    let patch = job.site.repository().patch(&base, after)?;
    let digest = match &brief.dispatch.task {
        Some(task) => digest_of_change(task, &patch),
        None => after.digest(),
    };
    job.trees.keep(digest, after, &brief.lane.base)?;
    let mut change = brief.lane.work.change(&brief.lane.tree, after)?;
    for file in change.files.iter_mut().filter(|file| is_asked_back(brief, &file.path)) {
        // Undoing what the engine itself wants undone says nothing about an agent going in circles.
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

/// The version of an artifact that the run has, if any.
fn version(brief: &Brief<'_>, name: &str) -> Option<Digest> {
    let artifact = brief.job.program.artifact_named(name)?;
    Some(brief.job.state.digest(artifact)).filter(|digest| *digest != Digest::default())
}

/// What a task changed is the same change whatever others have merged below it meanwhile.
fn digest_of_change(task: &str, patch: &[u8]) -> Digest {
    BlobId::of(&[task.as_bytes(), b"\0", patch].concat()).digest()
}

/// Whether a finding of the engine that this dispatch answers wants a file as it was before.
fn is_asked_back(brief: &Brief<'_>, path: &str) -> bool {
    let answered = brief.dispatch.findings.iter().filter_map(|at| brief.job.state.findings.get(*at as usize));
    answered.into_iter().any(|filed| is_about_tests(&filed.finding) && filed.finding.place.file == path)
}

/// A reviewer's verdict as a row of evidence (EP-17).
fn review_row(brief: &Brief<'_>, reading: &Reading) -> Option<Check> {
    let spec = brief.job.program.contract(brief.dispatch.contract);
    let judges = brief.expected.says.iter().any(|verdict| verdict == "approve");
    if !spec.findings || !judges {
        return None;
    }
    let scope = scope(brief);
    let focus = brief.dispatch.item.as_deref().unwrap_or("general");
    Some(Check {
        task: Some(format!("{}-{scope}-review", brief.job.site.opened.slug)),
        phase: RowPhase::Review,
        name: format!("review-{scope}-{focus}"),
        tool: brief.title.clone(),
        command: Some("adversarial-review".to_string()),
        exit_code: None,
        snippet: reading.summary.chars().take(500).collect(),
        output: None,
        passed: brief.expected.says.first() == Some(&reading.says),
        verdict: Some(reading.says.clone()),
        severity: reading.findings.iter().map(|finding| finding.severity).max(),
        round: brief.round,
        tier: None,
        iteration: brief.round,
        collected: None,
        duration_ms: 0,
        reason: String::new(),
        tests: None,
        reuse: None,
    })
}

/// What a reviewer looks at: the code, or the first document that it reads.
fn scope(brief: &Brief<'_>) -> String {
    let reads = &brief.job.program.phase(brief.job.id.phase).reads;
    let names: Vec<&str> = reads.iter().map(|id| brief.job.program.artifacts[id.index()].as_str()).collect();
    let scope = if names.contains(&"code") { "code" } else { names.first().copied().unwrap_or("work") };
    scope.to_string()
}

/// Acceptance criteria as an agent judges them: recorded, and never counted as checks (EP-33).
fn criteria_rows(brief: &Brief<'_>, reading: &Reading) -> Vec<Check> {
    reading
        .criteria
        .iter()
        .map(|judged| Check {
            task: brief.dispatch.task.clone(),
            phase: RowPhase::Review,
            name: format!("criterion-{}", judged.criterion),
            tool: brief.title.clone(),
            command: Some("acceptance-criteria".to_string()),
            exit_code: None,
            snippet: proof(judged).chars().take(500).collect(),
            output: None,
            passed: judged.met,
            verdict: None,
            severity: (!judged.met).then_some(Severity::Major),
            round: brief.round,
            tier: None,
            iteration: brief.round,
            collected: None,
            duration_ms: 0,
            reason: String::new(),
            tests: None,
            reuse: None,
        })
        .collect()
}

fn proof(judged: &CriterionJudgement) -> String {
    match &judged.proof {
        Some(Proof::Row(row)) => format!("by row {row}"),
        Some(Proof::Place(place)) if place.line > 0 => format!("at {}:{}", place.file, place.line),
        Some(Proof::Place(place)) => format!("at {} {}", place.file, place.symbol),
        None => "no proof named".to_string(),
    }
}
