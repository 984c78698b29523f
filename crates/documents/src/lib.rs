//! Documents that both people and the engine write, such as issues, tickets and specifications.
//!
//! Documents that people edited by hand are read in any common form. A change touches only the bytes that must change. The
//! crate works on text alone: it knows nothing about files, git or the ledger.

mod design;
mod markdown;
mod ticket;
pub mod tracker;

pub use design::{Delta, Departure, DesignDecision, DesignDocument, Piece};
pub use markdown::{CheckBox, Heading, Markdown, Section};
pub use ticket::{Feedback, PastApproach, Ticket, TicketStatus, Unreadable, template};
