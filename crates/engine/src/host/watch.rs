//! Observers of runs that this process drives.

use remand_kernel::step::Step;
use remand_kernel::{Command, Event, Program, State};
use remand_ledger::{Facts, Millis, RunId};

/// One committed step.
#[derive(Clone, Copy, Debug)]
pub struct CommittedStep<'n> {
    pub run: &'n RunId,
    pub program: &'n Program,
    /// The state after the step.
    pub state: &'n State,
    pub at: Millis,
    pub event: &'n Event,
    pub facts: &'n Facts,
    pub step: &'n Step,
}

/// A run that another process left and this process continues.
#[derive(Clone, Copy, Debug)]
pub struct ResumedRun<'n> {
    pub run: &'n RunId,
    pub program: &'n Program,
    pub state: &'n State,
    /// The commands that start again.
    pub open: &'n [Command],
}

/// Observes a drive, and changes nothing.
pub trait DriveWatch {
    /// A run was resumed, and some of its commands have started again. Nothing is committed for that.
    fn resumed(&mut self, _: &ResumedRun<'_>) {}

    /// A step was committed.
    fn committed(&mut self, step: &CommittedStep<'_>);

    /// Called many times a second while commands are running.
    fn waiting(&mut self) {}

    /// Whether a signal asked this process to stop driving.
    fn should_stop(&self) -> bool {
        false
    }
}

/// A watch that ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl DriveWatch for Unwatched {
    fn committed(&mut self, _: &CommittedStep<'_>) {}
}
