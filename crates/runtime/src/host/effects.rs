//! The line between the host and the world: what carries commands out.

use super::message::Reply;
use remand_kernel::ids::CommandId;
use remand_kernel::{Command, Program, State};
use remand_ledger::{Millis, RunId};
use std::sync::Arc;

/// A command of a run with what was known when it was given.
#[derive(Clone, Copy, Debug)]
pub struct Order<'o> {
    pub run: &'o RunId,
    pub program: &'o Arc<Program>,
    pub state: &'o State,
    pub command: &'o Command,
    pub issue: Issue,
}

/// Whether a command was given before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Issue {
    First,
    /// It was open when another process stopped driving the run; what that one began is undone first.
    Again,
}

/// An agent that began with a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    pub command: CommandId,
    /// The how-manieth of the command, after those of whose interruption the journal told when it began.
    pub nth: u64,
    pub at: Millis,
    /// Its last sign of life.
    pub seen: Millis,
}

/// Carries commands out. Nothing in here decides where a run goes.
///
/// None of it keeps the host waiting but `take_over`, which comes before a run goes on, and `settle`. What is told of
/// one run is done in the order in which it was told.
pub trait Effects {
    /// Starts a dispatch or an operation; the reply takes its outcome back, from any thread.
    fn perform(&mut self, order: &Order<'_>, reply: Reply);

    /// Ends what a command started, with its whole process group. Its reply still comes.
    fn cancel(&mut self, run: &RunId, id: CommandId);

    /// This process is about to stop: ends what is started for runs besides their commands, all of which can be done again.
    fn stop(&mut self) {}

    /// Another process drove this run and is gone: ends whatever that one left running.
    fn take_over(&mut self, run: &RunId);

    /// The agent that a process which drove the run started last for a command of it, if there was one.
    fn begun(&self, _run: &RunId, _command: &str) -> Option<Begun> {
        None
    }

    /// The order cancels what that other process had begun: undoes it.
    fn clear_away(&mut self, order: &Order<'_>, id: CommandId);

    /// A question was put to a human: writes down what is to be read before an answer.
    fn asked(&mut self, _order: &Order<'_>) {}

    /// The run is over: lays out what people will want to read, and lets its trees go.
    fn finish(&mut self, order: &Order<'_>);

    /// Whether what was cleared away, asked and finished of a run is done. Until then the run takes no further event: what
    /// is written goes by the journal as it was.
    fn is_settled(&self, _run: &RunId) -> bool {
        true
    }

    /// Waits until that is so of every run. Commands are not waited for.
    fn settle(&mut self) {}
}
