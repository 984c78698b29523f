//! Evidence: the checks of a run.

use super::Reader;
use crate::column::{ColumnWord, Count, TierColumn, Word};
use crate::error::LedgerError;
use crate::fact::{BlobId, Millis, RunId};
use remand_kernel::evidence::{EvidenceRow, RowPhase, RowSource, Tier};
use remand_kernel::finding::Severity;
use rusqlite::Row;
use serde::Serialize;

const CHECKS: &str =
    "SELECT checks.run, checks.seq, checks.at, task, phase, name, tool, command, exit_code, snippet, output, passed, verdict,
    severity, round, tier, iteration, collected, duration_ms, reason, tests, superseded, reuses.run, reuses.seq, reuses.at, tree
    FROM checks LEFT JOIN reuses ON reuses.check_id = checks.id
    WHERE checks.run = ?1 AND (?2 IS NULL OR task = ?2) AND (?3 IS NULL OR phase = ?3) ORDER BY checks.id";

const GATE_CHECKS: &str = "SELECT checks.run, checks.seq, checks.at, task, phase, name, tool, command, exit_code, snippet, output, passed, verdict,
    severity, round, tier, iteration, collected, duration_ms, reason, tests, superseded, reuses.run, reuses.seq, reuses.at, tree
    FROM checks LEFT JOIN reuses ON reuses.check_id = checks.id
    WHERE checks.run = ?1 AND superseded = 0 AND (task_id IS ?2 OR (task IS NULL AND phase = 'baseline')) ORDER BY checks.id";

/// Which checks to read; all by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckFilter<'f> {
    pub task: Option<&'f str>,
    pub phase: Option<RowPhase>,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckRow {
    pub run: RunId,
    pub seq: u64,
    pub at: Millis,
    /// `None` for the whole run.
    pub task: Option<String>,
    pub phase: RowPhase,
    pub name: String,
    pub tool: String,
    pub command: Option<String>,
    pub exit_code: Option<i32>,
    pub snippet: String,
    pub output: Option<BlobId>,
    pub passed: bool,
    pub verdict: Option<String>,
    pub severity: Option<Severity>,
    pub round: u32,
    pub tier: Option<Tier>,
    pub iteration: u32,
    pub collected: Option<u32>,
    pub duration_ms: u64,
    pub reason: String,
    pub tests: Option<BlobId>,
    /// Whether a later iteration replaced the row.
    pub superseded: bool,
    /// The row that the result was reused from, if nothing ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<ReuseOrigin>,
    /// The tree that a task's baseline was measured on; old journals give its first digits only.
    #[serde(skip)]
    pub tree: Option<String>,
}

/// The row that a reused result came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReuseOrigin {
    pub run: RunId,
    pub seq: u64,
    pub at: Millis,
}

impl CheckRow {
    /// Whether the row is the baseline of a task on this tree.
    pub fn is_baseline_on(&self, tree: &str) -> bool {
        self.tree.as_deref().is_some_and(|prefix| tree.starts_with(prefix))
    }

    /// The row in the form that the evidence gate reads.
    pub fn evidence(&self) -> EvidenceRow {
        EvidenceRow {
            check: self.name.clone(),
            phase: self.phase,
            tier: self.tier,
            passed: self.passed,
            exit_code: self.exit_code,
            iteration: self.iteration,
            superseded: self.superseded,
            collected: self.collected,
            duration_ms: self.duration_ms,
            reason: self.reason.clone(),
            source: RowSource::Engine,
            red_before: 0,
        }
    }
}

impl Reader {
    /// The checks of a run in the order they were recorded, including superseded ones.
    pub fn checks(&self, run: &RunId, filter: CheckFilter<'_>) -> Result<Vec<CheckRow>, LedgerError> {
        self.rows(CHECKS, (run, filter.task, filter.phase.map(ColumnWord::word)), decode)
    }

    /// The rows that the gate of one task reads: the task's rows that are not superseded, and the baseline of the run.
    pub fn gate_checks(&self, run: &RunId, task: &str) -> Result<Vec<CheckRow>, LedgerError> {
        self.rows(GATE_CHECKS, (run, task), decode)
    }
}

pub(super) fn decode(row: &Row<'_>) -> rusqlite::Result<CheckRow> {
    Ok(CheckRow {
        run: row.get(0)?,
        seq: row.get::<_, Count>(1)?.0,
        at: row.get(2)?,
        task: row.get(3)?,
        phase: row.get::<_, Word<RowPhase>>(4)?.0,
        name: row.get(5)?,
        tool: row.get(6)?,
        command: row.get(7)?,
        exit_code: row.get(8)?,
        snippet: row.get(9)?,
        output: row.get(10)?,
        passed: row.get(11)?,
        verdict: row.get(12)?,
        severity: row.get::<_, Option<Word<Severity>>>(13)?.map(|word| word.0),
        round: row.get(14)?,
        tier: row.get::<_, Option<TierColumn>>(15)?.map(|tier| tier.0),
        iteration: row.get(16)?,
        collected: row.get(17)?,
        duration_ms: row.get::<_, Count>(18)?.0,
        reason: row.get(19)?,
        tests: row.get(20)?,
        superseded: row.get(21)?,
        origin: match row.get::<_, Option<RunId>>(22)? {
            Some(run) => Some(ReuseOrigin { run, seq: row.get::<_, Count>(23)?.0, at: row.get(24)? }),
            None => None,
        },
        tree: row.get(25)?,
    })
}
