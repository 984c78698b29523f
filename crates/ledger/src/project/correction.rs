//! Corrections. Each begins when a ruling sends a finding back, and ends when a ruling settles or omits the finding.

use super::Projection;
use crate::cell::CorrectionEnd;
use crate::column::ColumnWord;
use crate::error::Fault;
use remand_kernel::detect::same_finding;
use remand_kernel::ruling::Rule;
use remand_kernel::signal::NO_RESULT;
use remand_kernel::state::{Filed, FiledStatus};
use rusqlite::{Connection, params};
use std::collections::BTreeMap;

const OPEN_CORRECTION: &str = "INSERT INTO corrections (run, seq, position, at, target, task, changes)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

const CLOSE_CORRECTION: &str = "UPDATE corrections SET closed = ?4, closed_at = ?5, outcome = ?6
    WHERE run = ?1 AND seq = ?2 AND position = ?3";

const LAST_SENDINGS: &str =
    "SELECT position, max(seq), changes, target, closed IS NULL FROM corrections WHERE run = ?1
    GROUP BY position";

/// The last time that a finding was sent back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sending {
    seq: i64,
    changes: u32,
    target: String,
    is_open: bool,
}

/// The last sending of each finding, by position.
pub(super) type Sendings = BTreeMap<i64, Sending>;

/// Loads the last sending of each finding of a run.
pub(super) fn load_sendings(conn: &Connection, run: &str) -> Result<Sendings, Fault> {
    let mut statement = conn.prepare_cached(LAST_SENDINGS)?;
    let rows = statement.query_map([run], |row| {
        let sending =
            Sending { seq: row.get(1)?, changes: row.get(2)?, target: row.get(3)?, is_open: row.get(4)? };
        Ok((row.get(0)?, sending))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

impl Projection<'_> {
    pub(super) fn project_corrections(&self, sendings: &mut Sendings) -> Result<(), Fault> {
        for (position, filed) in (0_i64..).zip(&self.replayed.state.findings) {
            let last = sendings.get_mut(&position);
            match (last, self.current_sending(filed)) {
                (Some(last), sent) if sent.as_ref().is_none_or(|sent| last.is_same(sent)) => {
                    let is_over = filed.status != FiledStatus::Open || self.is_omitted(position, filed, last);
                    if last.is_open && is_over {
                        self.close_correction(position, last, self.correction_end(filed, last))?;
                    }
                }
                (last, Some(sent)) => {
                    if let Some(last) = last.filter(|last| last.is_open) {
                        self.close_correction(position, last, CorrectionEnd::SentAgain)?;
                    }
                    self.open_correction(position, filed, &sent)?;
                    sendings.insert(position, sent);
                }
                (_, None) => {}
            }
        }
        Ok(())
    }

    /// The last sending of an open finding, if it was sent back.
    fn current_sending(&self, filed: &Filed) -> Option<Sending> {
        let target = filed.sent_to.filter(|_| filed.status == FiledStatus::Open)?;
        Some(Sending {
            seq: self.slot.seq,
            changes: filed.sent_at?,
            target: self.replayed.program.phase(target).name.clone(),
            is_open: true,
        })
    }

    /// Whether the reporting phase has reviewed the work again without repeating the finding. For the kernel, the
    /// finding stays open until the work is accepted, because it may still be reported again.
    fn is_omitted(&self, position: i64, filed: &Filed, sending: &Sending) -> bool {
        let reviewed_again = sending.seq < self.slot.seq
            && self.replayed.step.rulings.iter().any(|ruling| {
                matches!(ruling.rule, Rule::Route { .. })
                    && ruling.phase == filed.phase
                    && ruling.signal != NO_RESULT
                    && self.task(ruling.lane, ruling.phase) == filed.task.as_deref()
            });
        let later = (0_i64..).zip(&self.replayed.state.findings).filter(|(index, _)| *index > position);
        let mut reports = later.filter(|(_, other)| other.phase == filed.phase && other.task == filed.task);
        reviewed_again && !reports.any(|(_, other)| same_finding(&filed.finding, &other.finding).is_some())
    }

    fn open_correction(&self, position: i64, filed: &Filed, sending: &Sending) -> Result<(), Fault> {
        let within_task = filed.sent_to.is_some_and(|to| self.replayed.program.phase(to).owner.is_some());
        let task = filed.task.as_ref().filter(|_| within_task);
        self.conn.prepare_cached(OPEN_CORRECTION)?.execute(params![
            self.replayed.run,
            sending.seq,
            position,
            self.slot.at,
            sending.target,
            task,
            sending.changes,
        ])?;
        Ok(())
    }

    fn close_correction(
        &self,
        position: i64,
        sending: &mut Sending,
        end: CorrectionEnd,
    ) -> Result<(), Fault> {
        sending.is_open = false;
        self.conn.prepare_cached(CLOSE_CORRECTION)?.execute(params![
            self.replayed.run,
            sending.seq,
            position,
            self.slot.seq,
            self.slot.at,
            end.word(),
        ])?;
        Ok(())
    }

    /// How a correction ended. A finding that is still open was omitted.
    fn correction_end(&self, filed: &Filed, sending: &Sending) -> CorrectionEnd {
        match filed.status {
            FiledStatus::Settled | FiledStatus::Open if self.replayed.state.changes == sending.changes => {
                CorrectionEnd::Withdrawn
            }
            FiledStatus::Settled | FiledStatus::Open => CorrectionEnd::Corrected,
            FiledStatus::Superseded => CorrectionEnd::ReportedAgain,
            FiledStatus::PassedOn => CorrectionEnd::PassedOn,
            FiledStatus::FollowUp | FiledStatus::Advice => CorrectionEnd::SentAgain,
        }
    }
}

impl Sending {
    /// Whether both are the same sending, seen at different events.
    fn is_same(&self, other: &Sending) -> bool {
        self.changes == other.changes && self.target == other.target
    }
}
