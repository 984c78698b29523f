//! One turn of a run: the book of the run and one message give the entry to commit and the orders that follow.
//!
//! Everything here is pure: no files, no clock, no threads, no ledger. A host receives a message, takes the turn,
//! appends the entry, and only then performs the orders. A refusal leaves the run as it was.

mod backoff;
mod message;
mod order;
mod parts;
mod running;

mod book;

mod assign;

mod resume;
mod take;

pub use book::{Book, Now};
pub use message::{CommandEnding, Message, Sender};
pub use order::{CommandStart, EffectOrder, Issuance};
pub use parts::ArtifactParts;
pub use resume::{AgentStart, Redelivery, lost_agents, redeliver, version_warning};
pub use take::{EntryDraft, TurnResult, turn};

#[cfg(test)]
#[allow(clippy::expect_used, clippy::panic)]
#[path = "turn_tests.rs"]
mod tests;
