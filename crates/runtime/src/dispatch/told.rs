//! What a repeated dispatch must be told: why the attempt before it did not count.

use crate::workshop::{Job, Trouble};
use remand_kernel::command::Dispatch;
use remand_kernel::ids::CommandId;
use remand_kernel::signal::Failure;
use remand_ledger::Reader;
use remand_ledger::query::DispatchRow;

/// The attempt before this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The name of the failure.
    pub failure: String,
    pub detail: String,
}

/// The attempt before this one, if there was one.
pub fn earlier(job: &Job) -> Option<CommandId> {
    (job.id.attempt > 1).then(|| CommandId { attempt: job.id.attempt - 1, ..job.id })
}

/// Why the attempt before this one brought no result, if there was one. Whoever was stopped at a limit of the run did
/// nothing that could be told.
pub fn before(job: &Job, reader: &Reader) -> Result<Option<Refused>, Trouble> {
    for attempt in (1..job.id.attempt).rev() {
        let row = reader.dispatch(&job.site.run, &CommandId { attempt, ..job.id }.to_string())?;
        let refused = row
            .and_then(|row| Some(Refused { failure: row.failure?, detail: row.detail.unwrap_or_default() }));
        if refused.as_ref().is_none_or(|refused| refused.failure != Failure::OverBudget.name()) {
            return Ok(refused);
        }
    }
    Ok(None)
}

/// The last dispatch with which this phase did this work before this time.
pub fn round_before(job: &Job, dispatch: &Dispatch, reader: &Reader) -> Result<Option<DispatchRow>, Trouble> {
    let own = visit(&job.id.to_string());
    let title = job.program.contract(dispatch.contract).title();
    let rows = of_work(job, dispatch, reader)?.into_iter().filter(|row| row.role == title);
    Ok(rows.take_while(|row| visit(&row.command) != own).last())
}

/// The how-manieth time that a phase does this work, over all batches of tasks, from 1. Retries are no new time.
pub fn round(job: &Job, dispatch: &Dispatch, reader: &Reader) -> Result<u32, Trouble> {
    let own = visit(&job.id.to_string());
    let mut seen: Vec<String> = Vec::new();
    for row in of_work(job, dispatch, reader)? {
        let this = visit(&row.command);
        if !seen.contains(&this) {
            seen.push(this);
        }
    }
    let at = seen.iter().position(|visit| *visit == own).unwrap_or(seen.len());
    Ok(u32::try_from(at + 1).unwrap_or(u32::MAX))
}

/// A command without its attempt.
fn visit(command: &str) -> String {
    command.rsplit_once(".a").map_or(command, |(visit, _)| visit).to_string()
}

/// All dispatches of a phase for one piece of work.
fn of_work(job: &Job, dispatch: &Dispatch, reader: &Reader) -> Result<Vec<DispatchRow>, Trouble> {
    let is_same = |row: &DispatchRow| {
        row.phase == job.phase() && row.task == dispatch.task && row.item == dispatch.item
    };
    Ok(reader.dispatches(&job.site.run)?.into_iter().filter(is_same).collect())
}
