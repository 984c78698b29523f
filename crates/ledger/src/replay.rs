//! Restores the state of a run: loads the latest snapshot, replays the events after it, and compares every ruling with
//! the recorded one.

use crate::error::{Fault, LedgerError};
use crate::fact::{Millis, RunId};
use crate::history;
use crate::query::Reader;
use crate::replay_error::ReplayFailure;
use crate::restore::{self, ReplayState};
use remand_kernel::command::Command;
use remand_kernel::{Program, State};
use rusqlite::OptionalExtension;
use std::sync::Arc;

pub use crate::replay_error::ReplayError;

const LAST: &str = "SELECT seq, at, commands FROM events WHERE run = ?1 ORDER BY seq DESC LIMIT 1";

/// Where a replay starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayFrom {
    /// The latest snapshot, if there is one.
    Snapshot,
    /// The first event, even if there is a snapshot.
    Start,
}

/// The state of a run after its last event.
#[derive(Clone, Debug)]
pub struct Replayed {
    pub program: Arc<Program>,
    pub state: State,
    /// The number of its last event.
    pub seq: u64,
    /// When that event was appended.
    pub at: Millis,
    /// Commands that have neither ended nor been cancelled, in the order they were issued.
    pub open: Vec<Command>,
    /// Commands of the last event that no event confirms. Whether they were performed is unknown; all are idempotent.
    pub unanswered: Vec<Command>,
}

/// Replays a run.
pub fn replay(reader: &Reader, run: &RunId, from: ReplayFrom) -> Result<Replayed, ReplayError> {
    replay_run(reader, run, from).map_err(|failure| failure.at_path(reader.path()))
}

fn replay_run(reader: &Reader, run: &RunId, from: ReplayFrom) -> Result<Replayed, ReplayFailure> {
    // A transaction shows one state of the journal, even if other processes append to it.
    let tx = reader.connection().unchecked_transaction()?;
    let last = tx.prepare_cached(LAST)?.query_row([run], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, Millis>(1)?, row.get::<_, String>(2)?))
    });
    let Some((seq, at, commands)) = last.optional()? else {
        return Err(Fault::from(LedgerError::NoSuchRun { name: run.0.clone() }).into());
    };
    let pinned = history::pinned_of(&tx, run)?;
    let program = reader.program(pinned, || history::read_program(&tx, run, pinned))?;
    let start = match from {
        ReplayFrom::Snapshot => restore::snapshot(&tx, run, seq)?,
        ReplayFrom::Start => None,
    };
    let start = start.unwrap_or_else(|| ReplayState::new(&program));
    let end = restore::replay_to(&tx, run, &program, start, seq)?;
    let issued: Vec<Command> = serde_json::from_str(&commands)
        .map_err(|error| Fault::decode(format!("the commands of event {seq} of run {run}"), &error))?;
    let unanswered = issued.into_iter().filter(|command| command.id().is_none()).collect();
    Ok(Replayed {
        program,
        state: end.state,
        seq: u64::try_from(seq).unwrap_or(0),
        at,
        open: end.open,
        unanswered,
    })
}
