//! Which order a command of the kernel becomes.

use super::backoff::backoff;
use super::book::{Book, Now};
use super::order::{CommandStart, EffectOrder, Issuance};
use remand_kernel::Command;
use std::time::Duration;

/// A command with what its order depends on.
pub(super) struct IssuedCommand {
    pub command: Command,
    pub issuance: Issuance,
    /// 1-based number of the start.
    pub number: u64,
    /// The attempt before failed by its environment, and the service asked for this wait, if for any.
    pub failed: Option<Option<Duration>>,
}

/// The order for a command, if it needs one. A command that is started counts as running from now on.
pub(super) fn order(book: &mut Book, issued: IssuedCommand, now: &Now) -> Option<EffectOrder> {
    let IssuedCommand { command, issuance, number, failed } = issued;
    let wait = match (&command, failed) {
        (Command::Dispatch(dispatch), Some(requested)) => {
            backoff(dispatch.failures, requested, book.time_left())
        }
        // Operations are retried only after failures of the environment.
        (Command::Operate { id, .. }, _) => backoff(id.attempt.saturating_sub(1), None, book.time_left()),
        _ => Duration::ZERO,
    };
    match command {
        Command::Dispatch(_) | Command::Operate { .. } => {
            let id = command.id()?;
            book.running.start(id, now.uptime);
            Some(EffectOrder::Start(CommandStart { id, command, issuance, number, wait }))
        }
        Command::Cancel { id } if book.running.contains(id) => Some(EffectOrder::Stop { id }),
        Command::Cancel { id } => Some(EffectOrder::Restore { id }),
        Command::Ask(question) => Some(EffectOrder::PrepareQuestion { id: question.id }),
        Command::Finish { .. } => Some(EffectOrder::Finish),
        // Trees and inputs follow the state when they are next used.
        Command::Discard { .. } | Command::Restore { .. } => None,
    }
}
