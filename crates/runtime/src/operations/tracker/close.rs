//! `close-issue`: criteria and status, what is left over as sub-issues, one commit of the tracker, and the summary
//! (OT-19, OT-20).

use super::super::Done;
use super::account::{Account, keep, others};
use super::drafts::Leftover;
use super::summary::{self, Closing};
use crate::contract::{self, Expectation, Limits, SchemaId};
use crate::dispatch::{content, document};
use crate::git::CommitMessage;
use crate::tracker::{Edit, Numbers, numbers};
use crate::workshop::{Job, Trouble};
use remand_documents::tracker::{Draft, IssueId, Status, Tracker};
use remand_kernel::change::Digest;
use remand_kernel::criteria::{
    self, Criterion, CriterionJudgement, Handover, IssueStatus, Known, Settlement,
};
use remand_kernel::evidence::RowPhase;
use remand_kernel::finding::{Finding, FindingKind};
use remand_kernel::state::{Filed, FiledStatus};
use remand_ledger::Reader;
use remand_ledger::fact::NoteKind;
use remand_ledger::query::{CheckFilter, DispatchRow};
use serde_json::Value;
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
    let drafts = leftovers(job, &reader, &account, &settlement, &files)?;
    if !drafts.is_empty() {
        account.add(Edit::FollowUp { drafts });
    }
    let others = others(job, &reader)?;
    if settlement.status == IssueStatus::Done {
        account.add(Edit::Move { issue: account.issue.clone(), to: Status::Done, others: others.clone() });
        account.add(Edit::SettleParent { of: account.issue.clone(), others });
    }
    account.keep(job, &mut done)?;
    let commit = commit(job, &account)?;
    done.note(NoteKind::Decision, format!("the tracker is committed as {commit} on {}", job.trees.branch()));
    let closing = Closing { account: &account, refused: &settlement.refused, files: &files };
    keep(job, &mut done, summary::NAME, "md", &summary::closed(job, &reader, &closing)?);
    Ok(done)
}

/// One commit with all changes of the tracker, on top of the work.
fn commit(job: &Job, account: &Account) -> Result<String, Trouble> {
    let tracker = account.tracker();
    let status = tracker.issue(&account.issue).and_then(|issue| issue.status()).unwrap_or(Status::InProgress);
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
    if let Some(made) = trees.made_by(&command)? {
        return Ok(made.to_string());
    }
    let tree = trees.with_files(&trees.tip()?.tree, &account.files())?;
    Ok(trees.put_on_branch(&tree, &message, &command)?.to_string())
}

/// The files that the run changed, as its work is committed.
fn changed_files(job: &Job) -> Result<BTreeSet<String>, Trouble> {
    let (base, work) = (job.trees.base_tree()?, crate::workshop::LaneContent::of(job)?.tree);
    let changes = job.site.repository().changed(&base, &work)?;
    Ok(changes.into_iter().map(|change| change.path.display().to_string()).collect())
}

/// A criterion is met when the last review says so and points at a row or a place in the diff; one that was handed
/// over, when its sub-issues are done.
fn settle(
    job: &Job,
    reader: &Reader,
    id: &IssueId,
    tracker: &Tracker,
    files: &BTreeSet<String>,
) -> Result<Settlement, Trouble> {
    let issue = tracker.issue(id);
    let criteria: Vec<Criterion> = issue
        .map(|issue| issue.criteria())
        .unwrap_or_default()
        .into_iter()
        .map(|criterion| Criterion { id: criterion.id, text: criterion.text, ticked: criterion.ticked })
        .collect();
    let handovers: Vec<Handover> = tracker
        .children(id)
        .flat_map(|child| {
            let done = child.status() == Some(Status::Done);
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
    let known = Known {
        rows: passing.flat_map(|row| [row.name.clone(), row.seq.to_string()]).collect(),
        files: files.clone(),
    };
    let mut settled = criteria::settle(&criteria, &judgements(job, reader)?, &handovers, &known)
        .map_err(|error| Trouble::denied(error.to_string()))?;
    let open = tracker.children(id).filter(|child| child.status() != Some(Status::Done));
    let open: Vec<String> = open.map(|child| child.id().to_string()).collect();
    if criteria.is_empty() && !open.is_empty() {
        settled.status = IssueStatus::InProgress;
        settled.refused.push(format!("{id} has no criteria, so it waits for {}", open.join(", ")));
    }
    Ok(settled)
}

/// What the final review says about the criteria: the last visit of a review that reads the code, if the code is still
/// what it read.
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

/// The event since which the code is what it is.
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
    let reading = contract::read(value, &expected, &Limits::default());
    Ok(reading.map(|reading| reading.criteria).unwrap_or_default())
}

/// What is filed at the end: bugs that were there before, blockers that nobody removed, seams for later, and criteria
/// that nothing covers. Advice is never filed.
fn leftovers(
    job: &Job,
    reader: &Reader,
    account: &Account,
    settlement: &Settlement,
    files: &BTreeSet<String>,
) -> Result<Vec<Draft>, Trouble> {
    let mut left: Vec<Leftover> =
        older_bugs(job, files).map(|finding| Leftover::of_finding(finding, "bug")).collect();
    left.extend(failing_before(job, reader)?);
    let known = job.state.known.iter().filter_map(|at| job.state.findings.get(*at as usize));
    let blockers = known.filter(|filed| filed.status == FiledStatus::Open && !left_before(job, files, filed));
    left.extend(blockers.map(|filed| Leftover::of_finding(&filed.finding, "followup")));
    left.extend(future_seams(job, reader)?);
    left.extend(settlement.follow_ups.iter().map(|criterion| Leftover {
        title: super::drafts::shortened(&format!("Meet {}", criterion.text)),
        label: "followup",
        about: format!("A criterion of {} that is not met, and that no sub-issue covers.", account.issue),
        criterion: criterion.text.clone(),
        covers: vec![criterion.id.clone()],
    }));
    // A reviewer may report the same thing in every round, and a check may have failed before earlier runs too.
    let tracker = account.tracker();
    let mut titles: BTreeSet<String> = tracker
        .issues()
        .filter(|issue| issue.status() != Some(Status::Done))
        .map(|issue| issue.title().to_lowercase())
        .collect();
    left.retain(|left| titles.insert(left.title.to_lowercase()));
    let holder = format!("{}/{}", job.site.run, job.id);
    let asked = Numbers { prefix: account.issue.prefix(), holder: &holder, count: left.len() };
    let ids = numbers(job.site.repository(), &job.site.settings().home.ledger(), &account.base, asked)?;
    Ok(left.iter().zip(ids).map(|(left, id)| left.draft(job, &account.issue, id)).collect())
}

/// Findings about code that the run did not touch: they were there before.
fn older_bugs<'j>(job: &'j Job, files: &'j BTreeSet<String>) -> impl Iterator<Item = &'j Finding> {
    job.state.findings.iter().filter(|filed| left_before(job, files, filed)).map(|filed| &filed.finding)
}

fn left_before(job: &Job, files: &BTreeSet<String>, filed: &Filed) -> bool {
    let code = job.program.artifact_named("code");
    let reads_code = code.is_some_and(|code| job.program.phase(filed.phase).reads.contains(&code));
    let is_left = matches!(filed.status, FiledStatus::FollowUp | FiledStatus::Open);
    let is_of_code = matches!(filed.finding.kind, Some(FindingKind::Production) | None);
    let file = &filed.finding.place.file;
    reads_code && is_left && is_of_code && !file.is_empty() && !files.contains(file)
}

/// Checks that failed before anything was changed.
fn failing_before(job: &Job, reader: &Reader) -> Result<Vec<Leftover>, Trouble> {
    let rows = reader.checks(&job.site.run, CheckFilter { task: None, phase: Some(RowPhase::Baseline) })?;
    let failed = rows.into_iter().filter(|row| !row.passed && row.exit_code.is_some());
    let left = failed.map(|row| Leftover {
        title: format!("`{}` fails", row.name),
        label: "bug",
        about: format!("It failed before the run changed anything.\n\n```\n{}\n```", row.snippet.trim()),
        criterion: format!("`{}` passes.", row.name),
        covers: Vec::new(),
    });
    Ok(left.collect())
}

/// What the author of tests left open when a task could not be tested.
fn future_seams(job: &Job, reader: &Reader) -> Result<Vec<Leftover>, Trouble> {
    let manifest = job.program.artifact_named("manifest").map(|id| job.state.digest(id));
    if manifest.is_none_or(|manifest| manifest == Digest::default()) {
        return Ok(Vec::new());
    }
    let Some(value) = super::super::manifest::last_of_tests(job, reader)? else {
        return Ok(Vec::new());
    };
    let open = value.pointer("/payload/open").and_then(Value::as_array).cloned().unwrap_or_default();
    let left =
        open.iter().filter_map(Value::as_str).filter(|text| !text.trim().is_empty()).map(|text| Leftover {
            title: super::drafts::shortened(text),
            label: "tech-debt",
            about: format!(
                "{}\n\nSo that the behaviour can be tested, which it could not be when it was written.",
                text.trim()
            ),
            criterion: "A test holds on to the seam, and fails without the behaviour.".to_string(),
            covers: Vec::new(),
        });
    Ok(left.collect())
}
