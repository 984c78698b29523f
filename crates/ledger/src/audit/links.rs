//! Checks the hash chain row by row, and reports the first row that breaks it.

use super::problem::{AuditProblem, RowFault};
use super::{Audit, AuditPart};
use crate::chain::{ChainHead, GENESIS, Link};
use crate::column::Count;
use crate::error::Fault;
use crate::fact::{Millis, RunId};
use rusqlite::{Connection, OptionalExtension, Row};
use std::collections::HashMap;

const ROWS: &str =
    "SELECT id, run, seq, at, kind, body, facts, rulings, commands, hash FROM events ORDER BY id";
const NEXT: &str = "SELECT id, run, seq, at, kind, body, facts, rulings, commands, hash FROM events
    WHERE id > ?1 ORDER BY id LIMIT 1";
const PROJECTED_SEQ: &str = "SELECT seq FROM runs WHERE run = ?1";
const INCOMPLETE: &str = "SELECT runs.run FROM runs
    WHERE (SELECT count(*) FROM events WHERE events.run = runs.run) < runs.seq ORDER BY created_at LIMIT 1";
const SEQS: &str = "SELECT seq FROM events WHERE run = ?1 ORDER BY seq";
const HASH_AT: &str = "SELECT hash FROM events WHERE id = ?1";

impl Audit<'_> {
    pub(super) fn check_chain(&mut self, expected: Option<ChainHead>) -> Result<(), Fault> {
        if let Some(problem) = self.first_broken_row()? {
            self.problems.push(problem);
        }
        if let Some(expected) = expected.filter(|expected| expected.count > 0) {
            let id = i64::try_from(expected.count).unwrap_or(i64::MAX);
            let hash: Option<[u8; 32]> =
                self.conn.prepare_cached(HASH_AT)?.query_row([id], |row| row.get(0)).optional()?;
            match hash {
                None => self
                    .problems
                    .push(AuditProblem::CutOff { expected: expected.count, found: self.head.count }),
                Some(hash) if hash != expected.hash.0 => {
                    self.problems.push(AuditProblem::OtherHistory { count: expected.count });
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn first_broken_row(&mut self) -> Result<Option<AuditProblem>, Fault> {
        let mut statement = self.conn.prepare(ROWS)?;
        let mut rows = statement.query([])?;
        let (mut id, mut hash) = (0, GENESIS);
        let mut last_seqs: HashMap<String, i64> = HashMap::new();
        while let Some(row) = rows.next()? {
            let (link, stored) = read_link(row)?;
            if link.id != id + 1 || link.hash(&hash) != stored {
                return self.diagnose(&link, id + 1, &hash, last_seqs.get(link.run).copied()).map(Some);
            }
            id = link.id;
            hash = stored;
            match last_seqs.get_mut(link.run) {
                Some(seq) => *seq = link.seq,
                None => {
                    last_seqs.insert(link.run.to_string(), link.seq);
                }
            }
            self.report_progress(AuditPart::Chain, id.unsigned_abs());
        }
        Ok(first_missing_event(self.conn)?.map(|(run, seq)| AuditProblem::Row {
            id: id + 1,
            run: Some(run),
            seq: Some(seq),
            fault: RowFault::Removed,
        }))
    }

    /// Determines what was done to the first row that breaks the chain, from its neighbours and the table of runs.
    fn diagnose(
        &self,
        row: &Link<'_>,
        expected_id: i64,
        previous: &[u8; 32],
        last_seq: Option<i64>,
    ) -> Result<AuditProblem, Fault> {
        let this_row = |fault| AuditProblem::Row {
            id: row.id,
            run: Some(RunId(row.run.to_string())),
            seq: u64::try_from(row.seq).ok(),
            fault,
        };
        if row.id < expected_id || self.next_row_fits(row.id, previous)? {
            return Ok(this_row(RowFault::Inserted));
        }
        let removed = first_missing_event(self.conn)?;
        let next_seq = last_seq.unwrap_or(0) + 1;
        if row.id > expected_id || removed.is_some() || row.seq > next_seq {
            let skipped = (row.seq > next_seq)
                .then(|| (RunId(row.run.to_string()), u64::try_from(next_seq).unwrap_or(0)));
            let (run, seq) = skipped.or(removed).unzip();
            return Ok(AuditProblem::Row { id: expected_id, run, seq, fault: RowFault::Removed });
        }
        let projected_seq: Option<i64> =
            self.conn.prepare_cached(PROJECTED_SEQ)?.query_row([row.run], |row| row.get(0)).optional()?;
        let inserted = projected_seq.is_none_or(|last| last < row.seq);
        Ok(this_row(if inserted { RowFault::Inserted } else { RowFault::Changed }))
    }

    /// Whether the chain holds if the row with this id is left out.
    fn next_row_fits(&self, id: i64, previous: &[u8; 32]) -> Result<bool, Fault> {
        let mut statement = self.conn.prepare(NEXT)?;
        let mut rows = statement.query([id])?;
        let Some(row) = rows.next()? else {
            return Ok(false);
        };
        let (link, stored) = read_link(row)?;
        // The insertion may have raised the id of the next row by one.
        Ok(Link { id, ..link }.hash(previous) == stored || link.hash(previous) == stored)
    }
}

/// The first missing event of a run, according to the table of runs.
fn first_missing_event(conn: &Connection) -> Result<Option<(RunId, u64)>, Fault> {
    let run: Option<RunId> = conn.prepare(INCOMPLETE)?.query_row([], |row| row.get(0)).optional()?;
    let Some(run) = run else {
        return Ok(None);
    };
    let mut statement = conn.prepare(SEQS)?;
    let seqs = statement.query_map([&run], |row| row.get::<_, Count>(0))?;
    let mut next = 1;
    for seq in seqs {
        if seq?.0 != next {
            break;
        }
        next += 1;
    }
    Ok(Some((run, next)))
}

fn read_link<'r>(row: &'r Row<'_>) -> Result<(Link<'r>, [u8; 32]), Fault> {
    let text = |column: usize| row.get_ref(column)?.as_str().map_err(rusqlite::Error::from);
    let link = Link {
        id: row.get(0)?,
        run: text(1)?,
        seq: row.get(2)?,
        at: Millis(row.get(3)?),
        kind: text(4)?,
        body: text(5)?,
        facts: text(6)?,
        rulings: text(7)?,
        commands: text(8)?,
    };
    // A hash of the wrong length is read as zeros, which match no row.
    let mut hash = [0; 32];
    let stored = row.get_ref(9)?.as_blob().map_err(rusqlite::Error::from)?;
    if stored.len() == hash.len() {
        hash.copy_from_slice(stored);
    }
    Ok((link, hash))
}
