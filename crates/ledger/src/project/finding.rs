//! Findings and their progress. Only new and changed ones are written.

use super::Projection;
use crate::column::{ColumnWord, Json, Word};
use crate::error::Fault;
use remand_kernel::state::{Filed, FiledStatus};
use rusqlite::{Connection, params};

const INSERT_FINDING: &str = "INSERT INTO findings (run, position, seq, id, severity, category, kind, injected_by, phase, task,
    file, symbol, line, claim, evidence, impact, recommendation, patch, repeats, status, sent_to, count, known)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23)";

const UPDATE_FINDING: &str =
    "UPDATE findings SET status = ?3, sent_to = ?4, count = ?5, known = ?6, injected_by = ?7
    WHERE run = ?1 AND position = ?2";

const LOAD_PROGRESS: &str =
    "SELECT status, sent_to, count, known, injected_by FROM findings WHERE run = ?1 ORDER BY position";

/// The part of a finding that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FindingProgress {
    status: FiledStatus,
    sent_to: Option<String>,
    count: u8,
    known: bool,
    injected_by: Vec<String>,
}

/// Loads the progress of a run's findings, by position.
pub(super) fn load_progress(conn: &Connection, run: &str) -> Result<Vec<FindingProgress>, Fault> {
    let mut statement = conn.prepare_cached(LOAD_PROGRESS)?;
    let rows = statement.query_map([run], |row| {
        Ok(FindingProgress {
            status: row.get::<_, Word<FiledStatus>>(0)?.0,
            sent_to: row.get(1)?,
            count: row.get(2)?,
            known: row.get(3)?,
            injected_by: row.get::<_, Json<Vec<String>>>(4)?.0,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

impl Projection<'_> {
    pub(super) fn project_findings(&self, stored: &mut Vec<FindingProgress>) -> Result<(), Fault> {
        let filed = &self.replayed.state.findings;
        if filed.is_empty() {
            return Ok(());
        }
        let mut known = vec![false; filed.len()];
        for index in &self.replayed.state.known {
            if let Some(known) = known.get_mut(*index as usize) {
                *known = true;
            }
        }
        for (position, (filed, known)) in filed.iter().zip(known).enumerate() {
            match stored.get_mut(position) {
                None => {
                    let progress = self.progress(filed, known);
                    self.insert_finding(position, filed, &progress)?;
                    stored.push(progress);
                }
                Some(progress) if !self.is_current(progress, filed, known) => {
                    *progress = self.progress(filed, known);
                    self.conn.prepare_cached(UPDATE_FINDING)?.execute(params![
                        self.replayed.run,
                        i64::try_from(position).unwrap_or(i64::MAX),
                        progress.status.word(),
                        progress.sent_to,
                        progress.count,
                        progress.known,
                        Json(&progress.injected_by),
                    ])?;
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn sent_to(&self, filed: &Filed) -> Option<&str> {
        filed.sent_to.map(|phase| self.replayed.program.phase(phase).name.as_str())
    }

    fn progress(&self, filed: &Filed, known: bool) -> FindingProgress {
        let sent_to = self.sent_to(filed).map(str::to_string);
        let injected_by = filed.finding.injected_by.clone();
        FindingProgress { status: filed.status, sent_to, count: filed.count, known, injected_by }
    }

    fn is_current(&self, progress: &FindingProgress, filed: &Filed, known: bool) -> bool {
        progress.status == filed.status
            && progress.count == filed.count
            && progress.known == known
            && progress.sent_to.as_deref() == self.sent_to(filed)
            && progress.injected_by == filed.finding.injected_by
    }

    fn insert_finding(
        &self,
        position: usize,
        filed: &Filed,
        progress: &FindingProgress,
    ) -> Result<(), Fault> {
        let finding = &filed.finding;
        self.conn.prepare_cached(INSERT_FINDING)?.execute(params![
            self.replayed.run,
            i64::try_from(position).unwrap_or(i64::MAX),
            self.slot.seq,
            finding.id,
            finding.severity.word(),
            finding.category.word(),
            finding.kind.map(ColumnWord::word),
            Json(&finding.injected_by),
            self.replayed.program.phase(filed.phase).name,
            finding.task.as_ref().or(filed.task.as_ref()),
            finding.place.file,
            finding.place.symbol,
            finding.place.line,
            finding.claim,
            finding.evidence,
            finding.impact,
            finding.recommendation,
            finding.patch,
            finding.repeats,
            progress.status.word(),
            progress.sent_to,
            progress.count,
            progress.known,
        ])?;
        Ok(())
    }
}
