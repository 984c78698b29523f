//! The finished runs of a workflow, as a simulation can be fitted from them.

use remand_kernel::signal::Failure;
use remand_ledger::query::{DispatchRow, DispatchStatus, RunRow};
use remand_ledger::{LedgerError, Reader};
use remand_simulate::{ObservedDispatch, ObservedOperation, ObservedRun};
use std::collections::BTreeSet;

/// The maximum number of runs: agents change, so old runs say less.
const MAX_RUNS: usize = 200;

/// The latest runs of a workflow that are over.
pub fn runs(reader: &Reader, workflow: &str) -> Result<Vec<ObservedRun>, LedgerError> {
    let rows = reader.runs()?;
    let wanted = rows.iter().filter(|row| row.workflow == workflow && row.stage.is_over());
    wanted.take(MAX_RUNS).map(|row| observed(reader, row)).collect()
}

fn observed(reader: &Reader, row: &RunRow) -> Result<ObservedRun, LedgerError> {
    let rows = reader.dispatches(&row.run)?;
    let tasks: BTreeSet<&str> = rows.iter().filter_map(|row| row.task.as_deref()).collect();
    let operations = reader.operations(&row.run)?;
    let operations = operations.into_iter().filter_map(|row| {
        Some(ObservedOperation { phase: row.phase, is_repeated: row.visit > 1, result: row.result? })
    });
    Ok(ObservedRun {
        workflow: row.workflow.clone(),
        tasks: u16::try_from(tasks.len()).unwrap_or(u16::MAX),
        dispatches: rows.iter().filter(|row| row.status != DispatchStatus::Running).map(dispatch).collect(),
        operations: operations.collect(),
        total_dispatches: row.used.dispatches,
        total_money: (row.used.unpriced == 0).then_some(row.used.money),
        total_tokens: rows.iter().all(|row| row.tokens.is_some()).then_some(row.used.tokens),
        total_time: row.used.time,
    })
}

fn dispatch(row: &DispatchRow) -> ObservedDispatch {
    ObservedDispatch {
        phase: row.phase.clone(),
        task: row.task.clone(),
        visit: row.visit,
        advisory: row.advisory,
        says: row.says.clone(),
        failure: row.failure.clone().or_else(|| {
            // A dispatch that ended without a verdict failed, even if an old journal does not say how.
            row.says.is_none().then(|| Failure::Crashed.name().to_string())
        }),
        tokens: row.tokens,
        money: row.money,
        time: row.time,
    }
}
