//! The port to the store: the one way in which a driver commits, and effects read, reserve and record.
//!
//! Nothing behind it decides anything. `embedded.rs` is the store of one machine: the ledger of a repository and the
//! folders of its runs.

mod embedded;

use crate::turn::AgentStart;
use remand_kernel::{Event, Program, State};
use remand_ledger::query::{JournalRow, RequestRow};
use remand_ledger::{BlobId, JournalEntry, LedgerError, Millis, Reader, Reserve, RunId};
use std::io;

pub(crate) use embedded::DISPATCHES;
pub use embedded::EmbeddedStore;

/// The state of a run after its last entry, where the caller has it at hand.
pub type StateOf<'s> = dyn Fn(&RunId) -> Option<(&'s Program, &'s State)> + 's;

/// Everything that is kept of the runs of a repository. It is shared between the driver and the threads of its commands.
pub trait Store: Send + Sync + std::fmt::Debug {
    /// Appends entries of any runs in one commit, and returns the number of each in its run. On an error, nothing of it is
    /// recorded.
    fn append(&self, entries: &[JournalEntry<'_>]) -> Result<Vec<u64>, LedgerError>;

    /// States how far the caller knows a run. An append fails once the run has got further.
    fn continue_from(&self, run: &RunId, seq: u64, at: Millis) -> Result<(), LedgerError>;

    /// How many entries of this process the tables do not show yet.
    fn lag(&self) -> usize;

    /// Brings the tables up to date with the journal.
    fn catch_up(&self) -> Result<(), LedgerError>;

    /// Brings the tables up to date. `entries` are those of the last append; where `state_of` knows the states after them,
    /// they are not replayed.
    fn catch_up_with(&self, entries: &[JournalEntry<'_>], state_of: &StateOf<'_>) -> Result<(), LedgerError>;

    /// The entries of a run after this one, in order.
    fn rows_after(&self, run: &RunId, seq: u64) -> Result<Vec<JournalRow>, LedgerError>;

    fn blob(&self, id: BlobId) -> Result<Vec<u8>, LedgerError>;

    /// A connection for queries, for one thread.
    fn reader(&self) -> Result<Reader, LedgerError>;

    /// Numbers that nobody else gets, in rising order. The same holder gets the same ones again.
    fn reserve(&self, request: Reserve<'_>) -> Result<Vec<u32>, LedgerError>;

    /// Leaves a request for the process that drives a run, and returns its id.
    fn request(&self, run: &RunId, at: Millis, event: &Event) -> Result<i64, LedgerError>;

    /// The requests that wait for the driver of a run, the oldest first.
    fn requests(&self, run: &RunId) -> Result<Vec<RequestRow>, LedgerError>;

    /// Refuses a request for a reason that the process which made it can read.
    fn refuse(&self, request: i64, reason: &str) -> Result<(), LedgerError>;

    /// Records durably that an agent is about to start, so that one that dies with its driver is accounted for.
    fn record_start(&self, run: &RunId, start: &AgentStart) -> io::Result<Box<dyn SignsOfLife>>;

    /// The last agent that started for a command, and its last sign of life.
    fn last_start(&self, run: &RunId, command: &str) -> Option<(AgentStart, Millis)>;

    /// Writes back what is in memory. Using the store again opens it again.
    fn close(&self);
}

/// Records the signs of life of an agent that has started.
pub trait SignsOfLife: Send {
    fn seen(&mut self);
}
