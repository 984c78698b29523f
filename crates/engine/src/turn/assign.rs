//! Turns commands of the kernel into orders.

use super::backoff::backoff;
use super::loaded_run::{LoadedRun, Now};
use super::order::{CommandStart, EffectOrder, Issuance};
use remand_kernel::Command;
use std::time::Duration;

/// A command with the data that its order depends on.
pub(super) struct IssuedCommand {
    pub command: Command,
    pub issuance: Issuance,
    /// 1-based number of the start.
    pub number: u64,
    /// `Some` if the previous attempt failed because of its environment; inside is the wait that the service asked for.
    pub requested_wait: Option<Option<Duration>>,
}

/// The order for a command, if it needs one. A command that is started counts as running from now on.
pub(super) fn order(loaded: &mut LoadedRun, issued: IssuedCommand, now: &Now) -> Option<EffectOrder> {
    let IssuedCommand { command, issuance, number, requested_wait } = issued;
    let wait = match (&command, requested_wait) {
        (Command::Dispatch(dispatch), Some(requested)) => {
            backoff(dispatch.failures, requested, loaded.time_left())
        }
        (Command::Operate { id, .. }, Some(requested)) => {
            backoff(id.attempt.saturating_sub(1), requested, loaded.time_left())
        }
        _ => Duration::ZERO,
    };
    match command {
        Command::Dispatch(_) | Command::Operate { .. } => {
            let id = command.id()?;
            loaded.running.start(id, now.uptime);
            Some(EffectOrder::Start(CommandStart { id, command, issuance, number, wait }))
        }
        Command::Cancel { id } if loaded.running.contains(id) => Some(EffectOrder::Stop { id }),
        Command::Cancel { id } => Some(EffectOrder::Restore { id }),
        Command::Ask(question) => Some(EffectOrder::PrepareQuestion { id: question.id }),
        Command::Finish { .. } => Some(EffectOrder::Finish),
        // Trees and inputs are updated from the state when they are next used.
        Command::Discard { .. } | Command::Restore { .. } => None,
    }
}
