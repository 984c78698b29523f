//! Operations of a run on an issue: checks before the start, files sub-issues, closes the issue.

mod account;
mod close;
mod drafts;
mod failure;
mod file;
mod sanity;
mod start;
mod summary;

pub use close::run as close;
pub use failure::{back_to_todo, comment, discard};
pub use file::run as file;
pub use sanity::run as sanity;
pub use start::run as start;
