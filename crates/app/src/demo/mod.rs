//! The demonstration: a small real project, scripted agents, real edits, tests and a commit.

mod project;
mod story;

pub use project::{Project, REQUEST};
pub use story::Story;
