//! Evidence in sentences: what the engine ran, how it ended, and the lines that tell why it failed.

use super::BriefSources;
use crate::site::Trouble;
use remand_contract::markdown::{code, fenced};
use remand_kernel::evidence::RowPhase;
use remand_ledger::fact::{Check, NoteKind};
use remand_ledger::query::{CheckFilter, CheckRow};
use std::fmt::Write;

/// One check, as its sentence needs it.
#[derive(Clone, Copy, Debug)]
pub struct CheckWords<'c> {
    name: &'c str,
    command: Option<&'c str>,
    passed: bool,
    exit_code: Option<i32>,
    snippet: &'c str,
    collected: Option<u32>,
    reason: &'c str,
}

impl<'c> From<&'c CheckRow> for CheckWords<'c> {
    fn from(row: &'c CheckRow) -> CheckWords<'c> {
        CheckWords {
            name: &row.name,
            command: row.command.as_deref(),
            passed: row.passed,
            exit_code: row.exit_code,
            snippet: &row.snippet,
            collected: row.collected,
            reason: &row.reason,
        }
    }
}

impl<'c> From<&'c Check> for CheckWords<'c> {
    fn from(check: &'c Check) -> CheckWords<'c> {
        CheckWords {
            name: &check.name,
            command: check.command.as_deref(),
            passed: check.passed,
            exit_code: check.exit_code,
            snippet: &check.snippet,
            collected: check.collected,
            reason: &check.reason,
        }
    }
}

impl CheckWords<'_> {
    /// The check as a list item. `remark` is added to the sentence.
    fn item(&self, remark: &str, out: &mut String) {
        // A command is named once; it may be long.
        let is_known = |command: &&str| out.contains(&code(command));
        let command = self.command.filter(|command| *command != self.name && !is_known(command));
        let command = command.map(|command| format!(" ({})", code(command))).unwrap_or_default();
        let tests = match self.collected.filter(|_| self.command.is_some()) {
            Some(1) => ", 1 test".to_string(),
            Some(count) => format!(", {count} tests"),
            None => String::new(),
        };
        let end = match (self.passed, self.exit_code) {
            (true, _) => "passed".to_string(),
            (false, Some(status)) => format!("failed with exit status {status}"),
            (false, None) => "did not pass".to_string(),
        };
        let reason = if self.reason.is_empty() { String::new() } else { format!(": {}", self.reason) };
        let _ = write!(out, "- {}{command} {end}{tests}{remark}{reason}", self.name);
        if self.passed || self.snippet.trim().is_empty() || self.snippet.trim() == self.reason.trim() {
            out.push('\n');
        } else {
            let _ = write!(out, "\n\n{}", fenced(self.snippet.trim_end(), "text", 2));
        }
    }
}

/// The checks that did not pass.
pub fn failures(checks: &[Check]) -> String {
    let mut text = String::new();
    for check in checks.iter().filter(|check| !check.passed) {
        CheckWords::from(check).item("", &mut text);
    }
    text
}

/// The evidence that concerns a dispatch, and what the engine noted about the work.
pub fn of_dispatch(sources: &BriefSources<'_>) -> Result<String, Trouble> {
    let run = &sources.job.site.run;
    let mut rows = sources.reader.checks(run, CheckFilter::default())?;
    if let Some(task) = &sources.dispatch.task {
        rows.retain(|row| row.task.as_ref().is_none_or(|of| of == task));
    }
    let mut text = text(&rows);
    let is_about_work = |kind: NoteKind| match kind {
        NoteKind::Warning | NoteKind::Violation | NoteKind::Degradation => true,
        // The rows tell which tests fail now.
        NoteKind::Regression
        | NoteKind::Concern
        | NoteKind::Decision
        | NoteKind::Lesson
        | NoteKind::Proposal
        | NoteKind::Mapped
        | NoteKind::Interrupted => false,
    };
    let notes = sources.reader.notes(run)?;
    let mut noted = String::new();
    for note in notes.iter().filter(|note| is_about_work(note.kind)) {
        let line = format!("- {}\n", note.text);
        if !noted.contains(&line) {
            noted.push_str(&line);
        }
    }
    if !noted.is_empty() {
        let _ = write!(text, "{}Noted by the engine:\n\n{noted}", if text.is_empty() { "" } else { "\n" });
    }
    Ok(text)
}

/// The latest result of each check, with its result at the baseline where that differs.
pub fn text(rows: &[CheckRow]) -> String {
    let rows: Vec<&CheckRow> =
        rows.iter().filter(|row| !row.superseded && row.phase != RowPhase::Review).collect();
    let mut tasks: Vec<Option<&str>> = Vec::new();
    for row in &rows {
        if !tasks.contains(&row.task.as_deref()) {
            tasks.push(row.task.as_deref());
        }
    }
    let mut text = String::new();
    for task in tasks {
        let of_task: Vec<&CheckRow> =
            rows.iter().copied().filter(|row| row.task.as_deref() == task).collect();
        let now: Vec<&CheckRow> =
            of_task.iter().copied().filter(|row| row.phase == RowPhase::After).collect();
        let is_repeated = |before: &CheckRow| now.iter().any(|row| row.name == before.name);
        let before: Vec<&CheckRow> = of_task
            .iter()
            .copied()
            .filter(|row| row.phase == RowPhase::Baseline && !is_repeated(row))
            .collect();
        let place = task.map(|task| format!(" of {task}")).unwrap_or_default();
        for (title, listed) in [("Before any change", before), ("With the change", now)] {
            if listed.is_empty() {
                continue;
            }
            let _ = write!(text, "{}{title}{place}:\n\n", if text.is_empty() { "" } else { "\n" });
            for row in listed {
                CheckWords::from(row).item(baseline_remark(row, &rows), &mut text);
            }
        }
    }
    text
}

/// Whether the same check ended differently before any change.
fn baseline_remark(row: &CheckRow, rows: &[&CheckRow]) -> &'static str {
    let mut baseline =
        rows.iter().filter(|other| other.phase == RowPhase::Baseline && other.name == row.name);
    match (row.phase, baseline.next_back().map(|before| before.passed)) {
        (RowPhase::After, Some(true)) if !row.passed => " (it passed before the change)",
        (RowPhase::After, Some(false)) if row.passed => " (it failed before the change)",
        (RowPhase::After, Some(false)) => " (it failed before the change, too)",
        _ => "",
    }
}
