//! Replays on two threads: one reads rows and decodes events, the other steps them and compares rulings. The second decodes
//! what the first has no time for.

use super::{Comparison, ReplayState};
use crate::error::Fault;
use crate::fact::RunId;
use crate::replay_error::Failed;
use remand_kernel::command::Command;
use remand_kernel::{Event, Program, step};
use rusqlite::{Connection, Rows, params};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

const EVENTS: &str =
    "SELECT seq, body, rulings FROM events WHERE run = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq";

/// Events in a chunk.
const ROWS: usize = 512;

/// Chunks in circulation.
const CHUNKS: usize = 8;

/// With this many chunks waiting to be stepped, the reader has time to decode the next one.
const DECODE_AHEAD: usize = 2;

/// Some events, passed to the stepping thread and back for reuse. Each thread frees what it allocated: memory freed on
/// another thread costs the allocator a lock.
#[derive(Default)]
struct Chunk {
    /// All texts of the rows, one after the other.
    text: String,
    rows: Vec<Row>,
    /// Empty until decoded.
    events: Vec<Event>,
}

/// One row, with the ranges of its texts.
struct Row {
    seq: i64,
    body: Range<usize>,
    rulings: Range<usize>,
}

/// Replays a run up to the event with this number.
pub(crate) fn replay_to(
    conn: &Connection,
    run: &RunId,
    program: &Program,
    reached: ReplayState,
    last: i64,
) -> Result<ReplayState, Failed> {
    let mut statement = conn.prepare_cached(EVENTS)?;
    let mut rows = statement.query(params![run, reached.seq, last])?;
    let mut replayer = Replayer { run, program, reached, comparison: Comparison::default() };
    if usize::try_from(last - replayer.reached.seq).is_ok_and(|count| count <= ROWS) {
        let mut chunk = Chunk::default();
        chunk.read(&mut rows)?;
        // Few events are not worth a thread, but a panic is caught as it would be there.
        catch_unwind(AssertUnwindSafe(|| replayer.step_chunk(&mut chunk)))
            .unwrap_or_else(|_| Err(unsteppable(run)))?;
        return Ok(replayer.reached);
    }
    let waiting = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (to_read, empty) = channel();
        let (to_step, read) = channel();
        for _ in 0..CHUNKS {
            // The receiver is still alive.
            let _ = to_read.send(Chunk::default());
        }
        let (waiting, run) = (&waiting, replayer.run);
        let stepping = scope.spawn(move || {
            replayer.step_all(&read, &to_read, waiting)?;
            Ok(replayer.reached)
        });
        let read = read_all(&mut rows, run, &empty, &to_step, waiting);
        drop(to_step);
        // An error in an earlier chunk comes first.
        let reached = stepping.join().unwrap_or_else(|_| Err(unsteppable(run)))?;
        read?;
        Ok(reached)
    })
}

/// The kernel panics only on a state or an event that it never made.
fn unsteppable(run: &RunId) -> Failed {
    Failed::NoProgram { run: run.clone(), detail: "the kernel panicked on what is recorded".to_string() }
}

/// Reads all rows, and decodes them while it is ahead. It stops when the stepping thread has stopped, which then reports
/// its error.
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
        if waiting.load(Ordering::Relaxed) >= DECODE_AHEAD {
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
    /// Reads the next rows. It stays empty at the end.
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

/// A run being replayed.
struct Replayer<'r> {
    run: &'r RunId,
    program: &'r Program,
    reached: ReplayState,
    comparison: Comparison,
}

impl Replayer<'_> {
    fn step_all(
        &mut self,
        from: &Receiver<Chunk>,
        back: &Sender<Chunk>,
        waiting: &AtomicUsize,
    ) -> Result<(), Failed> {
        for mut chunk in from {
            waiting.fetch_sub(1, Ordering::Relaxed);
            self.step_chunk(&mut chunk)?;
            // At the end of the run the reading thread has stopped.
            let _ = back.send(chunk);
        }
        Ok(())
    }

    fn step_chunk(&mut self, chunk: &mut Chunk) -> Result<(), Failed> {
        let decodes_here = chunk.events.is_empty();
        if decodes_here {
            chunk.decode(self.run)?;
        }
        let Replayer { run, program, reached, comparison } = self;
        for (Row { seq, rulings, .. }, event) in chunk.rows.iter().zip(&chunk.events) {
            let stepped = step(program, &mut reached.state, event);
            let refused = |refusal| Failed::Refused { run: (*run).clone(), seq: *seq, refusal };
            let stepped = stepped.map_err(refused)?;
            comparison.compare(run, *seq, &chunk.text[rulings.clone()], &stepped.rulings)?;
            fold_open(&mut reached.open, event, stepped.commands);
            reached.seq = *seq;
        }
        if decodes_here {
            chunk.events.clear();
        }
        Ok(())
    }
}

/// Updates the open commands with one event and the commands that it led to.
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
