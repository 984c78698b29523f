//! Replays the journal in order, and steps each event with the pinned program of its run.

use crate::chain::{GENESIS, Link};
use crate::error::Fault;
use crate::fact::{BlobId, Facts, Millis, RunId};
use crate::project::{EventSlot, Memo, ReplayedEvent};
use crate::replay_error::ReplayFailure;
use crate::restore::{Comparison, state_at, update_open};
use remand_kernel::command::Command;
use remand_kernel::{Event, Program, State, step};
use rusqlite::{Connection, OptionalExtension, Row};
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

const EVENTS: &str = "SELECT id, run, seq, at, body, facts, rulings, commands, kind, hash FROM events WHERE id > ?1 ORDER BY id";
const HASH: &str = "SELECT hash FROM events WHERE id = ?1";
const FIRST_FACTS: &str = "SELECT facts FROM events WHERE run = ?1 AND seq = 1";
const BLOB: &str = "SELECT body FROM blobs WHERE id = ?1";

/// The pinned data of a run, as far as the ledger reads it. The host defines the other keys.
#[derive(Deserialize)]
struct Pinned {
    program: Program,
}

/// The replays of the runs of a journal.
#[derive(Debug, Default)]
pub(crate) struct RunReplays {
    runs: HashMap<RunId, RunReplay>,
    /// Programs in use. Runs pinned to the same program share it.
    programs: HashMap<BlobId, Weak<Program>>,
}

/// The replay of one run.
#[derive(Debug, Default)]
struct RunReplay {
    /// `None` after an event that was projected from the caller's memory instead of replayed.
    current: Option<ProgramState>,
    /// The number of the last event.
    seq: i64,
    /// Commands that have neither ended nor been cancelled.
    open: Vec<Command>,
    /// What the tables hold of the run, so that only changes are written.
    memo: Memo,
}

/// The state of a run, with its program.
#[derive(Debug)]
struct ProgramState {
    program: Arc<Program>,
    state: State,
}

/// The reason for a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To compare the journal with the tables. The chain was checked before.
    Audit,
    /// To fill empty tables.
    Rebuild,
    /// To project new events. A run that this version cannot replay keeps its rows; resume and audit report why.
    CatchUp,
}

impl RunReplays {
    /// Replays everything after the event with this id. `visit` receives each event, its commands as recorded, what the
    /// tables hold of its run, and the commands that are open after it. Returns the id of the last event.
    pub(crate) fn replay_after(
        &mut self,
        conn: &Connection,
        after: i64,
        purpose: Purpose,
        mut visit: impl FnMut(&ReplayedEvent<'_>, EventSlot, &str, &mut Memo, &[Command]) -> Result<(), Fault>,
    ) -> Result<i64, ReplayFailure> {
        let mut statement = conn.prepare_cached(EVENTS)?;
        let mut rows = statement.query([after])?;
        let (mut last, mut comparison) = (after, Comparison::default());
        let mut previous_hash = match purpose {
            Purpose::Audit => None,
            Purpose::Rebuild | Purpose::CatchUp => Some(hash_of(conn, after)?),
        };
        while let Some(row) = rows.next()? {
            let recorded = RecordedEvent::read(row)?;
            last = recorded.slot.id;
            if let Some(previous) = &mut previous_hash {
                *previous = recorded.verify_hash(row, previous)?;
            }
            match self.replay_one(conn, row, &recorded, &mut comparison, &mut visit) {
                Err(
                    ReplayFailure::Mismatch { .. }
                    | ReplayFailure::Refused { .. }
                    | ReplayFailure::NoProgram { .. },
                ) if purpose == Purpose::CatchUp => {
                    self.runs.remove(&recorded.run);
                }
                replayed => replayed?,
            }
        }
        Ok(last)
    }

    fn replay_one(
        &mut self,
        conn: &Connection,
        row: &Row<'_>,
        recorded: &RecordedEvent,
        comparison: &mut Comparison,
        visit: &mut impl FnMut(&ReplayedEvent<'_>, EventSlot, &str, &mut Memo, &[Command]) -> Result<(), Fault>,
    ) -> Result<(), ReplayFailure> {
        let RecordedEvent { run, slot, event, facts } = recorded;
        let seq = slot.seq;
        if self.runs.get(run).is_none_or(|replay| replay.seq != seq - 1 || replay.current.is_none()) {
            let replay = self.load(conn, run, seq - 1)?;
            self.runs.insert(run.clone(), replay);
        }
        let Some(RunReplay { current: Some(current), seq: last_seq, open, memo }) = self.runs.get_mut(run)
        else {
            return Ok(());
        };
        let ProgramState { program, state } = current;
        let text = |column: usize| row.get_ref(column)?.as_str().map_err(rusqlite::Error::from);
        let stepped = step(program, state, event);
        let stepped = stepped.map_err(|refusal| ReplayFailure::Refused { run: run.clone(), seq, refusal })?;
        comparison.compare(run, seq, text(6)?, &stepped.rulings)?;
        update_open(open, event, stepped.commands.iter().cloned());
        *last_seq = seq;
        let replayed = ReplayedEvent { run, program, event, facts, step: &stepped, state };
        visit(&replayed, *slot, text(7)?, memo, open)?;
        Ok(())
    }

    /// Advances a run by an event that the caller has stepped already.
    pub(crate) fn advance(
        &mut self,
        conn: &Connection,
        replayed: &ReplayedEvent<'_>,
        slot: EventSlot,
        visit: impl FnOnce(&mut Memo, &[Command]) -> Result<(), Fault>,
    ) -> Result<(), ReplayFailure> {
        let ReplayedEvent { run, event, step, .. } = replayed;
        if self.runs.get(*run).is_none_or(|replay| replay.seq != slot.seq - 1) {
            let replay =
                if slot.seq == 1 { RunReplay::default() } else { self.load(conn, run, slot.seq - 1)? };
            self.runs.insert((*run).clone(), replay);
        }
        let Some(replay) = self.runs.get_mut(*run) else {
            return Ok(());
        };
        update_open(&mut replay.open, event, step.commands.iter().cloned());
        replay.seq = slot.seq;
        replay.current = None;
        visit(&mut replay.memo, &replay.open)?;
        Ok(())
    }

    /// Loads a run as it was after the event with this number, with what its tables hold.
    fn load(&mut self, conn: &Connection, run: &RunId, seq: i64) -> Result<RunReplay, ReplayFailure> {
        let program = self.program(conn, run)?;
        if seq == 0 {
            let state = State::new(&program);
            return Ok(RunReplay { current: Some(ProgramState { program, state }), ..RunReplay::default() });
        }
        let (state, open) = state_at(conn, run, &program, seq)?;
        let memo = Memo::load(conn, &run.0)?;
        Ok(RunReplay { current: Some(ProgramState { program, state }), seq, open, memo })
    }

    fn program(&mut self, conn: &Connection, run: &RunId) -> Result<Arc<Program>, ReplayFailure> {
        let pinned = pinned_of(conn, run)?;
        if let Some(program) = self.programs.get(&pinned).and_then(Weak::upgrade) {
            return Ok(program);
        }
        let program = Arc::new(read_program(conn, run, pinned)?);
        self.programs.insert(pinned, Arc::downgrade(&program));
        Ok(program)
    }

    /// Drops runs whose open commands are all questions to a human.
    pub(crate) fn drop_idle(&mut self) {
        self.runs.retain(|_, replay| replay.open.iter().any(|command| !matches!(command, Command::Ask(_))));
    }
}

/// A decoded row of the journal.
struct RecordedEvent {
    run: RunId,
    slot: EventSlot,
    event: Event,
    facts: Facts,
}

impl RecordedEvent {
    fn read(row: &Row<'_>) -> Result<RecordedEvent, Fault> {
        let run: RunId = row.get(1)?;
        let slot = EventSlot { id: row.get(0)?, seq: row.get(2)?, at: Millis(row.get(3)?) };
        let text = |column: usize| row.get_ref(column)?.as_str().map_err(rusqlite::Error::from);
        let event = serde_json::from_str(text(4)?)
            .map_err(|error| Fault::decode(format!("event {} of run {run}", slot.seq), &error))?;
        let facts = decode_facts(&run, slot.seq, text(5)?)?;
        Ok(RecordedEvent { run, slot, event, facts })
    }
}

impl RecordedEvent {
    /// Verifies and returns the hash of the row, given the previous hash. A forged row is never projected.
    fn verify_hash(&self, row: &Row<'_>, previous: &[u8; 32]) -> Result<[u8; 32], Fault> {
        let text = |column: usize| row.get_ref(column)?.as_str().map_err(rusqlite::Error::from);
        let EventSlot { id, seq, at } = self.slot;
        let link = Link {
            id,
            run: &self.run.0,
            seq,
            at,
            kind: text(8)?,
            body: text(4)?,
            facts: text(5)?,
            rulings: text(6)?,
            commands: text(7)?,
        };
        let hash = link.hash(previous);
        if row.get_ref(9)?.as_blob().is_ok_and(|stored| stored == hash) {
            return Ok(hash);
        }
        let detail = "its hash does not match the event before it".to_string();
        Err(Fault::Decode { what: format!("event {id}"), detail })
    }
}

/// The hash of an event; for id 0, the hash before the first event.
fn hash_of(conn: &Connection, id: i64) -> Result<[u8; 32], Fault> {
    match id {
        0 => Ok(GENESIS),
        _ => Ok(conn.prepare_cached(HASH)?.query_row([id], |row| row.get(0))?),
    }
}

/// Decodes the facts of an event. An empty string means no facts.
pub(crate) fn decode_facts(run: &RunId, seq: i64, text: &str) -> Result<Facts, Fault> {
    if text.is_empty() {
        return Ok(Facts::default());
    }
    serde_json::from_str(text)
        .map_err(|error| Fault::decode(format!("the facts of event {seq} of run {run}"), &error))
}

/// The blob with the pinned data of a run, as its first event names it.
pub(crate) fn pinned_of(conn: &Connection, run: &RunId) -> Result<BlobId, ReplayFailure> {
    let no_program = |detail: &str| ReplayFailure::NoProgram { run: run.clone(), detail: detail.to_string() };
    let text: Option<String> =
        conn.prepare_cached(FIRST_FACTS)?.query_row([run], |row| row.get(0)).optional()?;
    let text = text.ok_or_else(|| no_program("its first event is missing"))?;
    let facts = decode_facts(run, 1, &text)?;
    facts.opened.map(|opened| opened.pinned).ok_or_else(|| no_program("its first event does not name it"))
}

/// Reads the program that is pinned with a run.
pub(crate) fn read_program(conn: &Connection, run: &RunId, pinned: BlobId) -> Result<Program, ReplayFailure> {
    let no_program = |detail: String| ReplayFailure::NoProgram { run: run.clone(), detail };
    let mut statement = conn.prepare_cached(BLOB)?;
    let mut rows = statement.query([pinned])?;
    let Some(row) = rows.next()? else {
        return Err(no_program(format!("blob {pinned} is missing")));
    };
    let bytes = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
    if BlobId::of(bytes) != pinned {
        return Err(no_program(format!("the content of blob {pinned} does not match its id")));
    }
    let pinned: Pinned = serde_json::from_slice(bytes).map_err(|error| no_program(error.to_string()))?;
    Ok(pinned.program)
}
