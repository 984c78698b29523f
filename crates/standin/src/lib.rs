//! The stand-in: a model that plays a rehearsal to real agent programs, for tests.
//!
//! It is a service on the loopback interface that speaks the protocols of the model vendors. Each protocol is translated
//! to a common conversation (`conversation`). The script's entry and the program's tools determine a plan of turns
//! (`plan`); the history in the request shows how many of them were played.

mod admission;
mod conversation;
mod dispatch;
mod plan;
mod player;
mod protocol;
mod record;
mod reply;
mod schema;
mod server;
mod shell;
mod spoken;
mod tool_use;
mod toolbox;
mod usage;

pub use admission::{UnplayableAction, UnplayableScript};
pub use protocol::Protocol;
pub use record::Request;
pub use server::{Options, Standin, StartError};
