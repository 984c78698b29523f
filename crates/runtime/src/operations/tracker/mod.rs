//! What a run on an issue does with the tracker: looks before it starts, files what is left, and closes it.

mod account;
mod close;
mod drafts;
mod failure;
mod file;
mod sanity;
mod start;
mod summary;

pub use account::keep;
pub use close::run as close;
pub use failure::{back_to_todo, comment, discard};
pub use file::run as file;
pub use sanity::run as sanity;
pub use start::run as start;
