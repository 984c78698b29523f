//! Messages to a run: endings of commands, what a human did here, and requests of other processes.

use remand_kernel::event::Usage;
use remand_kernel::ids::CommandId;
use remand_kernel::signal::Failure;
use remand_kernel::{Event, Outcome};
use remand_ledger::{Blob, Facts, RunId};

/// How a command ended, with everything that was observed on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandEnding {
    /// The turn fills in what depends on the rest of the run or on other runs: `in_a_row`, `degraded`, and the digest of
    /// an artifact that has several parts.
    pub outcome: Outcome,
    pub usage: Usage,
    pub facts: Facts,
    pub blobs: Vec<Blob>,
}

impl CommandEnding {
    /// An ending with an outcome and nothing else.
    pub fn plain(outcome: Outcome) -> CommandEnding {
        CommandEnding { outcome, usage: Usage::default(), facts: Facts::default(), blobs: Vec::new() }
    }
}

/// One message to a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub run: RunId,
    pub sender: Sender,
    pub event: Event,
    pub facts: Facts,
    pub blobs: Vec<Blob>,
    /// How many dispatches of the same agent failed in a row before this one, over all runs. The host looks it up in the
    /// ledger when `agent_failed` asks for it.
    pub failures_before: Option<u16>,
}

/// Who sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// A command that this process started.
    Command(CommandId),
    /// This process itself, such as for a human at its terminal.
    Driver,
    /// Another process, by a row in the ledger.
    Request(i64),
}

impl Message {
    pub fn new(run: RunId, sender: Sender, event: Event) -> Message {
        Message { run, sender, event, facts: Facts::default(), blobs: Vec::new(), failures_before: None }
    }

    /// The ending of a command.
    pub fn ended(run: RunId, id: CommandId, ending: CommandEnding) -> Message {
        let CommandEnding { outcome, usage, facts, blobs } = ending;
        let event = Event::Ended { id, outcome, usage };
        Message { facts, blobs, ..Message::new(run, Sender::Command(id), event) }
    }

    /// The agent whose dispatch failed, for which the host looks up `failures_before`.
    pub fn agent_failed(&self) -> Option<(&str, CommandId)> {
        match (&self.event, &self.facts.telemetry) {
            (Event::Ended { id, outcome: Outcome::Failed { .. }, .. }, Some(telemetry)) => {
                Some((&telemetry.driver, *id))
            }
            _ => None,
        }
    }

    /// Charges the run for wall time.
    pub(super) fn set_wall(&mut self, milliseconds: u64) {
        if let Event::Ended { usage, .. } | Event::Interrupted { usage, .. } = &mut self.event {
            usage.wall = Some(milliseconds);
        }
    }

    /// A command that was killed because its driver stops has not ended: it was interrupted.
    pub(super) fn leave_open(&mut self) {
        if let Event::Ended { id, outcome: Outcome::Failed { failure: Failure::Cancelled, .. }, usage } =
            &self.event
        {
            let (id, began, usage) = (*id, self.facts.telemetry.is_some(), *usage);
            self.event = Event::Interrupted { id, began, usage };
        }
    }
}
