//! The interface to the store: driving processes commit through it, and implementations of `Effects` read, reserve and
//! record through it.
//!
//! A store decides nothing. `embedded.rs` is the store of one machine: the ledger of a repository and the
//! folders of its runs.

mod embedded;

use crate::turn::AgentStart;
use remand_kernel::{Event, Program, State};
use remand_ledger::query::{JournalRow, RequestRow};
use remand_ledger::{BlobId, JournalEntry, LedgerError, Millis, Reader, Reserve, RunId};
use std::io;

pub(crate) use embedded::DISPATCHES;
pub use embedded::EmbeddedStore;

/// Looks up the program of a run and its state after the last entry, if the caller has them in memory.
pub type StateOf<'s> = dyn Fn(&RunId) -> Option<(&'s Program, &'s State)> + 's;

/// The stored data of all runs of a repository. The driving process and the threads of its commands share it.
pub trait Store: Send + Sync + std::fmt::Debug {
    /// Appends entries of any runs in one commit, and returns the number of each entry in its run. On an error, nothing
    /// is recorded.
    fn append(&self, entries: &[JournalEntry<'_>]) -> Result<Vec<u64>, LedgerError>;

    /// Sets the last entry that the caller knows. An append fails if another process has appended to the run since.
    fn continue_from(&self, run: &RunId, seq: u64, at: Millis) -> Result<(), LedgerError>;

    /// The number of entries of this process that are not in the projections yet.
    fn lag(&self) -> usize;

    /// Updates the projections to the end of the journal.
    fn catch_up(&self) -> Result<(), LedgerError>;

    /// Updates the projections. `entries` are the entries of the last append; they are not replayed if `state_of` returns
    /// the state after them.
    fn catch_up_with(&self, entries: &[JournalEntry<'_>], state_of: &StateOf<'_>) -> Result<(), LedgerError>;

    /// The entries of a run after entry `seq`, in order.
    fn rows_after(&self, run: &RunId, seq: u64) -> Result<Vec<JournalRow>, LedgerError>;

    fn blob(&self, id: BlobId) -> Result<Vec<u8>, LedgerError>;

    /// A connection for queries, for one thread.
    fn reader(&self) -> Result<Reader, LedgerError>;

    /// Reserves numbers that no other holder gets, in ascending order. The same holder gets the same numbers again.
    fn reserve(&self, request: Reserve<'_>) -> Result<Vec<u32>, LedgerError>;

    /// Leaves a request for the process that drives a run, and returns its id.
    fn request(&self, run: &RunId, at: Millis, event: &Event) -> Result<i64, LedgerError>;

    /// The requests that wait for the driving process of a run, oldest first.
    fn requests(&self, run: &RunId) -> Result<Vec<RequestRow>, LedgerError>;

    /// Refuses a request, and stores the reason for the process that made it.
    fn refuse(&self, request: i64, reason: &str) -> Result<(), LedgerError>;

    /// Records durably that an agent is about to start, so an agent that dies with the driving process can be counted.
    fn record_start(&self, run: &RunId, start: &AgentStart) -> io::Result<Box<dyn SignsOfLife>>;

    /// The last agent that started for a command, and its last sign of life.
    fn last_start(&self, run: &RunId, command: &str) -> Option<(AgentStart, Millis)>;

    /// Writes pending data to disk and closes the store. The next use opens it again.
    fn close(&self);
}

/// Records the signs of life of an agent that has started.
pub trait SignsOfLife: Send {
    fn record(&mut self);
}
