//! Tables follow the journal: events appended since the last time are replayed and projected, many in one unsynced
//! commit. What a crash loses of the tables is made again from the journal.

use crate::error::Fault;
use crate::fact::RunId;
use crate::history::{Purpose, RunReplays};
use crate::project::{self, EventSlot, Memo, ReplayedEvent};
use crate::replay_error::Failed;
use crate::tables::PROJECTED;
use remand_kernel::command::Command;
use rusqlite::{Connection, params};

/// Events between two snapshots of a run. A resume replays at most as many.
pub const SNAPSHOT_EVERY: i64 = 128;

const FOLLOWED: &str = "SELECT event FROM followed";
const FOLLOW: &str = "UPDATE followed SET event = ?1";
const BEHIND: &str = "SELECT coalesce((SELECT max(id) FROM events), 0) > event FROM followed";
const SNAP: &str = "INSERT OR REPLACE INTO snapshots (run, seq, state, open) VALUES (?1, ?2, ?3, ?4)";
const FORGET: &str = "DELETE FROM snapshots WHERE run = ?1 AND seq <= ?2";

/// Whether the journal has events that the tables do not show yet.
pub(crate) fn is_behind(conn: &Connection) -> Result<bool, Fault> {
    Ok(conn.prepare_cached(BEHIND)?.query_row([], |row| row.get(0))?)
}

/// The last event that the tables show.
pub(crate) fn followed(conn: &Connection) -> Result<i64, Fault> {
    Ok(conn.prepare_cached(FOLLOWED)?.query_row([], |row| row.get(0))?)
}

/// Projects the journal to its end, within a transaction of the caller.
pub(crate) fn follow(conn: &Connection, replays: &mut RunReplays, purpose: Purpose) -> Result<(), Failed> {
    let after = followed(conn)?;
    let last = replays.replay_after(conn, after, purpose, |replayed, slot, _, memo, open| {
        project_event(conn, replayed, slot, memo, open)
    })?;
    if last != after {
        conn.prepare_cached(FOLLOW)?.execute([last])?;
    }
    replays.drop_idle();
    Ok(())
}

/// The same for the last events of the journal, which the caller has in memory. If the tables lack more than those, all
/// of it is read from the journal.
pub(crate) fn show(
    conn: &Connection,
    replays: &mut RunReplays,
    events: &[ReplayedEvent<'_>],
    slot: &[EventSlot],
) -> Result<(), Failed> {
    let (Some(first), Some(last)) = (slot.first(), slot.last()) else {
        return Ok(());
    };
    if followed(conn)? + 1 != first.id {
        return follow(conn, replays, Purpose::Follow);
    }
    for (replayed, slot) in events.iter().zip(slot) {
        replays
            .advance(conn, replayed, *slot, |memo, open| project_event(conn, replayed, *slot, memo, open))?;
    }
    conn.prepare_cached(FOLLOW)?.execute([last.id])?;
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

/// Empties all projection tables and fills them again, within a transaction of the caller.
pub(crate) fn rebuild(conn: &Connection, replays: &mut RunReplays) -> Result<(), Failed> {
    for projected in PROJECTED {
        conn.execute(&format!("DELETE FROM {}", projected.table), [])?;
    }
    conn.execute("DELETE FROM snapshots", [])?;
    conn.execute(FOLLOW, [0])?;
    *replays = RunReplays::default();
    follow(conn, replays, Purpose::Rebuild)
}

fn store_snapshot(
    conn: &Connection,
    replayed: &ReplayedEvent<'_>,
    seq: i64,
    open: &[Command],
) -> Result<(), Fault> {
    let run: &RunId = replayed.run;
    let (state, open) = (serde_json::to_string(replayed.state)?, serde_json::to_string(open)?);
    conn.prepare_cached(SNAP)?.execute(params![run, seq, state, open])?;
    conn.prepare_cached(FORGET)?.execute(params![run, seq - 2 * SNAPSHOT_EVERY])?;
    Ok(())
}
