//! The journal itself: events decoded, the head of the chain, snapshots.

use super::Reader;
use crate::chain::{ChainHash, GENESIS, Head};
use crate::column::{Json, Whole, whole};
use crate::error::LedgerError;
use crate::fact::{Facts, Millis, RunId};
use remand_kernel::command::Command;
use remand_kernel::ruling::Ruling;
use remand_kernel::{Event, State};
use rusqlite::{OptionalExtension, Row};
use serde::Serialize;

const JOURNAL: &str = "SELECT id, run, seq, at, body, facts, rulings, commands, hash FROM events
    WHERE run = ?1 AND seq > ?2 ORDER BY seq";

const HEAD: &str = "SELECT id, hash FROM events ORDER BY id DESC LIMIT 1";

const SNAPSHOT: &str = "SELECT seq, state, open FROM snapshots WHERE run = ?1 ORDER BY seq DESC LIMIT 1";

/// One event as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JournalRow {
    /// In the whole journal.
    pub id: u64,
    pub run: RunId,
    /// In its run, from 1.
    pub seq: u64,
    pub at: Millis,
    pub event: Event,
    pub facts: Facts,
    pub rulings: Vec<Ruling>,
    pub commands: Vec<Command>,
    pub hash: ChainHash,
}

/// A run at one of its events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SnapshotRow {
    pub seq: u64,
    pub state: State,
    pub open: Vec<Command>,
}

impl Reader {
    /// The events of a run after this one, in order.
    pub fn journal(&self, run: &RunId, after: u64) -> Result<Vec<JournalRow>, LedgerError> {
        self.records(JOURNAL, (run, whole(after)), decode)
    }

    /// Shows the events of a run after this one, in order, one at a time.
    pub fn each_event(
        &self,
        run: &RunId,
        after: u64,
        mut see: impl FnMut(JournalRow),
    ) -> Result<(), LedgerError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(JOURNAL)?;
            let mut rows = statement.query((run, whole(after)))?;
            while let Some(row) = rows.next()? {
                see(decode(row)?);
            }
            Ok(())
        })
    }

    /// How long the journal is and how it ends.
    pub fn head(&self) -> Result<Head, LedgerError> {
        self.read(|conn| {
            let head = conn.prepare_cached(HEAD)?.query_row([], |row| {
                Ok(Head { count: row.get::<_, Whole>(0)?.0, hash: ChainHash(row.get(1)?) })
            });
            Ok(head.optional()?.unwrap_or(Head { count: 0, hash: ChainHash(GENESIS) }))
        })
    }

    /// The latest snapshot of a run.
    pub fn snapshot(&self, run: &RunId) -> Result<Option<SnapshotRow>, LedgerError> {
        let rows = self.records(SNAPSHOT, [run], |row| {
            Ok(SnapshotRow {
                seq: row.get::<_, Whole>(0)?.0,
                state: row.get::<_, Json<State>>(1)?.0,
                open: row.get::<_, Json<Vec<Command>>>(2)?.0,
            })
        })?;
        Ok(rows.into_iter().next())
    }
}

fn decode(row: &Row<'_>) -> rusqlite::Result<JournalRow> {
    let without = row.get_ref(5)?.as_str().map_err(rusqlite::Error::from)?.is_empty();
    Ok(JournalRow {
        id: row.get::<_, Whole>(0)?.0,
        run: row.get(1)?,
        seq: row.get::<_, Whole>(2)?.0,
        at: row.get(3)?,
        event: row.get::<_, Json<Event>>(4)?.0,
        facts: if without { Facts::default() } else { row.get::<_, Json<Facts>>(5)?.0 },
        rulings: row.get::<_, Json<Vec<Ruling>>>(6)?.0,
        commands: row.get::<_, Json<Vec<Command>>>(7)?.0,
        hash: ChainHash(row.get(8)?),
    })
}
