//! Findings of a run and their status.

use super::Reader;
use crate::column::{Count, Json, Word};
use crate::error::LedgerError;
use crate::fact::RunId;
use remand_kernel::finding::{Category, FindingKind, Location, Severity};
use remand_kernel::state::FiledStatus;
use rusqlite::Row;
use serde::Serialize;

const FINDINGS: &str =
    "SELECT position, seq, id, severity, category, kind, injected_by, phase, task, file, symbol, line,
    claim, evidence, impact, recommendation, patch, repeats, status, sent_to, count, known
    FROM findings WHERE run = ?1 ORDER BY position";

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FindingRow {
    /// Its position in the run's list.
    pub position: u32,
    /// The event that reported it.
    pub seq: u64,
    pub id: String,
    pub severity: Severity,
    pub category: Category,
    pub kind: Option<FindingKind>,
    pub injected_by: Vec<String>,
    /// The phase that reported it.
    pub phase: String,
    pub task: Option<String>,
    pub place: Location,
    pub claim: String,
    pub evidence: String,
    pub impact: String,
    pub recommendation: String,
    pub patch: Option<String>,
    pub repeats: Option<String>,
    pub status: FiledStatus,
    /// The phase that it was sent to.
    pub sent_to: Option<String>,
    /// How often the same finding has been reported, including this report.
    pub count: u8,
    /// Whether it is a known issue: the run continues with it.
    pub known: bool,
}

impl Reader {
    /// The findings of a run, by position.
    pub fn findings(&self, run: &RunId) -> Result<Vec<FindingRow>, LedgerError> {
        self.rows(FINDINGS, [run], decode)
    }
}

fn decode(row: &Row<'_>) -> rusqlite::Result<FindingRow> {
    Ok(FindingRow {
        position: row.get(0)?,
        seq: row.get::<_, Count>(1)?.0,
        id: row.get(2)?,
        severity: row.get::<_, Word<Severity>>(3)?.0,
        category: row.get::<_, Word<Category>>(4)?.0,
        kind: row.get::<_, Option<Word<FindingKind>>>(5)?.map(|word| word.0),
        injected_by: row.get::<_, Json<Vec<String>>>(6)?.0,
        phase: row.get(7)?,
        task: row.get(8)?,
        place: Location { file: row.get(9)?, symbol: row.get(10)?, line: row.get(11)? },
        claim: row.get(12)?,
        evidence: row.get(13)?,
        impact: row.get(14)?,
        recommendation: row.get(15)?,
        patch: row.get(16)?,
        repeats: row.get(17)?,
        status: row.get::<_, Word<FiledStatus>>(18)?.0,
        sent_to: row.get(19)?,
        count: row.get(20)?,
        known: row.get(21)?,
    })
}
