//! The way from the page to a run: the same door that every human's answer takes.

use remand_engine::home::Home;
use remand_ledger::Reader;
use remand_ledger::query::GateRow;

/// An answer that was given on the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageAnswer {
    pub option: String,
    pub note: String,
    /// The flags of the question that it sets.
    pub flags: Vec<String>,
}

/// Records answers of the user.
pub trait GateDoor: Send + Sync {
    /// Records an answer as a request to the run; an error says why it is not recorded.
    fn answer(&self, home: &Home, reader: &Reader, gate: &GateRow, answer: &PageAnswer)
    -> Result<(), String>;
}
