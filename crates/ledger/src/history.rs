//! All runs lived through again: the journal in its order, each event stepped by the pinned program of its run.

use crate::entry::Entry;
use crate::error::Fault;
use crate::fact::{BlobId, Facts, Millis, RunId};
use crate::project::Placed;
use crate::replay::{Failed, compare};
use remand_kernel::{Event, Program, State, step};
use rusqlite::{Connection, OptionalExtension, Row};
use serde::Deserialize;
use std::collections::HashMap;
use std::rc::Rc;

const EVENTS: &str = "SELECT id, run, seq, at, body, facts, rulings, commands FROM events ORDER BY id";
const FIRST_FACTS: &str = "SELECT facts FROM events WHERE run = ?1 AND seq = 1";
const BLOB: &str = "SELECT body FROM blobs WHERE id = ?1";

/// What is pinned with a run; other keys are the host's.
#[derive(Deserialize)]
struct Pinned {
    program: Program,
}

/// A run under way.
struct Life {
    program: Rc<Program>,
    state: State,
}

/// Steps every event of the journal, and shows each to `see` as it was appended, with the commands as recorded.
pub(crate) fn live_again(
    conn: &Connection,
    mut see: impl FnMut(&Entry<'_>, Placed, &str) -> Result<(), Fault>,
) -> Result<u64, Failed> {
    let mut programs: HashMap<BlobId, Rc<Program>> = HashMap::new();
    let mut lives: HashMap<String, Life> = HashMap::new();
    let mut statement = conn.prepare(EVENTS)?;
    let mut rows = statement.query([])?;
    let (mut count, mut buffer) = (0, Vec::new());
    while let Some(row) = rows.next()? {
        let recorded = Recorded::read(row)?;
        let life = match lives.entry(recorded.run.0.clone()) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(new) => {
                let pinned = pinned_of(conn, &recorded.run)?;
                let program = match programs.get(&pinned) {
                    Some(program) => Rc::clone(program),
                    None => {
                        let program = Rc::new(read_program(conn, &recorded.run, pinned)?);
                        programs.insert(pinned, Rc::clone(&program));
                        program
                    }
                };
                let state = State::new(&program);
                new.insert(Life { program, state })
            }
        };
        let seq = recorded.placed.seq;
        let stepped = step(&life.program, &mut life.state, &recorded.event);
        let stepped =
            stepped.map_err(|refusal| Failed::Refused { run: recorded.run.clone(), seq, refusal })?;
        let rulings = row.get_ref(6)?.as_str().map_err(rusqlite::Error::from)?;
        compare(&recorded.run, seq, rulings, &stepped.rulings, &mut buffer)?;
        let entry = Entry {
            run: &recorded.run,
            program: &life.program,
            at: recorded.placed.at,
            event: &recorded.event,
            facts: &recorded.facts,
            step: &stepped,
            state: &life.state,
            blobs: &[],
            request: None,
        };
        see(&entry, recorded.placed, row.get_ref(7)?.as_str().map_err(rusqlite::Error::from)?)?;
        count += 1;
    }
    Ok(count)
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
