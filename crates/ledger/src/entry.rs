//! One step of one run, as it goes into the journal: the event with its facts, and what the kernel made of it.

use crate::fact::{BlobId, Facts, Millis, RunId};
use remand_kernel::{Event, Step};

/// One row of the journal to be.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'e> {
    pub run: &'e RunId,
    pub at: Millis,
    pub event: &'e Event,
    pub facts: &'e Facts,
    pub step: &'e Step,
    /// The content of blobs that the facts name and the ledger may not have yet.
    pub blobs: &'e [Blob],
    /// The request of another process that this event came from; it is consumed in the same commit (CORE-14).
    pub request: Option<i64>,
}

/// Content with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    pub id: BlobId,
    pub bytes: Vec<u8>,
}

impl Blob {
    /// Names content.
    pub fn of(bytes: Vec<u8>) -> Blob {
        Blob { id: BlobId::of(&bytes), bytes }
    }
}
