//! `file-sub-issues`: files all tasks except the first as issues, and withdraws those of an earlier split.

use super::super::Done;
use super::account::Account;
use super::drafts::{of_task, planned};
use crate::site::{Job, Trouble};
use crate::tracker::{Edit, Numbers, numbers};
use remand_documents::tracker::{IssueDraft, TrackerIssue};
use remand_ledger::fact::NoteKind;
use std::collections::BTreeSet;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let mut account = Account::of(job)?;
    let mut done = Done::saying("filed");
    let tasks = planned(job)?;
    let withdrawn: Vec<String> = account.record.split().iter().map(|draft| draft.id.to_string()).collect();
    if !withdrawn.is_empty() {
        done.note(
            NoteKind::Decision,
            format!("withdrew {}, because the plan was revised", withdrawn.join(", ")),
        );
    }
    account.record.withdraw_split();
    let later = tasks.get(1..).unwrap_or_default();
    let holder = format!("{}/{}", job.site.run, job.id);
    let asked = Numbers { prefix: account.issue.prefix(), holder: &holder, count: later.len() };
    let ids = numbers(job.site.repository(), job.site.store(), &account.base, asked)?;
    let issue = account.base.issue(&account.issue);
    let criteria: BTreeSet<String> = issue
        .map(TrackerIssue::criteria)
        .unwrap_or_default()
        .into_iter()
        .map(|criterion| criterion.id)
        .collect();
    let drafts: Vec<IssueDraft> = later
        .iter()
        .zip(&ids)
        .map(|(task, _)| of_task(job, &account.issue, task, &tasks, &ids, &criteria))
        .collect();
    if !drafts.is_empty() {
        let named: Vec<String> =
            drafts.iter().map(|draft| format!("{} ({})", draft.id, draft.title)).collect();
        done.note(NoteKind::Decision, format!("filed {}", named.join(", ")));
        account.add(Edit::Split { drafts });
    }
    account.keep(job, &mut done)?;
    Ok(done)
}
