//! The end of a run that failed or was cancelled: a comment and the status, as one commit on the base (OT-21).

use super::super::Done;
use super::account::{Account, keep};
use super::summary;
use crate::clock;
use crate::dispatch::{content, document};
use crate::git::CommitMessage;
use crate::tracker::Edit;
use crate::workshop::{Job, Trouble};
use remand_documents::tracker::Status;
use remand_kernel::state::Stage;
use remand_kernel::view;
use remand_ledger::Reader;
use remand_ledger::fact::NoteKind;
use serde_json::Value;
use std::collections::BTreeSet;

/// `comment-issue`: the issue says why the run ended.
pub fn comment(job: &Job) -> Result<Done, Trouble> {
    let mut account = Account::of(job)?;
    account.record.edits.clear();
    let reader = job.site.reader()?;
    let day = clock::iso(reader.run(&job.site.run.0)?.created_at);
    let day = day.split('T').next().unwrap_or_default();
    let title = format!("{day} run {}", job.site.run);
    let text = why(job, &reader)?;
    account.add(Edit::Comment { issue: account.issue.clone(), title, text });
    commit(job, &account)
}

/// `back-to-todo`: the issue waits again.
pub fn back_to_todo(job: &Job) -> Result<Done, Trouble> {
    let mut account = Account::of(job)?;
    account.drop_work();
    // The commit stands on the base, beside no other run's work.
    account.add(Edit::Move { issue: account.issue.clone(), to: Status::Todo, others: BTreeSet::new() });
    commit(job, &account)
}

/// `discard-work-tree`: what the run wrote goes, and the summary says how to take what is left.
pub fn discard(job: &Job) -> Result<Done, Trouble> {
    let mut done = Done::saying("done");
    let branch = job.trees.branch();
    let has_left = job.trees.tip()?.commit != *job.trees.base();
    let take = has_left.then(|| format!("git cherry-pick {branch}"));
    if let Some(take) = &take {
        done.note(
            NoteKind::Warning,
            format!("what the issue says about this run is one commit; take it with `{take}`"),
        );
    }
    let text = summary::failed(
        &how(job),
        take.as_deref(),
        &why(job, &job.site.reader()?)?,
        &job.site.opened.request,
    );
    keep(job, &mut done, summary::NAME, "md", &text);
    job.trees.discard_trees()?;
    Ok(done)
}

/// Lets the run's branch hold the tracker of the base with this record, and nothing else.
fn commit(job: &Job, account: &Account) -> Result<Done, Trouble> {
    let mut done = Done::saying("done");
    account.keep(job, &mut done)?;
    let files = account.files();
    if files.is_empty() {
        return Ok(done);
    }
    let message = CommitMessage {
        subject: format!("chore(todo): {} is Todo again: {}", account.issue, how(job)),
        body: String::new(),
        trailers: vec![("Remand-Workflow".to_string(), job.program.name.clone())],
    };
    let trees = &job.trees;
    let tree = trees.with_files(&trees.base_tree()?, &files)?;
    trees.be_all_of_branch(&tree, &message, &job.id.to_string())?;
    Ok(done)
}

/// How the run ended, in one sentence: the signal that it could not go on from, and the budget that was empty.
fn how(job: &Job) -> String {
    match &job.state.stage {
        Stage::Ending { end, .. } | Stage::Ended(end) => view::end(&job.program, end),
        Stage::Fresh | Stage::Running => "it was broken off".to_string(),
    }
}

/// The same, with the last diagnosis where there was one.
fn why(job: &Job, reader: &Reader) -> Result<String, Trouble> {
    let mut text = format!("The run {}.", how(job));
    let rows = reader.dispatches(&job.site.run)?;
    let diagnosed = rows.iter().rev().filter(|row| row.says.is_some()).find(|row| {
        let role = job.site.pinned.roles.get(&row.role);
        role.is_some_and(|role| role.result == "diagnosis")
    });
    if let Some(value) = diagnosed
        .and_then(|row| row.result)
        .map(|id| content(reader, id))
        .transpose()?
        .and_then(|text| document(&text))
    {
        let part = |key: &str| {
            value
                .pointer(&format!("/payload/{key}"))
                .and_then(Value::as_str)
                .unwrap_or_default()
                .trim()
                .to_string()
        };
        let verdict = diagnosed.and_then(|row| row.says.clone()).unwrap_or_default();
        text.push_str(&format!("\n\nDiagnosis ({verdict}): {}\n\n{}", part("cause"), part("notes")));
    }
    let open: Vec<String> = job
        .state
        .findings
        .iter()
        .filter(|filed| filed.status == remand_kernel::state::FiledStatus::Open)
        .map(|filed| format!("- {}: {}", filed.finding.id, filed.finding.claim))
        .collect();
    if !open.is_empty() {
        text.push_str(&format!("\n\nOpen findings:\n\n{}", open.join("\n")));
    }
    Ok(job.site.redact(text.trim_end()))
}
