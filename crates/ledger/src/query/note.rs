//! Notes of a run, and of one kind over all runs of the repository.

use super::Reader;
use crate::column::{ColumnWord, Count, Json, Word};
use crate::error::LedgerError;
use crate::fact::{BlobId, Decision, Millis, NoteKind, RunId};
use rusqlite::Row;
use serde::Serialize;
use std::collections::BTreeSet;

const COLUMNS: &str = "run, seq, at, kind, text, files, blob, decision";

/// One note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NoteRow {
    pub run: RunId,
    pub seq: u64,
    pub at: Millis,
    pub kind: NoteKind,
    pub text: String,
    pub files: Vec<String>,
    pub blob: Option<BlobId>,
    /// The decision that the text states; `None` for a sentence of the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
}

impl Reader {
    /// The notes of a run, in order.
    pub fn notes(&self, run: &RunId) -> Result<Vec<NoteRow>, LedgerError> {
        self.rows(&format!("SELECT {COLUMNS} FROM notes WHERE run = ?1 ORDER BY id"), [run], decode)
    }

    /// At most `max` notes of one kind over all runs, newest first.
    pub fn notes_of_kind(&self, kind: NoteKind, max: u32) -> Result<Vec<NoteRow>, LedgerError> {
        let sql = format!("SELECT {COLUMNS} FROM notes WHERE kind = ?1 ORDER BY id DESC LIMIT ?2");
        self.rows(&sql, (kind.word(), max), decode)
    }

    /// At most `max` decisions of other runs about any of these files, or about anything if no files are named; newest
    /// first. Of a decision that a run made several times, the latest counts.
    pub fn earlier_decisions(
        &self,
        run: &RunId,
        files: &BTreeSet<String>,
        max: usize,
    ) -> Result<Vec<NoteRow>, LedgerError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM notes
            WHERE kind = 'decision' AND decision IS NOT NULL AND run <> ?1 ORDER BY id DESC"
        );
        let mut latest = BTreeSet::new();
        let rows = self.rows(&sql, [run], decode)?.into_iter().filter(|note| {
            let decision = note.decision.clone().unwrap_or_default();
            latest.insert((note.run.clone(), decision.id, decision.decided_by))
                && (files.is_empty() || note.files.iter().any(|file| files.contains(file)))
        });
        Ok(rows.take(max).collect())
    }
}

fn decode(row: &Row<'_>) -> rusqlite::Result<NoteRow> {
    Ok(NoteRow {
        run: row.get(0)?,
        seq: row.get::<_, Count>(1)?.0,
        at: row.get(2)?,
        kind: row.get::<_, Word<NoteKind>>(3)?.0,
        text: row.get(4)?,
        files: row.get::<_, Json<Vec<String>>>(5)?.0,
        blob: row.get(6)?,
        decision: row.get::<_, Option<Json<Decision>>>(7)?.map(|decision| decision.0),
    })
}
