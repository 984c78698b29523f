//! Gates: open ones for people to answer, and the record of those that were (EP-12).

use super::Reader;
use crate::column::{Json, Whole, Word, words};
use crate::error::LedgerError;
use crate::fact::{Millis, RunId};
use remand_kernel::change::Approach;
use rusqlite::Row;
use serde::{Deserialize, Serialize};

const COLUMNS: &str =
    "run, seq, command, phase, task, kind, question, options, withheld, approaches, preset, mandatory,
    mode, opened_at, option, by, note, flags, answered_at, withdrawn_at, auto";

const STANDS: &str = "answered_at IS NULL AND withdrawn_at IS NULL";

/// What the question of a hold at a limit says before and after the name of the limit.
pub(crate) const LIMIT_ASKED: (&str, &str) = ("The limit on ", " is reached. Go on?");

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateKind {
    /// A phase of the workflow.
    Phase,
    /// The kernel itself: go on, or stop.
    Hold,
}

words! {
    GateKind {
        GateKind::Phase => "phase",
        GateKind::Hold => "hold",
    }
}

/// An option that can be followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateOption {
    pub name: String,
    /// What its route does, as a workflow file would say it; none for the options of a hold.
    pub action: Option<String>,
}

/// An option that is written and not offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WithheldOption {
    pub name: String,
    /// The budget that is empty, if that is why.
    pub exhausted: Option<String>,
}

/// One gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GateRow {
    pub run: RunId,
    /// The event that opened it.
    pub seq: u64,
    /// The id of the command, as events name it; `default.…` where nobody was asked.
    pub command: String,
    pub phase: String,
    pub task: Option<String>,
    pub kind: GateKind,
    pub question: String,
    pub options: Vec<GateOption>,
    pub withheld: Vec<WithheldOption>,
    /// The approaches that failed before.
    pub approaches: Vec<Approach>,
    pub default: Option<String>,
    /// It is asked in every mode.
    pub mandatory: bool,
    pub mode: String,
    pub opened_at: Millis,
    pub option: Option<String>,
    pub by: Option<String>,
    pub note: Option<String>,
    pub flags: Vec<(String, bool)>,
    pub answered_at: Option<Millis>,
    /// When the run went on without an answer.
    pub withdrawn_at: Option<Millis>,
    /// The default was taken without asking.
    pub auto: bool,
}

impl GateRow {
    /// Tells whether it waits for an answer.
    pub fn is_open(&self) -> bool {
        self.answered_at.is_none() && self.withdrawn_at.is_none()
    }

    /// The limit that it asks about, by the name that the kernel gave it.
    pub fn limit(&self) -> Option<&str> {
        let words = self.question.strip_prefix(LIMIT_ASKED.0)?;
        words.strip_suffix(LIMIT_ASKED.1).filter(|_| self.kind == GateKind::Hold)
    }
}

impl Reader {
    /// The gates that wait for an answer, over all runs, the oldest first.
    pub fn open_gates(&self) -> Result<Vec<GateRow>, LedgerError> {
        self.rows(&format!("SELECT {COLUMNS} FROM gates WHERE {STANDS} ORDER BY id"), [], decode)
    }

    /// All gates of a run, in the order in which they opened.
    pub fn gates(&self, run: &RunId) -> Result<Vec<GateRow>, LedgerError> {
        self.rows(&format!("SELECT {COLUMNS} FROM gates WHERE run = ?1 ORDER BY id"), [run], decode)
    }
}

fn decode(row: &Row<'_>) -> rusqlite::Result<GateRow> {
    Ok(GateRow {
        run: row.get(0)?,
        seq: row.get::<_, Whole>(1)?.0,
        command: row.get(2)?,
        phase: row.get(3)?,
        task: row.get(4)?,
        kind: row.get::<_, Word<GateKind>>(5)?.0,
        question: row.get(6)?,
        options: row.get::<_, Json<Vec<GateOption>>>(7)?.0,
        withheld: row.get::<_, Json<Vec<WithheldOption>>>(8)?.0,
        approaches: row.get::<_, Json<Vec<Approach>>>(9)?.0,
        default: row.get(10)?,
        mandatory: row.get(11)?,
        mode: row.get(12)?,
        opened_at: row.get(13)?,
        option: row.get(14)?,
        by: row.get(15)?,
        note: row.get(16)?,
        flags: row.get::<_, Option<Json<Vec<(String, bool)>>>>(17)?.map_or_else(Vec::new, |json| json.0),
        answered_at: row.get(18)?,
        withdrawn_at: row.get(19)?,
        auto: row.get(20)?,
    })
}
