//! The summary of a run on an issue, for people who did not follow it.

use super::run_tracker::RunTracker;
use crate::site::{Job, Trouble};
use remand_documents::tracker::{IssueDraft, TrackerStatus};
use remand_kernel::finding::Finding;
use remand_kernel::state::{Filed, FiledStatus};
use remand_ledger::Reader;
use remand_ledger::fact::NoteKind;
use std::collections::BTreeSet;

/// The name of the artifact with the summary.
pub const NAME: &str = "summary";

/// How an issue was closed.
pub struct Closing<'c> {
    pub run_tracker: &'c RunTracker,
    /// Why criteria were not ticked although a review says that they are met.
    pub refused: &'c [String],
    pub files: &'c BTreeSet<String>,
}

pub fn summarize_closed(job: &Job, reader: &Reader, closing: &Closing<'_>) -> Result<String, Trouble> {
    let run_tracker = closing.run_tracker;
    let tracker = run_tracker.tracker();
    let issue = tracker.issue(&run_tracker.issue);
    let status = issue.and_then(|issue| issue.status()).unwrap_or(TrackerStatus::InProgress);
    let title = issue.map(|issue| issue.title()).unwrap_or_default();
    let branch = job.trees.branch();
    let mut text = format!("# {}: {title}\n\n", run_tracker.issue);
    text.push_str(&format!(
        "**{status}**, confidence {}, on the branch `{branch}`. Merge it with `git merge {branch}`.\n",
        job.state.confidence.name()
    ));
    let criteria = issue.map(|issue| issue.criteria()).unwrap_or_default();
    if !criteria.is_empty() {
        text.push_str("\n## Acceptance criteria\n\n");
        for criterion in criteria {
            text.push_str(&format!("- [{}] {}\n", if criterion.ticked { 'x' } else { ' ' }, criterion.text));
        }
    }
    list(&mut text, "Reported as met, but not ticked", closing.refused.iter().cloned());
    list(&mut text, "Changed files", closing.files.iter().map(|file| format!("`{file}`")));
    list(&mut text, "Filed from the split", run_tracker.record.split().into_iter().map(draft_line));
    list(&mut text, "Filed as follow-ups", run_tracker.record.follow_ups().into_iter().map(draft_line));
    let with_status =
        |status: FiledStatus| job.state.findings.iter().filter(move |filed| filed.status == status);
    let is_known = |filed: &&Filed| {
        job.state
            .known
            .iter()
            .any(|at| job.state.findings.get(*at as usize).is_some_and(|known| std::ptr::eq(known, *filed)))
    };
    list(
        &mut text,
        "Open blockers",
        with_status(FiledStatus::Open).filter(is_known).map(|filed| finding_line(&filed.finding)),
    );
    list(
        &mut text,
        "Minor findings",
        with_status(FiledStatus::FollowUp).map(|filed| finding_line(&filed.finding)),
    );
    list(
        &mut text,
        "Advice (recorded, not filed)",
        with_status(FiledStatus::Advice).map(|filed| finding_line(&filed.finding)),
    );
    let notes = reader.notes(&job.site.run)?;
    let remarks =
        notes.into_iter().filter(|note| matches!(note.kind, NoteKind::Degradation | NoteKind::Warning));
    list(&mut text, "Worth knowing", remarks.map(|note| note.text));
    Ok(text)
}

/// The summary of a run that failed or was cancelled.
pub fn summarize_failed(how: &str, take: Option<&str>, why: &str, issue: &str) -> String {
    let mut text = format!("# {issue}\n\n**{how}**\n\n{why}\n");
    if let Some(take) = take {
        text.push_str(&format!("\n## What is left\n\nThe code and the sub-issues of the run are discarded. One commit on its branch has the comment and the \
             status of the issue; take it with:\n\n    {take}\n"));
    }
    text
}

/// Adds a section with a line for each item; duplicates appear once.
fn list(text: &mut String, title: &str, items: impl Iterator<Item = String>) {
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        let line = format!("- {}", item.split_whitespace().collect::<Vec<_>>().join(" "));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    if !lines.is_empty() {
        text.push_str(&format!("\n## {title}\n\n{}\n", lines.join("\n")));
    }
}

fn draft_line(draft: &IssueDraft) -> String {
    format!("{} {} ({})", draft.id, draft.title, draft.labels.join(", "))
}

fn finding_line(finding: &Finding) -> String {
    let location =
        if finding.place.file.is_empty() { String::new() } else { format!(" (`{}`)", finding.place.file) };
    format!("{}: {}{location}", finding.id, finding.claim)
}
