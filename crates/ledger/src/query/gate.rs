//! Gates: questions that wait for an answer, and questions that were answered.

use super::Reader;
use crate::cell::{GateOption, WithheldOption};
use crate::column::{Count, Json, Word, column_words};
use crate::error::LedgerError;
use crate::fact::{BlobId, Millis, RunId};
use crate::limit::LimitKind;
use remand_kernel::change::Approach;
use rusqlite::Row;
use serde::{Deserialize, Serialize};

const COLUMNS: &str =
    "run, seq, command, phase, task, kind, question, options, withheld, approaches, preset, mandatory,
    mode, opened_at, option, by, note, flags, answered_at, withdrawn_at, auto, limit_kind";

const OPEN: &str = "answered_at IS NULL AND withdrawn_at IS NULL";

/// The source of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateKind {
    /// A phase of the workflow.
    Phase,
    /// The kernel, which asks whether to continue or to stop.
    Hold,
    /// The kernel, which asks whether the phases named by the findings injected the defects.
    Origin,
}

column_words! {
    GateKind {
        GateKind::Phase => "phase",
        GateKind::Hold => "hold",
        GateKind::Origin => "origin",
    }
}

/// One gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GateRow {
    pub run: RunId,
    /// The event that opened it.
    pub seq: u64,
    /// The id of the command, as in events; `default.…` if nobody was asked.
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
    /// Whether the question is asked in every mode.
    pub mandatory: bool,
    pub mode: String,
    pub opened_at: Millis,
    pub option: Option<String>,
    pub by: Option<String>,
    pub note: Option<String>,
    pub flags: Vec<(String, bool)>,
    pub answered_at: Option<Millis>,
    /// When the run continued without an answer.
    pub withdrawn_at: Option<Millis>,
    /// Whether the default was chosen without asking.
    pub auto: bool,
    /// The limit that it asks about.
    #[serde(skip)]
    pub limit_kind: Option<LimitKind>,
}

impl GateRow {
    /// Whether it waits for an answer.
    pub fn is_open(&self) -> bool {
        self.answered_at.is_none() && self.withdrawn_at.is_none()
    }

    /// A hash of the question and its options, as somebody saw them.
    pub fn digest(&self) -> BlobId {
        let seen = (&self.run, &self.command, self.seq, &self.phase, &self.task, &self.question);
        let offered = (&self.options, &self.withheld, &self.default, self.mandatory);
        BlobId::of(&serde_json::to_vec(&(seen, offered)).unwrap_or_default())
    }

    /// The kernel's name of the limit that it asks about.
    pub fn limit(&self) -> Option<&'static str> {
        self.limit_kind.map(LimitKind::name)
    }
}

impl Reader {
    /// The open gates of all runs, oldest first.
    pub fn open_gates(&self) -> Result<Vec<GateRow>, LedgerError> {
        self.rows(&format!("SELECT {COLUMNS} FROM gates WHERE {OPEN} ORDER BY id"), [], decode)
    }

    /// All gates of a run, in the order they opened.
    pub fn gates(&self, run: &RunId) -> Result<Vec<GateRow>, LedgerError> {
        self.rows(&format!("SELECT {COLUMNS} FROM gates WHERE run = ?1 ORDER BY id"), [run], decode)
    }
}

fn decode(row: &Row<'_>) -> rusqlite::Result<GateRow> {
    Ok(GateRow {
        run: row.get(0)?,
        seq: row.get::<_, Count>(1)?.0,
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
        limit_kind: row.get::<_, Option<Word<LimitKind>>>(21)?.map(|word| word.0),
    })
}
