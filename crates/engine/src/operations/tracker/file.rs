//! `file-sub-issues`: files all tasks except the first as issues, and withdraws the issues of an earlier split.

use super::super::Done;
use super::drafts::{planned_tasks, task_draft};
use super::run_tracker::RunTracker;
use crate::site::{Job, Trouble};
use crate::tracker::{Edit, IdRequest, reserve_ids};
use remand_documents::tracker::{IssueDraft, TrackerIssue};
use remand_ledger::fact::NoteKind;
use std::collections::BTreeSet;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let mut run_tracker = RunTracker::of(job)?;
    let mut done = Done::with_signal("filed");
    let tasks = planned_tasks(job)?;
    let withdrawn: Vec<String> =
        run_tracker.record.split().iter().map(|draft| draft.id.to_string()).collect();
    if !withdrawn.is_empty() {
        done.note(
            NoteKind::Decision,
            format!("withdrew {}, because the plan was revised", withdrawn.join(", ")),
        );
    }
    run_tracker.record.withdraw_split();
    let later = tasks.get(1..).unwrap_or_default();
    let holder = format!("{}/{}", job.site.run, job.id);
    let request = IdRequest { prefix: run_tracker.issue.prefix(), holder: &holder, count: later.len() };
    let ids = reserve_ids(job.site.repository(), job.site.store(), &run_tracker.base, request)?;
    let issue = run_tracker.base.issue(&run_tracker.issue);
    let criteria: BTreeSet<String> = issue
        .map(TrackerIssue::criteria)
        .unwrap_or_default()
        .into_iter()
        .map(|criterion| criterion.id)
        .collect();
    let drafts: Vec<IssueDraft> = later
        .iter()
        .zip(&ids)
        .map(|(task, _)| task_draft(job, &run_tracker.issue, task, &tasks, &ids, &criteria))
        .collect();
    if !drafts.is_empty() {
        let titles: Vec<String> =
            drafts.iter().map(|draft| format!("{} ({})", draft.id, draft.title)).collect();
        done.note(NoteKind::Decision, format!("filed {}", titles.join(", ")));
        run_tracker.add(Edit::Split { drafts });
    }
    run_tracker.save(job, &mut done)?;
    Ok(done)
}
