//! Where a run stands, from its journal: the latest snapshot and what came after, with every ruling compared.

mod stages;

pub(crate) use stages::fold_open;

use crate::error::{Fault, LedgerError};
use crate::fact::{Millis, RunId};
use crate::history;
use crate::query::Reader;
use remand_kernel::command::Command;
use remand_kernel::ruling::Ruling;
use remand_kernel::{Program, Refusal, State};
use rusqlite::{Connection, OptionalExtension, params};
use std::path::Path;
use std::sync::Arc;

const SNAPSHOT: &str =
    "SELECT seq, state, open FROM snapshots WHERE run = ?1 AND seq <= ?2 ORDER BY seq DESC LIMIT 1";
const LAST: &str = "SELECT seq, at, commands FROM events WHERE run = ?1 ORDER BY seq DESC LIMIT 1";

/// Where a replay begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayFrom {
    /// The latest snapshot, if there is one.
    Snapshot,
    /// The first event, whatever there is.
    Start,
}

/// A run as its journal leaves it.
#[derive(Clone, Debug)]
pub struct Replayed {
    pub program: Arc<Program>,
    pub state: State,
    /// The number of its last event.
    pub seq: u64,
    /// When that was.
    pub at: Millis,
    /// Commands that were issued and neither ended nor were cancelled, in the order of issue.
    pub open: Vec<Command>,
    /// Commands of the last event that no event answers; whether they were carried out is not known, and all of them
    /// can be carried out again.
    pub unanswered: Vec<Command>,
}

/// Why a run cannot be lived through again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    #[error("event {seq} of run {run} was ruled `{recorded}`, and is now ruled `{now}`")]
    Mismatch { run: RunId, seq: u64, recorded: String, now: String },
    #[error("event {seq} of run {run} is refused now")]
    Refused { run: RunId, seq: u64, source: Refusal },
    #[error("the program of run {run} cannot be read: {detail}")]
    NoProgram { run: RunId, detail: String },
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl ReplayError {
    /// What to do about it, in one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            ReplayError::Mismatch { .. } | ReplayError::Refused { .. } => {
                "check the ledger with `remand audit`; if it is sound, go on with the version that opened the run"
            }
            ReplayError::NoProgram { .. } => "check the ledger with `remand audit`",
            ReplayError::Ledger(error) => error.hint(),
        }
    }
}

/// Lives a run through again.
pub fn replay(reader: &Reader, run: &RunId, from: ReplayFrom) -> Result<Replayed, ReplayError> {
    replay_on(reader, run, from).map_err(|failed| failed.at(reader.path()))
}

/// What ends a replay, before the path of the ledger is added.
#[derive(Debug)]
pub(crate) enum Failed {
    Mismatch { run: RunId, seq: i64, recorded: String, now: String },
    Refused { run: RunId, seq: i64, refusal: Refusal },
    NoProgram { run: RunId, detail: String },
    Fault(Fault),
}

impl Failed {
    pub(crate) fn at(self, path: &Path) -> ReplayError {
        let number = |seq: i64| u64::try_from(seq).unwrap_or(0);
        match self {
            Failed::Mismatch { run, seq, recorded, now } => {
                ReplayError::Mismatch { run, seq: number(seq), recorded, now }
            }
            Failed::Refused { run, seq, refusal } => {
                ReplayError::Refused { run, seq: number(seq), source: refusal }
            }
            Failed::NoProgram { run, detail } => ReplayError::NoProgram { run, detail },
            Failed::Fault(fault) => ReplayError::Ledger(LedgerError::from_fault(path, fault)),
        }
    }
}

impl Failed {
    /// For whoever passes over runs that cannot be lived through again, so that nothing else is left.
    pub(crate) fn into_fault(self) -> Fault {
        match self {
            Failed::Fault(fault) => fault,
            Failed::Mismatch { run, .. } | Failed::Refused { run, .. } | Failed::NoProgram { run, .. } => {
                let detail = "its journal cannot be lived through again".to_string();
                Fault::Decode { what: format!("run {run}"), detail }
            }
        }
    }
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Failed {
        Failed::Fault(fault)
    }
}

impl From<rusqlite::Error> for Failed {
    fn from(error: rusqlite::Error) -> Failed {
        Failed::Fault(Fault::Sqlite(error))
    }
}

fn replay_on(reader: &Reader, run: &RunId, from: ReplayFrom) -> Result<Replayed, Failed> {
    // One view of the journal, whatever other processes append meanwhile.
    let tx = reader.connection().unchecked_transaction()?;
    let last = tx.prepare_cached(LAST)?.query_row([run], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, Millis>(1)?, row.get::<_, String>(2)?))
    });
    let Some((seq, at, commands)) = last.optional()? else {
        return Err(Fault::from(LedgerError::NoSuchRun { name: run.0.clone() }).into());
    };
    let pinned = history::pinned_of(&tx, run)?;
    let program = reader.program(pinned, || history::read_program(&tx, run, pinned))?;
    let begun = match from {
        ReplayFrom::Snapshot => snapshot(&tx, run, seq)?,
        ReplayFrom::Start => None,
    };
    let begun = begun.unwrap_or_else(|| Life::new(&program));
    let life = stages::live(&tx, run, &program, begun, seq)?;
    let issued: Vec<Command> = serde_json::from_str(&commands)
        .map_err(|error| Fault::decode(format!("the commands of event {seq} of run {run}"), &error))?;
    let unanswered = issued.into_iter().filter(|command| command.id().is_none()).collect();
    Ok(Replayed {
        program,
        state: life.state,
        seq: u64::try_from(seq).unwrap_or(0),
        at,
        open: life.open,
        unanswered,
    })
}

/// Where a run stood after this event of it, and what was open.
pub(crate) fn stand_at(
    conn: &Connection,
    run: &RunId,
    program: &Program,
    seq: i64,
) -> Result<(State, Vec<Command>), Failed> {
    let begun = snapshot(conn, run, seq)?.unwrap_or_else(|| Life::new(program));
    let Life { state, open, .. } = stages::live(conn, run, program, begun, seq)?;
    Ok((state, open))
}

/// A run at one of its events.
struct Life {
    seq: i64,
    state: State,
    open: Vec<Command>,
}

impl Life {
    fn new(program: &Program) -> Life {
        Life { seq: 0, state: State::new(program), open: Vec::new() }
    }
}

/// The latest snapshot of a run whose last event is this one. One that cannot be read is worth nothing more than the
/// time that it would save.
fn snapshot(conn: &Connection, run: &RunId, last: i64) -> Result<Option<Life>, Fault> {
    let row = conn.prepare_cached(SNAPSHOT)?.query_row(params![run, last], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
    });
    Ok(row.optional()?.and_then(|(seq, state, open)| {
        let state = serde_json::from_str(&state).ok()?;
        let open = serde_json::from_str(&open).ok()?;
        Some(Life { seq, state, open })
    }))
}

/// Compares rulings with those recorded.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    buffer: Vec<u8>,
    /// The last rulings on each phase that were the recorded ones, with their text: a phase that is gone through again is
    /// mostly ruled as before.
    last: Vec<Option<(Vec<Ruling>, String)>>,
}

impl Comparison {
    /// Compares as bytes, and where these differ, as values.
    pub(crate) fn compare(
        &mut self,
        run: &RunId,
        seq: i64,
        recorded: &str,
        now: &[Ruling],
    ) -> Result<(), Failed> {
        let at = now.first().map_or(0, |ruling| ruling.phase.index());
        let last = self.last.get(at).and_then(Option::as_ref);
        if last.is_some_and(|(rulings, text)| rulings == now && text == recorded) {
            return Ok(());
        }
        self.buffer.clear();
        serde_json::to_writer(&mut self.buffer, now).map_err(Fault::from)?;
        if self.buffer != recorded.as_bytes() {
            let was: Vec<Ruling> = serde_json::from_str(recorded)
                .map_err(|error| Fault::decode(format!("the rulings of event {seq} of run {run}"), &error))?;
            if was != now {
                let now = String::from_utf8_lossy(&self.buffer).into_owned();
                let (run, recorded) = (run.clone(), recorded.to_string());
                return Err(Failed::Mismatch { run, seq, recorded, now });
            }
        }
        if self.last.len() <= at {
            self.last.resize(at + 1, None);
        }
        let (rulings, text) = self.last[at].get_or_insert_default();
        now.clone_into(rulings);
        recorded.clone_into(text);
        Ok(())
    }
}

#[cfg(test)]
#[path = "comparison_tests.rs"]
mod tests;
