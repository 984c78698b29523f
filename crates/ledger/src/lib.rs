//! The ledger: an append-only, hash-chained journal in SQLite, projections made from it, and what can be read.
//!
//! The only crate that knows SQLite. It runs the kernel to make projections again, and decides nothing.

pub mod fact;

pub mod entry;
pub mod error;

mod chain;
mod column;
pub mod schema;

pub mod ledger;
mod project;
pub mod reservation;
mod room;

pub mod query;

mod follow;
mod history;
pub mod replay;

pub mod measure;

pub mod audit;
pub mod export;

pub use audit::{AuditReport, audit};
pub use chain::{ChainHash, Head};
pub use entry::{Blob, Entry};
pub use error::LedgerError;
pub use export::export;
pub use fact::{BlobId, Facts, Millis, RunId};
pub use follow::SNAPSHOT_EVERY;
pub use ledger::Ledger;
pub use query::Reader;
pub use replay::{ReplayError, ReplayFrom, Replayed, replay};
pub use reservation::Reserve;
