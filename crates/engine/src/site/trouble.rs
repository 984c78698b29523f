//! Why a command has no result, in the kernel's terms.

use crate::turn::CommandEnding;
use remand_git::GitError;
use remand_kernel::Outcome;
use remand_kernel::event::Usage;
use remand_kernel::ids::CommandId;
use remand_kernel::signal::Failure;
use remand_ledger::LedgerError;

/// A failure of a command, with a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub failure: Failure,
    pub detail: String,
}

impl Trouble {
    pub fn new(failure: Failure, detail: impl Into<String>) -> Trouble {
        Trouble { failure, detail: detail.into() }
    }

    /// The environment of the engine is broken; the work is not at fault.
    pub fn environment(detail: impl Into<String>) -> Trouble {
        Trouble::new(Failure::Environment, detail)
    }

    /// A retry of the command would fail the same way.
    pub fn denied(detail: impl Into<String>) -> Trouble {
        Trouble::new(Failure::Denied, detail)
    }

    pub fn cancelled() -> Trouble {
        Trouble::new(Failure::Cancelled, "cancelled")
    }

    /// The ending of a command for which no agent has started.
    pub fn into_ending(self, id: CommandId) -> CommandEnding {
        let ending = CommandEnding::plain(Outcome::Failed {
            failure: self.failure,
            detail: self.detail,
            in_a_row: id.attempt,
        });
        CommandEnding { usage: Usage { money: Some(0), tokens: Some(0), ..Usage::default() }, ..ending }
    }
}

/// The ending after a bug in the engine. The command is not retried, and its usage is unknown.
pub fn engine_failed(defect: &str, id: CommandId) -> CommandEnding {
    let ending = Trouble::denied(format!("{defect}; this is a bug in Remand")).into_ending(id);
    CommandEnding { usage: Usage::default(), ..ending }
}

impl From<GitError> for Trouble {
    fn from(error: GitError) -> Trouble {
        match error {
            GitError::Cancelled => Trouble::cancelled(),
            error @ GitError::Excess { .. } => {
                Trouble::new(Failure::Violation, format!("{error}; {}", error.hint()))
            }
            error => Trouble::environment(format!("{error}; {}", error.hint())),
        }
    }
}

impl From<LedgerError> for Trouble {
    fn from(error: LedgerError) -> Trouble {
        Trouble::environment(format!("{error}; {}", error.hint()))
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Trouble {
        Trouble::environment(error.to_string())
    }
}
