//! Rulings in words, one row each (CORE-03).

use super::Projection;
use crate::column::Json;
use crate::error::Fault;
use remand_kernel::ruling::Rule;
use remand_kernel::view;
use rusqlite::params;

const RULED: &str = "INSERT INTO rulings (id, run, seq, n, at, phase, task, signal, action, target, body)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

impl Projection<'_> {
    pub(super) fn rulings(&self) -> Result<(), Fault> {
        for (n, ruling) in self.lived.step.rulings.iter().enumerate() {
            let words = view::ruling(self.lived.program, self.lived.state, ruling);
            let place = i64::try_from(n).unwrap_or(i64::MAX);
            self.conn.prepare_cached(RULED)?.execute(params![
                self.placed.row(place),
                self.lived.run,
                self.placed.seq,
                place,
                self.placed.at,
                words.phase,
                words.task,
                words.signal,
                words.action,
                words.target,
                Json(&words),
            ])?;
            match ruling.rule {
                Rule::Default => self.defaulted(n, ruling)?,
                Rule::Route { .. } | Rule::Retry | Rule::Stands | Rule::Hold | Rule::Human => {}
            }
        }
        Ok(())
    }
}
