//! The ledger: an append-only, hash-chained journal in SQLite, projections derived from it, and queries over both.
//!
//! This is the only crate that uses SQLite. It runs the kernel to rebuild projections, and decides nothing itself.

pub mod fact;
pub mod proof;

pub mod entry;
pub mod error;

mod cell;
mod chain;
mod column;
pub mod limit;

mod detail;
mod position;
mod project;
mod tables;

mod follow;
mod history;
mod replay_error;
mod restore;

pub mod ledger;
mod log_space;
pub mod reservation;
pub mod schema;

pub mod query;

pub mod replay;

pub mod view;

pub mod measure;

pub mod audit;
pub mod export;

pub use audit::{AuditReport, audit};
pub use chain::{ChainHash, ChainHead};
pub use entry::{Blob, JournalEntry};
pub use error::LedgerError;
pub use export::export;
pub use fact::{BlobId, Facts, Millis, RunId};
pub use follow::SNAPSHOT_EVERY;
pub use ledger::Ledger;
pub use limit::LimitKind;
pub use query::Reader;
pub use replay::{ReplayError, ReplayFrom, Replayed, replay};
pub use reservation::Reserve;
pub use view::{RunChange, RunDetail, RunPosition, RunView};
