//! The log of a run as text: events, rulings and their rules.

use super::Detail;
use super::logged_event::LoggedEvent;
use crate::commands::runs::heading;
use remand_engine::clock;
use remand_kernel::Event;
use remand_ledger::fact::{Note, NoteKind};
use remand_ledger::query::{DispatchRow, DispatchStatus, GateRow, OperationRow, RulingRow, RunRow};
use remand_terminal::table::page_width;
use remand_terminal::{Ink, Tone, amount, line};

/// The width of the columns for number and time.
const MARGIN: usize = 16;

/// The whole log.
pub(super) fn text(row: &RunRow, events: &[LoggedEvent], detail: Detail, ink: Ink) -> String {
    let mut page = Page {
        ink,
        workflow: row.workflow.clone(),
        text: format!("{}\n", heading(row)),
        confidence: "high".to_string(),
        day: String::new(),
    };
    for event in events {
        let at = clock::iso(event.journal.at);
        let (day, hour) = at.split_once('T').unwrap_or((&at, ""));
        let mut lines = Vec::new();
        if detail == Detail::All {
            lines.extend(event_lines(row, event));
            lines.extend(event.journal.facts.notes.iter().filter_map(note_line));
        }
        let rulings: Vec<Line> = event.rulings.iter().flat_map(|row| page.ruling(row)).collect();
        lines.extend(rulings);
        if lines.is_empty() {
            continue;
        }
        if page.day != day {
            page.text.push_str(&format!("\n{}\n", ink.paint(Tone::Faint, &format!("{day}, times in UTC"))));
            page.day = day.to_string();
        }
        let margin = format!("{:>4}  {:<8}  ", event.journal.seq, hour.trim_end_matches('Z'));
        page.add(&margin, &lines);
    }
    page.text
}

struct Line {
    indent: usize,
    tone: Tone,
    text: String,
}

struct Page {
    ink: Ink,
    workflow: String,
    text: String,
    /// The confidence after the last ruling; a run starts with high confidence.
    confidence: String,
    day: String,
}

impl Page {
    fn add(&mut self, margin: &str, lines: &[Line]) {
        let mut margin = self.ink.paint(Tone::Faint, margin);
        for shown in lines {
            for part in
                line::wrap(&line::one(&shown.text), page_width().saturating_sub(MARGIN + shown.indent))
            {
                let painted = self.ink.paint(shown.tone, &part);
                self.text.push_str(&format!("{margin}{}{painted}\n", " ".repeat(shown.indent)));
                margin = " ".repeat(MARGIN);
            }
        }
    }

    /// Describes a ruling: its decision and costs, its rule and reason, and its effect on the confidence.
    fn ruling(&mut self, row: &RulingRow) -> Vec<Line> {
        let ruling = &row.ruling;
        let mut lines = vec![
            Line { indent: 0, tone: Tone::Strong, text: format!("⇒ {}", ruling.line()) },
            Line {
                indent: 4,
                tone: Tone::Plain,
                text: format!("{}: {}", ruling.rule.source(&self.workflow), ruling.why),
            },
        ];
        if !ruling.exhausted.is_empty() {
            let text = format!("used up: {}", ruling.exhausted.join(", "));
            lines.push(Line { indent: 4, tone: Tone::Doubtful, text });
        }
        if ruling.confidence != self.confidence {
            let text = format!("confidence {} → {}", self.confidence, ruling.confidence);
            lines.push(Line { indent: 4, tone: Tone::Doubtful, text });
            self.confidence.clone_from(&ruling.confidence);
        }
        lines
    }
}

/// Describes the event, with its dispatch, operation or answer.
fn event_lines(row: &RunRow, event: &LoggedEvent) -> Vec<Line> {
    let plain = |text: String| Line { indent: 0, tone: Tone::Plain, text };
    match &event.journal.event {
        Event::Started(_) => {
            let base = row.base.get(..12).unwrap_or(&row.base);
            let asked = line::first(&row.request);
            vec![plain(format!("{}, {}, from {base}: {asked}", row.subject, row.mode))]
        }
        Event::Ended { .. } => match (&event.dispatch, &event.operation) {
            (Some(dispatch), _) => dispatch_lines(dispatch),
            (None, Some(operation)) => vec![operation_line(operation)],
            (None, None) => vec![plain("a command ended after the run had abandoned it".to_string())],
        },
        Event::Interrupted { .. } => match &event.dispatch {
            Some(dispatch) => dispatch_lines(dispatch),
            None => vec![plain("a command was interrupted and is still open".to_string())],
        },
        Event::Answered { option, by, note, .. } => answer_lines(event.gate.as_ref(), option, by, note),
        Event::Cancelled { by } => vec![plain(format!("cancelled by {by}"))],
        Event::Paused { by } => vec![plain(format!("paused by {by}"))],
        Event::Resumed { by } => vec![plain(format!("resumed by {by}"))],
        Event::Retried { by } => vec![plain(format!("retried by {by}"))],
        Event::RolledBack { to, by, reason, .. } => {
            vec![plain(format!("rolled back to round {to} by {by}: {reason}"))]
        }
        Event::ApproachRemoved { at, by } => {
            vec![plain(format!("approach {} removed from the list by {by}", at + 1))]
        }
        Event::Reattributed { to, by, note, .. } => {
            let note = if note.is_empty() { String::new() } else { format!(": {note}") };
            vec![plain(format!("a finding was attributed to {} by {by}{note}", to.join(", ")))]
        }
        Event::Reverted { commit, by } => {
            vec![plain(format!("the commit of the run was undone by {by}, with commit {commit}"))]
        }
    }
}

fn phase_and_task(phase: &str, task: Option<&str>) -> String {
    task.map_or_else(|| phase.to_string(), |task| format!("{phase}[{task}]"))
}

fn dispatch_lines(row: &DispatchRow) -> Vec<Line> {
    let mut text = format!("{} by {}", phase_and_task(&row.phase, row.task.as_deref()), row.role);
    if let Some(item) = &row.item {
        text.push_str(&format!(" ({item})"));
    }
    let mut parts = vec![row.status.name().to_string()];
    parts.extend(row.says.as_ref().map(|says| format!("says {says}")));
    parts.extend(row.failure.clone());
    parts.extend(row.time.map(amount::time));
    parts.push(
        row.tokens.map_or_else(|| "tokens unknown".to_string(), |tokens| amount::counted(tokens, "token")),
    );
    parts.push(
        row.money
            .map_or_else(|| "cost unknown".to_string(), |money| format!("cost {}", amount::money(money))),
    );
    if row.retries > 0 {
        parts.push(amount::counted(u64::from(row.retries), "failure").replace("failure", "earlier failure"));
    }
    let tone = status_tone(row.status);
    let mut lines = vec![Line { indent: 0, tone, text: format!("{text}: {}", parts.join(", ")) }];
    let detail = row.detail.as_ref().or(row.summary.as_ref()).filter(|text| !text.trim().is_empty());
    lines.extend(detail.map(|text| Line {
        indent: 4,
        tone: Tone::Faint,
        text: line::cut(&line::one(text), 300),
    }));
    lines
}

fn operation_line(row: &OperationRow) -> Line {
    let mut parts: Vec<String> = row.result.iter().chain(&row.failure).cloned().collect();
    parts.extend(row.time.map(amount::time));
    parts.extend(row.detail.as_ref().map(|text| line::cut(&line::one(text), 200)));
    let what = format!("{}: the engine ran {}", phase_and_task(&row.phase, row.task.as_deref()), row.name);
    Line { indent: 0, tone: status_tone(row.status), text: format!("{what}: {}", parts.join(", ")) }
}

fn status_tone(status: DispatchStatus) -> Tone {
    match status {
        DispatchStatus::Running | DispatchStatus::Done => Tone::Plain,
        DispatchStatus::NeedsRevision => Tone::Doubtful,
        DispatchStatus::Error => Tone::Bad,
    }
}

fn answer_lines(gate: Option<&GateRow>, option: &str, by: &str, note: &str) -> Vec<Line> {
    let asked = gate.map_or_else(String::new, |gate| format!("{}: ", line::one(&gate.question)));
    let mut lines =
        vec![Line { indent: 0, tone: Tone::Plain, text: format!("? {asked}{by} answered {option}") }];
    if !note.trim().is_empty() {
        lines.push(Line { indent: 4, tone: Tone::Plain, text: note.to_string() });
    }
    lines
}

fn note_line(note: &Note) -> Option<Line> {
    let (tone, word) = match note.kind {
        NoteKind::Violation => (Tone::Bad, "violation: "),
        NoteKind::Regression => (Tone::Bad, "regression: "),
        NoteKind::Degradation => (Tone::Doubtful, "degraded: "),
        NoteKind::Concern => (Tone::Doubtful, "concern: "),
        NoteKind::Warning | NoteKind::Unenforced | NoteKind::Interrupted => (Tone::Doubtful, ""),
        NoteKind::Decision => (Tone::Plain, "decision: "),
        NoteKind::Lesson => (Tone::Plain, "lesson: "),
        NoteKind::Proposal => (Tone::Plain, "proposal: "),
        NoteKind::Mapped => (Tone::Faint, "mapped: "),
    };
    let text = line::one(&note.text);
    (!text.is_empty()).then(|| Line { indent: 0, tone, text: format!("! {word}{text}") })
}
