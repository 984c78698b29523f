//! Runs: all of them, or one by its id or a part of it.

use super::Reader;
use crate::cell::RunStage;
use crate::column::{Count, Word};
use crate::error::LedgerError;
use crate::fact::{BlobId, Millis, RunId};
use remand_kernel::program::Confidence;
use rusqlite::{Params, Row};
use serde::Serialize;

const COLUMNS: &str =
    "run, workflow, subject, request, slug, mode, base, branch, pinned, version, created_at,
    updated_at, seq, stage, place, reason, confidence, risk, dispatches, money, unpriced, tokens, time,
    limit_dispatches, limit_money, limit_tokens, limit_time, file";

/// The stored stages of a run that is not over.
const UNDER_WAY: &str = "('running', 'waiting', 'paused')";

/// Newest first: rows are inserted in the order of the journal.
const NEWEST: &str = "rowid DESC";

/// One run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunRow {
    pub run: RunId,
    pub workflow: String,
    /// The kind of its subject: `request`, `issue`, `ticket`, `spec`.
    pub subject: String,
    /// The request in the user's words, or the name of the file.
    pub request: String,
    /// The file that the run is about, relative to the root of the repository.
    pub file: Option<String>,
    pub slug: String,
    pub mode: String,
    pub base: String,
    pub branch: String,
    pub pinned: BlobId,
    pub version: String,
    pub created_at: Millis,
    pub updated_at: Millis,
    /// The number of its last event.
    pub seq: u64,
    pub stage: RunStage,
    /// The position of the run, as `RunPosition` displays it.
    pub place: String,
    /// Why the run ended as it did; `None` for a run that is not over, or if there is nothing to add.
    pub reason: Option<String>,
    /// The name of the confidence level.
    pub confidence: String,
    pub risk: String,
    pub used: RunUsed,
    pub limits: RunLimits,
}

/// The usage of a run so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunUsed {
    pub dispatches: u64,
    /// The total of the known costs, in millionths of the currency unit.
    pub money: u64,
    /// Dispatches with an unknown cost.
    pub unpriced: u64,
    pub tokens: u64,
    /// Milliseconds of work.
    pub time: u64,
}

/// The limits of a run; `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunLimits {
    pub dispatches: Option<u64>,
    pub money: Option<u64>,
    pub tokens: Option<u64>,
    pub time: Option<u64>,
}

impl RunRow {
    /// The stage or outcome in words, with its reason: `left to you: the hook said: line too long`.
    pub fn outcome(&self) -> String {
        match &self.reason {
            Some(reason) => format!("{}: {reason}", self.stage.name()),
            None => self.stage.name().to_string(),
        }
    }

    /// The confidence in the result. It is low if the run ended before it was finished.
    pub fn confidence_level(&self) -> Confidence {
        let levels = [Confidence::High, Confidence::Medium];
        match self.stage {
            RunStage::Running
            | RunStage::Waiting
            | RunStage::Paused
            | RunStage::Interrupted
            | RunStage::Committed
            | RunStage::LeftToYou => {
                let recorded = levels.into_iter().find(|level| level.name() == self.confidence);
                recorded.unwrap_or(Confidence::Low)
            }
            RunStage::Failed | RunStage::Stopped => Confidence::Low,
        }
    }
}

impl Reader {
    /// All runs, newest first, by their order in the journal, not by the clock.
    pub fn runs(&self) -> Result<Vec<RunRow>, LedgerError> {
        self.run_rows(&format!("SELECT {COLUMNS} FROM runs ORDER BY {NEWEST}"), [])
    }

    /// Runs that have not ended, newest first.
    pub fn runs_under_way(&self) -> Result<Vec<RunRow>, LedgerError> {
        let sql = format!("SELECT {COLUMNS} FROM runs WHERE stage IN {UNDER_WAY} ORDER BY {NEWEST}");
        self.run_rows(&sql, [])
    }

    /// One run, by its id, by a unique prefix or suffix of it, or by `latest`.
    pub fn run(&self, name: &str) -> Result<RunRow, LedgerError> {
        if name == "latest" {
            return self.latest()?.ok_or_else(|| LedgerError::NoSuchRun { name: name.to_string() });
        }
        let exact = self.run_rows(&format!("SELECT {COLUMNS} FROM runs WHERE run = ?1"), [name])?;
        if let Some(row) = exact.into_iter().next() {
            return Ok(row);
        }
        let sql = format!(
            "SELECT {COLUMNS} FROM runs WHERE substr(run, 1, length(?1)) = ?1 OR substr(run, -length(?1)) = ?1
            ORDER BY run LIMIT 10"
        );
        let mut matches = if name.is_empty() { Vec::new() } else { self.run_rows(&sql, [name])? };
        match (matches.pop(), matches.is_empty()) {
            (None, _) => Err(LedgerError::NoSuchRun { name: name.to_string() }),
            (Some(row), true) => Ok(row),
            (Some(row), false) => {
                matches.push(row);
                let matches = matches.into_iter().map(|row| row.run.0).collect();
                Err(LedgerError::AmbiguousRun { name: name.to_string(), matches })
            }
        }
    }

    /// The newest run.
    pub fn latest(&self) -> Result<Option<RunRow>, LedgerError> {
        let sql = format!("SELECT {COLUMNS} FROM runs ORDER BY {NEWEST} LIMIT 1");
        Ok(self.run_rows(&sql, [])?.into_iter().next())
    }

    /// The rows of a query over runs, each with its stage as it is now.
    fn run_rows(&self, sql: &str, params: impl Params) -> Result<Vec<RunRow>, LedgerError> {
        let mut rows = self.rows(sql, params, decode)?;
        for row in rows.iter_mut().filter(|row| row.stage == RunStage::Running) {
            if !self.is_driven(&row.run) {
                row.stage = RunStage::Interrupted;
            }
        }
        Ok(rows)
    }
}

fn decode(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    let count = |column: usize| row.get::<_, Count>(column).map(|count| count.0);
    let limit = |column: usize| row.get::<_, Option<Count>>(column).map(|count| count.map(|count| count.0));
    let mut decoded = RunRow {
        run: row.get(0)?,
        workflow: row.get(1)?,
        subject: row.get(2)?,
        request: row.get(3)?,
        file: row.get(27)?,
        slug: row.get(4)?,
        mode: row.get(5)?,
        base: row.get(6)?,
        branch: row.get(7)?,
        pinned: row.get(8)?,
        version: row.get(9)?,
        created_at: row.get(10)?,
        updated_at: row.get(11)?,
        seq: count(12)?,
        stage: row.get::<_, Word<RunStage>>(13)?.0,
        place: row.get(14)?,
        reason: row.get(15)?,
        confidence: row.get(16)?,
        risk: row.get(17)?,
        used: RunUsed {
            dispatches: count(18)?,
            money: count(19)?,
            unpriced: count(20)?,
            tokens: count(21)?,
            time: count(22)?,
        },
        limits: RunLimits { dispatches: limit(23)?, money: limit(24)?, tokens: limit(25)?, time: limit(26)? },
    };
    decoded.confidence = decoded.confidence_level().name().to_string();
    Ok(decoded)
}
