//! The stand-in: a model that plays a rehearsal to real agent programs, for tests.
//!
//! A service on the loopback interface that speaks the protocols of the model vendors. Each protocol is translated to
//! one conversation ([`conversation`]); the script's entry and the tools that the program offers give a plan of turns
//! ([`plan`]); how many of them were played follows from the history in the request.

mod admission;
mod answer;
mod conversation;
mod errand;
mod gesture;
mod plan;
mod protocol;
mod record;
mod schema;
mod server;
mod shell;
mod stage;
mod toolbox;
mod usage;

pub use admission::{Refusal, Refused};
pub use protocol::Protocol;
pub use record::Request;
pub use server::{Options, Standin, StartError};
