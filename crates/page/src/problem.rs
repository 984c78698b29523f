//! Why a page cannot be shown.

use remand_git::GitError;
use remand_ledger::{LedgerError, ReplayError};
use remand_views::ViewProblem;

#[derive(Debug, thiserror::Error)]
pub enum PageProblem {
    #[error("{0}")]
    NotFound(String),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("{what} cannot be read: {source}")]
    File { what: String, source: std::io::Error },
}

impl PageProblem {
    pub fn missing(what: impl Into<String>) -> PageProblem {
        PageProblem::NotFound(what.into())
    }

    pub fn is_missing(&self) -> bool {
        match self {
            PageProblem::NotFound(_)
            | PageProblem::Ledger(LedgerError::NoSuchRun { .. } | LedgerError::NoSuchBlob { .. }) => true,
            PageProblem::Ledger(_)
            | PageProblem::Replay(_)
            | PageProblem::Git(_)
            | PageProblem::File { .. } => false,
        }
    }

    pub fn hint(&self) -> String {
        match self {
            PageProblem::NotFound(_) | PageProblem::File { .. } => String::new(),
            PageProblem::Ledger(error) => error.hint().to_string(),
            PageProblem::Replay(error) => error.hint().to_string(),
            PageProblem::Git(error) => error.hint(),
        }
    }
}

impl From<ViewProblem> for PageProblem {
    fn from(problem: ViewProblem) -> PageProblem {
        match problem {
            ViewProblem::NotFound(what) => PageProblem::missing(what),
            ViewProblem::Ledger(error) => PageProblem::Ledger(error),
            ViewProblem::File { what, source } => PageProblem::File { what, source },
        }
    }
}
