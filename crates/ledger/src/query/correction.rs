//! Corrections of a run, one for each time a finding was sent back.

use super::Reader;
use crate::cell::CorrectionEnd;
use crate::column::{Count, Word};
use crate::error::LedgerError;
use crate::fact::{Millis, RunId};
use serde::Serialize;

const CORRECTIONS: &str =
    "SELECT seq, position, at, target, task, closed, closed_at, outcome FROM corrections
    WHERE run = ?1 ORDER BY seq, position";

/// One correction of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CorrectionRow {
    /// The event that sent the finding back.
    pub seq: u64,
    /// The position of the finding in the run's list.
    pub position: u32,
    pub at: Millis,
    /// The phase that the finding was sent to.
    pub target: String,
    /// The task that corrects the finding; `None` for the main line.
    pub task: Option<String>,
    /// The event that closed the correction; `None` while it is open.
    pub closed: Option<u64>,
    pub closed_at: Option<Millis>,
    pub outcome: Option<CorrectionEnd>,
}

impl Reader {
    /// The corrections of a run, in order.
    pub fn corrections(&self, run: &RunId) -> Result<Vec<CorrectionRow>, LedgerError> {
        self.rows(CORRECTIONS, [run], |row| {
            Ok(CorrectionRow {
                seq: row.get::<_, Count>(0)?.0,
                position: row.get(1)?,
                at: row.get(2)?,
                target: row.get(3)?,
                task: row.get(4)?,
                closed: row.get::<_, Option<Count>>(5)?.map(|count| count.0),
                closed_at: row.get(6)?,
                outcome: row.get::<_, Option<Word<CorrectionEnd>>>(7)?.map(|word| word.0),
            })
        })
    }
}
