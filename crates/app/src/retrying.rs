//! Whether a run can be retried.

use remand_kernel::state::State;
use remand_ledger::{Reader, ReplayFrom, RunId, replay};
use remand_terminal::invocation;

/// The command that retries a run that is over; `None` if it cannot be retried.
pub fn command_for(reader: &Reader, run: &RunId) -> Option<String> {
    let replayed = replay(reader, run, ReplayFrom::Snapshot).ok()?;
    State::can_be_retried(&replayed.state).then(|| invocation::command(format!("retry {run}")))
}
