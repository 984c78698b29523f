//! Walks: feed a written list of events to the kernel, to try a workflow before paying for any agent.
//!
//! `file.rs` reads a walk from YAML, `outcome.rs` creates an outcome for each seat, and `walker.rs` feeds the outcomes to
//! the kernel and keeps its rulings.

mod combination;
mod file;
mod outcome;
mod walk_step;
mod walker;

pub use file::{Walk, WalkEntry, read};
pub use walk_step::{Says, WalkError, WalkStep};
pub use walker::{WalkRecord, Walker};
