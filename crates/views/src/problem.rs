//! Why runs cannot be shown.

use remand_ledger::LedgerError;
use std::io;

#[derive(Debug, thiserror::Error)]
pub enum ViewProblem {
    #[error("{0}")]
    NotFound(&'static str),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error("{what} cannot be read: {source}")]
    File { what: String, source: io::Error },
}
