//! The progress of a run as lines of text. The driving process and everything that watches a run show the same lines.

use remand_engine::host::{CommittedStep, ResumedRun};
use remand_kernel::event::Limits;
use remand_kernel::evidence::RowPhase;
use remand_kernel::state::UsageTotals;
use remand_kernel::{Command, Program};
use remand_ledger::fact::{Check, NoteKind};
use remand_ledger::view::{CommandKind, CommandView};
use remand_ledger::{JournalEntry, RunChange, RunId};
use remand_terminal::amount::{grouped, money};
use remand_terminal::{Ink, Tone, invocation, line};
use std::time::Duration;

/// The indentation of the second and later parts of a wrapped line.
const HANG: usize = 4;

/// A committed step in the form that all readers of a run use.
pub fn change(committed: &CommittedStep<'_>) -> RunChange {
    let entry = JournalEntry {
        run: committed.run,
        at: committed.at,
        event: committed.event,
        facts: committed.facts,
        step: committed.step,
        blobs: &[],
        request: None,
    };
    RunChange::of(committed.program, committed.state, 0, &entry)
}

/// A line about a run, with its colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressLine {
    pub tone: Tone,
    pub text: String,
}

impl ProgressLine {
    fn new(tone: Tone, text: String) -> ProgressLine {
        ProgressLine { tone, text }
    }

    /// The line, preceded by the elapsed time. It is wrapped at words if there is a width.
    pub fn render(&self, elapsed: Duration, ink: Ink, width: Option<usize>) -> Vec<String> {
        let time = format!("{:>7}  ", clock(elapsed));
        let room = width.map_or(usize::MAX, |width| width.saturating_sub(time.len()));
        let lines = line::hanging(&self.text, HANG, room);
        let lead = |at: usize| if at == 0 { ink.paint(Tone::Faint, &time) } else { " ".repeat(time.len()) };
        lines
            .iter()
            .enumerate()
            .map(|(at, part)| format!("{}{}", lead(at), ink.paint(self.tone, part)))
            .collect()
    }
}

/// The lines of one step of a run: notes, failed checks, rulings and commands.
pub fn lines(run: &RunId, workflow: &str, change: &RunChange) -> Vec<ProgressLine> {
    let mut lines = Vec::new();
    let mut add = |tone: Tone, text: String| lines.push(ProgressLine::new(tone, text));
    for note in &change.notes {
        let text = line::one(&note.text);
        match note.kind {
            NoteKind::Violation => add(Tone::Bad, format!("! violation: {text}")),
            NoteKind::Degradation => add(Tone::Doubtful, format!("! degraded: {text}")),
            NoteKind::Concern => add(Tone::Doubtful, format!("! concern: {text}")),
            NoteKind::Warning | NoteKind::Unenforced => add(Tone::Doubtful, format!("! {text}")),
            NoteKind::Regression => add(Tone::Bad, format!("! regression: {text}")),
            NoteKind::Interrupted => add(Tone::Doubtful, format!("! {text}")),
            NoteKind::Decision | NoteKind::Lesson | NoteKind::Proposal | NoteKind::Mapped => {}
        }
    }
    // Rulings already report reviews, so reviews are left out here.
    let failed = |check: &&Check| !check.passed && check.tier.is_some() && check.phase != RowPhase::Review;
    for check in change.checks.iter().filter(failed) {
        let task = check.task.as_deref().map_or_else(String::new, |task| format!("[{task}]"));
        let output = line::one(remand_checks::most_informative_line(&check.snippet));
        let output = if output.is_empty() { "no output" } else { &output };
        add(Tone::Bad, format!("  {} failed: {output}", line::one(&format!("{}{task}", check.name))));
    }
    if let Some(check) = change.checks.iter().find(failed) {
        add(Tone::Plain, format!("    whole output: {}", output_command(run, &check.name)));
    }
    for ruling in &change.rulings {
        add(Tone::Strong, format!("⇒ {}", line::one(&ruling.line())));
        add(Tone::Faint, format!("    {}: {}", ruling.rule.source(workflow), line::one(&ruling.why)));
    }
    if let Some(failed) = &change.failed {
        add(Tone::Plain, format!("    whole output: {}", output_command(run, failed)));
    }
    for command in &change.commands {
        let arrow = match command.kind {
            CommandKind::Dispatch | CommandKind::Operation | CommandKind::Finish => "→",
            CommandKind::Question => "?",
            CommandKind::Cancel | CommandKind::Discard | CommandKind::Restore => "←",
        };
        add(Tone::Plain, format!("{arrow} {}", line::one(&command.text)));
    }
    lines
}

/// The command that prints the whole output of a check or a dispatch.
pub fn output_command(run: &RunId, name: &str) -> String {
    invocation::command(format!("output {} --run {run}", invocation::quoted(name)))
}

/// The lines of a resumed run: commands that run again, and what was spent so far.
pub fn resumed(resumed: &ResumedRun<'_>) -> Vec<ProgressLine> {
    let running = running(resumed.program, resumed.open);
    let again = running.iter().map(|command| format!("→ again: {}", line::one(&command.text)));
    let so_far = format!("  {} so far", spent(&resumed.state.used, &resumed.state.limits));
    again.chain([so_far]).map(|text| ProgressLine::new(Tone::Plain, text)).collect()
}

/// The dispatches and operations among these commands.
pub fn running(program: &Program, commands: &[Command]) -> Vec<CommandView> {
    let views = commands.iter().map(|command| CommandView::of(program, command));
    views.filter(|view| matches!(view.kind, CommandKind::Dispatch | CommandKind::Operation)).collect()
}

/// The usage so far, and its limits.
pub fn spent(used: &UsageTotals, limits: &Limits) -> String {
    let out_of =
        |limit: Option<u64>| limit.map_or_else(String::new, |limit| format!(" of {}", grouped(limit)));
    let mut parts = vec![format!("{}{} dispatches", used.dispatches, out_of(limits.dispatches))];
    let of_limit = out_of(limits.tokens);
    match (used.tokens, used.unmetered) {
        (0, 0) if limits.tokens.is_none() => {}
        (tokens, 0) => parts.push(format!("{}{of_limit} tokens", grouped(tokens))),
        (0, _) => parts.push(format!("unknown tokens{of_limit}")),
        (tokens, _) => parts.push(format!("{}{of_limit} tokens, others unknown", grouped(tokens))),
    }
    if used.money > 0 || limits.money.is_some() {
        let limit = limits.money.map_or_else(String::new, |limit| format!(" of {}", money(limit)));
        parts.push(format!("{}{limit}", money(used.money)));
    }
    if used.unpriced > 0 {
        parts.push(format!("{} with unknown cost", used.unpriced));
    }
    if let Some(limit) = limits.time {
        let time = |millis| clock(Duration::from_millis(millis));
        parts.push(format!("{} of {}", time(used.time), time(limit)));
    }
    parts.join(", ")
}

/// The position and usage of a run in one line. A narrow terminal may cut off the end.
pub fn standing(position: &str, used: &UsageTotals, limits: &Limits) -> String {
    let spent = spent(used, limits);
    let position = line::one(position);
    if position.is_empty() { spent } else { format!("{position} · {spent}") }
}

/// A duration as `1:05` or `2:00:00`.
pub fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    // CORE-11
    #[test]
    fn unknown_token_counts_are_never_shown_as_zero() {
        let shown = |tokens, unmetered, limit| {
            let used = UsageTotals { dispatches: 2, tokens, unmetered, ..UsageTotals::default() };
            spent(&used, &Limits { tokens: limit, ..Limits::default() })
        };
        assert_eq!(shown(0, 0, Some(900)), "2 dispatches, 0 of 900 tokens");
        assert_eq!(shown(0, 2, Some(900)), "2 dispatches, unknown tokens of 900");
        assert_eq!(shown(70, 1, Some(900)), "2 dispatches, 70 of 900 tokens, others unknown");
        assert_eq!(shown(36_300, 0, Some(90_000)), "2 dispatches, 36,300 of 90,000 tokens");
        assert_eq!([shown(0, 0, None), shown(0, 2, None)], ["2 dispatches", "2 dispatches, unknown tokens"]);
    }

    // CORE-07
    #[test]
    fn time_is_shown_with_its_limit() {
        let used = UsageTotals { dispatches: 2, time: 185_900, ..UsageTotals::default() };
        let limits = Limits { time: Some(7_200_000), ..Limits::default() };
        assert_eq!(spent(&used, &limits), "2 dispatches, 3:05 of 2:00:00");
    }
}
