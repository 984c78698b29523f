//! Walks: feeds a written list of events to the kernel, to try a workflow before paying for any agent.
//!
//! `file.rs` reads a walk from YAML, `outcome.rs` makes an outcome for each seat, and `walker.rs` feeds the outcomes to
//! the kernel and keeps its rulings.

mod combination;
mod file;
mod happening;
mod outcome;
mod walker;

pub use file::{Walk, WalkEntry, read};
pub use happening::{Says, WalkError, WalkStep};
pub use walker::{WalkRecord, Walker};
