//! The whole ledger: runs of shipped workflows, written, read, killed, tampered with and replayed.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

mod support;

mod appending;
mod crashing;
mod evidence;
mod exporting;
mod following;
mod gates;
mod opening;
mod reading;
mod replaying;
mod requests;
mod source_queries;
mod tampering;
mod viewing;
