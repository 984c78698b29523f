//! Brings the tables up to date with the journal: replays and projects the events appended since the last time, many in
//! one unsynced commit. Rows that a crash loses are rebuilt from the journal.

use crate::error::Fault;
use crate::fact::RunId;
use crate::history::{Purpose, RunReplays};
use crate::project::{self, EventSlot, Memo, ReplayedEvent};
use crate::replay_error::ReplayFailure;
use crate::tables::PROJECTION_TABLES;
use remand_kernel::command::Command;
use rusqlite::{Connection, params};

/// Events between two snapshots of a run. A resume replays at most this many.
pub const SNAPSHOT_EVERY: i64 = 128;

const LAST_PROJECTED: &str = "SELECT event FROM followed";
const SET_LAST_PROJECTED: &str = "UPDATE followed SET event = ?1";
const HAS_LAG: &str = "SELECT coalesce((SELECT max(id) FROM events), 0) > event FROM followed";
const STORE_SNAPSHOT: &str =
    "INSERT OR REPLACE INTO snapshots (run, seq, state, open) VALUES (?1, ?2, ?3, ?4)";
const DELETE_OLD_SNAPSHOTS: &str = "DELETE FROM snapshots WHERE run = ?1 AND seq <= ?2";

/// Whether the journal has events that the tables do not show yet.
pub(crate) fn has_lag(conn: &Connection) -> Result<bool, Fault> {
    Ok(conn.prepare_cached(HAS_LAG)?.query_row([], |row| row.get(0))?)
}

/// The id of the last event that the tables show.
pub(crate) fn last_projected(conn: &Connection) -> Result<i64, Fault> {
    Ok(conn.prepare_cached(LAST_PROJECTED)?.query_row([], |row| row.get(0))?)
}

/// Projects the journal up to its end. The caller has opened a transaction.
pub(crate) fn catch_up(
    conn: &Connection,
    replays: &mut RunReplays,
    purpose: Purpose,
) -> Result<(), ReplayFailure> {
    let after = last_projected(conn)?;
    let last = replays.replay_after(conn, after, purpose, |replayed, slot, _, memo, open| {
        project_event(conn, replayed, slot, memo, open)
    })?;
    if last != after {
        conn.prepare_cached(SET_LAST_PROJECTED)?.execute([last])?;
    }
    replays.drop_idle();
    Ok(())
}

/// Catches up with the last events of the journal, which the caller has in memory. If the tables lack earlier events
/// too, all missing events are read from the journal.
pub(crate) fn catch_up_with(
    conn: &Connection,
    replays: &mut RunReplays,
    events: &[ReplayedEvent<'_>],
    slots: &[EventSlot],
) -> Result<(), ReplayFailure> {
    let (Some(first), Some(last)) = (slots.first(), slots.last()) else {
        return Ok(());
    };
    if last_projected(conn)? + 1 != first.id {
        return catch_up(conn, replays, Purpose::CatchUp);
    }
    for (replayed, slot) in events.iter().zip(slots) {
        replays
            .advance(conn, replayed, *slot, |memo, open| project_event(conn, replayed, *slot, memo, open))?;
    }
    conn.prepare_cached(SET_LAST_PROJECTED)?.execute([last.id])?;
    replays.drop_idle();
    Ok(())
}

/// Projects one event, and takes a snapshot if one is due.
fn project_event(
    conn: &Connection,
    replayed: &ReplayedEvent<'_>,
    slot: EventSlot,
    memo: &mut Memo,
    open: &[Command],
) -> Result<(), Fault> {
    project::project(conn, replayed, slot, memo)?;
    if slot.seq % SNAPSHOT_EVERY == 0 {
        store_snapshot(conn, replayed, slot.seq, open)?;
    }
    Ok(())
}

/// Empties all projection tables and fills them again. The caller has opened a transaction.
pub(crate) fn rebuild(conn: &Connection, replays: &mut RunReplays) -> Result<(), ReplayFailure> {
    for projection in PROJECTION_TABLES {
        conn.execute(&format!("DELETE FROM {}", projection.table), [])?;
    }
    conn.execute("DELETE FROM snapshots", [])?;
    conn.execute(SET_LAST_PROJECTED, [0])?;
    *replays = RunReplays::default();
    catch_up(conn, replays, Purpose::Rebuild)
}

fn store_snapshot(
    conn: &Connection,
    replayed: &ReplayedEvent<'_>,
    seq: i64,
    open: &[Command],
) -> Result<(), Fault> {
    let run: &RunId = replayed.run;
    let (state, open) = (serde_json::to_string(replayed.state)?, serde_json::to_string(open)?);
    conn.prepare_cached(STORE_SNAPSHOT)?.execute(params![run, seq, state, open])?;
    conn.prepare_cached(DELETE_OLD_SNAPSHOTS)?.execute(params![run, seq - 2 * SNAPSHOT_EVERY])?;
    Ok(())
}
