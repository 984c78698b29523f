//! Where the time went: what ran in each lane, from when to when.

use crate::words::of_task;
use remand_ledger::query::{DispatchRow, GateRow, OperationRow};

/// Something that took time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneBar {
    /// The task; empty for the main line.
    pub lane: String,
    pub kind: LaneBarKind,
    pub name: String,
    pub phase: String,
    /// Milliseconds, as the journal records them.
    pub from: i64,
    pub to: i64,
    pub source: LaneBarSource,
}

/// Who worked, or was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LaneBarKind {
    Agent,
    Engine,
    Wait,
}

/// What a bar shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaneBarSource {
    Dispatch { command: String },
    Operation,
    Gate { command: String },
}

impl LaneBar {
    /// Milliseconds.
    pub fn length(&self) -> u64 {
        u64::try_from(self.to - self.from).unwrap_or(0)
    }
}

/// The bars of a run; what has not ended lasts until `end`.
pub fn lane_bars(
    dispatches: &[DispatchRow],
    operations: &[OperationRow],
    gates: &[GateRow],
    end: i64,
) -> Vec<LaneBar> {
    let agents = dispatches.iter().map(|row| LaneBar {
        lane: row.task.clone().unwrap_or_default(),
        kind: LaneBarKind::Agent,
        name: format!("{} for {}", row.role, of_task(&row.phase, row.task.as_deref())),
        phase: row.phase.clone(),
        from: row.started_at.0,
        to: row.completed_at.map_or(end, |at| at.0),
        source: LaneBarSource::Dispatch { command: row.command.clone() },
    });
    let engine = operations.iter().map(|row| LaneBar {
        lane: row.task.clone().unwrap_or_default(),
        kind: LaneBarKind::Engine,
        name: format!("{} in {}", row.name, of_task(&row.phase, row.task.as_deref())),
        phase: row.phase.clone(),
        from: row.started_at.0,
        to: row.completed_at.map_or(end, |at| at.0.min(end)),
        source: LaneBarSource::Operation,
    });
    let waits = gates.iter().filter(|gate| !gate.auto).map(|gate| LaneBar {
        lane: gate.task.clone().unwrap_or_default(),
        kind: LaneBarKind::Wait,
        name: format!("gate {}", gate.phase),
        phase: gate.phase.clone(),
        from: gate.opened_at.0,
        to: gate.answered_at.or(gate.withdrawn_at).map_or(end, |at| at.0),
        source: LaneBarSource::Gate { command: gate.command.clone() },
    });
    agents.chain(engine).chain(waits).collect()
}
