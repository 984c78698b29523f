//! Earlier dispatches of the same work: the failed attempt before a retry, and the round before this one.

use crate::artifacts::content;
use crate::site::{Job, Trouble};
use remand_kernel::command::Dispatch;
use remand_kernel::ids::{CommandId, Lane};
use remand_kernel::signal::Failure;
use remand_ledger::Reader;
use remand_ledger::fact::MalformedCause;
use remand_ledger::query::DispatchRow;

/// An attempt without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedAttempt {
    /// The name of the failure.
    pub failure: String,
    pub detail: String,
    /// The cause, if the result was malformed.
    pub malformed: Option<MalformedCause>,
    /// The malformed result as the agent left it.
    pub refused: Option<String>,
}

/// The command of the previous attempt, if this is a retry.
pub fn previous_attempt(job: &Job) -> Option<CommandId> {
    (job.id.attempt > 1).then(|| CommandId { attempt: job.id.attempt - 1, ..job.id })
}

/// The last failed attempt. Attempts that were stopped at a limit of the run are skipped: their agents did nothing wrong.
pub fn last_failure(job: &Job, reader: &Reader) -> Result<Option<FailedAttempt>, Trouble> {
    for attempt in (1..job.id.attempt).rev() {
        let row = reader.dispatch(&job.site.run, &CommandId { attempt, ..job.id }.to_string())?;
        let failed = row.map(|row| failed_attempt(row, reader)).transpose()?.flatten();
        if failed.as_ref().is_none_or(|failed| failed.failure != Failure::OverBudget.name()) {
            return Ok(failed);
        }
    }
    Ok(None)
}

/// The failure of a dispatch; `None` if it has a result.
fn failed_attempt(row: DispatchRow, reader: &Reader) -> Result<Option<FailedAttempt>, Trouble> {
    let Some(failure) = row.failure else { return Ok(None) };
    let (detail, malformed) = (row.detail.unwrap_or_default(), row.malformed);
    let left = row.result.filter(|_| malformed.is_some());
    let refused = left.map(|id| content(reader, id)).transpose()?;
    Ok(Some(FailedAttempt { failure, detail, malformed, refused }))
}

/// The last dispatch of the previous round of this work.
pub fn previous_round(
    job: &Job,
    dispatch: &Dispatch,
    reader: &Reader,
) -> Result<Option<DispatchRow>, Trouble> {
    let this_visit = visit(&job.id);
    let title = job.program.contract(dispatch.contract).title();
    let rows = same_work(job, dispatch, reader)?.into_iter().filter(|row| row.role == title);
    Ok(rows.take_while(|row| visit_of(row) != Some(this_visit)).last())
}

/// The 1-based round of this work in its phase, counted over all batches of tasks. Retries do not count.
pub fn round_number(job: &Job, dispatch: &Dispatch, reader: &Reader) -> Result<u32, Trouble> {
    let this_visit = visit(&job.id);
    let mut visits: Vec<(Lane, u16)> = Vec::new();
    for row_visit in same_work(job, dispatch, reader)?.iter().filter_map(visit_of) {
        if !visits.contains(&row_visit) {
            visits.push(row_visit);
        }
    }
    let index = visits.iter().position(|visit| *visit == this_visit).unwrap_or(visits.len());
    Ok(u32::try_from(index + 1).unwrap_or(u32::MAX))
}

/// The visit of the phase that a command belongs to. All seats and attempts of a visit are one round.
fn visit(command: &CommandId) -> (Lane, u16) {
    (command.lane, command.visit)
}

/// The visit of a dispatch. The id of a dispatch that was interrupted together with the engine ends with a tilde and a
/// number.
fn visit_of(row: &DispatchRow) -> Option<(Lane, u16)> {
    row.command.split('~').next()?.parse().ok().as_ref().map(visit)
}

/// All dispatches of the phase for the same task and item.
fn same_work(job: &Job, dispatch: &Dispatch, reader: &Reader) -> Result<Vec<DispatchRow>, Trouble> {
    let is_same = |row: &DispatchRow| {
        row.phase == job.phase() && row.task == dispatch.task && row.item == dispatch.item
    };
    Ok(reader.dispatches(&job.site.run)?.into_iter().filter(is_same).collect())
}
