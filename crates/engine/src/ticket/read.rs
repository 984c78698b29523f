//! Builds the ticket history of a run from its journal. An inherited revision is looked up in the history of the
//! earlier run on the same ticket.

use super::builder::HistoryBuilder;
use super::history::{InheritedRevision, Revision, TicketHistory};
use crate::pinned::Pinned;
use crate::site::Trouble;
use remand_ledger::{Reader, RunId};

impl TicketHistory {
    /// Replays the journal of a run.
    pub fn read(reader: &Reader, run: &RunId, pinned: &Pinned) -> Result<TicketHistory, Trouble> {
        let mut builder = HistoryBuilder::new(pinned);
        for row in reader.journal(run, 0)? {
            builder.apply(&row)?;
        }
        let mut history = builder.into_history();
        if let Some(inherited) = history.inherited.as_mut()
            && let Some(earlier) = InheritedRevision::find(reader, run, inherited.revision.number)?
        {
            *inherited = earlier;
        }
        Ok(history)
    }
}

impl InheritedRevision {
    /// The approved revision with this number, from the latest earlier run on the same ticket that has it.
    pub fn find(reader: &Reader, run: &RunId, number: u16) -> Result<Option<InheritedRevision>, Trouble> {
        let this_run = reader.run(&run.0)?;
        let earlier = reader.runs()?.into_iter().filter(|row| {
            row.subject == this_run.subject
                && row.file == this_run.file
                && row.created_at <= this_run.created_at
        });
        for row in earlier.filter(|row| row.run != *run) {
            let pinned: Pinned = serde_json::from_slice(&reader.blob(row.pinned)?).map_err(|error| {
                Trouble::denied(format!("the pinned workflow of run {} is unreadable: {error}", row.run))
            })?;
            let history = TicketHistory::read(reader, &row.run, &pinned)?;
            let is_approved = |revision: &Revision| revision.number == number && revision.ruled_out.is_some();
            if let Some(revision) = history.revisions.into_iter().rfind(is_approved) {
                return Ok(Some(InheritedRevision {
                    revision,
                    earlier_run: Some((row.run, history.attempts)),
                }));
            }
        }
        Ok(None)
    }
}
