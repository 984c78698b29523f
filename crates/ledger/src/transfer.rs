//! Copies a run to another ledger: its rows, chained by hashes of their own, the blobs that they need, and its numbers.
//!
//! The chain of a ledger covers the rows of all its runs, so it differs from machine to machine. The chain of a copy
//! covers one run.

use crate::chain::{ChainHash, GENESIS, Link};
use crate::entry::{Blob, JournalEntry};
use crate::error::{Fault, LedgerError};
use crate::fact::{BlobId, Facts, Millis, RunId};
use crate::ledger::Ledger;
use remand_kernel::Event;
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

const ROWS: &str =
    "SELECT seq, at, kind, body, facts, rulings, commands FROM events WHERE run = ?1 ORDER BY seq";
const ROW: &str = "SELECT seq, at, kind, body, facts, rulings, commands FROM events WHERE id = ?1";
const LAST: &str = "SELECT coalesce(max(seq), 0) FROM events WHERE run = ?1";
const NUMBERS: &str = "SELECT prefix, number, holder, place, at FROM reservations
    WHERE substr(holder, 1, length(?1) + 1) = ?1 || '/' ORDER BY prefix, number";
/// A number that another holder has here stays with that holder.
const RESERVE: &str =
    "INSERT OR IGNORE INTO reservations (prefix, number, holder, place, at) VALUES (?1, ?2, ?3, ?4, ?5)";
const UNDER_WAY: &str = "SELECT run FROM runs WHERE file = ?1 AND run <> ?2
    AND stage IN ('running', 'waiting', 'paused') LIMIT 1";

/// The hash before the first row of a run.
pub const START_OF_RUN: ChainHash = ChainHash(GENESIS);

/// One row of a run's journal, byte for byte as the ledger stores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRow {
    pub seq: u64,
    pub at: Millis,
    pub kind: String,
    pub body: String,
    pub facts: String,
    pub rulings: String,
    pub commands: String,
    /// Covers this row and the hash of the row before it in the run.
    pub hash: ChainHash,
}

/// An issue number that a command of a run has reserved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReservedNumber {
    pub prefix: String,
    pub number: u32,
    pub holder: String,
    pub place: i64,
    pub at: Millis,
}

/// A whole run, or its first rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunCopy {
    /// From the first row of the run.
    pub rows: Vec<RunRow>,
    /// Blobs that the ledger may not have.
    pub blobs: Vec<Blob>,
    pub numbers: Vec<ReservedNumber>,
}

impl RunRow {
    fn link<'r>(&'r self, run: &'r RunId) -> Link<'r> {
        let seq = i64::try_from(self.seq).unwrap_or(i64::MAX);
        Link {
            id: seq,
            run: &run.0,
            seq,
            at: self.at,
            kind: &self.kind,
            body: &self.body,
            facts: &self.facts,
            rulings: &self.rulings,
            commands: &self.commands,
        }
    }

    /// The row with its hash, after a row of the run with this hash.
    #[must_use]
    pub fn chained(self, run: &RunId, previous: ChainHash) -> RunRow {
        let hash = ChainHash(self.link(run).hash(&previous.0));
        RunRow { hash, ..self }
    }

    /// The blobs that the row's facts name.
    pub fn blobs(&self) -> Result<BTreeSet<BlobId>, serde_json::Error> {
        if self.facts.is_empty() {
            return Ok(BTreeSet::new());
        }
        Ok(serde_json::from_str::<Facts>(&self.facts)?.blobs().collect())
    }
}

/// Checks that rows are those of a run from its beginning, each after the one before it, and readable.
pub fn verify(run: &RunId, rows: &[RunRow]) -> Result<(), LedgerError> {
    let mut previous = START_OF_RUN;
    for (row, expected) in rows.iter().zip(1..) {
        let broken = |detail: String| LedgerError::DamagedCopy { run: run.clone(), seq: expected, detail };
        if row.seq != expected {
            return Err(broken(format!("row {} is in its place", row.seq)));
        }
        if row.link(run).hash(&previous.0) != row.hash.0 {
            return Err(broken("its hash does not match the row before it".to_string()));
        }
        serde_json::from_str::<Event>(&row.body).map_err(|error| broken(error.to_string()))?;
        row.blobs().map_err(|error| broken(error.to_string()))?;
        previous = row.hash;
    }
    Ok(())
}

impl Ledger {
    /// The row that an append of this entry would write, not chained yet. Nothing is written, and everything that would
    /// make the append fail is an error.
    pub fn preview(&mut self, entry: &JournalEntry<'_>) -> Result<RunRow, LedgerError> {
        self.try_append(entry, |conn, id| Ok(conn.prepare_cached(ROW)?.query_row([id], read_row)?))
    }

    /// Adds the rows of a copy that this ledger lacks. The rows that it has must be the same. Returns how many were added.
    pub fn import(&mut self, run: &RunId, copy: &RunCopy) -> Result<usize, LedgerError> {
        verify(run, &copy.rows)?;
        for blob in &copy.blobs {
            if BlobId::of(&blob.bytes) != blob.id {
                let detail = format!("the content of blob {} does not match its id", blob.id);
                return Err(LedgerError::DamagedCopy { run: run.clone(), seq: 0, detail });
            }
        }
        let file = opened_file(copy);
        self.catch_up_all()?;
        let added = self.write_import(|conn, appender| {
            let own = own_rows(conn, run)?;
            if own.is_empty() {
                refuse_second_run_on_file(conn, run, file.as_deref())?;
            }
            if let Some(seq) = first_difference(&own, &copy.rows) {
                return Err(LedgerError::OtherHistory { run: run.clone(), seq }.into());
            }
            for blob in &copy.blobs {
                appender.store_blob(conn, blob)?;
            }
            let new = copy.rows.get(own.len()..).unwrap_or_default();
            for row in new {
                let blobs = row.blobs()?;
                appender.require_blobs(conn, run, &blobs)?;
                appender.append_row(conn, run, row)?;
            }
            for number in &copy.numbers {
                let ReservedNumber { prefix, number, holder, place, at } = number;
                conn.prepare_cached(RESERVE)?.execute(params![prefix, number, holder, place, at])?;
            }
            Ok(new.len())
        })?;
        self.catch_up_all()?;
        Ok(added)
    }

    /// The numbers that the commands of a run have reserved.
    pub fn numbers_of(&mut self, run: &RunId) -> Result<Vec<ReservedNumber>, LedgerError> {
        let path = self.path().to_path_buf();
        let read = |conn: &Connection| -> Result<Vec<ReservedNumber>, Fault> {
            let mut statement = conn.prepare_cached(NUMBERS)?;
            let rows = statement.query_map([run], |row| {
                Ok(ReservedNumber {
                    prefix: row.get(0)?,
                    number: row.get(1)?,
                    holder: row.get(2)?,
                    place: row.get(3)?,
                    at: row.get(4)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        };
        read(self.connection()).map_err(|fault| LedgerError::from_fault(&path, fault))
    }

    /// The number of rows that this ledger has of a run.
    pub fn rows_of(&mut self, run: &RunId) -> Result<u64, LedgerError> {
        let path = self.path().to_path_buf();
        let count = |conn: &Connection| -> Result<i64, Fault> {
            Ok(conn.prepare_cached(LAST)?.query_row([run], |row| row.get(0))?)
        };
        let rows = count(self.connection()).map_err(|fault| LedgerError::from_fault(&path, fault))?;
        Ok(u64::try_from(rows).unwrap_or(0))
    }
}

/// The row without its hash.
fn read_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<RunRow> {
    Ok(RunRow {
        seq: row.get::<_, crate::column::Count>(0)?.0,
        at: row.get(1)?,
        kind: row.get(2)?,
        body: row.get(3)?,
        facts: row.get(4)?,
        rulings: row.get(5)?,
        commands: row.get(6)?,
        hash: START_OF_RUN,
    })
}

fn own_rows(conn: &Connection, run: &RunId) -> Result<Vec<RunRow>, Fault> {
    let mut statement = conn.prepare_cached(ROWS)?;
    let rows = statement.query_map([run], read_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The number of the first row that differs; `None` if `own` are the first rows of the copy.
fn first_difference(own: &[RunRow], copy: &[RunRow]) -> Option<u64> {
    let same = |own: &RunRow, copied: &RunRow| *own == RunRow { hash: own.hash, ..copied.clone() };
    let differs = |(index, own): &(usize, &RunRow)| copy.get(*index).is_none_or(|copied| !same(own, copied));
    own.iter().enumerate().find(differs).map(|(_, row)| row.seq)
}

/// The file that the run of a copy is about.
fn opened_file(copy: &RunCopy) -> Option<String> {
    let facts: Facts = serde_json::from_str(&copy.rows.first()?.facts).ok()?;
    facts.opened?.file
}

fn refuse_second_run_on_file(conn: &Connection, run: &RunId, file: Option<&str>) -> Result<(), Fault> {
    let Some(file) = file else { return Ok(()) };
    let other: Option<RunId> =
        conn.prepare_cached(UNDER_WAY)?.query_row(params![file, run], |row| row.get(0)).optional()?;
    match other {
        Some(run) => Err(LedgerError::UnderWay { run, file: file.to_string() }.into()),
        None => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
#[path = "transfer_tests.rs"]
mod tests;
