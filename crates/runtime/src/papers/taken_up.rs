//! A revision of the design that a human approved in an earlier run on the same ticket, to be gone on with (DR-14).

use super::history::{Attempt, History, Revision};
use crate::pinned::Pinned;
use crate::workshop::Trouble;
use remand_ledger::{Reader, RunId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenUp {
    pub revision: Revision,
    /// The run that it is from and what was tried there; none where only the papers tell of it.
    pub tried: Option<(RunId, Vec<Attempt>)>,
}

impl TakenUp {
    /// The approved revision of this number, from the last run before this one that has it.
    pub fn find(reader: &Reader, run: &RunId, number: u16) -> Result<Option<TakenUp>, Trouble> {
        let own = reader.run(&run.0)?;
        let earlier = reader.runs()?.into_iter().filter(|row| {
            row.subject == own.subject && row.file == own.file && row.created_at <= own.created_at
        });
        for row in earlier.filter(|row| row.run != *run) {
            let pinned: Pinned = serde_json::from_slice(&reader.blob(row.pinned)?).map_err(|error| {
                Trouble::denied(format!("what run {} is pinned to cannot be read: {error}", row.run))
            })?;
            let history = History::read(reader, &row.run, &pinned)?;
            let is_meant = |revision: &Revision| revision.number == number && revision.ruled_out.is_some();
            if let Some(revision) = history.revisions.into_iter().rfind(is_meant) {
                return Ok(Some(TakenUp { revision, tried: Some((row.run, history.attempts)) }));
            }
        }
        Ok(None)
    }
}
