//! The interface between the host and the code that performs orders.

use super::reply::CommandReply;
use crate::turn::CommandStart;
use remand_kernel::ids::CommandId;
use remand_kernel::{Program, State};
use remand_ledger::RunId;
use std::sync::Arc;

/// A run as it was when an order was given.
#[derive(Clone, Copy, Debug)]
pub struct RunAt<'o> {
    pub run: &'o RunId,
    pub program: &'o Arc<Program>,
    pub state: &'o State,
}

/// Performs orders, and decides nothing about the run.
///
/// Only `kill_leftovers`, which comes before a run continues, and `finish_background` block the host. The background
/// tasks of one run are performed in the order in which they were ordered.
pub trait Effects {
    /// Starts a dispatch or an operation. `reply` sends its ending back, from any thread.
    fn start(&mut self, at: &RunAt<'_>, start: CommandStart, reply: CommandReply);

    /// Kills the processes of a command. Its ending still comes back.
    fn stop(&mut self, run: &RunId, id: CommandId);

    /// Stops the background tasks because this process is about to stop. All of them can be repeated.
    fn stop_background(&mut self) {}

    /// Kills the processes that an earlier driving process of this run left running.
    fn kill_leftovers(&mut self, run: &RunId);

    /// Restores the working tree of a cancelled command that another process started.
    fn restore(&mut self, at: &RunAt<'_>, id: CommandId);

    /// Writes the files that a human reads before answering this question.
    fn prepare_question(&mut self, _at: &RunAt<'_>, _id: CommandId) {}

    /// Writes the files for people of a run that is over, and releases its working trees.
    fn finish(&mut self, at: &RunAt<'_>);

    /// Whether all background tasks of a run are done. Until then the run accepts no further message, because background
    /// tasks describe the journal as it was.
    fn is_background_done(&self, _run: &RunId) -> bool {
        true
    }

    /// Waits until the background tasks of all runs are done. It does not wait for commands.
    fn finish_background(&mut self) {}
}
