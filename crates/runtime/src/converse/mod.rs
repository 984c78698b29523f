//! The Agent Client Protocol: a client that stands in the agent's place, talks to the agent on its standard streams and
//! says in plain lines what happens.
//!
//! It runs as the agent's process would, in the same sandbox and under the same supervision. What it permits or refuses
//! is no boundary: agents write by themselves, and the sandbox holds them.

mod account;
mod books;
mod cancel;
mod client;
mod fault;
mod files;
mod lenient;
mod listener;
mod permission;
mod plan;
mod said;
mod session;
mod wire;

pub use books::{Kept, Source};
pub use client::converse;
pub use plan::{Plan, Server};
pub use said::hear;

use std::io;
use std::path::PathBuf;

/// Why there is no conversation.
#[derive(Debug, thiserror::Error)]
pub enum ConverseError {
    #[error("the plan {} cannot be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("the plan {} is malformed", path.display())]
    Malformed { path: PathBuf, source: serde_json::Error },
    #[error("the prompt cannot be read")]
    Prompt(#[source] io::Error),
    #[error("it cannot be waited for")]
    Runtime(#[source] io::Error),
    #[error("`{program}` cannot be started")]
    Start { program: String, source: io::Error },
}
