//! The terminal view: all runs of a user, one of them in detail, and what a person asks of it.
//!
//! It draws what `remand_views` reads, holds nothing of a run but what is on the screen, and decides nothing.

mod keys;
mod screen;

mod paint;
mod watch;

mod answer;
mod list;
mod panels;
mod run;
mod view;

pub use keys::Key;
pub use screen::{ScreenError, TerminalScreen};
pub use view::{Desk, TopView};
pub use watch::{TopError, show};
