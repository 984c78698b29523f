//! One turn of a run: the loaded run and one message give the entry to commit and the orders to perform.
//!
//! Everything here is pure: no files, no clock, no threads, no ledger. A host receives a message, takes the turn,
//! appends the entry, and only then performs the orders. A refusal leaves the run unchanged.

mod backoff;
mod message;
mod order;
mod parts;
mod running;

mod loaded_run;

mod assign;

mod resume;
mod take;

pub use loaded_run::{LoadedRun, Now};
pub use message::{CommandEnding, Message, Sender};
pub use order::{CommandStart, EffectOrder, Issuance};
pub use parts::ArtifactParts;
pub use resume::{AgentStart, Redelivery, lost_agents, redeliver, version_warning};
pub use take::{EntryDraft, TurnResult, turn};

#[cfg(test)]
#[allow(clippy::expect_used, clippy::panic)]
#[path = "turn_tests.rs"]
mod tests;
