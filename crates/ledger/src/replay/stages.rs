//! A replay in three stages, a thread each: rows are read, events decoded, and stepped with their rulings compared.

use super::{Failed, Life, compare};
use crate::error::Fault;
use crate::fact::RunId;
use remand_kernel::command::Command;
use remand_kernel::{Event, Program, step};
use rusqlite::{Connection, params};
use std::ops::{Range, RangeInclusive};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

const EVENTS: &str =
    "SELECT seq, body, rulings FROM events WHERE run = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq";

/// So many events go from stage to stage at once.
const CHUNK: usize = 512;

/// So many chunks may wait between two stages.
const WAITING: usize = 4;

/// Rows as they were read; all their texts stand in one.
#[derive(Default)]
struct Read {
    text: String,
    rows: Vec<(i64, Range<usize>, Range<usize>)>,
}

/// Events with the place of their rulings in the text.
struct Decoded {
    text: String,
    events: Vec<(i64, Event, Range<usize>)>,
}

/// Lives a run from one of its events to this one.
pub(super) fn live(
    conn: &Connection,
    run: &RunId,
    program: &Program,
    life: Life,
    last: i64,
) -> Result<Life, Failed> {
    let after = life.seq;
    if usize::try_from(last - after).is_ok_and(|count| count <= CHUNK) {
        return live_briefly(conn, run, program, life, last);
    }
    std::thread::scope(|scope| {
        let (to_decode, read) = sync_channel(WAITING);
        let (to_step, decoded) = sync_channel(WAITING);
        let decoding = scope.spawn(move || decode_all(run, &read, &to_step));
        let stepping = scope.spawn(move || step_all(run, program, life, &decoded));
        let read = read_all(conn, run, after..=last, &to_decode);
        drop(to_decode);
        let decoded = decoding.join().unwrap_or(Ok(()));
        let stepped = stepping.join().unwrap_or_else(|_| Err(broken(run)));
        // A stage that stopped early also stops those before it; what it found comes first.
        let life = stepped?;
        decoded?;
        read?;
        Ok(life)
    })
}

/// The same for a few events, which are not worth threads.
fn live_briefly(
    conn: &Connection,
    run: &RunId,
    program: &Program,
    life: Life,
    last: i64,
) -> Result<Life, Failed> {
    let (to_decode, read) = sync_channel(WAITING);
    let (to_step, decoded) = sync_channel(WAITING);
    read_all(conn, run, life.seq..=last, &to_decode)?;
    drop(to_decode);
    decode_all(run, &read, &to_step)?;
    drop(to_step);
    let step = AssertUnwindSafe(|| step_all(run, program, life, &decoded));
    catch_unwind(step).unwrap_or_else(|_| Err(broken(run)))
}

/// Only a state or an event that the kernel never made can bring it down.
fn broken(run: &RunId) -> Failed {
    Failed::NoProgram { run: run.clone(), detail: "it cannot step what is recorded".to_string() }
}

/// Reads what comes after the first of these up to the last.
fn read_all(
    conn: &Connection,
    run: &RunId,
    span: RangeInclusive<i64>,
    to: &SyncSender<Read>,
) -> Result<(), Fault> {
    let mut statement = conn.prepare_cached(EVENTS)?;
    let mut rows = statement.query(params![run, span.start(), span.end()])?;
    let mut chunk = Read::default();
    while let Some(row) = rows.next()? {
        let mut take = |at: usize| -> Result<Range<usize>, Fault> {
            let begin = chunk.text.len();
            chunk.text.push_str(row.get_ref(at)?.as_str().map_err(rusqlite::Error::from)?);
            Ok(begin..chunk.text.len())
        };
        let (body, rulings) = (take(1)?, take(2)?);
        chunk.rows.push((row.get(0)?, body, rulings));
        if chunk.rows.len() == CHUNK && to.send(std::mem::take(&mut chunk)).is_err() {
            return Ok(());
        }
    }
    // A receiver that is gone has found an error, which it reports by itself.
    let _ = to.send(chunk);
    Ok(())
}

fn decode_all(run: &RunId, from: &Receiver<Read>, to: &SyncSender<Decoded>) -> Result<(), Fault> {
    for Read { text, rows } in from {
        let mut events = Vec::with_capacity(rows.len());
        for (seq, body, rulings) in rows {
            let event = serde_json::from_str(&text[body])
                .map_err(|error| Fault::decode(format!("event {seq} of run {run}"), &error))?;
            events.push((seq, event, rulings));
        }
        if to.send(Decoded { text, events }).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

fn step_all(
    run: &RunId,
    program: &Program,
    mut life: Life,
    from: &Receiver<Decoded>,
) -> Result<Life, Failed> {
    let mut buffer = Vec::new();
    for Decoded { text, events } in from {
        for (seq, event, rulings) in events {
            let stepped = step(program, &mut life.state, &event);
            let stepped = stepped.map_err(|refusal| Failed::Refused { run: run.clone(), seq, refusal })?;
            compare(run, seq, &text[rulings], &stepped.rulings, &mut buffer)?;
            fold_open(&mut life.open, &event, stepped.commands);
            life.seq = seq;
        }
    }
    Ok(life)
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
        | Event::Reattributed { .. } => {}
    }
    for command in issued {
        match command {
            Command::Cancel { id } => open.retain(|open| open.id() != Some(id)),
            Command::Dispatch(_) | Command::Operate { .. } | Command::Ask(_) => open.push(command),
            Command::Discard { .. } | Command::Restore { .. } | Command::Finish { .. } => {}
        }
    }
}
