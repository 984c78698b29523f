//! What was seen after an agent's process ended, and why its end is no result if it is none.

use super::{Brief, out_of_time, surroundings};
use crate::contract;
use crate::driver::Heard;
use crate::git::{Changed, Oddity, TreeId};
use crate::process::{Ended, Exit};
use crate::workshop::Trouble;
use remand_kernel::signal::Failure;
use remand_ledger::Blob;
use remand_ledger::fact::Note;

/// What was seen after a process ended.
pub struct Seen {
    pub after: TreeId,
    pub violations: Vec<Changed>,
    /// Undone in any case; some cost the dispatch.
    pub oddities: Vec<Oddity>,
    /// Those oddities that the role had no right to.
    pub forbidden: Vec<Oddity>,
    pub notes: Vec<Note>,
    pub blobs: Vec<Blob>,
}

impl Seen {
    pub fn is_violation(&self) -> bool {
        !self.violations.is_empty() || !self.forbidden.is_empty()
    }

    pub fn text(&self, brief: &Brief<'_>) -> String {
        let changes = self.violations.iter().map(|change| change.path.display().to_string());
        let all: Vec<String> = changes.chain(self.forbidden.iter().map(Oddity::to_string)).collect();
        let (named, more) = all.split_at(all.len().min(5));
        let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        let (title, words) = (&brief.title, brief.permit.words());
        format!("{title} changed {}{more}; it may change {words}", named.join(", "))
    }

    pub fn files(&self) -> Vec<String> {
        let changes = self.violations.iter().map(|change| &change.path);
        changes
            .chain(self.forbidden.iter().map(|odd| &odd.path))
            .map(|path| path.display().to_string())
            .collect()
    }
}

/// Why the process's end is no result, if it is none.
pub fn failure(brief: &Brief<'_>, ended: &Ended, heard: &Heard, seen: &Seen) -> Option<Trouble> {
    if ended.exit != Exit::Cancelled && seen.is_violation() {
        return Some(Trouble::new(Failure::Violation, seen.text(brief)));
    }
    if let Some(exceeded) = &ended.exceeded {
        return Some(Trouble::new(Failure::Crashed, surroundings::exceeded(exceeded)));
    }
    let told = heard.failure.clone().map(|(failure, detail)| Trouble::new(failure, detail));
    // Some try again and again until their time is over.
    let kept_waiting = told.clone().filter(|told| told.failure == Failure::Environment);
    let crashed = |how: String| Trouble::new(Failure::Crashed, format!("{how}{}", tail(ended)));
    match ended.exit {
        Exit::TimedOut if out_of_time(brief.job).is_some() => out_of_time(brief.job),
        Exit::TimedOut => {
            let late = format!("no end within {} seconds", brief.choice.seconds);
            Some(kept_waiting.unwrap_or_else(|| Trouble::new(Failure::Timeout, late)))
        }
        Exit::Silent => Some(kept_waiting.unwrap_or_else(|| {
            Trouble::new(Failure::Timeout, "it said nothing for too long, and no tool of its was at work")
        })),
        Exit::Signal(signal) => Some(crashed(format!("ended by signal {signal}"))),
        Exit::Cancelled => Some(Trouble::cancelled()),
        Exit::Code(0) | Exit::Lingered => told,
        Exit::Code(code) => Some(told.unwrap_or_else(|| crashed(format!("exit code {code}")))),
    }
}

/// The last words on standard error.
fn tail(ended: &Ended) -> String {
    let text = ended.stderr.text();
    let last: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    match last.as_slice() {
        [] => String::new(),
        [.., end] => format!(": {}", contract::clean(end.trim())),
    }
}
