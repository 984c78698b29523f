//! The line between the host and the world: what performs orders.

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

/// Performs orders. Nothing in here decides where a run goes.
///
/// No method blocks the host except `kill_leftovers`, which comes before a run continues, and `finish_background`. What is
/// ordered for one run in the background happens in the order in which it was ordered.
pub trait Effects {
    /// Starts a dispatch or an operation. The reply takes its ending back, from any thread.
    fn start(&mut self, at: &RunAt<'_>, start: CommandStart, reply: CommandReply);

    /// Kills what a command started, with its whole process group. Its reply still comes.
    fn stop(&mut self, run: &RunId, id: CommandId);

    /// This process is about to stop: ends what runs in the background, all of which can be done again.
    fn stop_background(&mut self) {}

    /// Another process drove this run and is gone: kills whatever it left running.
    fn kill_leftovers(&mut self, run: &RunId);

    /// Puts back the working tree of a cancelled command that another process had started.
    fn restore(&mut self, at: &RunAt<'_>, id: CommandId);

    /// Writes down what a human wants to read before answering this question.
    fn prepare_question(&mut self, _at: &RunAt<'_>, _id: CommandId) {}

    /// The run is over: lays out what people will read, and releases its working trees.
    fn finish(&mut self, at: &RunAt<'_>);

    /// Whether everything ordered in the background for a run is done. Until then the run takes no further message: what is
    /// written in the background describes the journal as it was.
    fn is_background_done(&self, _run: &RunId) -> bool {
        true
    }

    /// Waits until that is so for every run. It does not wait for commands.
    fn finish_background(&mut self) {}
}
