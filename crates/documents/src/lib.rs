//! Documents that people and the engine both write, such as issues, tickets and specifications.
//!
//! They are read as they are, whatever somebody did to them by hand, and changed only where something must change:
//! every other byte stays. Nothing here knows files, git or the ledger; a document is a text.

mod design;
mod markdown;
mod ticket;
pub mod tracker;

pub use design::{Decision, Delta, Departure, Design, Piece};
pub use markdown::{CheckBox, Heading, Markdown, Section};
pub use ticket::{Feedback, PastApproach, Status, Ticket, Unreadable, template};
