//! A run that another process left: agents that died with that process are accounted for, and what is open starts again.

use super::assign::{IssuedCommand, order};
use super::book::{Book, Now};
use super::message::{Message, Sender};
use super::order::{EffectOrder, Issuance};
use remand_agents::driver::retry_after;
use remand_kernel::event::Usage;
use remand_kernel::ids::CommandId;
use remand_kernel::{Command, Event};
use remand_ledger::fact::{Note, NoteKind};
use remand_ledger::{Millis, RunId};
use serde::{Deserialize, Serialize};

/// The last agent that started for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentStart {
    pub command: CommandId,
    /// 1-based number of the start, counting the interruptions that the journal held at the time.
    #[serde(rename = "nth")]
    pub number: u64,
    pub at: Millis,
}

/// The interruptions of agents that died with their driver. Their cost is unknown; their time is what passed until their
/// last sign of life.
///
/// `agents` are those whose end the journal does not hold, each with its last sign of life; `charged_until` is the time of
/// the last entry, up to which the run has been charged.
pub fn lost_agents(run: &RunId, agents: &[(AgentStart, Millis)], charged_until: Millis) -> Vec<Message> {
    let mut charged_until = charged_until;
    let mut messages = Vec::new();
    for (start, last_seen) in agents {
        let since = |start: Millis| u64::try_from(last_seen.0.saturating_sub(start.0)).unwrap_or(0);
        let wall = since(start.at.max(charged_until));
        charged_until = charged_until.max(*last_seen);
        let usage = Usage { money: None, tokens: None, time: since(start.at), wall: Some(wall) };
        let event = Event::Interrupted { id: start.command, began: true, usage };
        messages.push(Message::new(run.clone(), Sender::Driver, event));
    }
    messages
}

/// An open command, with what the ledger knows of earlier attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redelivery {
    pub command: Command,
    /// How many agents that started for it were interrupted.
    pub interruptions: u64,
    /// The details, if the attempt before it failed by its environment.
    pub environment_failure: Option<String>,
}

/// The orders for commands that were open when another process stopped driving the run.
pub fn redeliver(book: &mut Book, open: Vec<Redelivery>, now: &Now) -> Vec<EffectOrder> {
    let again = |Redelivery { command, interruptions, environment_failure }: Redelivery| IssuedCommand {
        command,
        issuance: Issuance::Again,
        number: interruptions.saturating_add(1),
        failed: environment_failure.map(|detail| retry_after(&detail)),
    };
    open.into_iter().filter_map(|redelivery| order(book, again(redelivery), now)).collect()
}

/// The warning that a run continues with another version of the program than the one that started it.
pub fn version_warning(started_by: &str, version: &str) -> Option<Note> {
    let text = format!("started by version {started_by}, continued by version {version}");
    let note = Note { kind: NoteKind::Warning, text, files: Vec::new(), blob: None };
    (started_by != version).then_some(note)
}
