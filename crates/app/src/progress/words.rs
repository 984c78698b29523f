//! Describes committed steps in lines for people.

use remand_engine::host::{CommittedStep, ResumedRun};
use remand_kernel::event::Limits;
use remand_kernel::evidence::RowPhase;
use remand_kernel::state::UsageTotals;
use remand_kernel::{Command, Program};
use remand_ledger::fact::{Check, NoteKind};
use remand_ledger::view::{CommandKind, CommandView};
use remand_ledger::{JournalEntry, RunChange, RunId};
use remand_terminal::amount::money;
use remand_terminal::{invocation, line};
use std::time::Duration;

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

/// The lines of one step of a run: notes, failed checks, rulings and commands.
pub fn lines(run: &RunId, change: &RunChange) -> Vec<String> {
    let mut lines = Vec::new();
    for note in &change.notes {
        let text = line::one(&note.text);
        match note.kind {
            NoteKind::Violation => lines.push(format!("! violation: {text}")),
            NoteKind::Degradation => lines.push(format!("! degraded: {text}")),
            NoteKind::Concern => lines.push(format!("! concern: {text}")),
            NoteKind::Warning => lines.push(format!("! {text}")),
            NoteKind::Regression => lines.push(format!("! regression: {text}")),
            NoteKind::Interrupted => lines.push(format!("! {text}")),
            NoteKind::Decision | NoteKind::Lesson | NoteKind::Proposal | NoteKind::Mapped => {}
        }
    }
    // Rulings already report reviews, so reviews are left out here.
    let failed = |check: &&Check| !check.passed && check.tier.is_some() && check.phase != RowPhase::Review;
    for check in change.checks.iter().filter(failed) {
        let task = check.task.as_deref().map_or_else(String::new, |task| format!("[{task}]"));
        let output = line::one(remand_checks::most_informative_line(&check.snippet));
        let output = if output.is_empty() { "no output" } else { &output };
        lines.push(format!("  {} failed: {output}", line::one(&format!("{}{task}", check.name))));
    }
    if let Some(check) = change.checks.iter().find(failed) {
        lines.push(format!("    whole output: {}", output_command(run, &check.name)));
    }
    for ruling in &change.rulings {
        lines.push(format!("⇒ {}", line::one(&ruling.line())));
        lines.push(format!("    {}: {}", ruling.rule, line::one(&ruling.why)));
    }
    if let Some(failed) = &change.failed {
        lines.push(format!("    whole output: {}", output_command(run, failed)));
    }
    for command in &change.commands {
        let arrow = match command.kind {
            CommandKind::Dispatch | CommandKind::Operation | CommandKind::Finish => "→",
            CommandKind::Question => "?",
            CommandKind::Cancel | CommandKind::Discard | CommandKind::Restore => "←",
        };
        lines.push(format!("{arrow} {}", line::one(&command.text)));
    }
    lines
}

/// The command that prints the whole output of a check or a dispatch.
pub fn output_command(run: &RunId, name: &str) -> String {
    invocation::command(format!("output {} --run {run}", invocation::quoted(name)))
}

/// The lines of a resumed run: commands that run again, and what was spent so far.
pub fn resumed(resumed: &ResumedRun<'_>) -> Vec<String> {
    let running = running(resumed.program, resumed.open);
    let mut lines: Vec<String> =
        running.iter().map(|command| format!("→ again: {}", line::one(&command.text))).collect();
    lines.push(format!("  {} so far", spent(&resumed.state.used, &resumed.state.limits)));
    lines
}

/// The dispatches and operations among some commands.
pub fn running(program: &Program, commands: &[Command]) -> Vec<CommandView> {
    let views = commands.iter().map(|command| CommandView::of(program, command));
    views.filter(|view| matches!(view.kind, CommandKind::Dispatch | CommandKind::Operation)).collect()
}

/// The usage so far, and its limits.
pub fn spent(used: &UsageTotals, limits: &Limits) -> String {
    let out_of = |limit: Option<u64>| limit.map_or_else(String::new, |limit| format!(" of {limit}"));
    let mut parts = vec![format!("{}{} dispatches", used.dispatches, out_of(limits.dispatches))];
    let of_limit = out_of(limits.tokens);
    match (used.tokens, used.untold) {
        (0, 0) if limits.tokens.is_none() => {}
        (tokens, 0) => parts.push(format!("{tokens}{of_limit} tokens")),
        (0, _) => parts.push(format!("unknown tokens{of_limit}")),
        (tokens, _) => parts.push(format!("{tokens}{of_limit} tokens, others unknown")),
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
        let shown = |tokens, untold, limit| {
            let used = UsageTotals { dispatches: 2, tokens, untold, ..UsageTotals::default() };
            spent(&used, &Limits { tokens: limit, ..Limits::default() })
        };
        assert_eq!(shown(0, 0, Some(900)), "2 dispatches, 0 of 900 tokens");
        assert_eq!(shown(0, 2, Some(900)), "2 dispatches, unknown tokens of 900");
        assert_eq!(shown(70, 1, Some(900)), "2 dispatches, 70 of 900 tokens, others unknown");
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
