//! A run as it was after one of its earlier events, replayed from the nearest snapshot.

use crate::detail::RunDetail;
use crate::error::{Fault, LedgerError};
use crate::fact::{Millis, RunId};
use crate::history;
use crate::query::Reader;
use crate::replay_error::{ReplayError, ReplayFailure};
use crate::restore;
use remand_kernel::program::Confidence;
use remand_kernel::state::{FiledStatus, UsageTotals};
use rusqlite::OptionalExtension;

const AT: &str = "SELECT at FROM events WHERE run = ?1 AND seq = ?2";

/// The state of a run after an earlier event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastView {
    pub seq: u64,
    /// When that event was appended.
    pub at: Millis,
    pub detail: RunDetail,
    /// The status of each finding that was reported by then, by position.
    pub findings: Vec<FiledStatus>,
    pub confidence: Confidence,
    pub used: UsageTotals,
}

impl Reader {
    /// The state of a run after the event with this number.
    pub fn past_view(&self, run: &RunId, seq: u64) -> Result<PastView, ReplayError> {
        self.read_past(run, seq).map_err(|failure| failure.at_path(self.path()))
    }

    fn read_past(&self, run: &RunId, seq: u64) -> Result<PastView, ReplayFailure> {
        let conn = self.connection();
        let number = crate::column::sql_integer(seq);
        let at = conn.prepare_cached(AT)?.query_row((run, number), |row| row.get::<_, Millis>(0));
        let Some(at) = at.optional()? else {
            return Err(Fault::from(LedgerError::NoSuchRun { name: format!("{run} at event {seq}") }).into());
        };
        let pinned = history::pinned_of(conn, run)?;
        let program = self.program(pinned, || history::read_program(conn, run, pinned))?;
        let (state, _) = restore::state_at(conn, run, &program, number)?;
        Ok(PastView {
            seq,
            at,
            detail: RunDetail::of(&program, &state),
            findings: state.findings.iter().map(|filed| filed.status).collect(),
            confidence: state.confidence,
            used: state.used,
        })
    }
}
