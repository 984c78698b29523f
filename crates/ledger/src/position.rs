//! The position of a run: computed from its state, and displayed to people.

use crate::limit::LimitKind;
use remand_kernel::program::{Program, Work};
use remand_kernel::state::{HoldCause, LaneState, SeatProgress, Stage, State, TaskProgress};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a run is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunPosition {
    /// The run is at one phase on each lane, and may be on hold.
    Phases {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hold: Option<HoldReason>,
        lanes: Vec<LanePosition>,
    },
    /// The run has failed, and the workflow's failure operations are running; `operation` is the current one.
    Failing { operation: String },
    /// The run has ended.
    Ended,
}

/// One lane: the main line, or one task in its sub-flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LanePosition {
    /// `None` for the main line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    pub phase: String,
}

/// Why a run is on hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HoldReason {
    Environment {
        detail: String,
    },
    Limit {
        limit: LimitKind,
        /// The kernel's name of the limit, or the agent whose budget it is.
        name: String,
    },
    /// A route of the workflow holds the run.
    Route,
    /// A human must confirm which phases injected the defects.
    Origin,
}

impl RunPosition {
    pub fn of(program: &Program, state: &State) -> RunPosition {
        match &state.stage {
            Stage::Ended(_) => RunPosition::Ended,
            Stage::Ending { at, .. } => {
                let operation = program.failure.get(usize::from(*at));
                let operation = operation.map(|id| program.operation(*id).name.to_string());
                RunPosition::Failing { operation: operation.unwrap_or_default() }
            }
            Stage::Fresh | Stage::Running => RunPosition::Phases {
                hold: state.hold.as_ref().map(|hold| HoldReason::of(&hold.cause)),
                lanes: lanes(program, state),
            },
        }
    }
}

impl HoldReason {
    fn of(cause: &HoldCause) -> HoldReason {
        match cause {
            HoldCause::Environment { detail } => HoldReason::Environment { detail: detail.clone() },
            HoldCause::Limit { limit } => {
                HoldReason::Limit { limit: LimitKind::from_name(limit), name: limit.clone() }
            }
            HoldCause::Route => HoldReason::Route,
            HoldCause::Origin { .. } => HoldReason::Origin,
        }
    }
}

impl fmt::Display for RunPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hold, lanes) = match self {
            RunPosition::Ended => return Ok(()),
            RunPosition::Failing { operation } => return f.write_str(operation),
            RunPosition::Phases { hold, lanes } => (hold, lanes),
        };
        let hold = hold.iter().map(|hold| match hold {
            HoldReason::Environment { detail: text } | HoldReason::Limit { name: text, .. }
                if !text.is_empty() =>
            {
                format!("hold: {text}")
            }
            HoldReason::Environment { .. }
            | HoldReason::Limit { .. }
            | HoldReason::Route
            | HoldReason::Origin => "hold".to_string(),
        });
        let parts: Vec<String> = hold.chain(lanes.iter().map(ToString::to_string)).collect();
        f.write_str(&parts.join(", "))
    }
}

impl fmt::Display for LanePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.task {
            Some(task) => write!(f, "{task}/{}", self.phase),
            None => f.write_str(&self.phase),
        }
    }
}

/// The lanes with work. The main line is left out if it has no open seat and there are tasks.
fn lanes(program: &Program, state: &State) -> Vec<LanePosition> {
    let items = match &program.phase(state.main.phase).work {
        Work::Flow { list, .. } => state.lists[list.index()].as_slice(),
        Work::Role { .. }
        | Work::Each { .. }
        | Work::Panel { .. }
        | Work::Operation { .. }
        | Work::Ask { .. } => &[],
    };
    lane_states(state)
        .filter_map(|(index, lane)| {
            let task = index.and_then(|index| items.get(index)).map(|item| item.id.clone());
            let is_listed = task.is_some() || state.tasks.is_empty() || has_open_seat(lane);
            is_listed.then(|| LanePosition { task, phase: program.phase(lane.phase).name.clone() })
        })
        .collect()
}

/// The state of the main line, and of each running task with the task's index.
pub(crate) fn lane_states(state: &State) -> impl Iterator<Item = (Option<usize>, &LaneState)> {
    let tasks = state.tasks.iter().enumerate();
    let running = tasks.filter(|(_, run)| run.progress == TaskProgress::Running);
    std::iter::once((None, &state.main)).chain(running.map(|(index, run)| (Some(index), &run.lane_state)))
}

pub(crate) fn has_open_seat(lane: &LaneState) -> bool {
    lane.seats.iter().any(|seat| seat.progress == SeatProgress::Open)
}
