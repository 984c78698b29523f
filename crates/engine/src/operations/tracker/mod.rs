//! Operations of a run that works on an issue: check and start the issue, file sub-issues, close the issue or give up.

mod close;
mod drafts;
mod failure;
mod file;
mod run_tracker;
mod sanity;
mod start;
mod summary;

pub use close::run as close;
pub use failure::{back_to_todo, comment, discard};
pub use file::run as file;
pub use sanity::run as sanity;
pub use start::run as start;
