//! The site of one run: its pinned workflow, trees, folders and drivers, and the command that works there.
//!
//! Dispatches and operations build on it; `workshop/` runs them.

mod agent_slots;
mod settings;
mod trouble;

mod run_site;
mod sandbox;

mod job;
mod tree;

pub use agent_slots::{AgentSlot, AgentSlots};
pub use job::{Job, marker};
pub use run_site::Site;
pub use sandbox::SandboxScope;
pub use settings::Settings;
pub use tree::{LaneContent, LaneTree, TREES};
pub use trouble::{Trouble, engine_failed};
