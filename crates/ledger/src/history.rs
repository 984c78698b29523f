//! Runs lived through again: the journal in its order, each event stepped by the pinned program of its run.

use crate::chain::{GENESIS, Link};
use crate::error::Fault;
use crate::fact::{BlobId, Facts, Millis, RunId};
use crate::project::{Lived, Memo, Placed};
use crate::replay::{Comparison, Failed, fold_open, stand_at};
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

/// What is pinned with a run; other keys are the host's.
#[derive(Deserialize)]
struct Pinned {
    program: Program,
}

/// The runs of a journal, each as far as it has been lived.
#[derive(Debug, Default)]
pub(crate) struct Lives {
    runs: HashMap<RunId, Life>,
    /// Programs that some of them use: runs that were pinned to the same one share it.
    programs: HashMap<BlobId, Weak<Program>>,
}

/// A run under way.
#[derive(Debug, Default)]
struct Life {
    /// None after an event that somebody else had lived through.
    stand: Option<Stand>,
    /// The number of its last event.
    seq: i64,
    /// What was issued and neither ended nor was cancelled.
    open: Vec<Command>,
    /// What its tables hold.
    memo: Memo,
}

/// Where a run stands, by which program.
#[derive(Debug)]
struct Stand {
    program: Arc<Program>,
    state: State,
}

/// Why the journal is lived through again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To compare it with the tables, after its chain was checked.
    Audit,
    /// To make the tables from nothing.
    Rebuild,
    /// To bring the tables up with it. A run that the rules of this program do not lead through is left as it is shown;
    /// whoever resumes or audits it is told why.
    Follow,
}

impl Lives {
    /// Lives everything after this event of the journal, and shows each event to `see`, with the commands as recorded
    /// and the run, its open commands brought up to date. Gives the last event.
    pub(crate) fn go_on(
        &mut self,
        conn: &Connection,
        after: i64,
        purpose: Purpose,
        mut see: impl FnMut(&Lived<'_>, Placed, &str, &mut Memo, &[Command]) -> Result<(), Fault>,
    ) -> Result<i64, Failed> {
        let mut statement = conn.prepare_cached(EVENTS)?;
        let mut rows = statement.query([after])?;
        let (mut last, mut comparison) = (after, Comparison::default());
        let mut chain = match purpose {
            Purpose::Audit => None,
            Purpose::Rebuild | Purpose::Follow => Some(hash_of(conn, after)?),
        };
        while let Some(row) = rows.next()? {
            let recorded = Recorded::read(row)?;
            last = recorded.placed.id;
            if let Some(previous) = &mut chain {
                *previous = recorded.link(row, previous)?;
            }
            match self.live(conn, row, &recorded, &mut comparison, &mut see) {
                Err(Failed::Mismatch { .. } | Failed::Refused { .. } | Failed::NoProgram { .. })
                    if purpose == Purpose::Follow =>
                {
                    self.runs.remove(&recorded.run);
                }
                lived => lived?,
            }
        }
        Ok(last)
    }

    fn live(
        &mut self,
        conn: &Connection,
        row: &Row<'_>,
        recorded: &Recorded,
        comparison: &mut Comparison,
        see: &mut impl FnMut(&Lived<'_>, Placed, &str, &mut Memo, &[Command]) -> Result<(), Fault>,
    ) -> Result<(), Failed> {
        let Recorded { run, placed, event, facts } = recorded;
        let seq = placed.seq;
        if self.runs.get(run).is_none_or(|life| life.seq != seq - 1 || life.stand.is_none()) {
            let life = self.load(conn, run, seq - 1)?;
            self.runs.insert(run.clone(), life);
        }
        let Some(Life { stand: Some(stand), seq: reached, open, memo }) = self.runs.get_mut(run) else {
            return Ok(());
        };
        let Stand { program, state } = stand;
        let text = |at: usize| row.get_ref(at)?.as_str().map_err(rusqlite::Error::from);
        let stepped = step(program, state, event);
        let stepped = stepped.map_err(|refusal| Failed::Refused { run: run.clone(), seq, refusal })?;
        comparison.compare(run, seq, text(6)?, &stepped.rulings)?;
        fold_open(open, event, stepped.commands.iter().cloned());
        *reached = seq;
        let lived = Lived { run, program, event, facts, step: &stepped, state };
        see(&lived, *placed, text(7)?, memo, open)?;
        Ok(())
    }

    /// Takes an event that somebody else lived through, and shows what its run came to.
    pub(crate) fn take(
        &mut self,
        conn: &Connection,
        lived: &Lived<'_>,
        placed: Placed,
        see: impl FnOnce(&mut Memo, &[Command]) -> Result<(), Fault>,
    ) -> Result<(), Failed> {
        let Lived { run, event, step, .. } = lived;
        if self.runs.get(*run).is_none_or(|life| life.seq != placed.seq - 1) {
            let life = if placed.seq == 1 { Life::default() } else { self.load(conn, run, placed.seq - 1)? };
            self.runs.insert((*run).clone(), life);
        }
        let Some(life) = self.runs.get_mut(*run) else {
            return Ok(());
        };
        fold_open(&mut life.open, event, step.commands.iter().cloned());
        life.seq = placed.seq;
        life.stand = None;
        see(&mut life.memo, &life.open)?;
        Ok(())
    }

    /// A run as it stood after this event of it, and as its tables show it.
    fn load(&mut self, conn: &Connection, run: &RunId, seq: i64) -> Result<Life, Failed> {
        let program = self.program(conn, run)?;
        if seq == 0 {
            let state = State::new(&program);
            return Ok(Life { stand: Some(Stand { program, state }), ..Life::default() });
        }
        let (state, open) = stand_at(conn, run, &program, seq)?;
        let memo = Memo::load(conn, &run.0)?;
        Ok(Life { stand: Some(Stand { program, state }), seq, open, memo })
    }

    fn program(&mut self, conn: &Connection, run: &RunId) -> Result<Arc<Program>, Failed> {
        let pinned = pinned_of(conn, run)?;
        if let Some(program) = self.programs.get(&pinned).and_then(Weak::upgrade) {
            return Ok(program);
        }
        let program = Arc::new(read_program(conn, run, pinned)?);
        self.programs.insert(pinned, Arc::downgrade(&program));
        Ok(program)
    }

    /// Forgets runs that nothing happens to before a human acts.
    pub(crate) fn forget_idle(&mut self) {
        self.runs.retain(|_, life| life.open.iter().any(|command| !matches!(command, Command::Ask(_))));
    }
}

struct Recorded {
    run: RunId,
    placed: Placed,
    event: Event,
    facts: Facts,
}

impl Recorded {
    fn read(row: &Row<'_>) -> Result<Recorded, Fault> {
        let run: RunId = row.get(1)?;
        let placed = Placed { id: row.get(0)?, seq: row.get(2)?, at: Millis(row.get(3)?) };
        let text = |at: usize| row.get_ref(at)?.as_str().map_err(rusqlite::Error::from);
        let event = serde_json::from_str(text(4)?)
            .map_err(|error| Fault::decode(format!("event {} of run {run}", placed.seq), &error))?;
        let facts = decode_facts(&run, placed.seq, text(5)?)?;
        Ok(Recorded { run, placed, event, facts })
    }
}

impl Recorded {
    /// The hash of the row, which must follow from that of the row before it: what somebody else put into the journal is
    /// never shown.
    fn link(&self, row: &Row<'_>, previous: &[u8; 32]) -> Result<[u8; 32], Fault> {
        let text = |at: usize| row.get_ref(at)?.as_str().map_err(rusqlite::Error::from);
        let Placed { id, seq, at } = self.placed;
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
        let detail = "it does not follow from the event before it".to_string();
        Err(Fault::Decode { what: format!("event {id}"), detail })
    }
}

/// The hash of an event of the journal, or what stands before the first.
fn hash_of(conn: &Connection, id: i64) -> Result<[u8; 32], Fault> {
    match id {
        0 => Ok(GENESIS),
        _ => Ok(conn.prepare_cached(HASH)?.query_row([id], |row| row.get(0))?),
    }
}

/// The facts of an event; nothing stands for none.
pub(crate) fn decode_facts(run: &RunId, seq: i64, text: &str) -> Result<Facts, Fault> {
    if text.is_empty() {
        return Ok(Facts::default());
    }
    serde_json::from_str(text)
        .map_err(|error| Fault::decode(format!("the facts of event {seq} of run {run}"), &error))
}

/// The blob that holds what is pinned with a run, from its first event.
pub(crate) fn pinned_of(conn: &Connection, run: &RunId) -> Result<BlobId, Failed> {
    let none = |detail: &str| Failed::NoProgram { run: run.clone(), detail: detail.to_string() };
    let text: Option<String> =
        conn.prepare_cached(FIRST_FACTS)?.query_row([run], |row| row.get(0)).optional()?;
    let text = text.ok_or_else(|| none("its first event is missing"))?;
    let facts = decode_facts(run, 1, &text)?;
    facts.opened.map(|opened| opened.pinned).ok_or_else(|| none("its first event does not name one"))
}

/// The program that is pinned with a run.
pub(crate) fn read_program(conn: &Connection, run: &RunId, pinned: BlobId) -> Result<Program, Failed> {
    let none = |detail: String| Failed::NoProgram { run: run.clone(), detail };
    let mut statement = conn.prepare_cached(BLOB)?;
    let mut rows = statement.query([pinned])?;
    let Some(row) = rows.next()? else {
        return Err(none(format!("blob {pinned} is missing")));
    };
    let bytes = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
    if BlobId::of(bytes) != pinned {
        return Err(none(format!("the content of blob {pinned} does not fit its name")));
    }
    let pinned: Pinned = serde_json::from_slice(bytes).map_err(|error| none(error.to_string()))?;
    Ok(pinned.program)
}
