//! `remand issues`: the open issues, and which of them are ready.

use super::{runs_by_issue, tracker_of};
use crate::context::CommandContext;
use crate::workplace::Workplace;
use remand_documents::tracker::{IssueKey, Tracker, TrackerIssue, TrackerStatus};
use remand_ledger::query::RunRow;
use remand_terminal::output::{print, print_json};
use remand_terminal::table::{Cell, ColumnFit, TextTable};
use remand_terminal::{CommandFailure, ExitCode, Ink, Tone};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Which issues to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueFilter {
    Open,
    All,
}

pub fn run(
    context: &CommandContext<'_>,
    workplace: &Workplace,
    filter: IssueFilter,
) -> Result<ExitCode, CommandFailure> {
    let tracker = tracker_of(workplace)?;
    let runs = runs_by_issue(workplace)?;
    let shown: Vec<&TrackerIssue> = tracker
        .issues()
        .filter(|issue| filter == IssueFilter::All || issue.status() != Some(TrackerStatus::Done))
        .collect();
    if context.json {
        let issues: Vec<Value> = shown.iter().map(|issue| to_json(issue, &tracker, &runs)).collect();
        print_json(&json!({ "count": tracker.issues().count(), "issues": issues }))?;
        return Ok(ExitCode::Done);
    }
    if tracker.issues().next().is_none() {
        print("no issues yet; `remand issues new \"A title\" --prefix ABC` writes the first one to TODO/")?;
        return Ok(ExitCode::Done);
    }
    let mut table = TextTable::new(&[
        ("issue", ColumnFit::Whole),
        ("status", ColumnFit::Whole),
        ("title", ColumnFit::Cut),
        ("labels", ColumnFit::Cut),
        ("parent", ColumnFit::Whole),
        ("next", ColumnFit::Cut),
    ]);
    for issue in &shown {
        let status = issue.status();
        table.row(vec![
            Cell::new(issue.id().to_string()),
            Cell::new(status.map_or("?", TrackerStatus::name)).toned(tone(status)),
            Cell::new(issue.title()),
            Cell::new(issue.labels().join(", ")),
            Cell::new(issue.parent().map(|parent| parent.to_string()).unwrap_or_default()),
            Cell::new(readiness(issue, &tracker, &runs).describe()),
        ]);
    }
    let mut text = if shown.is_empty() { String::new() } else { table.render(Ink::of_stdout()) };
    let done = tracker.issues().count() - shown.len();
    if done > 0 {
        text.push_str(&format!("{done} more are Done: `remand issues --all`\n"));
    }
    print(&text)?;
    Ok(ExitCode::Done)
}

fn tone(status: Option<TrackerStatus>) -> Tone {
    match status {
        Some(TrackerStatus::Todo) => Tone::Plain,
        Some(TrackerStatus::InProgress) => Tone::Doubtful,
        Some(TrackerStatus::Done) => Tone::Good,
        None => Tone::Bad,
    }
}

/// Whether a run can start on an issue now, and what prevents it.
pub enum Readiness<'r> {
    Done,
    Ready,
    Running(&'r RunRow),
    /// These issues must be done first.
    After(Vec<IssueKey>),
    NoStatus,
}

impl Readiness<'_> {
    pub fn describe(&self) -> String {
        match self {
            Readiness::Done => String::new(),
            Readiness::Ready => "ready".to_string(),
            Readiness::Running(row) => format!("run {} is {}", row.run, row.stage.name()),
            Readiness::After(issues) => {
                format!("after {}", issues.iter().map(IssueKey::to_string).collect::<Vec<_>>().join(", "))
            }
            Readiness::NoStatus => "has no status".to_string(),
        }
    }
}

pub fn readiness<'r>(
    issue: &TrackerIssue,
    tracker: &Tracker,
    runs: &'r BTreeMap<IssueKey, RunRow>,
) -> Readiness<'r> {
    if let Some(row) = runs.get(issue.id()) {
        return Readiness::Running(row);
    }
    let waits = waits_for(issue, tracker);
    match issue.status() {
        Some(TrackerStatus::Done) => Readiness::Done,
        _ if !waits.is_empty() => Readiness::After(waits),
        Some(TrackerStatus::Todo | TrackerStatus::InProgress) => Readiness::Ready,
        None => Readiness::NoStatus,
    }
}

/// The dependencies that are not done.
pub fn waits_for(issue: &TrackerIssue, tracker: &Tracker) -> Vec<IssueKey> {
    let is_done =
        |id: &IssueKey| tracker.issue(id).and_then(TrackerIssue::status) == Some(TrackerStatus::Done);
    issue.depends_on().into_iter().filter(|on| !is_done(on)).collect()
}

pub fn to_json(issue: &TrackerIssue, tracker: &Tracker, runs: &BTreeMap<IssueKey, RunRow>) -> Value {
    let criteria: Vec<Value> = issue
        .criteria()
        .into_iter()
        .map(|criterion| json!({ "id": criterion.id, "text": criterion.text, "ticked": criterion.ticked }))
        .collect();
    json!({
        "id": issue.id(),
        "title": issue.title(),
        "status": issue.status().map(TrackerStatus::name),
        "parent": issue.parent(),
        "labels": issue.labels(),
        "depends-on": issue.depends_on(),
        "waits-for": waits_for(issue, tracker),
        "covers": issue.covers(),
        "category": tracker.readme().and_then(|readme| readme.category(issue.id())),
        "criteria": criteria,
        "sub-issues": tracker.children(issue.id()).map(|child| child.id().clone()).collect::<Vec<_>>(),
        "run": runs.get(issue.id()).map(|row| row.run.clone()),
    })
}
