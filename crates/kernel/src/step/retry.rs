//! Reopens a run that ended because an agent failed or a commit hook refused: the failed seats are issued again.

use super::{Refusal, Stepper};
use crate::ids::{Lane, SignalId};
use crate::operation::EngineOperation;
use crate::program::Work;
use crate::ruling::{Disposition, Why};
use crate::signal::NO_RESULT;
use crate::state::{LaneState, MAX_RETRIES, RetryPoint, SeatProgress, Stage};
use crate::view;
use alloc::string::{String, ToString};

/// The result of the commit operation when a hook refuses.
const HOOK_REFUSED: &str = "hook-refused";

impl Stepper<'_> {
    /// Continues an ended run at the phase that failed. Results before it are kept, and budgets stay as they were.
    pub(super) fn retry(&mut self, by: &str) -> Result<(), Refusal> {
        let end = match &self.state.stage {
            Stage::Ended(end) => end,
            Stage::Fresh => return Err(Refusal::NotStarted),
            Stage::Running | Stage::Ending { .. } => return Err(Refusal::WrongStage("not finished")),
        };
        let Some(point) = &self.state.retry_point else {
            return Err(Refusal::NotRetriable(view::end(self.program, end)));
        };
        if self.state.retries >= MAX_RETRIES {
            return Err(Refusal::NoRetryLeft(MAX_RETRIES));
        }
        let RetryPoint { signal, main, tasks } = point.clone();
        self.state.retry_point = None;
        self.state.retries += 1;
        self.state.stage = Stage::Running;
        self.state.main = main;
        self.state.tasks = tasks;
        let why = Why::Human { by: by.to_string(), note: String::new() };
        self.push_human_ruling(signal, Disposition::Retry, why);
        self.issue_held_seats();
        Ok(())
    }

    /// Records where a retry continues if the run ends now.
    pub(super) fn set_retry_point(&mut self, signal: SignalId) {
        let mut point = RetryPoint { signal, main: self.state.main.clone(), tasks: self.state.tasks.clone() };
        hold_unfinished_seats(&mut point.main, signal);
        for run in &mut point.tasks {
            hold_unfinished_seats(&mut run.lane_state, signal);
        }
        self.state.retry_point = Some(point);
    }

    /// Whether a lane has just settled a commit that a hook refused.
    pub(super) fn is_refused_commit(&self, lane: Lane, signal: SignalId) -> bool {
        let Work::Operation { operation } = &self.program.phase(self.lane_state(lane).phase).work else {
            return false;
        };
        self.program.operation(*operation).name == EngineOperation::Commit
            && self.program.signal(signal) == HOOK_REFUSED
    }
}

/// Holds the seats that a retry issues again: all without a result, and the refused commit.
fn hold_unfinished_seats(lane_state: &mut LaneState, signal: SignalId) {
    for seat in &mut lane_state.seats {
        let is_kept = match &seat.progress {
            SeatProgress::Said(result) => signal == NO_RESULT || result.signal != signal,
            SeatProgress::Open | SeatProgress::Held | SeatProgress::Failed { .. } => false,
        };
        if !is_kept {
            seat.progress = SeatProgress::Held;
            seat.retries = 0;
        }
    }
}
