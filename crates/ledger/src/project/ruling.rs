//! Rulings as text, one row for each.

use super::Projection;
use crate::cell::RulingKind;
use crate::column::{ColumnWord, Json};
use crate::error::Fault;
use remand_kernel::ruling::Rule;
use remand_kernel::view;
use rusqlite::params;

const INSERT_RULING: &str =
    "INSERT INTO rulings (id, run, seq, n, at, phase, task, signal, action, target, body, kind)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";

impl Projection<'_> {
    pub(super) fn project_rulings(&self) -> Result<(), Fault> {
        for (n, ruling) in self.replayed.step.rulings.iter().enumerate() {
            let view = view::ruling(self.replayed.program, self.replayed.state, ruling);
            let index = i64::try_from(n).unwrap_or(i64::MAX);
            self.conn.prepare_cached(INSERT_RULING)?.execute(params![
                self.slot.row_id(index),
                self.replayed.run,
                self.slot.seq,
                index,
                self.slot.at,
                view.phase,
                view.task,
                view.signal,
                view.action,
                view.target,
                Json(&view),
                RulingKind::of(&ruling.verdict).word(),
            ])?;
            match ruling.rule {
                Rule::Default => self.record_default(n, ruling)?,
                Rule::Route { .. } | Rule::Retry | Rule::Stands | Rule::Hold | Rule::Human => {}
            }
        }
        Ok(())
    }
}
