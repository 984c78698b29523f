//! One step of a run, as it is appended to the journal: the event with its facts, rulings and commands.

use crate::fact::{BlobId, Facts, Millis, RunId};
use remand_kernel::{Event, Step};

/// One row to append to the journal.
#[derive(Clone, Copy, Debug)]
pub struct JournalEntry<'e> {
    pub run: &'e RunId,
    pub at: Millis,
    pub event: &'e Event,
    pub facts: &'e Facts,
    pub step: &'e Step,
    /// Content of blobs that the facts refer to and that the ledger may not have yet.
    pub blobs: &'e [Blob],
    /// The request of another process that became this event. The same commit consumes the request.
    pub request: Option<i64>,
}

/// Content with its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    pub id: BlobId,
    pub bytes: Vec<u8>,
}

impl Blob {
    /// Computes the id of some content.
    pub fn of(bytes: Vec<u8>) -> Blob {
        Blob { id: BlobId::of(&bytes), bytes }
    }
}
