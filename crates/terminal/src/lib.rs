//! What commands print and how they end, for everything that talks to a person in a terminal.
//!
//! Text goes through `output`, which removes what a terminal would obey. Nothing here decides what a run does.

pub mod exit;
pub mod failure;
pub mod invocation;

pub mod amount;
pub mod line;

pub mod ink;
pub mod table;

pub mod output;
pub mod stop;

pub use exit::ExitCode;
pub use failure::CommandFailure;
pub use ink::{Ink, Tone};
pub use stop::Stop;
