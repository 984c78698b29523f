//! Evidence in sentences: what the engine ran, how it ended, and the lines that tell why it failed.

use super::{BriefSection, PartList};
use remand_checks::{CheckSpec, RedRuling, RedTest};
use remand_contract::markdown::{code, fenced};
use remand_kernel::evidence::RowPhase;
use remand_kernel::finding::Finding;
use remand_ledger::fact::{Check, NoteKind};
use remand_ledger::query::{CheckRow, NoteRow};
use std::fmt::Write;

/// A finding that a dispatch is given in a file.
#[derive(Clone, Copy, Debug)]
pub struct GivenFinding<'f> {
    pub finding: &'f Finding,
    pub file: &'static str,
}

/// The finding whose evidence has these lines.
fn quoting<'g>(given: &'g [GivenFinding<'g>], lines: &str) -> Option<&'g GivenFinding<'g>> {
    given.iter().find(|given| given.finding.evidence.contains(lines.trim()))
}

/// One check, as its sentence needs it.
#[derive(Clone, Copy, Debug)]
pub struct CheckWords<'c> {
    name: &'c str,
    command: Option<&'c str>,
    /// The folder that it runs in; empty for the root.
    folder: &'c str,
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
            folder: "",
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
            folder: "",
            passed: check.passed,
            exit_code: check.exit_code,
            snippet: &check.snippet,
            collected: check.collected,
            reason: &check.reason,
        }
    }
}

impl CheckWords<'_> {
    /// The check as a list item. `remark` is added to the sentence. Lines that a finding quotes are not repeated.
    fn item(&self, remark: &str, given: &[GivenFinding<'_>], out: &mut String) {
        // A command is named once; it may be long.
        let is_known = |command: &&str| out.contains(&code(command));
        let command = self.command.filter(|command| *command != self.name && !is_known(command));
        let folder =
            if self.folder.is_empty() { String::new() } else { format!(" in {}", code(self.folder)) };
        let command = command.map(|command| format!(" ({}{folder})", code(command))).unwrap_or_default();
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
        } else if let Some(GivenFinding { finding, file }) = quoting(given, self.snippet) {
            let _ = writeln!(out, "; its output is with {} in {}", code(&finding.id), code(file));
        } else {
            let _ = write!(out, "\n\n{}", fenced(self.snippet.trim_end(), "text", 2));
        }
    }
}

/// The checks that did not pass.
pub fn failures(checks: &[Check], given: &[GivenFinding<'_>]) -> String {
    let mut text = String::new();
    for check in checks.iter().filter(|check| !check.passed) {
        CheckWords::from(check).item("", given, &mut text);
    }
    text
}

/// What the engine found out in a run.
#[derive(Clone, Debug)]
pub struct RunEvidence<'e> {
    pub rows: Vec<CheckRow>,
    pub notes: &'e [NoteRow],
    /// The checks of the run.
    pub specs: &'e [CheckSpec],
    /// The tests that fail before any change.
    pub red: &'e [RedTest],
}

/// Adds the evidence that concerns a task or the whole run, and what the engine noted about the work.
pub fn add(
    mut found: RunEvidence<'_>,
    task: Option<&str>,
    given: &[GivenFinding<'_>],
    parts: &mut PartList<'_>,
) {
    if let Some(task) = task {
        found.rows.retain(|row| row.task.as_ref().is_none_or(|of| of == task));
    }
    let mut text = text(&found.rows, found.specs, given);
    add_red_tests(found.red, &mut text);
    let mut noted = String::new();
    for note in found.notes.iter().filter(|note| is_about_work(note.kind)) {
        let line = format!("- {}\n", note.text);
        if !noted.contains(&line) {
            noted.push_str(&line);
        }
    }
    if !noted.is_empty() {
        let _ = write!(text, "{}Noted by the engine:\n\n{noted}", if text.is_empty() { "" } else { "\n" });
    }
    let about = "the checks that the engine ran; only they count";
    parts.add(BriefSection::Evidence, "evidence.md", about, text);
}

/// Adds the tests that fail before any change: those that the work must turn green, and those that it must leave alone.
fn add_red_tests(red: &[RedTest], text: &mut String) {
    let (must_pass, others): (Vec<&RedTest>, Vec<&RedTest>) =
        red.iter().partition(|test| test.ruling == RedRuling::MustPass);
    if !must_pass.is_empty() {
        let _ = write!(text, "\nThese tests fail before any change and must pass afterwards:\n\n");
    }
    for RedTest { name, why, .. } in must_pass {
        let _ = writeln!(text, "- {}, because {why}", code(name));
    }
    if !others.is_empty() {
        let _ = write!(
            text,
            "\nThese tests fail before any change and are not part of the task. Leave them as they are; they must pass \
             only if the change touches them or code that they use:\n\n"
        );
    }
    for RedTest { name, .. } in others {
        let _ = writeln!(text, "- {}", code(name));
    }
}

/// Whether notes of this kind are about the work of the run.
pub fn is_about_work(kind: NoteKind) -> bool {
    match kind {
        NoteKind::Warning | NoteKind::Unenforced | NoteKind::Violation | NoteKind::Degradation => true,
        // The rows tell which tests fail now.
        NoteKind::Regression
        | NoteKind::Concern
        | NoteKind::Decision
        | NoteKind::Lesson
        | NoteKind::Proposal
        | NoteKind::Mapped
        | NoteKind::Interrupted => false,
    }
}

/// The latest result of each check, with its result at the baseline where that differs.
fn text(rows: &[CheckRow], specs: &[CheckSpec], given: &[GivenFinding<'_>]) -> String {
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
                let spec = specs.iter().find(|spec| spec.name == row.name);
                let folder = spec.map_or("", |spec| spec.folder.as_str());
                let words = CheckWords { folder, ..CheckWords::from(row) };
                words.item(baseline_remark(row, &rows), given, &mut text);
            }
        }
    }
    text
}

/// A remark on how the same check ended before any change; empty if it ended the same way or did not run.
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
