//! A replay by two threads: one reads rows and decodes their events, the other steps them and compares their rulings.
//! What the first has no time to decode, the second does.

use super::{Comparison, Failed, Life};
use crate::error::Fault;
use crate::fact::RunId;
use remand_kernel::command::Command;
use remand_kernel::{Event, Program, step};
use rusqlite::{Connection, Rows, params};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

const EVENTS: &str =
    "SELECT seq, body, rulings FROM events WHERE run = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq";

/// So many events go from thread to thread at once.
const ROWS: usize = 512;

/// So many chunks go round.
const CHUNKS: usize = 8;

/// While so many chunks wait to be stepped, there is time to decode the next one first.
const AHEAD: usize = 2;

/// Some events on their way to be stepped, and back to be filled again. Each thread throws away what it put there: memory
/// that goes back to another thread than asked for it costs allocators a lock.
#[derive(Default)]
struct Chunk {
    /// All texts of the rows, one after the other.
    text: String,
    rows: Vec<Row>,
    /// None until they are decoded.
    events: Vec<Event>,
}

/// One row as it was read, with the places of its texts.
struct Row {
    seq: i64,
    body: Range<usize>,
    rulings: Range<usize>,
}

/// Lives a run from one of its events to this one.
pub(super) fn live(
    conn: &Connection,
    run: &RunId,
    program: &Program,
    life: Life,
    last: i64,
) -> Result<Life, Failed> {
    let mut statement = conn.prepare_cached(EVENTS)?;
    let mut rows = statement.query(params![run, life.seq, last])?;
    let mut living = Living { run, program, life, comparison: Comparison::default() };
    if usize::try_from(last - living.life.seq).is_ok_and(|count| count <= ROWS) {
        let mut chunk = Chunk::default();
        chunk.read(&mut rows)?;
        // A few events are not worth a thread, but a panic of theirs is caught as one.
        catch_unwind(AssertUnwindSafe(|| living.go_through(&mut chunk)))
            .unwrap_or_else(|_| Err(broken(run)))?;
        return Ok(living.life);
    }
    let waiting = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (to_read, empty) = channel();
        let (to_step, read) = channel();
        for _ in 0..CHUNKS {
            // Its receiver is at hand.
            let _ = to_read.send(Chunk::default());
        }
        let (waiting, run) = (&waiting, living.run);
        let stepping = scope.spawn(move || {
            living.go_through_all(&read, &to_read, waiting)?;
            Ok(living.life)
        });
        let read = read_all(&mut rows, run, &empty, &to_step, waiting);
        drop(to_step);
        // What was found in an earlier chunk comes first.
        let life = stepping.join().unwrap_or_else(|_| Err(broken(run)))?;
        read?;
        Ok(life)
    })
}

/// Only a state or an event that the kernel never made can bring it down.
fn broken(run: &RunId) -> Failed {
    Failed::NoProgram { run: run.clone(), detail: "it cannot step what is recorded".to_string() }
}

/// Reads all rows, and decodes them as long as it is ahead. It stops when nobody steps them any more: that one has found
/// an error, and reports it.
fn read_all(
    rows: &mut Rows<'_>,
    run: &RunId,
    empty: &Receiver<Chunk>,
    to: &Sender<Chunk>,
    waiting: &AtomicUsize,
) -> Result<(), Fault> {
    for mut chunk in empty {
        chunk.read(rows)?;
        if chunk.rows.is_empty() {
            break;
        }
        if waiting.load(Ordering::Relaxed) >= AHEAD {
            chunk.decode(run)?;
        }
        waiting.fetch_add(1, Ordering::Relaxed);
        if to.send(chunk).is_err() {
            break;
        }
    }
    Ok(())
}

impl Chunk {
    /// Reads the next rows; there are none left when it stays empty.
    fn read(&mut self, rows: &mut Rows<'_>) -> Result<(), Fault> {
        self.text.clear();
        self.rows.clear();
        self.events.clear();
        while self.rows.len() < ROWS
            && let Some(row) = rows.next()?
        {
            let mut take = |at: usize| -> Result<Range<usize>, Fault> {
                let begin = self.text.len();
                self.text.push_str(row.get_ref(at)?.as_str().map_err(rusqlite::Error::from)?);
                Ok(begin..self.text.len())
            };
            let (body, rulings) = (take(1)?, take(2)?);
            self.rows.push(Row { seq: row.get(0)?, body, rulings });
        }
        Ok(())
    }

    fn decode(&mut self, run: &RunId) -> Result<(), Fault> {
        for Row { seq, body, .. } in &self.rows {
            let event = serde_json::from_str(&self.text[body.clone()])
                .map_err(|error| Fault::decode(format!("event {seq} of run {run}"), &error))?;
            self.events.push(event);
        }
        Ok(())
    }
}

/// A run on its way through its events.
struct Living<'r> {
    run: &'r RunId,
    program: &'r Program,
    life: Life,
    comparison: Comparison,
}

impl Living<'_> {
    fn go_through_all(
        &mut self,
        from: &Receiver<Chunk>,
        back: &Sender<Chunk>,
        waiting: &AtomicUsize,
    ) -> Result<(), Failed> {
        for mut chunk in from {
            waiting.fetch_sub(1, Ordering::Relaxed);
            self.go_through(&mut chunk)?;
            // At the end of the run nobody reads any more.
            let _ = back.send(chunk);
        }
        Ok(())
    }

    fn go_through(&mut self, chunk: &mut Chunk) -> Result<(), Failed> {
        let left_to_it = chunk.events.is_empty();
        if left_to_it {
            chunk.decode(self.run)?;
        }
        let Living { run, program, life, comparison } = self;
        for (Row { seq, rulings, .. }, event) in chunk.rows.iter().zip(&chunk.events) {
            let stepped = step(program, &mut life.state, event);
            let refused = |refusal| Failed::Refused { run: (*run).clone(), seq: *seq, refusal };
            let stepped = stepped.map_err(refused)?;
            comparison.compare(run, *seq, &chunk.text[rulings.clone()], &stepped.rulings)?;
            fold_open(&mut life.open, event, stepped.commands);
            life.seq = *seq;
        }
        if left_to_it {
            chunk.events.clear();
        }
        Ok(())
    }
}

/// Brings the open commands up to date with one event and what followed from it.
pub(crate) fn fold_open(open: &mut Vec<Command>, event: &Event, issued: impl IntoIterator<Item = Command>) {
    match event {
        Event::Ended { id, .. } | Event::Answered { id, .. } => {
            open.retain(|command| command.id() != Some(*id));
        }
        Event::Started(_)
        | Event::Interrupted { .. }
        | Event::Cancelled { .. }
        | Event::Paused { .. }
        | Event::Resumed { .. }
        | Event::RolledBack { .. }
        | Event::ApproachRemoved { .. }
        | Event::Reattributed { .. }
        | Event::Reverted { .. } => {}
    }
    for command in issued {
        match command {
            Command::Cancel { id } => open.retain(|open| open.id() != Some(id)),
            Command::Dispatch(_) | Command::Operate { .. } | Command::Ask(_) => open.push(command),
            Command::Discard { .. } | Command::Restore { .. } | Command::Finish { .. } => {}
        }
    }
}
