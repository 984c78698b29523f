//! One event of a run with all that belongs to it: what ended or was answered, notes, rulings.

use super::Detail;
use crate::exit::Failure;
use crate::workplace::of_ledger;
use remand_kernel::Event;
use remand_ledger::query::{DispatchRow, GateRow, JournalRow, OperationRow, RulingRow, RunRow, interrupted};
use remand_ledger::{LedgerError, Reader};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// One event, with the rows of the ledger that it concerns.
pub struct Happening {
    pub journal: JournalRow,
    pub dispatch: Option<DispatchRow>,
    pub operation: Option<OperationRow>,
    pub gate: Option<GateRow>,
    pub rulings: Vec<RulingRow>,
}

/// Everything that happened in a run, in order.
pub fn read(reader: &Reader, row: &RunRow) -> Result<Vec<Happening>, Failure> {
    gather(reader, row).map_err(|error| of_ledger(&error))
}

fn gather(reader: &Reader, row: &RunRow) -> Result<Vec<Happening>, LedgerError> {
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
    let happening = |journal: JournalRow| {
        let id = concerned(&journal).unwrap_or_default();
        Happening {
            dispatch: dispatches.remove(&id),
            operation: operations.remove(&id),
            gate: gates.remove(&id),
            rulings: rulings.remove(&journal.seq).unwrap_or_default(),
            journal,
        }
    };
    Ok(reader.journal(run, 0)?.into_iter().map(happening).collect())
}

/// The command that an event ends, interrupts or answers.
fn concerned(row: &JournalRow) -> Option<String> {
    match &row.event {
        Event::Ended { id, .. } | Event::Answered { id, .. } => Some(id.to_string()),
        Event::Interrupted { id, .. } => Some(interrupted(&id.to_string(), row.seq)),
        Event::Started(_)
        | Event::Cancelled { .. }
        | Event::Paused { .. }
        | Event::Resumed { .. }
        | Event::RolledBack { .. }
        | Event::ApproachRemoved { .. }
        | Event::Reattributed { .. }
        | Event::Reverted { .. } => None,
    }
}

/// Leaves only what concerns one task, and only its rulings.
pub fn keep_task(happenings: &mut Vec<Happening>, task: &str) {
    happenings.retain_mut(|happening| {
        let own = happening.task() == Some(task);
        happening
            .rulings
            .retain(|row| row.ruling.task.as_deref() == Some(task) || (own && row.ruling.task.is_none()));
        own || !happening.rulings.is_empty()
    });
}

impl Happening {
    /// The task that the event belongs to.
    pub fn task(&self) -> Option<&str> {
        let dispatch = self.dispatch.as_ref().and_then(|row| row.task.as_deref());
        let operation = self.operation.as_ref().and_then(|row| row.task.as_deref());
        dispatch.or(operation).or_else(|| self.gate.as_ref().and_then(|row| row.task.as_deref()))
    }

    /// All that is known of it; of rulings alone where only they are wanted.
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
