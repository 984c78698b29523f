//! Findings with what became of them; only those that are new or changed are written.

use super::Projection;
use crate::column::{Json, Named, Word};
use crate::error::Fault;
use remand_kernel::state::{Filed, FiledStatus};
use rusqlite::{Connection, params};

const FOUND: &str = "INSERT INTO findings (run, position, seq, id, severity, category, kind, injected_by, phase, task,
    file, symbol, line, claim, evidence, impact, recommendation, patch, repeats, status, sent_to, count, known)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23)";

const CHANGED: &str =
    "UPDATE findings SET status = ?3, sent_to = ?4, count = ?5, known = ?6, injected_by = ?7
    WHERE run = ?1 AND position = ?2";

const MARKS: &str =
    "SELECT status, sent_to, count, known, injected_by FROM findings WHERE run = ?1 ORDER BY position";

/// The part of a finding that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    status: FiledStatus,
    sent_to: Option<String>,
    count: u8,
    known: bool,
    injected_by: Vec<String>,
}

/// The marks of a run's findings as they stand in the table, by position.
pub(super) fn marks(conn: &Connection, run: &str) -> Result<Vec<Mark>, Fault> {
    let mut statement = conn.prepare_cached(MARKS)?;
    let rows = statement.query_map([run], |row| {
        Ok(Mark {
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
    pub(super) fn findings(&self, marks: &mut Vec<Mark>) -> Result<(), Fault> {
        let filed = &self.lived.state.findings;
        if filed.is_empty() {
            return Ok(());
        }
        let mut known = vec![false; filed.len()];
        for at in &self.lived.state.known {
            if let Some(known) = known.get_mut(*at as usize) {
                *known = true;
            }
        }
        for (position, (filed, known)) in filed.iter().zip(known).enumerate() {
            match marks.get_mut(position) {
                None => {
                    let mark = self.mark(filed, known);
                    self.found(position, filed, &mark)?;
                    marks.push(mark);
                }
                Some(mark) if !self.fits(mark, filed, known) => {
                    *mark = self.mark(filed, known);
                    self.conn.prepare_cached(CHANGED)?.execute(params![
                        self.lived.run,
                        i64::try_from(position).unwrap_or(i64::MAX),
                        mark.status.word(),
                        mark.sent_to,
                        mark.count,
                        mark.known,
                        Json(&mark.injected_by),
                    ])?;
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn sent_to(&self, filed: &Filed) -> Option<&str> {
        filed.sent_to.map(|phase| self.lived.program.phase(phase).name.as_str())
    }

    fn mark(&self, filed: &Filed, known: bool) -> Mark {
        let sent_to = self.sent_to(filed).map(str::to_string);
        let injected_by = filed.finding.injected_by.clone();
        Mark { status: filed.status, sent_to, count: filed.count, known, injected_by }
    }

    fn fits(&self, mark: &Mark, filed: &Filed, known: bool) -> bool {
        mark.status == filed.status
            && mark.count == filed.count
            && mark.known == known
            && mark.sent_to.as_deref() == self.sent_to(filed)
            && mark.injected_by == filed.finding.injected_by
    }

    fn found(&self, position: usize, filed: &Filed, mark: &Mark) -> Result<(), Fault> {
        let finding = &filed.finding;
        self.conn.prepare_cached(FOUND)?.execute(params![
            self.lived.run,
            i64::try_from(position).unwrap_or(i64::MAX),
            self.placed.seq,
            finding.id,
            finding.severity.word(),
            finding.category.word(),
            finding.kind.map(Named::word),
            Json(&finding.injected_by),
            self.lived.program.phase(filed.phase).name,
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
            mark.status.word(),
            mark.sent_to,
            mark.count,
            mark.known,
        ])?;
        Ok(())
    }
}
