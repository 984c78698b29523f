//! Steps a run from its latest snapshot to one of its events, comparing every ruling with the recorded one.

mod stages;

pub(crate) use stages::{replay_to, update_open};

use crate::error::Fault;
use crate::fact::RunId;
use crate::replay_error::ReplayFailure;
use remand_kernel::command::Command;
use remand_kernel::ruling::Ruling;
use remand_kernel::{Program, State};
use rusqlite::{Connection, OptionalExtension, params};

const SNAPSHOT: &str =
    "SELECT seq, state, open FROM snapshots WHERE run = ?1 AND seq <= ?2 ORDER BY seq DESC LIMIT 1";

/// The state of a run after the event with this number, and its open commands.
pub(crate) fn state_at(
    conn: &Connection,
    run: &RunId,
    program: &Program,
    seq: i64,
) -> Result<(State, Vec<Command>), ReplayFailure> {
    let start = snapshot(conn, run, seq)?.unwrap_or_else(|| ReplayState::new(program));
    let ReplayState { state, open, .. } = replay_to(conn, run, program, start, seq)?;
    Ok((state, open))
}

/// A run after one of its events.
pub(crate) struct ReplayState {
    seq: i64,
    pub state: State,
    pub open: Vec<Command>,
}

impl ReplayState {
    pub(crate) fn new(program: &Program) -> ReplayState {
        ReplayState { seq: 0, state: State::new(program), open: Vec::new() }
    }
}

/// The latest snapshot up to this event. An unreadable one is ignored: snapshots only save time.
pub(crate) fn snapshot(conn: &Connection, run: &RunId, last: i64) -> Result<Option<ReplayState>, Fault> {
    let row = conn.prepare_cached(SNAPSHOT)?.query_row(params![run, last], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
    });
    Ok(row.optional()?.and_then(|(seq, state, open)| {
        let state = serde_json::from_str(&state).ok()?;
        let open = serde_json::from_str(&open).ok()?;
        Some(ReplayState { seq, state, open })
    }))
}

/// Compares rulings with recorded ones.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    buffer: Vec<u8>,
    /// The last matching rulings of each phase, with their JSON. A phase that runs again usually gets the same rulings.
    last: Vec<Option<(Vec<Ruling>, String)>>,
}

impl Comparison {
    /// Compares the JSON, and if it differs, the values.
    pub(crate) fn compare(
        &mut self,
        run: &RunId,
        seq: i64,
        recorded: &str,
        now: &[Ruling],
    ) -> Result<(), ReplayFailure> {
        let phase = now.first().map_or(0, |ruling| ruling.phase.index());
        let last = self.last.get(phase).and_then(Option::as_ref);
        if last.is_some_and(|(rulings, json)| rulings == now && json == recorded) {
            return Ok(());
        }
        self.buffer.clear();
        serde_json::to_writer(&mut self.buffer, now).map_err(Fault::from)?;
        if self.buffer != recorded.as_bytes() {
            let was: Vec<Ruling> = serde_json::from_str(recorded)
                .map_err(|error| Fault::decode(format!("the rulings of event {seq} of run {run}"), &error))?;
            if !agree(&was, now) {
                let now = String::from_utf8_lossy(&self.buffer).into_owned();
                let (run, recorded) = (run.clone(), recorded.to_string());
                return Err(ReplayFailure::Mismatch { run, seq, recorded, now });
            }
        }
        if self.last.len() <= phase {
            self.last.resize(phase + 1, None);
        }
        let (rulings, json) = self.last[phase].get_or_insert_default();
        now.clone_into(rulings);
        recorded.clone_into(json);
        Ok(())
    }
}

fn agree(was: &[Ruling], now: &[Ruling]) -> bool {
    was.len() == now.len() && was.iter().zip(now).all(|(was, now)| now.agrees_with(was))
}

#[cfg(test)]
#[path = "comparison_tests.rs"]
mod tests;
