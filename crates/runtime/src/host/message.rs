//! What comes into the host's inbox: outcomes of commands, each with what was seen on the way.

use remand_kernel::event::Usage;
use remand_kernel::ids::CommandId;
use remand_kernel::signal::Failure;
use remand_kernel::{Event, Outcome};
use remand_ledger::fact::NoteKind;
use remand_ledger::{Blob, Facts, RunId};
use std::collections::BTreeSet;
use std::sync::mpsc::Sender;

/// How a command came to its end.
#[derive(Clone, Debug)]
pub struct Ending {
    pub outcome: Outcome,
    pub usage: Usage,
    pub facts: Facts,
    pub blobs: Vec<Blob>,
}

impl Ending {
    /// An ending with nothing to tell but the outcome.
    pub fn plain(outcome: Outcome) -> Ending {
        Ending { outcome, usage: Usage::default(), facts: Facts::default(), blobs: Vec::new() }
    }
}

/// One thing in the inbox.
#[derive(Debug)]
pub(super) struct Message {
    pub run: RunId,
    pub event: Event,
    pub facts: Facts,
    pub blobs: Vec<Blob>,
    pub from: From,
}

impl Message {
    /// Says how long the run was under way since that was last told.
    pub(super) fn tell_wall(&mut self, wall: u64) {
        if let Event::Ended { usage, .. } | Event::Interrupted { usage, .. } = &mut self.event {
            usage.wall = Some(wall);
        }
    }

    /// The end of something that this process killed to leave is no end of its command.
    pub(super) fn leave_open(&mut self) {
        if let Event::Ended { id, outcome: Outcome::Failed { failure: Failure::Cancelled, .. }, usage } =
            &self.event
        {
            let (id, began, usage) = (*id, self.facts.telemetry.is_some(), *usage);
            self.event = Event::Interrupted { id, began, usage };
        }
    }

    /// Takes the command that it tells the end of from those that are waited for.
    pub(super) fn takes_from(&self, awaited: &mut BTreeSet<(RunId, CommandId)>) {
        if let From::Effect(id) = self.from {
            awaited.remove(&(self.run.clone(), id));
        }
    }
}

/// Who put a message there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// A command that this process carried out.
    Effect(CommandId),
    /// This process itself, for a human at its terminal.
    Here,
    /// Another process, by a row in the ledger.
    Request(i64),
}

/// Takes the outcome of one command back to the host.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(super) run: RunId,
    pub(super) id: CommandId,
    pub(super) post: Sender<Message>,
}

impl Reply {
    /// Hands in the outcome, and with it whether something was noted that had to be done without. A host that is gone
    /// needs it no more: the command is still open in the ledger.
    pub fn send(self, ending: Ending) {
        let Ending { mut outcome, usage, facts, blobs } = ending;
        if let Outcome::Said(report) = &mut outcome {
            report.degraded = facts.notes.iter().any(|note| note.kind == NoteKind::Degradation);
        }
        let event = Event::Ended { id: self.id, outcome, usage };
        let _ = self.post.send(Message { run: self.run, event, facts, blobs, from: From::Effect(self.id) });
    }
}
