//! Messages to a run: endings of commands, actions of a human in this process, and requests of other processes.

use remand_kernel::event::Usage;
use remand_kernel::ids::CommandId;
use remand_kernel::signal::Failure;
use remand_kernel::{Event, Outcome};
use remand_ledger::{Blob, Facts, RunId};

/// How a command ended, with everything that was observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandEnding {
    /// The turn fills in the fields that depend on the rest of the run or on other runs: `in_a_row`, `degraded`, and the
    /// digest of an artifact that has several parts.
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
    /// The number of consecutive environment failures of the same agent before this dispatch, over all runs.
    /// The host looks the number up in the ledger if `failed_agent` returns an agent.
    pub failures_before: Option<u16>,
}

/// Who sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// A command that this process started.
    Command(CommandId),
    /// This process, for example for a human at its terminal.
    Driver,
    /// Another process, through a request in the ledger.
    Request(i64),
}

impl Message {
    pub fn new(run: RunId, sender: Sender, event: Event) -> Message {
        Message { run, sender, event, facts: Facts::default(), blobs: Vec::new(), failures_before: None }
    }

    /// The message that a command has ended.
    pub fn from_ending(run: RunId, id: CommandId, ending: CommandEnding) -> Message {
        let CommandEnding { outcome, usage, facts, blobs } = ending;
        let event = Event::Ended { id, outcome, usage };
        Message { facts, blobs, ..Message::new(run, Sender::Command(id), event) }
    }

    /// The agent and the command of a dispatch that failed.
    pub fn failed_agent(&self) -> Option<(&str, CommandId)> {
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

    /// Turns the ending of a cancelled command into an interruption: the driving process killed it in order to stop,
    /// and the command stays open.
    pub(super) fn make_interruption(&mut self) {
        if let Event::Ended { id, outcome: Outcome::Failed { failure: Failure::Cancelled, .. }, usage } =
            &self.event
        {
            let (id, began, usage) = (*id, self.facts.telemetry.is_some(), *usage);
            self.event = Event::Interrupted { id, began, usage };
        }
    }
}
