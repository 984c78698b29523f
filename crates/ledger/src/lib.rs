//! The ledger: an append-only, hash-chained journal in SQLite, projections made from it, and what can be read.
//!
//! The only crate that knows SQLite. It runs the kernel to make projections again, and decides nothing.

pub mod fact;

pub mod entry;

pub use entry::{Blob, Entry};
pub use fact::{BlobId, Facts, Millis, RunId};
