//! Replays on two threads: one reads rows and decodes events, the other steps them and compares rulings. The second
//! also decodes the events that the first has no time for.

use super::{Comparison, ReplayState};
use crate::error::Fault;
use crate::fact::RunId;
use crate::replay_error::ReplayFailure;
use remand_kernel::command::Command;
use remand_kernel::{Event, Program, step};
use rusqlite::{Connection, Rows, params};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

const EVENTS: &str =
    "SELECT seq, body, rulings FROM events WHERE run = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq";

/// The maximum number of events in a chunk.
const CHUNK_ROWS: usize = 512;

/// The number of chunks that circulate between the threads.
const CHUNKS: usize = 8;

/// If at least this many chunks wait to be stepped, the reader has time to decode the next one.
const DECODE_AHEAD: usize = 2;

/// A batch of events, passed to the stepping thread and back for reuse. Each thread frees its own allocations:
/// memory freed on another thread costs the allocator a lock.
#[derive(Default)]
struct Chunk {
    /// The strings of all rows, concatenated.
    text: String,
    rows: Vec<Row>,
    /// Empty until the rows are decoded.
    events: Vec<Event>,
}

/// One row. Its ranges are positions in the text of the chunk.
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
    start: ReplayState,
    last: i64,
) -> Result<ReplayState, ReplayFailure> {
    let mut statement = conn.prepare_cached(EVENTS)?;
    let mut rows = statement.query(params![run, start.seq, last])?;
    let mut replayer = Replayer { run, program, current: start, comparison: Comparison::default() };
    if usize::try_from(last - replayer.current.seq).is_ok_and(|count| count <= CHUNK_ROWS) {
        let mut chunk = Chunk::default();
        chunk.read(&mut rows)?;
        // A few events are not worth a second thread. `catch_unwind` contains a panic as a thread would.
        catch_unwind(AssertUnwindSafe(|| replayer.step_chunk(&mut chunk)))
            .unwrap_or_else(|_| Err(kernel_panicked(run)))?;
        return Ok(replayer.current);
    }
    let waiting = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (to_read, empty) = channel();
        let (to_step, filled) = channel();
        for _ in 0..CHUNKS {
            // This cannot fail: the receiver is still alive.
            let _ = to_read.send(Chunk::default());
        }
        let (waiting, run) = (&waiting, replayer.run);
        let stepper = scope.spawn(move || {
            replayer.step_all(&filled, &to_read, waiting)?;
            Ok(replayer.current)
        });
        let read = read_all(&mut rows, run, &empty, &to_step, waiting);
        drop(to_step);
        // An error of the stepping thread is about an earlier chunk, so it comes first.
        let end = stepper.join().unwrap_or_else(|_| Err(kernel_panicked(run)))?;
        read?;
        Ok(end)
    })
}

/// The kernel panics only on a damaged state or event.
fn kernel_panicked(run: &RunId) -> ReplayFailure {
    ReplayFailure::NoProgram {
        run: run.clone(),
        detail: "the kernel panicked on the recorded data".to_string(),
    }
}

/// Reads all rows, and decodes them while the stepping thread has enough work. Stops without an error if the stepping
/// thread has stopped, which reports the reason.
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
    /// Reads the next rows. After the last row, the chunk is empty.
    fn read(&mut self, rows: &mut Rows<'_>) -> Result<(), Fault> {
        self.text.clear();
        self.rows.clear();
        self.events.clear();
        while self.rows.len() < CHUNK_ROWS
            && let Some(row) = rows.next()?
        {
            let mut append = |column: usize| -> Result<Range<usize>, Fault> {
                let start = self.text.len();
                self.text.push_str(row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?);
                Ok(start..self.text.len())
            };
            let (body, rulings) = (append(1)?, append(2)?);
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
    current: ReplayState,
    comparison: Comparison,
}

impl Replayer<'_> {
    fn step_all(
        &mut self,
        from: &Receiver<Chunk>,
        back: &Sender<Chunk>,
        waiting: &AtomicUsize,
    ) -> Result<(), ReplayFailure> {
        for mut chunk in from {
            waiting.fetch_sub(1, Ordering::Relaxed);
            self.step_chunk(&mut chunk)?;
            // The reading thread may have stopped at the end of the run.
            let _ = back.send(chunk);
        }
        Ok(())
    }

    fn step_chunk(&mut self, chunk: &mut Chunk) -> Result<(), ReplayFailure> {
        let decoded_here = chunk.events.is_empty();
        if decoded_here {
            chunk.decode(self.run)?;
        }
        let Replayer { run, program, current, comparison } = self;
        for (Row { seq, rulings, .. }, event) in chunk.rows.iter().zip(&chunk.events) {
            let stepped = step(program, &mut current.state, event);
            let refused = |refusal| ReplayFailure::Refused { run: (*run).clone(), seq: *seq, refusal };
            let stepped = stepped.map_err(refused)?;
            comparison.compare(run, *seq, &chunk.text[rulings.clone()], &stepped.rulings)?;
            update_open(&mut current.open, event, stepped.commands);
            current.seq = *seq;
        }
        if decoded_here {
            chunk.events.clear();
        }
        Ok(())
    }
}

/// Updates the open commands after an event and the commands that it led to.
pub(crate) fn update_open(open: &mut Vec<Command>, event: &Event, issued: impl IntoIterator<Item = Command>) {
    match event {
        Event::Ended { id, .. } | Event::Answered { id, .. } => {
            open.retain(|command| command.id() != Some(*id));
        }
        Event::Started(_)
        | Event::Interrupted { .. }
        | Event::Cancelled { .. }
        | Event::Paused { .. }
        | Event::Resumed { .. }
        | Event::Retried { .. }
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
