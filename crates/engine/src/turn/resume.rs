//! Resumes a run that another process left: accounts for agents that died with that process, and restarts open commands.

use super::assign::{IssuedCommand, order};
use super::loaded_run::{LoadedRun, Now};
use super::message::{Message, Sender};
use super::order::{EffectOrder, Issuance};
use remand_agents::driver::retry_after;
use remand_kernel::event::Usage;
use remand_kernel::ids::CommandId;
use remand_kernel::{Command, Event};
use remand_ledger::fact::{Note, NoteKind};
use remand_ledger::{Millis, RunId};
use serde::{Deserialize, Serialize};

/// The start of an agent for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentStart {
    pub command: CommandId,
    /// The number of the start: one more than the interruptions in the journal at the time.
    #[serde(rename = "nth")]
    pub number: u64,
    pub at: Millis,
}

/// Messages that record agents as interrupted because they died with the driving process. Their cost is unknown; their
/// time ends at their last sign of life.
///
/// `agents` are the agents without an end in the journal, each with its last sign of life. The run has already been
/// charged until `charged_until`, the time of the last entry.
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

/// An open command, with the ledger's data about earlier attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redelivery {
    pub command: Command,
    /// The number of interrupted agents of this command.
    pub interruptions: u64,
    /// The details of the previous attempt's failure, if its environment caused the failure.
    pub environment_failure: Option<String>,
}

/// The orders for commands that were open when another process stopped driving the run.
pub fn redeliver(loaded: &mut LoadedRun, open: Vec<Redelivery>, now: &Now) -> Vec<EffectOrder> {
    let issue = |Redelivery { command, interruptions, environment_failure }: Redelivery| IssuedCommand {
        command,
        issuance: Issuance::Again,
        number: interruptions.saturating_add(1),
        requested_wait: environment_failure.map(|detail| retry_after(&detail)),
    };
    open.into_iter().filter_map(|redelivery| order(loaded, issue(redelivery), now)).collect()
}

/// The warning that another version of the program started the run; `None` if the versions are the same.
pub fn version_warning(started_by: &str, version: &str) -> Option<Note> {
    let text = format!("started by version {started_by}, continued by version {version}");
    let note = Note::new(NoteKind::Warning, text);
    (started_by != version).then_some(note)
}
