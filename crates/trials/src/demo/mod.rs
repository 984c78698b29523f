//! Demonstrations: a small real project, scripted agents, real edits, tests and commits.
//!
//! Each is a folder in `demo/`: `demo.yaml` lists the steps, `project/` is the project, and rehearsals script the
//! agents.

mod catalogue;
mod demonstration;
mod project;
mod show;
mod story;

pub use catalogue::{ChosenDemo, DEFAULT_DEMO, all, find, names};
pub use demonstration::DemoStep;
pub use project::DemoProject;
pub use show::{DemoResult, DemoStage, Show, command_line};
pub use story::StoryOutput;
