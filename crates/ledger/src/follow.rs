//! Tables follow the journal: what was appended since they were last brought up to date is lived through again and shown
//! in them, many events in one commit that waits for no disk. What a crash takes of them is made again.

use crate::error::Fault;
use crate::fact::RunId;
use crate::history::{Lives, Purpose};
use crate::project::{self, Lived, Memo, Placed};
use crate::replay::Failed;
use crate::schema::PROJECTED;
use remand_kernel::command::Command;
use rusqlite::{Connection, params};

/// The state of a run is kept every so many events, so that a resume reads at most as many.
pub const SNAPSHOT_EVERY: i64 = 128;

const FOLLOWED: &str = "SELECT event FROM followed";
const FOLLOW: &str = "UPDATE followed SET event = ?1";
const BEHIND: &str = "SELECT coalesce((SELECT max(id) FROM events), 0) > event FROM followed";
const SNAP: &str = "INSERT OR REPLACE INTO snapshots (run, seq, state, open) VALUES (?1, ?2, ?3, ?4)";
const FORGET: &str = "DELETE FROM snapshots WHERE run = ?1 AND seq <= ?2";

/// Whether the journal holds events that the tables do not show yet.
pub(crate) fn is_behind(conn: &Connection) -> Result<bool, Fault> {
    Ok(conn.prepare_cached(BEHIND)?.query_row([], |row| row.get(0))?)
}

/// The last event that the tables show.
pub(crate) fn followed(conn: &Connection) -> Result<i64, Fault> {
    Ok(conn.prepare_cached(FOLLOWED)?.query_row([], |row| row.get(0))?)
}

/// Brings the tables up to the end of the journal, within a transaction of the caller.
pub(crate) fn follow(conn: &Connection, lives: &mut Lives, purpose: Purpose) -> Result<(), Failed> {
    let after = followed(conn)?;
    let last = lives.go_on(conn, after, purpose, |lived, placed, _, memo, open| {
        take_in(conn, lived, placed, memo, open)
    })?;
    if last != after {
        conn.prepare_cached(FOLLOW)?.execute([last])?;
    }
    lives.forget_idle();
    Ok(())
}

/// The same for the last events of the journal, which are still at hand. If they are not all that is to be shown, it is
/// read from the journal.
pub(crate) fn show(
    conn: &Connection,
    lives: &mut Lives,
    events: &[Lived<'_>],
    placed: &[Placed],
) -> Result<(), Failed> {
    let (Some(first), Some(last)) = (placed.first(), placed.last()) else {
        return Ok(());
    };
    if followed(conn)? + 1 != first.id {
        return follow(conn, lives, Purpose::Follow);
    }
    for (lived, placed) in events.iter().zip(placed) {
        lives.take(conn, lived, *placed, |memo, open| take_in(conn, lived, *placed, memo, open))?;
    }
    conn.prepare_cached(FOLLOW)?.execute([last.id])?;
    lives.forget_idle();
    Ok(())
}

/// Brings tables and snapshots up with one event.
fn take_in(
    conn: &Connection,
    lived: &Lived<'_>,
    placed: Placed,
    memo: &mut Memo,
    open: &[Command],
) -> Result<(), Fault> {
    project::project(conn, lived, placed, memo)?;
    if placed.seq % SNAPSHOT_EVERY == 0 {
        snap(conn, lived, placed.seq, open)?;
    }
    Ok(())
}

/// Empties all tables that are made from the journal and makes them again, within a transaction of the caller.
pub(crate) fn rebuild(conn: &Connection, lives: &mut Lives) -> Result<(), Failed> {
    for projected in PROJECTED {
        conn.execute(&format!("DELETE FROM {}", projected.table), [])?;
    }
    conn.execute("DELETE FROM snapshots", [])?;
    conn.execute(FOLLOW, [0])?;
    *lives = Lives::default();
    follow(conn, lives, Purpose::Rebuild)
}

fn snap(conn: &Connection, lived: &Lived<'_>, seq: i64, open: &[Command]) -> Result<(), Fault> {
    let run: &RunId = lived.run;
    let (state, open) = (serde_json::to_string(lived.state)?, serde_json::to_string(open)?);
    conn.prepare_cached(SNAP)?.execute(params![run, seq, state, open])?;
    conn.prepare_cached(FORGET)?.execute(params![run, seq - 2 * SNAPSHOT_EVERY])?;
    Ok(())
}
