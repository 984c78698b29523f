//! Walks: a written list of what happens, fed to the kernel, to try a workflow before any agent is paid for.
//!
//! `file.rs` reads a walk from YAML; `outcome.rs` makes an outcome for each seat, and
//! `walker.rs` feeds them to the kernel and keeps what it ruled.

mod combination;
mod file;
mod happening;
mod outcome;
mod walker;

pub use file::{Entry, Walk, read};
pub use happening::{Happening, Says, WalkError};
pub use walker::{Taken, Walker};
