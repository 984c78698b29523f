//! Rulings in words, one row each.

use super::Projection;
use crate::cell::RulingKind;
use crate::column::{ColumnWord, Json};
use crate::error::Fault;
use remand_kernel::ruling::Rule;
use remand_kernel::view;
use rusqlite::params;

const RULED: &str =
    "INSERT INTO rulings (id, run, seq, n, at, phase, task, signal, action, target, body, kind)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";

impl Projection<'_> {
    pub(super) fn rulings(&self) -> Result<(), Fault> {
        for (n, ruling) in self.replayed.step.rulings.iter().enumerate() {
            let words = view::ruling(self.replayed.program, self.replayed.state, ruling);
            let place = i64::try_from(n).unwrap_or(i64::MAX);
            self.conn.prepare_cached(RULED)?.execute(params![
                self.slot.row(place),
                self.replayed.run,
                self.slot.seq,
                place,
                self.slot.at,
                words.phase,
                words.task,
                words.signal,
                words.action,
                words.target,
                Json(&words),
                RulingKind::of(&ruling.verdict).word(),
            ])?;
            match ruling.rule {
                Rule::Default => self.defaulted(n, ruling)?,
                Rule::Route { .. } | Rule::Retry | Rule::Stands | Rule::Hold | Rule::Human => {}
            }
        }
        Ok(())
    }
}
