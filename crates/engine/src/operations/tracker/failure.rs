//! Ends a failed or cancelled run on an issue: commits a comment and the status on top of the base.

use super::super::Done;
use super::super::planned::result_of;
use super::run_tracker::RunTracker;
use super::summary;
use crate::clock;
use crate::site::{Job, Trouble};
use crate::tracker::Edit;
use remand_contract::SchemaId;
use remand_contract::schema::diagnosis::Diagnosis;
use remand_documents::tracker::TrackerStatus;
use remand_git::CommitMessage;
use remand_kernel::state::Stage;
use remand_kernel::view;
use remand_ledger::Reader;
use remand_ledger::fact::NoteKind;
use std::collections::BTreeSet;

/// `comment-issue`: adds a comment to the issue that explains why the run ended.
pub fn comment(job: &Job) -> Result<Done, Trouble> {
    let mut run_tracker = RunTracker::of(job)?;
    run_tracker.record.edits.clear();
    let reader = job.site.reader()?;
    let day = clock::iso(reader.run(&job.site.run.0)?.created_at);
    let day = day.split('T').next().unwrap_or_default();
    let title = format!("{day} run {}", job.site.run);
    let text = explanation(job, &reader)?;
    run_tracker.add(Edit::Comment { issue: run_tracker.issue.clone(), title, text });
    let subject = format!("chore(todo): comment on {}: {}", run_tracker.issue, how_it_ended(job));
    commit(job, &run_tracker, subject)
}

/// `back-to-todo`: sets the issue back to Todo.
pub fn back_to_todo(job: &Job) -> Result<Done, Trouble> {
    let mut run_tracker = RunTracker::of(job)?;
    run_tracker.drop_work();
    // The commit is on top of the base, which contains no other run's work.
    run_tracker.add(Edit::Move {
        issue: run_tracker.issue.clone(),
        to: TrackerStatus::Todo,
        others: BTreeSet::new(),
    });
    let subject = format!("chore(todo): {} is Todo again: {}", run_tracker.issue, how_it_ended(job));
    commit(job, &run_tracker, subject)
}

/// `discard-work-tree`: deletes the work of the run. The summary shows how to take the commit with comment and status.
pub fn discard(job: &Job) -> Result<Done, Trouble> {
    let mut done = Done::with_signal("done");
    let branch = job.trees.branch();
    let has_commit = job.trees.tip()?.commit != *job.trees.base();
    let take = has_commit.then(|| format!("git cherry-pick {branch}"));
    if let Some(take) = &take {
        done.note(
            NoteKind::Warning,
            format!("the comment and the status of the issue are one commit; take it with `{take}`"),
        );
    }
    let text = summary::summarize_failed(
        &how_it_ended(job),
        take.as_deref(),
        &explanation(job, &job.site.reader()?)?,
        &job.site.opened.request,
    );
    done.add_artifact(job, summary::NAME, "md", &text);
    job.trees.discard_trees()?;
    Ok(done)
}

/// Replaces everything on the run's branch with one commit: the run's edits to the tracker, on top of the base.
fn commit(job: &Job, run_tracker: &RunTracker, subject: String) -> Result<Done, Trouble> {
    let mut done = Done::with_signal("done");
    run_tracker.save(job, &mut done)?;
    let files = run_tracker.files();
    if files.is_empty() {
        return Ok(done);
    }
    let message = CommitMessage {
        subject,
        body: String::new(),
        trailers: vec![("Remand-Workflow".to_string(), job.program.name.clone())],
    };
    let trees = &job.trees;
    let tree = trees.with_files(&trees.base_tree()?, &files)?;
    trees.replace_branch(&tree, &message, &job.id.to_string())?;
    Ok(done)
}

/// How the run ended, in one sentence: the signal that stopped it, and the exhausted budget.
fn how_it_ended(job: &Job) -> String {
    match &job.state.stage {
        Stage::Ending { end, .. } | Stage::Ended(end) => view::end(&job.program, end),
        Stage::Fresh | Stage::Running => "was interrupted".to_string(),
    }
}

/// How the run ended, the last diagnosis if there is one, and the open findings.
fn explanation(job: &Job, reader: &Reader) -> Result<String, Trouble> {
    let mut text = format!("The run {}.", how_it_ended(job));
    let rows = reader.dispatches(&job.site.run)?;
    let diagnosed = rows.iter().rev().filter(|row| row.says.is_some()).find(|row| {
        let role = job.site.pinned.roles.get(&row.role);
        role.is_some_and(|role| role.result == SchemaId::Diagnosis.name())
    });
    if let Some(row) = diagnosed
        && let Some(diagnosis) = result_of::<Diagnosis>(reader, row, SchemaId::Diagnosis)?
    {
        let verdict = row.says.as_deref().unwrap_or_default();
        let (cause, notes) = (diagnosis.cause.0.trim(), diagnosis.notes.0.trim());
        text.push_str(&format!("\n\nDiagnosis ({verdict}): {cause}\n\n{notes}"));
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
