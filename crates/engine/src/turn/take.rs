//! The turn itself: a message becomes an entry and orders, or is refused.

use super::assign::{IssuedCommand, order};
use super::loaded_run::{LoadedRun, Now};
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

/// The result of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnResult {
    /// Commit the entry, then perform the orders.
    Accepted { entry: Box<EntryDraft>, orders: Vec<EffectOrder> },
    /// Report the reason to the process that made the request. Nothing is recorded in the run.
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
    /// The request that led to this entry.
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
/// If the kernel refuses the result of a command, the command counts as failed. If it refuses a request, the process that
/// made the request gets the reason. Any other refusal is an error of the driving process.
pub fn turn(loaded: &mut LoadedRun, mut message: Message, now: &Now) -> Result<TurnResult, Refusal> {
    if let Sender::Command(id) = message.sender {
        complete_ending(loaded, &mut message, id);
        if now.leaving {
            message.make_interruption();
        }
        message.set_wall(loaded.running.end(id, now.uptime));
    }
    let retry = Retry::from_event(loaded, &message.event);
    let step = match (step::step(&loaded.program, &mut loaded.state, &message.event), message.sender) {
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
            refuse_result(loaded, &mut message.event, id, &refusal);
            step::step(&loaded.program, &mut loaded.state, &message.event)?
        }
    };
    let orders = if now.leaving { Vec::new() } else { orders(loaded, &step.commands, retry.as_ref(), now) };
    let Message { run, sender, event, mut facts, blobs, .. } = message;
    facts.notes.append(&mut loaded.notes);
    let request = match sender {
        Sender::Request(request) => Some(request),
        Sender::Command(_) | Sender::Driver => None,
    };
    let entry = Box::new(EntryDraft { run, at: now.at, event, facts, step, blobs, request });
    Ok(TurnResult::Accepted { entry, orders })
}

/// Fills in the fields of an ending that depend on the rest of the run or on other runs.
fn complete_ending(loaded: &mut LoadedRun, message: &mut Message, id: CommandId) {
    let Event::Ended { outcome, .. } = &mut message.event else {
        return;
    };
    match outcome {
        Outcome::Said(report) => {
            let is_degradation = |kind: NoteKind| kind == NoteKind::Degradation;
            report.degraded = message.facts.notes.iter().any(|note| is_degradation(note.kind));
            if let Some(parts) = &mut loaded.parts {
                parts.add(&message.facts.artifacts, report);
            }
        }
        // Without an agent, only the attempts of this command count.
        Outcome::Failed { in_a_row, .. } => {
            *in_a_row = message.failures_before.map_or(id.attempt, |before| before.saturating_add(1));
        }
        Outcome::Supposed(_) => {}
    }
}

/// Turns a refused result into a failure. An agent can be asked again; an operation would return the same result, so its
/// failure is final.
fn refuse_result(loaded: &LoadedRun, event: &mut Event, id: CommandId, refusal: &Refusal) {
    let phase = loaded.program.phases.get(id.phase.index());
    let is_dispatch = phase.is_some_and(|phase| !phase.contracts().is_empty());
    let failure = if is_dispatch { Failure::Malformed } else { Failure::Denied };
    if let Event::Ended { outcome, .. } = event {
        *outcome = Outcome::Failed { failure, detail: refusal.to_string(), in_a_row: 0 };
    }
}

/// A retry after a failure of the environment.
struct Retry {
    /// The command that failed; `None` if all held commands are tried again.
    failed: Option<CommandId>,
    requested_wait: Option<Duration>,
}

impl Retry {
    fn from_event(loaded: &LoadedRun, event: &Event) -> Option<Retry> {
        match event {
            Event::Ended {
                id,
                outcome: Outcome::Failed { failure: Failure::Environment, detail, .. },
                ..
            } => Some(Retry { failed: Some(*id), requested_wait: retry_after(detail) }),
            Event::Answered { .. } => match &loaded.state.hold.as_ref()?.cause {
                HoldCause::Environment { detail } => {
                    Some(Retry { failed: None, requested_wait: retry_after(detail) })
                }
                HoldCause::Limit { .. } | HoldCause::Route | HoldCause::Origin { .. } => None,
            },
            _ => None,
        }
    }

    fn applies_to(&self, id: CommandId) -> bool {
        self.failed.is_none_or(|failed| failed == CommandId { attempt: failed.attempt, ..id })
    }
}

/// The orders for the commands of a step.
fn orders(
    loaded: &mut LoadedRun,
    commands: &[Command],
    retry: Option<&Retry>,
    now: &Now,
) -> Vec<EffectOrder> {
    let issue = |command: &Command| {
        let retry = retry.filter(|retry| command.id().is_some_and(|id| retry.applies_to(id)));
        IssuedCommand {
            command: command.clone(),
            issuance: Issuance::First,
            number: 1,
            requested_wait: retry.map(|retry| retry.requested_wait),
        }
    };
    commands.iter().filter_map(|command| order(loaded, issue(command), now)).collect()
}
