//! Walks: a written list of what happens, fed to the kernel, to try a workflow before any agent is paid for.
//!
//! `file.rs` reads a walk from YAML; `walker.rs` turns each happening into events and keeps what the kernel ruled.

mod combination;
mod file;
mod walker;

pub use file::{Entry, Walk, read};
pub use walker::{Happening, Says, Taken, WalkError, Walker};
