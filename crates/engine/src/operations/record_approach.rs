//! `record-approach`: records the failed approach when a human asks for a revised design.
//!
//! The kernel adds the approach to the list of failed ones when this operation ends. Revision count, approach, notes
//! and status reach the ticket together, in the commit before the next phase.

use super::Done;
use crate::site::{Job, Trouble};
use remand_ledger::fact::NoteKind;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let mut done = Done::with_signal("recorded");
    match &job.state.approach {
        Some(approach) => done.note(NoteKind::Decision, format!("this approach failed: {}", approach.text)),
        None => done.note(NoteKind::Warning, "the failed design states no approach"),
    }
    Ok(done)
}
