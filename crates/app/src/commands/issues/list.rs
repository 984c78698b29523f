//! `remand issues`: what is open, and what can be run now.

use super::{Context, tracker_of, under_way};
use crate::exit::{Exit, Failure, print, print_json};
use crate::table::{Cell, Fit, Ink, Table, Tone};
use crate::workplace::Workplace;
use remand_documents::tracker::{Issue, IssueId, Status, Tracker};
use remand_ledger::query::RunRow;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Which issues are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    Open,
    All,
}

pub fn run(context: &Context<'_>, workplace: &Workplace, wanted: Wanted) -> Result<Exit, Failure> {
    let tracker = tracker_of(workplace)?;
    let runs = under_way(workplace)?;
    let shown: Vec<&Issue> = tracker
        .issues()
        .filter(|issue| wanted == Wanted::All || issue.status() != Some(Status::Done))
        .collect();
    if context.json {
        let issues: Vec<Value> = shown.iter().map(|issue| value(issue, &tracker, &runs)).collect();
        print_json(&json!({ "count": tracker.issues().count(), "issues": issues }))?;
        return Ok(Exit::Done);
    }
    if tracker.issues().next().is_none() {
        print(
            "there are no issues here; `remand issues new \"A title\" --prefix ABC` writes the first one into TODO/",
        )?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&[
        ("issue", Fit::Whole),
        ("status", Fit::Whole),
        ("title", Fit::Cut),
        ("labels", Fit::Cut),
        ("parent", Fit::Whole),
        ("next", Fit::Cut),
    ]);
    for issue in &shown {
        let status = issue.status();
        table.row(vec![
            Cell::new(issue.id().to_string()),
            Cell::new(status.map_or("?", Status::name)).toned(tone(status)),
            Cell::new(issue.title()),
            Cell::new(issue.labels().join(", ")),
            Cell::new(issue.parent().map(|parent| parent.to_string()).unwrap_or_default()),
            Cell::new(next(issue, &tracker, &runs)),
        ]);
    }
    let mut text = if shown.is_empty() { String::new() } else { table.render(Ink::of_stdout()) };
    let done = tracker.issues().count() - shown.len();
    if done > 0 {
        text.push_str(&format!("and {done} that are Done: `remand issues --all`\n"));
    }
    print(&text)?;
    Ok(Exit::Done)
}

fn tone(status: Option<Status>) -> Tone {
    match status {
        Some(Status::Todo) => Tone::Plain,
        Some(Status::InProgress) => Tone::Doubtful,
        Some(Status::Done) => Tone::Good,
        None => Tone::Bad,
    }
}

/// What keeps it from being run, or that nothing does.
pub fn next(issue: &Issue, tracker: &Tracker, runs: &BTreeMap<IssueId, RunRow>) -> String {
    if let Some(row) = runs.get(issue.id()) {
        return format!("run {} is {}", row.run, row.stage.name());
    }
    let waits = waits_for(issue, tracker);
    match issue.status() {
        Some(Status::Done) => String::new(),
        _ if !waits.is_empty() => {
            format!("after {}", waits.iter().map(IssueId::to_string).collect::<Vec<_>>().join(", "))
        }
        Some(Status::Todo | Status::InProgress) => "ready".to_string(),
        None => "has no status".to_string(),
    }
}

/// What it depends on and is not done.
pub fn waits_for(issue: &Issue, tracker: &Tracker) -> Vec<IssueId> {
    let is_done = |id: &IssueId| tracker.issue(id).and_then(Issue::status) == Some(Status::Done);
    issue.depends_on().into_iter().filter(|on| !is_done(on)).collect()
}

pub fn value(issue: &Issue, tracker: &Tracker, runs: &BTreeMap<IssueId, RunRow>) -> Value {
    let criteria: Vec<Value> = issue
        .criteria()
        .into_iter()
        .map(|criterion| json!({ "id": criterion.id, "text": criterion.text, "ticked": criterion.ticked }))
        .collect();
    json!({
        "id": issue.id(),
        "title": issue.title(),
        "status": issue.status().map(Status::name),
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
