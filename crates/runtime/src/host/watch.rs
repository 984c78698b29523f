//! What faces see of a run while this process drives it.

use remand_kernel::step::Step;
use remand_kernel::{Command, Event, Program, State};
use remand_ledger::{Facts, Millis, RunId};

/// One committed step.
#[derive(Clone, Copy, Debug)]
pub struct News<'n> {
    pub run: &'n RunId,
    pub program: &'n Program,
    /// After the step.
    pub state: &'n State,
    pub at: Millis,
    pub event: &'n Event,
    pub facts: &'n Facts,
    pub step: &'n Step,
}

/// A run that another process left, where this one goes on with it.
#[derive(Clone, Copy, Debug)]
pub struct TakenUp<'n> {
    pub run: &'n RunId,
    pub program: &'n Program,
    pub state: &'n State,
    /// What is carried out again.
    pub open: &'n [Command],
}

/// Looks on; it changes nothing.
pub trait Watch {
    /// A run was taken up, and some of its commands are under way again; nothing was committed for that.
    fn taken_up(&mut self, _: &TakenUp<'_>) {}

    /// A step was committed.
    fn published(&mut self, news: &News<'_>);

    /// Called many times a second while work is under way.
    fn waiting(&mut self) {}

    /// Whether this process was told to stop driving, by a signal.
    fn told_to_stop(&self) -> bool {
        false
    }
}

/// Nobody looks on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn published(&mut self, _: &News<'_>) {}
}
