//! Corrections of a run, one for each time a finding was sent back.

use super::Reader;
use crate::cell::CorrectionEnd;
use crate::column::{Whole, Word};
use crate::error::LedgerError;
use crate::fact::{Millis, RunId};
use serde::Serialize;

const CORRECTIONS: &str =
    "SELECT seq, position, at, target, task, closed, closed_at, outcome FROM corrections
    WHERE run = ?1 ORDER BY seq, position";

/// A finding that was sent back once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CorrectionRow {
    /// The event that sent it.
    pub seq: u64,
    /// The position of the finding in the run's list.
    pub position: u32,
    pub at: Millis,
    /// The phase that it was sent to.
    pub target: String,
    /// The task that corrects it; none for the main line.
    pub task: Option<String>,
    /// The event that closed it; none while it is open.
    pub closed: Option<u64>,
    pub closed_at: Option<Millis>,
    pub outcome: Option<CorrectionEnd>,
}

impl Reader {
    /// The corrections of a run, in order.
    pub fn corrections(&self, run: &RunId) -> Result<Vec<CorrectionRow>, LedgerError> {
        self.rows(CORRECTIONS, [run], |row| {
            Ok(CorrectionRow {
                seq: row.get::<_, Whole>(0)?.0,
                position: row.get(1)?,
                at: row.get(2)?,
                target: row.get(3)?,
                task: row.get(4)?,
                closed: row.get::<_, Option<Whole>>(5)?.map(|whole| whole.0),
                closed_at: row.get(6)?,
                outcome: row.get::<_, Option<Word<CorrectionEnd>>>(7)?.map(|word| word.0),
            })
        })
    }
}
