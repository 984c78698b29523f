//! `record-approach`: a human wants the design revised, so the approach that failed is put on record (DR-10).
//!
//! The kernel moves the approach to those that failed when this ends. Count, approach, notes and status reach the
//! ticket together, in the one commit that is made before whatever follows.

use super::Done;
use crate::workshop::{Job, Trouble};
use remand_ledger::fact::NoteKind;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let mut done = Done::saying("recorded");
    match &job.state.approach {
        Some(approach) => done.note(NoteKind::Decision, format!("this approach failed: {}", approach.text)),
        None => done.note(NoteKind::Warning, "the design that failed had stated no approach"),
    }
    Ok(done)
}
