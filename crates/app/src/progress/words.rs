//! One committed step in lines for people.

use crate::table::amount::money;
use crate::table::line;
use remand_kernel::event::Limits;
use remand_kernel::evidence::RowPhase;
use remand_kernel::ids::{CommandId, Lane};
use remand_kernel::program::{Program, Work};
use remand_kernel::state::Used;
use remand_kernel::{Command, Event, State, view};
use remand_ledger::fact::{Check, NoteKind};
use remand_runtime::checks;
use remand_runtime::host::{News, TakenUp};
use std::time::Duration;

/// The lines of one step: what was noticed, what was ruled, what is done about it.
pub fn lines(news: &News<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for note in &news.facts.notes {
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
    // What a reviewer judged is told by the ruling.
    let failed = |check: &&Check| !check.passed && check.tier.is_some() && check.phase != RowPhase::Review;
    for check in news.facts.checks.iter().filter(failed) {
        let of = check.task.as_deref().map_or_else(String::new, |task| format!("[{task}]"));
        let said = line::one(checks::telling(&check.snippet));
        let said = if said.is_empty() { "no output" } else { &said };
        lines.push(format!("  {} failed: {said}", line::one(&format!("{}{of}", check.name))));
    }
    for ruling in &news.step.rulings {
        let shown = view::ruling(news.program, news.state, ruling);
        lines.push(format!("⇒ {}", line::one(&shown.line())));
        lines.push(format!("    by {}: {}", shown.rule, line::one(&shown.why)));
    }
    for command in &news.step.commands {
        let mark = match command {
            Command::Dispatch(_) | Command::Operate { .. } | Command::Finish { .. } => "→",
            Command::Ask(_) => "?",
            Command::Cancel { .. } | Command::Discard { .. } | Command::Restore { .. } => "←",
        };
        lines.push(format!("{mark} {}", line::one(&view::command(news.program, command))));
    }
    lines
}

/// The lines of a run that is taken up: who is at work again, and what was spent so far.
pub fn again(taken: &TakenUp<'_>) -> Vec<String> {
    let under_way = taken.open.iter().filter_map(|command| under_way(taken.program, command));
    let mut lines: Vec<String> = under_way.map(|(_, doing)| format!("→ again: {doing}")).collect();
    lines.push(format!("  {} so far", spent(&taken.state.used, &taken.state.limits)));
    lines
}

/// A command that is under way, in few words.
pub fn under_way(program: &Program, command: &Command) -> Option<(CommandId, String)> {
    let id = command.id()?;
    match command {
        Command::Dispatch(_) | Command::Operate { .. } => {
            Some((id, line::one(&view::command(program, command))))
        }
        Command::Ask(_)
        | Command::Cancel { .. }
        | Command::Discard { .. }
        | Command::Restore { .. }
        | Command::Finish { .. } => None,
    }
}

/// The command that an event ended, and those that a step cancelled.
pub fn ended(news: &News<'_>) -> Vec<CommandId> {
    let cancelled = news.step.commands.iter().filter_map(|command| match command {
        Command::Cancel { id } => Some(*id),
        _ => None,
    });
    let own = match news.event {
        Event::Ended { id, .. } => Some(*id),
        _ => None,
    };
    own.into_iter().chain(cancelled).collect()
}

/// Where the run is.
pub fn place(program: &Program, state: &State) -> String {
    let main = program.phase(state.main.phase);
    if !matches!(main.work, Work::Flow { .. }) {
        return main.name.clone();
    }
    let running = (0..state.tasks.len())
        .filter_map(|index| {
            let batch = state.visits[state.main.phase.index()];
            state.desk(Lane::Task { batch, index: u16::try_from(index).ok()? })
        })
        .count();
    format!("{} ({running} of {} under way)", main.name, state.tasks.len())
}

/// What was spent, and what is left of the limits.
pub fn spent(used: &Used, limits: &Limits) -> String {
    let of = |limit: Option<u64>| limit.map_or_else(String::new, |limit| format!(" of {limit}"));
    let mut parts = vec![format!("{}{} dispatches", used.dispatches, of(limits.dispatches))];
    let tokens_of = of(limits.tokens);
    match (used.tokens, used.untold) {
        (0, 0) if limits.tokens.is_none() => {}
        (tokens, 0) => parts.push(format!("{tokens}{tokens_of} tokens")),
        (0, _) => parts.push(format!("unknown tokens{tokens_of}")),
        (tokens, _) => parts.push(format!("{tokens}{tokens_of} tokens and unknown ones")),
    }
    if used.money > 0 || limits.money.is_some() {
        let limit = limits.money.map_or_else(String::new, |limit| format!(" of {}", money(limit)));
        parts.push(format!("{}{limit}", money(used.money)));
    }
    if used.unpriced > 0 {
        parts.push(format!("{} of unknown cost", used.unpriced));
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
    fn unknown_tokens_are_never_shown_as_none() {
        let shown = |tokens, untold, limit| {
            let used = Used { dispatches: 2, tokens, untold, ..Used::default() };
            spent(&used, &Limits { tokens: limit, ..Limits::default() })
        };
        assert_eq!(shown(0, 0, Some(900)), "2 dispatches, 0 of 900 tokens");
        assert_eq!(shown(0, 2, Some(900)), "2 dispatches, unknown tokens of 900");
        assert_eq!(shown(70, 1, Some(900)), "2 dispatches, 70 of 900 tokens and unknown ones");
        assert_eq!([shown(0, 0, None), shown(0, 2, None)], ["2 dispatches", "2 dispatches, unknown tokens"]);
    }

    // CORE-07
    #[test]
    fn time_is_shown_beside_its_limit() {
        let used = Used { dispatches: 2, time: 185_900, ..Used::default() };
        let limits = Limits { time: Some(7_200_000), ..Limits::default() };
        assert_eq!(spent(&used, &limits), "2 dispatches, 3:05 of 2:00:00");
    }
}
