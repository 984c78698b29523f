//! The stand-in as programs meet it: by plain requests in each protocol, and by the real programs.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

mod chat;
mod faults;
mod gemini;
mod messages;
mod place;
mod programs;
mod responses;
mod wire;
