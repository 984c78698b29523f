//! `close-issue`: ticks criteria, sets the status, files follow-ups, commits the tracker, and writes the summary.

use super::super::Done;
use super::super::planned::last_test_report;
use super::drafts::FollowUp;
use super::run_tracker::{RunTracker, issues_of_other_runs};
use super::summary::{self, Closing};
use crate::artifacts::{content, document};
use crate::site::{Job, Trouble};
use crate::tracker::{Edit, IdRequest, reserve_ids};
use remand_contract::{Expectation, ResultLimits, SchemaId};
use remand_documents::tracker::{IssueDraft, IssueKey, Tracker, TrackerStatus};
use remand_git::CommitMessage;
use remand_kernel::change::Digest;
use remand_kernel::criteria::{
    self, AcceptanceCriterion, CriteriaError, CriterionJudgement, Handover, IssueStatus, KnownEvidence,
    Settlement,
};
use remand_kernel::evidence::RowPhase;
use remand_kernel::finding::{Finding, FindingKind};
use remand_kernel::state::{Filed, FiledStatus};
use remand_ledger::Reader;
use remand_ledger::fact::NoteKind;
use remand_ledger::query::{CheckFilter, DispatchRow};
use std::collections::BTreeSet;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let reader = job.site.reader()?;
    let mut run_tracker = RunTracker::of(job)?;
    let mut done = Done::with_signal("closed");
    let files = changed_files(job)?;
    let tracker = run_tracker.tracker();
    let settlement = settle(job, &reader, &run_tracker.issue, &tracker, &files)?;
    for refused in &settlement.refused {
        done.note(NoteKind::Warning, refused.clone());
    }
    let ticks = settlement.ticked.iter().cloned();
    let ticks = ticks.map(|criterion| Edit::Tick { issue: run_tracker.issue.clone(), criterion });
    run_tracker.record.edits.extend(ticks);
    let drafts = follow_ups(job, &reader, &run_tracker, &settlement, &files)?;
    if !drafts.is_empty() {
        run_tracker.add(Edit::FollowUp { drafts });
    }
    let others = issues_of_other_runs(job, &reader)?;
    if settlement.status == IssueStatus::Done {
        run_tracker.add(Edit::Move {
            issue: run_tracker.issue.clone(),
            to: TrackerStatus::Done,
            others: others.clone(),
        });
        run_tracker.add(Edit::SettleParent { of: run_tracker.issue.clone(), others });
    }
    run_tracker.save(job, &mut done)?;
    let commit = commit(job, &run_tracker)?;
    done.note(NoteKind::Decision, format!("the tracker is committed as {commit} on {}", job.trees.branch()));
    let closing = Closing { run_tracker: &run_tracker, refused: &settlement.refused, files: &files };
    done.add_artifact(job, summary::NAME, "md", &summary::summarize_closed(job, &reader, &closing)?);
    Ok(done)
}

/// Commits all changes to the tracker on top of the work.
fn commit(job: &Job, run_tracker: &RunTracker) -> Result<String, Trouble> {
    let tracker = run_tracker.tracker();
    let status = tracker
        .issue(&run_tracker.issue)
        .and_then(|issue| issue.status())
        .unwrap_or(TrackerStatus::InProgress);
    let filed: Vec<String> = run_tracker
        .record
        .split()
        .into_iter()
        .chain(run_tracker.record.follow_ups())
        .map(|draft| draft.id.to_string())
        .collect();
    let filed = if filed.is_empty() { String::new() } else { format!(", {} filed", filed.join(" ")) };
    let message = CommitMessage {
        subject: format!("chore(todo): {} is {status}{filed}", run_tracker.issue),
        body: String::new(),
        trailers: vec![("Remand-Workflow".to_string(), job.program.name.clone())],
    };
    let trees = &job.trees;
    let command = job.id.to_string();
    if let Some(made) = trees.commit_of_command(&command)? {
        return Ok(made.to_string());
    }
    let tree = trees.with_files(&trees.tip()?.tree, &run_tracker.files())?;
    Ok(trees.commit_on_branch(&tree, &message, &command)?.to_string())
}

/// The files that the run's work changes.
fn changed_files(job: &Job) -> Result<BTreeSet<String>, Trouble> {
    let (base, work) = (job.trees.base_tree()?, crate::site::LaneContent::of(job)?.tree);
    let changes = job.site.repository().changed(&base, &work)?;
    Ok(changes.into_iter().map(|change| change.path.display().to_string()).collect())
}

/// Decides which criteria are met. The last review must say so and point to an evidence row or a location in the diff. A
/// criterion that sub-issues cover is met when they are done.
fn settle(
    job: &Job,
    reader: &Reader,
    id: &IssueKey,
    tracker: &Tracker,
    files: &BTreeSet<String>,
) -> Result<Settlement, Trouble> {
    let issue = tracker.issue(id);
    let criteria: Vec<AcceptanceCriterion> = issue
        .map(|issue| issue.criteria())
        .unwrap_or_default()
        .into_iter()
        .map(|criterion| AcceptanceCriterion {
            id: criterion.id,
            text: criterion.text,
            ticked: criterion.ticked,
        })
        .collect();
    let handovers: Vec<Handover> = tracker
        .children(id)
        .flat_map(|child| {
            let done = child.status() == Some(TrackerStatus::Done);
            let covers = child
                .covers()
                .into_iter()
                .filter(|covered| criteria.iter().any(|criterion| criterion.id == *covered));
            covers
                .map(|criterion| Handover {
                    criterion: criterion.to_string(),
                    issue: child.id().to_string(),
                    done,
                })
                .collect::<Vec<_>>()
        })
        .collect();
    let rows = reader.checks(&job.site.run, CheckFilter::default())?;
    let passing = rows.iter().filter(|row| row.passed && !row.superseded && row.phase == RowPhase::After);
    let known = KnownEvidence {
        rows: passing.flat_map(|row| [row.name.clone(), row.seq.to_string()]).collect(),
        files: files.clone(),
    };
    let mut settlement = criteria::settle(&criteria, &judgements(job, reader)?, &handovers, &known)?;
    let open = tracker.children(id).filter(|child| child.status() != Some(TrackerStatus::Done));
    let open: Vec<String> = open.map(|child| child.id().to_string()).collect();
    if criteria.is_empty() && !open.is_empty() {
        settlement.status = IssueStatus::InProgress;
        settlement
            .refused
            .push(format!("{id} has no criteria, so it stays open until {} are done", open.join(", ")));
    }
    Ok(settlement)
}

/// How the last review of the code judges the criteria. Empty if the code has changed since.
fn judgements(job: &Job, reader: &Reader) -> Result<Vec<CriterionJudgement>, Trouble> {
    let rows = reader.dispatches(&job.site.run)?;
    let reviews: Vec<&DispatchRow> = rows.iter().filter(|row| is_review_of_code(job, row)).collect();
    let Some(last) = reviews.last() else {
        return Ok(Vec::new());
    };
    if last.seq < last_change_of_code(job, reader)? {
        return Ok(Vec::new());
    }
    let is_in_last_review = |row: &&&DispatchRow| (&row.phase, row.visit) == (&last.phase, last.visit);
    let judgements = reviews.iter().filter(is_in_last_review).map(|row| judgements_in(job, reader, row));
    Ok(judgements.collect::<Result<Vec<_>, _>>()?.concat())
}

fn is_review_of_code(job: &Job, row: &DispatchRow) -> bool {
    let code = job.program.artifact_named("code");
    let phase = job.program.phase_named(&row.phase).map(|id| job.program.phase(id));
    let reviews_code = phase.zip(code).is_some_and(|(phase, code)| {
        let reports = phase.contracts().iter().any(|id| job.program.contract(*id).findings);
        reports && phase.reads.contains(&code) && !phase.writes.contains(&code)
    });
    reviews_code && !row.advisory && row.says.is_some()
}

/// The number of the event that last changed the code.
fn last_change_of_code(job: &Job, reader: &Reader) -> Result<u64, Trouble> {
    let mut versions = reader.artifact_versions(&job.site.run, "code")?;
    versions.sort_by_key(|version| version.seq);
    let mut chunks = versions.chunk_by(|before, after| before.digest == after.digest);
    Ok(chunks.next_back().and_then(|same| same.first()).map_or(0, |version| version.seq))
}

fn judgements_in(job: &Job, reader: &Reader, row: &DispatchRow) -> Result<Vec<CriterionJudgement>, Trouble> {
    let contract = job.program.contracts.iter().find(|contract| contract.title() == row.role);
    let schema = job.site.pinned.roles.get(&row.role).and_then(|role| role.result.parse::<SchemaId>().ok());
    let (Some(contract), Some(schema), Some(result)) = (contract, schema, row.result) else {
        return Ok(Vec::new());
    };
    let Some(value) = document(&content(reader, result)?) else {
        return Ok(Vec::new());
    };
    let verdicts: Vec<&str> = contract.says.iter().map(|id| job.program.signal(*id)).collect();
    let expected = Expectation::new(schema, &row.role, &row.phase, &verdicts);
    let reading = remand_contract::read(value, &expected, &ResultLimits::default());
    Ok(reading.map(|reading| reading.criteria).unwrap_or_default())
}

/// The issues that are filed at the end: older bugs, checks that failed before the run, unresolved blockers, missing test
/// seams, and uncovered criteria. Advice is never filed.
fn follow_ups(
    job: &Job,
    reader: &Reader,
    run_tracker: &RunTracker,
    settlement: &Settlement,
    files: &BTreeSet<String>,
) -> Result<Vec<IssueDraft>, Trouble> {
    let mut follow_ups: Vec<FollowUp> =
        older_bugs(job, files).map(|finding| FollowUp::from_finding(finding, "bug")).collect();
    follow_ups.extend(failing_before(job, reader)?);
    let known = job.state.known.iter().filter_map(|at| job.state.findings.get(*at as usize));
    let blockers = known.filter(|filed| filed.status == FiledStatus::Open && !is_older(job, files, filed));
    follow_ups.extend(blockers.map(|filed| FollowUp::from_finding(&filed.finding, "followup")));
    follow_ups.extend(missing_seams(job, reader)?);
    follow_ups.extend(settlement.follow_ups.iter().map(|criterion| FollowUp {
        title: super::drafts::shorten(&format!("Meet {}", criterion.text)),
        label: "followup",
        about: format!("An unmet criterion of {} that no sub-issue covers.", run_tracker.issue),
        criterion: criterion.text.clone(),
        covers: vec![criterion.id.clone()],
    }));
    // A reviewer may report a defect in every round, and an earlier run may have filed the same failing check.
    let tracker = run_tracker.tracker();
    let mut titles: BTreeSet<String> = tracker
        .issues()
        .filter(|issue| issue.status() != Some(TrackerStatus::Done))
        .map(|issue| issue.title().to_lowercase())
        .collect();
    follow_ups.retain(|follow_up| titles.insert(follow_up.title.to_lowercase()));
    let holder = format!("{}/{}", job.site.run, job.id);
    let request = IdRequest { prefix: run_tracker.issue.prefix(), holder: &holder, count: follow_ups.len() };
    let ids = reserve_ids(job.site.repository(), job.site.store(), &run_tracker.base, request)?;
    Ok(follow_ups
        .iter()
        .zip(ids)
        .map(|(follow_up, id)| follow_up.draft(job, &run_tracker.issue, id))
        .collect())
}

/// Findings about code that the run did not touch.
fn older_bugs<'j>(job: &'j Job, files: &'j BTreeSet<String>) -> impl Iterator<Item = &'j Finding> {
    job.state.findings.iter().filter(|filed| is_older(job, files, filed)).map(|filed| &filed.finding)
}

fn is_older(job: &Job, files: &BTreeSet<String>, filed: &Filed) -> bool {
    let code = job.program.artifact_named("code");
    let reads_code = code.is_some_and(|code| job.program.phase(filed.phase).reads.contains(&code));
    let is_unresolved = matches!(filed.status, FiledStatus::FollowUp | FiledStatus::Open);
    let is_about_code = matches!(filed.finding.kind, Some(FindingKind::Production) | None);
    let file = &filed.finding.place.file;
    reads_code && is_unresolved && is_about_code && !file.is_empty() && !files.contains(file)
}

/// Checks that failed before any change.
fn failing_before(job: &Job, reader: &Reader) -> Result<Vec<FollowUp>, Trouble> {
    let rows = reader.checks(&job.site.run, CheckFilter { task: None, phase: Some(RowPhase::Baseline) })?;
    let failed = rows.into_iter().filter(|row| !row.passed && row.exit_code.is_some());
    let follow_ups = failed.map(|row| FollowUp {
        title: format!("`{}` fails", row.name),
        label: "bug",
        about: format!("It failed before the run changed anything.\n\n```\n{}\n```", row.snippet.trim()),
        criterion: format!("`{}` passes.", row.name),
        covers: Vec::new(),
    });
    Ok(follow_ups.collect())
}

/// Test seams that the author of the tests found missing, so the task could not be tested.
fn missing_seams(job: &Job, reader: &Reader) -> Result<Vec<FollowUp>, Trouble> {
    let manifest = job.program.artifact_named("manifest").map(|id| job.state.digest(id));
    if manifest.is_none_or(|manifest| manifest == Digest::default()) {
        return Ok(Vec::new());
    }
    let report = last_test_report(job, reader)?;
    let open = report.map(|report| report.open).unwrap_or_default();
    let follow_ups = open.iter().filter(|text| !text.trim().is_empty()).map(|text| FollowUp {
        title: super::drafts::shorten(text),
        label: "tech-debt",
        about: format!(
            "{}\n\nThe behaviour could not be tested when it was written. This makes it testable.",
            text.trim()
        ),
        criterion: "A test uses the seam, and fails without the behaviour.".to_string(),
        covers: Vec::new(),
    });
    Ok(follow_ups.collect())
}

impl From<CriteriaError> for Trouble {
    fn from(error: CriteriaError) -> Trouble {
        Trouble::denied(error.to_string())
    }
}
