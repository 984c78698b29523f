//! `close-issue`: ticks criteria, sets the status, files follow-ups as sub-issues, commits the tracker, writes the summary.

use super::super::Done;
use super::super::planned::last_report_of_tests;
use super::account::{Account, others};
use super::drafts::FollowUp;
use super::summary::{self, Closing};
use crate::artifacts::{content, document};
use crate::site::{Job, Trouble};
use crate::tracker::{Edit, Numbers, numbers};
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
    let mut account = Account::of(job)?;
    let mut done = Done::saying("closed");
    let files = changed_files(job)?;
    let tracker = account.tracker();
    let settlement = settle(job, &reader, &account.issue, &tracker, &files)?;
    for refused in &settlement.refused {
        done.note(NoteKind::Warning, refused.clone());
    }
    let ticks = settlement.ticked.iter().cloned();
    let ticks = ticks.map(|criterion| Edit::Tick { issue: account.issue.clone(), criterion });
    account.record.edits.extend(ticks);
    let drafts = follow_ups(job, &reader, &account, &settlement, &files)?;
    if !drafts.is_empty() {
        account.add(Edit::FollowUp { drafts });
    }
    let others = others(job, &reader)?;
    if settlement.status == IssueStatus::Done {
        account.add(Edit::Move {
            issue: account.issue.clone(),
            to: TrackerStatus::Done,
            others: others.clone(),
        });
        account.add(Edit::SettleParent { of: account.issue.clone(), others });
    }
    account.keep(job, &mut done)?;
    let commit = commit(job, &account)?;
    done.note(NoteKind::Decision, format!("the tracker is committed as {commit} on {}", job.trees.branch()));
    let closing = Closing { account: &account, refused: &settlement.refused, files: &files };
    done.keep(job, summary::NAME, "md", &summary::closed(job, &reader, &closing)?);
    Ok(done)
}

/// Commits all changes of the tracker on top of the work.
fn commit(job: &Job, account: &Account) -> Result<String, Trouble> {
    let tracker = account.tracker();
    let status =
        tracker.issue(&account.issue).and_then(|issue| issue.status()).unwrap_or(TrackerStatus::InProgress);
    let filed: Vec<String> = account
        .record
        .split()
        .into_iter()
        .chain(account.record.follow_ups())
        .map(|draft| draft.id.to_string())
        .collect();
    let filed = if filed.is_empty() { String::new() } else { format!(", {} filed", filed.join(" ")) };
    let message = CommitMessage {
        subject: format!("chore(todo): {} is {status}{filed}", account.issue),
        body: String::new(),
        trailers: vec![("Remand-Workflow".to_string(), job.program.name.clone())],
    };
    let trees = &job.trees;
    let command = job.id.to_string();
    if let Some(made) = trees.commit_of_command(&command)? {
        return Ok(made.to_string());
    }
    let tree = trees.with_files(&trees.tip()?.tree, &account.files())?;
    Ok(trees.commit_on_branch(&tree, &message, &command)?.to_string())
}

/// The files that the run changed, as its work is committed.
fn changed_files(job: &Job) -> Result<BTreeSet<String>, Trouble> {
    let (base, work) = (job.trees.base_tree()?, crate::site::LaneContent::of(job)?.tree);
    let changes = job.site.repository().changed(&base, &work)?;
    Ok(changes.into_iter().map(|change| change.path.display().to_string()).collect())
}

/// A criterion is met if the last review says so and points at a row or a place in the diff. A criterion of sub-issues is
/// met when they are done.
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
            let covers =
                child.covers().into_iter().filter(|covered| criteria.iter().any(|own| own.id == *covered));
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
    let mut settled = criteria::settle(&criteria, &judgements(job, reader)?, &handovers, &known)?;
    let open = tracker.children(id).filter(|child| child.status() != Some(TrackerStatus::Done));
    let open: Vec<String> = open.map(|child| child.id().to_string()).collect();
    if criteria.is_empty() && !open.is_empty() {
        settled.status = IssueStatus::InProgress;
        settled
            .refused
            .push(format!("{id} has no criteria, so it stays open until {} are done", open.join(", ")));
    }
    Ok(settled)
}

/// The final review's judgements of the criteria: those of the last review of the code, if the code has not changed
/// since.
fn judgements(job: &Job, reader: &Reader) -> Result<Vec<CriterionJudgement>, Trouble> {
    let rows = reader.dispatches(&job.site.run)?;
    let reviews: Vec<&DispatchRow> = rows.iter().filter(|row| is_review_of_code(job, row)).collect();
    let Some(last) = reviews.last() else {
        return Ok(Vec::new());
    };
    if last.seq < last_change_of_code(job, reader)? {
        return Ok(Vec::new());
    }
    let is_of_last = |row: &&&DispatchRow| (&row.phase, row.visit) == (&last.phase, last.visit);
    let said = reviews.iter().filter(is_of_last).map(|row| criteria_of(job, reader, row));
    Ok(said.collect::<Result<Vec<_>, _>>()?.concat())
}

fn is_review_of_code(job: &Job, row: &DispatchRow) -> bool {
    let code = job.program.artifact_named("code");
    let phase = job.program.phase_named(&row.phase).map(|id| job.program.phase(id));
    let reads = phase.zip(code).is_some_and(|(phase, code)| {
        let reports = phase.contracts().iter().any(|id| job.program.contract(*id).findings);
        reports && phase.reads.contains(&code) && !phase.writes.contains(&code)
    });
    reads && !row.advisory && row.says.is_some()
}

/// The event that last changed the code.
fn last_change_of_code(job: &Job, reader: &Reader) -> Result<u64, Trouble> {
    let mut versions = reader.artifact_versions(&job.site.run, "code")?;
    versions.sort_by_key(|version| version.seq);
    let mut changed = versions.chunk_by(|before, after| before.digest == after.digest);
    Ok(changed.next_back().and_then(|same| same.first()).map_or(0, |version| version.seq))
}

fn criteria_of(job: &Job, reader: &Reader, row: &DispatchRow) -> Result<Vec<CriterionJudgement>, Trouble> {
    let contract = job.program.contracts.iter().find(|contract| contract.title() == row.role);
    let schema = job.site.pinned.roles.get(&row.role).and_then(|role| role.result.parse::<SchemaId>().ok());
    let (Some(contract), Some(schema), Some(result)) = (contract, schema, row.result) else {
        return Ok(Vec::new());
    };
    let Some(value) = document(&content(reader, result)?) else {
        return Ok(Vec::new());
    };
    let says: Vec<&str> = contract.says.iter().map(|id| job.program.signal(*id)).collect();
    let expected = Expectation::new(schema, &row.role, &row.phase, &says);
    let reading = remand_contract::read(value, &expected, &ResultLimits::default());
    Ok(reading.map(|reading| reading.criteria).unwrap_or_default())
}

/// What is filed at the end: older bugs, unresolved blockers, missing test seams, and uncovered criteria. Advice is never
/// filed.
fn follow_ups(
    job: &Job,
    reader: &Reader,
    account: &Account,
    settlement: &Settlement,
    files: &BTreeSet<String>,
) -> Result<Vec<IssueDraft>, Trouble> {
    let mut left: Vec<FollowUp> =
        older_bugs(job, files).map(|finding| FollowUp::of_finding(finding, "bug")).collect();
    left.extend(failing_before(job, reader)?);
    let known = job.state.known.iter().filter_map(|at| job.state.findings.get(*at as usize));
    let blockers = known.filter(|filed| filed.status == FiledStatus::Open && !is_older(job, files, filed));
    left.extend(blockers.map(|filed| FollowUp::of_finding(&filed.finding, "followup")));
    left.extend(future_seams(job, reader)?);
    left.extend(settlement.follow_ups.iter().map(|criterion| FollowUp {
        title: super::drafts::shortened(&format!("Meet {}", criterion.text)),
        label: "followup",
        about: format!("An unmet criterion of {} that no sub-issue covers.", account.issue),
        criterion: criterion.text.clone(),
        covers: vec![criterion.id.clone()],
    }));
    // A reviewer may report the same thing in every round, and a check may have failed before earlier runs already.
    let tracker = account.tracker();
    let mut titles: BTreeSet<String> = tracker
        .issues()
        .filter(|issue| issue.status() != Some(TrackerStatus::Done))
        .map(|issue| issue.title().to_lowercase())
        .collect();
    left.retain(|left| titles.insert(left.title.to_lowercase()));
    let holder = format!("{}/{}", job.site.run, job.id);
    let asked = Numbers { prefix: account.issue.prefix(), holder: &holder, count: left.len() };
    let ids = numbers(job.site.repository(), job.site.store(), &account.base, asked)?;
    Ok(left.iter().zip(ids).map(|(left, id)| left.draft(job, &account.issue, id)).collect())
}

/// Findings about code that the run did not touch.
fn older_bugs<'j>(job: &'j Job, files: &'j BTreeSet<String>) -> impl Iterator<Item = &'j Finding> {
    job.state.findings.iter().filter(|filed| is_older(job, files, filed)).map(|filed| &filed.finding)
}

fn is_older(job: &Job, files: &BTreeSet<String>, filed: &Filed) -> bool {
    let code = job.program.artifact_named("code");
    let reads_code = code.is_some_and(|code| job.program.phase(filed.phase).reads.contains(&code));
    let is_left = matches!(filed.status, FiledStatus::FollowUp | FiledStatus::Open);
    let is_of_code = matches!(filed.finding.kind, Some(FindingKind::Production) | None);
    let file = &filed.finding.place.file;
    reads_code && is_left && is_of_code && !file.is_empty() && !files.contains(file)
}

/// Checks that failed before any change.
fn failing_before(job: &Job, reader: &Reader) -> Result<Vec<FollowUp>, Trouble> {
    let rows = reader.checks(&job.site.run, CheckFilter { task: None, phase: Some(RowPhase::Baseline) })?;
    let failed = rows.into_iter().filter(|row| !row.passed && row.exit_code.is_some());
    let left = failed.map(|row| FollowUp {
        title: format!("`{}` fails", row.name),
        label: "bug",
        about: format!("It failed before the run changed anything.\n\n```\n{}\n```", row.snippet.trim()),
        criterion: format!("`{}` passes.", row.name),
        covers: Vec::new(),
    });
    Ok(left.collect())
}

/// What the author of tests left open because the task could not be tested.
fn future_seams(job: &Job, reader: &Reader) -> Result<Vec<FollowUp>, Trouble> {
    let manifest = job.program.artifact_named("manifest").map(|id| job.state.digest(id));
    if manifest.is_none_or(|manifest| manifest == Digest::default()) {
        return Ok(Vec::new());
    }
    let report = last_report_of_tests(job, reader)?;
    let open = report.map(|report| report.open).unwrap_or_default();
    let left = open.iter().filter(|text| !text.trim().is_empty()).map(|text| FollowUp {
        title: super::drafts::shortened(text),
        label: "tech-debt",
        about: format!(
            "{}\n\nThis makes the behaviour testable, which it was not when it was written.",
            text.trim()
        ),
        criterion: "A test uses the seam, and fails without the behaviour.".to_string(),
        covers: Vec::new(),
    });
    Ok(left.collect())
}

impl From<CriteriaError> for Trouble {
    fn from(error: CriteriaError) -> Trouble {
        Trouble::denied(error.to_string())
    }
}
