//! Corrections of a run: each time that a finding was sent back.

use super::Reader;
use crate::column::{Whole, Word, words};
use crate::error::LedgerError;
use crate::fact::{Millis, RunId};
use serde::{Deserialize, Serialize};

const CORRECTIONS: &str =
    "SELECT seq, position, at, target, task, closed, closed_at, outcome FROM corrections
    WHERE run = ?1 ORDER BY seq, position";

/// One time that a finding was sent back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CorrectionRow {
    /// The event that sent it.
    pub seq: u64,
    /// The finding's place in the run's list.
    pub position: u32,
    pub at: Millis,
    /// The phase that it was sent to.
    pub target: String,
    /// The task within which it is corrected; none where the main line does.
    pub task: Option<String>,
    /// The event that closed it; none while it is open.
    pub closed: Option<u64>,
    pub closed_at: Option<Millis>,
    pub outcome: Option<CorrectionEnd>,
}

/// How a correction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CorrectionEnd {
    /// Whoever found it accepted the work since.
    Corrected,
    /// Whoever found it accepted the work although nothing had changed: it was no defect.
    Withdrawn,
    /// It was found again in the new work.
    ReportedAgain,
    /// It went along when work was sent further back.
    PassedOn,
    /// The same report was sent once more, such as with a human's guidance.
    SentAgain,
}

words! {
    CorrectionEnd {
        CorrectionEnd::Corrected => "corrected",
        CorrectionEnd::Withdrawn => "withdrawn",
        CorrectionEnd::ReportedAgain => "reported-again",
        CorrectionEnd::PassedOn => "passed-on",
        CorrectionEnd::SentAgain => "sent-again",
    }
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
