//! The turn itself: a message becomes an entry and orders, or is refused.

use super::assign::{IssuedCommand, order};
use super::book::{Book, Now};
use super::message::{Message, Sender};
use super::order::{EffectOrder, Issuance};
use remand_agents::driver::retry_after;
use remand_kernel::ids::CommandId;
use remand_kernel::signal::Failure;
use remand_kernel::state::HoldCause;
use remand_kernel::step::{self, Refusal, Step};
use remand_kernel::{Command, Event, Outcome};
use remand_ledger::fact::NoteKind;
use remand_ledger::{Blob, Facts, JournalEntry, Millis, RunId};
use std::time::Duration;
use tracing::debug;

/// What a message leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnResult {
    /// Commit the entry, then perform the orders.
    Accepted { entry: Box<EntryDraft>, orders: Vec<EffectOrder> },
    /// Tell the process that made the request why it is refused. Nothing is recorded in the run.
    Refused { request: i64, reason: String },
}

/// An entry of the journal before it is committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryDraft {
    pub run: RunId,
    pub at: Millis,
    pub event: Event,
    pub facts: Facts,
    pub step: Step,
    pub blobs: Vec<Blob>,
    /// The request that this entry fulfils.
    pub request: Option<i64>,
}

impl EntryDraft {
    pub fn as_entry(&self) -> JournalEntry<'_> {
        JournalEntry {
            run: &self.run,
            at: self.at,
            event: &self.event,
            facts: &self.facts,
            step: &self.step,
            blobs: &self.blobs,
            request: self.request,
        }
    }
}

/// Takes one turn of a run.
///
/// The kernel judges the message. It can refuse an agent's result, which then counts as malformed, and a request, which is
/// turned down. A refusal of anything else is an error of the driver.
pub fn turn(book: &mut Book, mut message: Message, now: &Now) -> Result<TurnResult, Refusal> {
    if let Sender::Command(id) = message.sender {
        complete(book, &mut message, id);
        if now.leaving {
            message.leave_open();
        }
        message.set_wall(book.running.end(id, now.uptime));
    }
    let retry = Retry::of(book, &message.event);
    let step = match (step::step(&book.program, &mut book.state, &message.event), message.sender) {
        (Ok(step), Sender::Request(request)) if step.receipt == step::Receipt::Late => {
            let reason = "it came too late: the run has moved on".to_string();
            return Ok(TurnResult::Refused { request, reason });
        }
        (Ok(step), _) => step,
        (Err(refusal), Sender::Driver) => return Err(refusal),
        (Err(refusal), Sender::Request(request)) => {
            return Ok(TurnResult::Refused { request, reason: refusal.to_string() });
        }
        (Err(refusal), Sender::Command(id)) => {
            debug!(run = %message.run, command = %id, %refusal, "result refused");
            refuse_result(book, &mut message.event, id, &refusal);
            step::step(&book.program, &mut book.state, &message.event)?
        }
    };
    let orders = if now.leaving { Vec::new() } else { orders(book, &step.commands, retry.as_ref(), now) };
    let Message { run, sender, event, mut facts, blobs, .. } = message;
    facts.notes.append(&mut book.notes);
    let request = match sender {
        Sender::Request(request) => Some(request),
        Sender::Command(_) | Sender::Driver => None,
    };
    let entry = Box::new(EntryDraft { run, at: now.at, event, facts, step, blobs, request });
    Ok(TurnResult::Accepted { entry, orders })
}

/// Fills in what only the committing side knows of an ending.
fn complete(book: &mut Book, message: &mut Message, id: CommandId) {
    let Event::Ended { outcome, .. } = &mut message.event else {
        return;
    };
    match outcome {
        Outcome::Said(report) => {
            let is_degradation = |kind: NoteKind| kind == NoteKind::Degradation;
            report.degraded = message.facts.notes.iter().any(|note| is_degradation(note.kind));
            if let Some(parts) = &mut book.parts {
                parts.put_together(&message.facts.artifacts, report);
            }
        }
        // Without an agent, the command counts its own attempts.
        Outcome::Failed { in_a_row, .. } => {
            *in_a_row = message.failures_before.map_or(id.attempt, |before| before.saturating_add(1));
        }
        Outcome::Supposed(_) => {}
    }
}

/// An agent can be asked for its result again. The engine would give the same one, so its command is over.
fn refuse_result(book: &Book, event: &mut Event, id: CommandId, refusal: &Refusal) {
    let phase = book.program.phases.get(id.phase.index());
    let is_dispatch = phase.is_some_and(|phase| !phase.contracts().is_empty());
    let failure = if is_dispatch { Failure::Malformed } else { Failure::Denied };
    if let Event::Ended { outcome, .. } = event {
        *outcome = Outcome::Failed { failure, detail: refusal.to_string(), in_a_row: 0 };
    }
}

/// The failure of the environment after which a turn tries again.
struct Retry {
    /// The command that failed; none when all commands that were held are tried again.
    failed: Option<CommandId>,
    requested: Option<Duration>,
}

impl Retry {
    fn of(book: &Book, event: &Event) -> Option<Retry> {
        match event {
            Event::Ended {
                id,
                outcome: Outcome::Failed { failure: Failure::Environment, detail, .. },
                ..
            } => Some(Retry { failed: Some(*id), requested: retry_after(detail) }),
            Event::Answered { .. } => match &book.state.hold.as_ref()?.cause {
                HoldCause::Environment { detail } => {
                    Some(Retry { failed: None, requested: retry_after(detail) })
                }
                HoldCause::Limit { .. } | HoldCause::Route => None,
            },
            _ => None,
        }
    }

    fn is_of(&self, id: CommandId) -> bool {
        self.failed.is_none_or(|failed| failed == CommandId { attempt: failed.attempt, ..id })
    }
}

/// What the commands of a step become.
fn orders(book: &mut Book, commands: &[Command], retry: Option<&Retry>, now: &Now) -> Vec<EffectOrder> {
    let first = |command: &Command| {
        let retry = retry.filter(|retry| command.id().is_some_and(|id| retry.is_of(id)));
        IssuedCommand {
            command: command.clone(),
            issuance: Issuance::First,
            number: 1,
            failed: retry.map(|retry| retry.requested),
        }
    };
    commands.iter().filter_map(|command| order(book, first(command), now)).collect()
}
