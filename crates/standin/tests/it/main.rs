//! The stand-in, called with plain requests in each protocol, and by real agent programs.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

mod chat;
mod faults;
mod gemini;
mod messages;
mod programs;
mod responses;
mod wire;
mod workspace;
