//! The parts of one run as lines: where it is, what was decided, findings, lanes, and what its agent prints.

use crate::paint::Paint;
use ratatui::text::{Line, Span};
use remand_drawings::{OutlineRow, outline};
use remand_kernel::state::FiledStatus;
use remand_ledger::Millis;
use remand_ledger::query::{FindingRow, RunStage};
use remand_terminal::{Tone, amount, line};
use remand_views::progress::lines as change_lines;
use remand_views::{LaneBar, LaneBarKind, RunSight, of_task};
use std::collections::BTreeMap;

/// The agent's lines that are shown.
const TAIL: usize = 500;

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Panel {
    Here,
    Events,
    Findings,
    Lanes,
    Agent,
}

impl Panel {
    pub const ALL: [Panel; 5] = [Panel::Here, Panel::Events, Panel::Findings, Panel::Lanes, Panel::Agent];

    pub fn name(self) -> &'static str {
        match self {
            Panel::Here => "here",
            Panel::Events => "events",
            Panel::Findings => "findings",
            Panel::Lanes => "lanes",
            Panel::Agent => "agent",
        }
    }

    /// Whether the end is what people look at.
    pub fn grows(self) -> bool {
        match self {
            Panel::Events | Panel::Agent => true,
            Panel::Here | Panel::Findings | Panel::Lanes => false,
        }
    }

    pub fn lines(self, sight: &RunSight, paint: Paint, width: usize, now: Millis) -> Vec<Line<'static>> {
        match self {
            Panel::Here => here(sight, paint, width, now),
            Panel::Events => events(sight, paint, width),
            Panel::Findings => findings(sight, paint, width),
            Panel::Lanes => lanes(sight, paint, width, now),
            Panel::Agent => agent(sight, paint, width),
        }
    }
}

/// The workflow with where the run is, what runs now, and the tasks.
fn here(sight: &RunSight, paint: Paint, width: usize, now: Millis) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for open in &sight.view.open {
        let passed = u64::try_from(now.0.saturating_sub(open.started_at.0)).unwrap_or(0);
        let attempt = if open.attempt > 1 { format!(", attempt {}", open.attempt) } else { String::new() };
        let text = format!("→ {open}{attempt}");
        lines.push(paint.ends((Tone::Plain, &text), (Tone::Faint, &amount::time(passed)), width));
    }
    if !lines.is_empty() {
        lines.push(Line::default());
    }
    match &sight.program {
        Some(program) => {
            for row in outline(program, &sight.marks) {
                lines.extend(phase(&row, paint, width));
            }
        }
        None => {
            lines.push(paint.cut(Tone::Doubtful, "This version cannot read the workflow of the run.", width))
        }
    }
    if !sight.view.tasks.is_empty() {
        lines.push(Line::default());
        lines.push(paint.cut(Tone::Strong, "Tasks", width));
    }
    for task in &sight.view.tasks {
        let checks = match (task.summary.passed, task.summary.failed) {
            (0, 0) => String::new(),
            (passed, 0) => format!("{passed} passed"),
            (passed, failed) => format!("{passed} passed, {failed} failed"),
        };
        let tone = if task.summary.failed > 0 { Tone::Bad } else { Tone::Faint };
        let text = format!("  {} {}", task.summary.task, task.state);
        lines.push(paint.ends((Tone::Plain, &text), (tone, &checks), width));
    }
    lines
}

/// One phase, and a line for each way on which work went back from it.
fn phase(row: &OutlineRow, paint: Paint, width: usize) -> Vec<Line<'static>> {
    let is_here = !row.here.is_empty();
    let (mark, tone) = match (is_here, row.visits) {
        (true, _) => ("●", Tone::Strong),
        (false, 0) => ("·", Tone::Faint),
        (false, _) => ("✓", Tone::Plain),
    };
    let indent = "  ".repeat(row.depth);
    let lanes: Vec<&str> = row.here.iter().map(String::as_str).filter(|lane| *lane != "here").collect();
    let lanes = if lanes.is_empty() { String::new() } else { format!(" [{}]", lanes.join(", ")) };
    let visits = if row.visits > 1 { format!(" {}×", row.visits) } else { String::new() };
    let left = row.rounds.filter(|(left, full)| left < full);
    let left_tone = if left.is_some_and(|(left, _)| left == 0) { Tone::Bad } else { Tone::Faint };
    let left = left.map(|(left, full)| format!("{left} of {full} rounds left")).unwrap_or_default();
    let text = format!("{indent}{mark} {}{visits}{lanes}", row.phase);
    let mut lines = vec![paint.ends((tone, &text), (left_tone, &left), width)];
    for back in &row.back {
        let times = if back.count > 1 { format!(" {}×", back.count) } else { String::new() };
        let tone = if back.is_last { Tone::Doubtful } else { Tone::Faint };
        lines.push(paint.cut(tone, &format!("{indent}  ↩ {}{times}", back.to), width));
    }
    lines
}

/// What happened, in the lines that `remand run` prints.
fn events(sight: &RunSight, paint: Paint, width: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for change in &sight.changes {
        for entry in change_lines(&sight.view.row.run, &sight.view.row.workflow, change) {
            lines.extend(paint.wrapped(entry.tone, &entry.text, 4, width));
        }
    }
    if lines.is_empty() {
        lines.push(paint.cut(Tone::Faint, "Nothing happened yet.", width));
    }
    lines
}

fn findings(sight: &RunSight, paint: Paint, width: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for found in sight.view.findings.iter().rev() {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.extend(finding(found, paint, width));
    }
    if lines.is_empty() {
        lines.push(paint.cut(Tone::Faint, "Nothing was found yet.", width));
    }
    lines
}

fn finding(found: &FindingRow, paint: Paint, width: usize) -> Vec<Line<'static>> {
    let (status, tone) = match found.status {
        FiledStatus::Open if found.known => ("known issue", Tone::Doubtful),
        FiledStatus::Open => ("open", Tone::Bad),
        FiledStatus::FollowUp => ("for later", Tone::Faint),
        FiledStatus::Advice => ("advice", Tone::Faint),
        FiledStatus::Superseded => ("reported again", Tone::Faint),
        FiledStatus::PassedOn => ("passed on", Tone::Doubtful),
        FiledStatus::Settled => ("settled", Tone::Good),
    };
    let head = format!("{} {}", found.severity.name(), found.id);
    let mut lines = vec![paint.ends((Tone::Strong, &head), (tone, status), width)];
    lines.extend(paint.wrapped(Tone::Plain, &format!("  {}", line::one(&found.claim)), 0, width));
    let mut life = format!("found by {}", of_task(&found.phase, found.task.as_deref()));
    if !found.injected_by.is_empty() {
        life.push_str(&format!(", injected in {}", found.injected_by.join(", ")));
    }
    if let Some(to) = &found.sent_to {
        life.push_str(&format!(", ↩ sent to {to}"));
    }
    lines.extend(paint.wrapped(Tone::Faint, &format!("  {life}"), 0, width));
    lines
}

/// A line for each lane, drawn over the time of the run, and its latest parts.
fn lanes(sight: &RunSight, paint: Paint, width: usize, now: Millis) -> Vec<Line<'static>> {
    let row = &sight.view.row;
    let end = if row.stage.is_over() { row.updated_at.0 } else { now.0.max(row.created_at.0) };
    let span = (end - row.created_at.0).max(1);
    let mut by_lane: BTreeMap<&str, Vec<&LaneBar>> = BTreeMap::new();
    for bar in &sight.lanes {
        by_lane.entry(&bar.lane).or_default().push(bar);
    }
    let mut lines = Vec::new();
    for (lane, bars) in by_lane {
        let name = if lane.is_empty() { "main line" } else { lane };
        lines.push(paint.cut(Tone::Strong, name, width));
        lines.push(drawn(&bars, paint, width, row.created_at.0, span));
        for bar in bars.iter().rev().take(6) {
            let length = amount::time(bar.length());
            lines.push(paint.ends((Tone::Plain, &format!("  {}", bar.name)), (Tone::Faint, &length), width));
        }
        if bars.len() > 6 {
            let earlier = format!("  and {} earlier", bars.len() - 6);
            lines.push(paint.cut(Tone::Faint, &earlier, width));
        }
        lines.push(Line::default());
    }
    if lines.is_empty() {
        return vec![paint.cut(Tone::Faint, "Nothing ran yet.", width)];
    }
    lines.push(paint.cut(Tone::Faint, "█ agents  ▒ engine and checks  ░ waits for a human", width));
    lines
}

/// The bars of a lane; where several overlap, an agent is shown before the engine, and both before a wait.
fn drawn(bars: &[&LaneBar], paint: Paint, width: usize, start: i64, span: i64) -> Line<'static> {
    let columns = i64::try_from(width).unwrap_or(1).max(1);
    let mut cells: Vec<Option<LaneBarKind>> = vec![None; width];
    for bar in bars {
        let column =
            |at: i64| usize::try_from((at - start).clamp(0, span) * (columns - 1) / span).unwrap_or(0);
        for cell in &mut cells[column(bar.from)..=column(bar.to)] {
            *cell = Some(cell.map_or(bar.kind, |known| known.min(bar.kind)));
        }
    }
    let parts = cells.chunk_by(|one, other| one == other).map(|same| {
        let (sign, tone) = match same[0] {
            Some(LaneBarKind::Agent) => ("█", Tone::Good),
            Some(LaneBarKind::Engine) => ("▒", Tone::Plain),
            Some(LaneBarKind::Wait) => ("░", Tone::Doubtful),
            None => (" ", Tone::Plain),
        };
        paint.part(tone, &sign.repeat(same.len()))
    });
    Line::from(parts.collect::<Vec<Span<'static>>>())
}

fn agent(sight: &RunSight, paint: Paint, width: usize) -> Vec<Line<'static>> {
    let Some((row, text)) = &sight.transcript else {
        return vec![paint.cut(Tone::Faint, "No agent was asked yet.", width)];
    };
    let head = format!("{} for {}", row.role, of_task(&row.phase, row.task.as_deref()));
    let mut lines = vec![paint.cut(Tone::Strong, &head, width)];
    let text = line::clean(text);
    let all: Vec<&str> = text.lines().collect();
    if all.is_empty() {
        lines.push(paint.cut(Tone::Faint, "It has printed nothing yet.", width));
    }
    for one in &all[all.len().saturating_sub(TAIL)..] {
        lines.extend(paint.wrapped(Tone::Plain, &one.replace('\t', "    "), 2, width));
    }
    lines
}

/// What to do about a run that nothing drives.
pub fn advice(sight: &RunSight) -> Option<&'static str> {
    match sight.view.row.stage {
        _ if sight.is_driven => None,
        RunStage::Interrupted => Some("No process drives this run; r continues it."),
        RunStage::Paused => Some("This run is paused; r continues it."),
        RunStage::Waiting if sight.view.requests > 0 => Some("An answer is recorded; r continues the run."),
        RunStage::Running
        | RunStage::Waiting
        | RunStage::Committed
        | RunStage::LeftToYou
        | RunStage::Failed
        | RunStage::Stopped => None,
    }
}
