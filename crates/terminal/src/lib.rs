//! The terminal output of commands, and their exit codes.
//!
//! All text goes through `output`, which removes control sequences. Nothing here affects what a run does.

pub mod exit;
pub mod failure;
pub mod invocation;

pub mod amount;
pub mod line;

pub mod ink;
pub mod markdown;
pub mod table;

pub mod output;
pub mod stop;

pub use exit::ExitCode;
pub use failure::CommandFailure;
pub use ink::{ColourChoice, Ink, Tone};
pub use stop::Stop;
