//! The facts that the host observed: checks, artifact versions, notes, deliveries.

use super::{Projection, old_prose};
use crate::column::{ColumnWord, Json, sql_integer, tier_number};
use crate::error::Fault;
use crate::fact::{Check, Delivery, Reuse};
use remand_kernel::Event;
use remand_kernel::evidence::RowPhase;
use rusqlite::params;
use std::collections::BTreeSet;

const INSERT_CHECK: &str = "INSERT INTO checks (run, seq, at, task, task_id, phase, name, tool, command, exit_code, snippet,
    output, passed, verdict, severity, round, tier, iteration, collected, duration_ms, reason, tests, superseded, tree)
    VALUES (?1, ?2, ?3, ?4, CASE WHEN ?4 IS NULL AND ?5 <> 'baseline'
        THEN (SELECT slug FROM runs WHERE run = ?1) ELSE ?4 END,
    ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, 0, ?22)";

/// Only the latest iteration of a task's after-rows counts.
const SUPERSEDE: &str = "UPDATE checks SET superseded = 1
    WHERE run = ?1 AND task_id = coalesce(?2, (SELECT slug FROM runs WHERE run = ?1)) AND phase = 'after'
    AND superseded = 0 AND iteration < (SELECT max(iteration) FROM checks
        WHERE run = ?1 AND task_id = coalesce(?2, (SELECT slug FROM runs WHERE run = ?1)) AND phase = 'after'
        AND superseded = 0)";

const INSERT_ARTIFACT: &str = "INSERT INTO artifacts (run, name, part, version, seq, at, digest, blob, by, format)
    VALUES (?1, ?2, ?3, 1 + coalesce((SELECT max(version) FROM artifacts WHERE run = ?1 AND name = ?2 AND part = ?3), 0),
    ?4, ?5, ?6, ?7, ?8, ?9)";

const INSERT_NOTE: &str = "INSERT INTO notes (run, seq, at, kind, text, files, blob, decision) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

const INSERT_DELIVERY: &str =
    "INSERT INTO deliveries (id, run, seq, at, kind, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

const STORE_RESULT: &str = "INSERT OR REPLACE INTO results (key, check_id) VALUES (?1, ?2)";
const DELETE_RESULT: &str = "DELETE FROM results WHERE key = ?1";
const INSERT_REUSE: &str = "INSERT INTO reuses (check_id, run, seq, at) VALUES (?1, ?2, ?3, ?4)";

impl Projection<'_> {
    pub(super) fn project_checks(&self) -> Result<(), Fault> {
        let mut checked_tasks = BTreeSet::new();
        for check in &self.replayed.facts.checks {
            self.conn.prepare_cached(INSERT_CHECK)?.execute(params![
                self.replayed.run,
                self.slot.seq,
                self.slot.at,
                check.task,
                check.phase.word(),
                check.name,
                check.tool,
                check.command,
                check.exit_code,
                check.snippet,
                check.output,
                check.passed,
                check.verdict,
                check.severity.map(ColumnWord::word),
                check.round,
                tier_number(check.tier),
                check.iteration,
                check.collected,
                sql_integer(check.duration_ms),
                check.reason,
                check.tests,
                self.baseline_tree(check),
            ])?;
            if let Some(reuse) = &check.reuse {
                self.record_reuse(reuse)?;
            }
            if check.phase == RowPhase::After {
                checked_tasks.insert(check.task.as_deref());
            }
        }
        for task in checked_tasks {
            self.conn.prepare_cached(SUPERSEDE)?.execute(params![self.replayed.run, task])?;
        }
        Ok(())
    }

    /// The tree that a baseline row of a task was measured on.
    fn baseline_tree<'c>(&'c self, check: &'c Check) -> Option<&'c str> {
        if check.phase != RowPhase::Baseline || check.task.is_none() {
            return None;
        }
        let recorded = self.replayed.facts.baseline_tree.as_deref();
        recorded.or_else(|| old_prose::baseline_tree(&check.reason))
    }

    /// Records the reuse of the row that was inserted last.
    fn record_reuse(&self, reuse: &Reuse) -> Result<(), Fault> {
        let id = self.conn.last_insert_rowid();
        match reuse {
            Reuse::Kept { key } => self.conn.prepare_cached(STORE_RESULT)?.execute(params![key, id])?,
            Reuse::Withdrawn { key } => self.conn.prepare_cached(DELETE_RESULT)?.execute([key])?,
            Reuse::Taken { run, seq, at } => {
                self.conn.prepare_cached(INSERT_REUSE)?.execute(params![id, run, sql_integer(*seq), at])?
            }
        };
        Ok(())
    }

    pub(super) fn project_artifacts(&self) -> Result<(), Fault> {
        for artifact in &self.replayed.facts.artifacts {
            self.conn.prepare_cached(INSERT_ARTIFACT)?.execute(params![
                self.replayed.run,
                artifact.name,
                artifact.part,
                self.slot.seq,
                self.slot.at,
                artifact.digest.0.cast_signed(),
                artifact.blob,
                artifact.by,
                artifact.format,
            ])?;
        }
        Ok(())
    }

    pub(super) fn project_notes(&self) -> Result<(), Fault> {
        for note in &self.replayed.facts.notes {
            self.conn.prepare_cached(INSERT_NOTE)?.execute(params![
                self.replayed.run,
                self.slot.seq,
                self.slot.at,
                note.kind.word(),
                note.text,
                Json(&note.files),
                note.blob,
                note.decision.as_ref().map(Json),
            ])?;
        }
        Ok(())
    }

    /// Stores what happened to the work, as the operation that ended reports it.
    pub(super) fn project_delivery(&self) -> Result<(), Fault> {
        let Event::Ended { .. } = self.replayed.event else {
            return Ok(());
        };
        let facts = self.replayed.facts;
        let Some(delivery) = facts.delivery.clone().or_else(|| old_prose::delivery(&facts.notes)) else {
            return Ok(());
        };
        let kind = match &delivery {
            Delivery::Committed { .. } => "committed",
            Delivery::Refused { .. } => "refused",
            Delivery::HandedOver { .. } => "handed-over",
            Delivery::Nothing => "nothing",
        };
        self.conn.prepare_cached(INSERT_DELIVERY)?.execute(params![
            self.slot.id,
            self.replayed.run,
            self.slot.seq,
            self.slot.at,
            kind,
            Json(&delivery),
        ])?;
        Ok(())
    }
}
