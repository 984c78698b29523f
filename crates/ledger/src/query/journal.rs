//! The journal: decoded events, the head of the chain, snapshots.

use super::Reader;
use crate::chain::{ChainHash, ChainHead, GENESIS};
use crate::column::{Count, Json, sql_integer};
use crate::error::LedgerError;
use crate::fact::{Facts, Millis, RunId, RunOpening};
use remand_kernel::command::Command;
use remand_kernel::ruling::Ruling;
use remand_kernel::{Event, State};
use rusqlite::{OptionalExtension, Row};
use serde::Serialize;

const JOURNAL: &str = "SELECT id, run, seq, at, body, facts, rulings, commands, hash FROM events
    WHERE run = ?1 AND seq > ?2 ORDER BY seq";

const FIRST_FACTS: &str = "SELECT facts FROM events WHERE run = ?1 AND seq = 1";

const HEAD: &str = "SELECT id, hash FROM events ORDER BY id DESC LIMIT 1";

const SNAPSHOT: &str = "SELECT seq, state, open FROM snapshots WHERE run = ?1 ORDER BY seq DESC LIMIT 1";

/// One event as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JournalRow {
    /// The position in the whole journal, from 1.
    pub id: u64,
    pub run: RunId,
    /// The number in its run, from 1.
    pub seq: u64,
    pub at: Millis,
    pub event: Event,
    pub facts: Facts,
    pub rulings: Vec<Ruling>,
    pub commands: Vec<Command>,
    pub hash: ChainHash,
}

/// The state of a run after one of its events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SnapshotRow {
    pub seq: u64,
    pub state: State,
    pub open: Vec<Command>,
}

impl Reader {
    /// The events of a run after the one with this number, in order.
    pub fn journal(&self, run: &RunId, after: u64) -> Result<Vec<JournalRow>, LedgerError> {
        self.direct_rows(JOURNAL, (run, sql_integer(after)), decode)
    }

    /// Calls `visit` with each event of a run after the one with this number, in order.
    pub fn each_event(
        &self,
        run: &RunId,
        after: u64,
        mut visit: impl FnMut(JournalRow),
    ) -> Result<(), LedgerError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(JOURNAL)?;
            let mut rows = statement.query((run, sql_integer(after)))?;
            while let Some(row) = rows.next()? {
                visit(decode(row)?);
            }
            Ok(())
        })
    }

    /// The inputs of a run when it started.
    pub fn run_opening(&self, run: &RunId) -> Result<Option<RunOpening>, LedgerError> {
        let facts = self.direct_rows(FIRST_FACTS, [run], |row| Ok(row.get::<_, Json<Facts>>(0)?.0))?;
        Ok(facts.into_iter().find_map(|facts| facts.opened))
    }

    /// The length of the journal and the hash of its last row.
    pub fn head(&self) -> Result<ChainHead, LedgerError> {
        self.read(|conn| {
            let head = conn.prepare_cached(HEAD)?.query_row([], |row| {
                Ok(ChainHead { count: row.get::<_, Count>(0)?.0, hash: ChainHash(row.get(1)?) })
            });
            Ok(head.optional()?.unwrap_or(ChainHead { count: 0, hash: ChainHash(GENESIS) }))
        })
    }

    /// The latest snapshot of a run.
    pub fn snapshot(&self, run: &RunId) -> Result<Option<SnapshotRow>, LedgerError> {
        let rows = self.direct_rows(SNAPSHOT, [run], |row| {
            Ok(SnapshotRow {
                seq: row.get::<_, Count>(0)?.0,
                state: row.get::<_, Json<State>>(1)?.0,
                open: row.get::<_, Json<Vec<Command>>>(2)?.0,
            })
        })?;
        Ok(rows.into_iter().next())
    }
}

fn decode(row: &Row<'_>) -> rusqlite::Result<JournalRow> {
    let has_no_facts = row.get_ref(5)?.as_str().map_err(rusqlite::Error::from)?.is_empty();
    Ok(JournalRow {
        id: row.get::<_, Count>(0)?.0,
        run: row.get(1)?,
        seq: row.get::<_, Count>(2)?.0,
        at: row.get(3)?,
        event: row.get::<_, Json<Event>>(4)?.0,
        facts: if has_no_facts { Facts::default() } else { row.get::<_, Json<Facts>>(5)?.0 },
        rulings: row.get::<_, Json<Vec<Ruling>>>(6)?.0,
        commands: row.get::<_, Json<Vec<Command>>>(7)?.0,
        hash: ChainHash(row.get(8)?),
    })
}
