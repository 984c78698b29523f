//! The events of a run, each with its command or answer and its rulings.

use super::Detail;
use remand_kernel::Event;
use remand_ledger::query::{
    DispatchRow, GateRow, JournalRow, OperationRow, RulingRow, RunRow, interruption_id,
};
use remand_ledger::{LedgerError, Reader};
use remand_terminal::CommandFailure;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// One event with the ledger rows that belong to it.
pub struct LoggedEvent {
    pub journal: JournalRow,
    pub dispatch: Option<DispatchRow>,
    pub operation: Option<OperationRow>,
    pub gate: Option<GateRow>,
    pub rulings: Vec<RulingRow>,
}

/// All events of a run, in order.
pub fn read(reader: &Reader, row: &RunRow) -> Result<Vec<LoggedEvent>, CommandFailure> {
    read_events(reader, row).map_err(CommandFailure::from)
}

fn read_events(reader: &Reader, row: &RunRow) -> Result<Vec<LoggedEvent>, LedgerError> {
    let run = &row.run;
    let mut dispatches: BTreeMap<String, DispatchRow> =
        reader.dispatches(run)?.into_iter().map(|row| (row.command.clone(), row)).collect();
    let mut operations: BTreeMap<String, OperationRow> =
        reader.operations(run)?.into_iter().map(|row| (row.command.clone(), row)).collect();
    let mut gates: BTreeMap<String, GateRow> =
        reader.gates(run)?.into_iter().map(|row| (row.command.clone(), row)).collect();
    let mut rulings: BTreeMap<u64, Vec<RulingRow>> = BTreeMap::new();
    for ruling in reader.rulings(run, 0)? {
        rulings.entry(ruling.seq).or_default().push(ruling);
    }
    let logged = |journal: JournalRow| {
        let id = command_of(&journal).unwrap_or_default();
        LoggedEvent {
            dispatch: dispatches.remove(&id),
            operation: operations.remove(&id),
            gate: gates.remove(&id),
            rulings: rulings.remove(&journal.seq).unwrap_or_default(),
            journal,
        }
    };
    Ok(reader.journal(run, 0)?.into_iter().map(logged).collect())
}

/// The command that an event ends, interrupts or answers.
fn command_of(row: &JournalRow) -> Option<String> {
    match &row.event {
        Event::Ended { id, .. } | Event::Answered { id, .. } => Some(id.to_string()),
        Event::Interrupted { id, .. } => Some(interruption_id(&id.to_string(), row.seq)),
        Event::Started(_)
        | Event::Cancelled { .. }
        | Event::Paused { .. }
        | Event::Resumed { .. }
        | Event::Retried { .. }
        | Event::RolledBack { .. }
        | Event::ApproachRemoved { .. }
        | Event::Reattributed { .. }
        | Event::Reverted { .. } => None,
    }
}

/// Keeps only the events and rulings of one task.
pub fn keep_task(events: &mut Vec<LoggedEvent>, task: &str) {
    events.retain_mut(|event| {
        let is_of_task = event.task() == Some(task);
        event.rulings.retain(|row| {
            row.ruling.task.as_deref() == Some(task) || (is_of_task && row.ruling.task.is_none())
        });
        is_of_task || !event.rulings.is_empty()
    });
}

impl LoggedEvent {
    /// The task that the event belongs to.
    pub fn task(&self) -> Option<&str> {
        let dispatch = self.dispatch.as_ref().and_then(|row| row.task.as_deref());
        let operation = self.operation.as_ref().and_then(|row| row.task.as_deref());
        dispatch.or(operation).or_else(|| self.gate.as_ref().and_then(|row| row.task.as_deref()))
    }

    /// The event as JSON, or only its rulings.
    pub(super) fn json(&self, detail: Detail) -> Value {
        let (seq, at) = (self.journal.seq, self.journal.at);
        if detail == Detail::Rulings {
            return json!({ "seq": seq, "at": at, "rulings": self.rulings });
        }
        json!({
            "seq": seq,
            "at": at,
            "event": self.journal.event,
            "facts": self.journal.facts,
            "dispatch": self.dispatch,
            "operation": self.operation,
            "gate": self.gate,
            "rulings": self.rulings,
            "hash": self.journal.hash,
        })
    }
}
