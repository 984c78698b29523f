//! Documents that both people and the engine write, such as issues, tickets and specifications.
//!
//! The reader accepts whatever people did to them by hand. A change touches only the bytes that must change. Nothing here
//! knows files, git or the ledger; a document is a text.

mod design;
mod markdown;
mod ticket;
pub mod tracker;

pub use design::{Delta, Departure, DesignDecision, DesignDocument, Piece};
pub use markdown::{CheckBox, Heading, Markdown, Section};
pub use ticket::{Feedback, PastApproach, Ticket, TicketStatus, Unreadable, template};
