//! Demonstrations: a small real project, scripted agents, real edits, tests and commits.
//!
//! Each is data, a folder of `demo/`: `demo.yaml` says what is done, `project/` holds what it is done in, and
//! rehearsals say what the agents do.

mod catalogue;
mod demonstration;
mod project;
mod show;
mod story;

pub use catalogue::{Choice, USUAL, all, chosen, names};
pub use demonstration::Step;
pub use project::Project;
pub use show::{Played, Show, typed};
