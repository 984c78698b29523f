//! Demonstrations: a small real project, scripted agents, real edits, tests and commits.
//!
//! Each is a folder of `demo/`: `demo.yaml` lists the steps, `project/` is the project, and rehearsals script the
//! agents.

mod catalogue;
mod demonstration;
mod project;
mod show;
mod story;

pub use catalogue::{ChosenDemo, USUAL, all, chosen, names};
pub use demonstration::DemoStep;
pub use project::DemoProject;
pub use show::{DemoStage, Played, Show, typed};
pub use story::StoryOutput;
