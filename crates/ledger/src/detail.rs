//! The parts of a run's state that a table stores, so that readers need no replay.

use crate::position::RunPosition;
use remand_kernel::program::{Program, Scope, Work};
use remand_kernel::state::{State, TaskProgress, TaskRun, UsageTotals};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The name of the list of tasks.
pub(crate) const TASKS: &str = "tasks";

/// The parts of a run's state that readers show, with names instead of ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunDetail {
    pub position: RunPosition,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// Budgets of the run itself; the budgets of a sub-flow are in `tasks`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub budgets: Vec<BudgetLeft>,
    /// The usage when a human last let the run continue past a limit. Each limit counts from this usage.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub granted: UsageTotals,
    /// The tasks of the current list, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskDetail>,
    /// The commit that reverted the work of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverted: Option<String>,
}

/// How much of a budget is left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetLeft {
    pub budget: String,
    pub left: u16,
    pub full: u16,
}

/// One task of the current list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskDetail {
    pub task: String,
    pub state: TaskState,
    /// How much is left of each budget of its sub-flow, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds_left: Vec<(String, u16)>,
}

/// The state of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskState {
    InPhase {
        phase: String,
    },
    /// Not started; `needs` are the unfinished tasks that it needs.
    Waiting {
        needs: Vec<String>,
    },
    /// Finished in an earlier batch, and nothing that it depends on has changed.
    #[serde(rename = "stands")]
    StillValid,
    /// Not started, because a task that it needs was not finished.
    Blocked,
    Finished,
    /// It left its sub-flow with a signal other than completion.
    EndedWith {
        signal: String,
    },
    NotFinished,
    /// A later plan dropped it.
    Dropped,
    /// The ledger does not hold the state of this run.
    Unknown,
}

impl RunDetail {
    pub fn of(program: &Program, state: &State) -> RunDetail {
        RunDetail {
            position: RunPosition::of(program, state),
            paused: state.paused,
            budgets: budgets(program, state),
            granted: state.granted,
            tasks: tasks(program, state),
            reverted: state.reverted.clone(),
        }
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskState::InPhase { phase } => write!(f, "in {phase}"),
            TaskState::Waiting { needs } if needs.is_empty() => f.write_str("waits"),
            TaskState::Waiting { needs } => write!(f, "waits for {}", needs.join(", ")),
            TaskState::StillValid => f.write_str("stands"),
            TaskState::Blocked => f.write_str("blocked"),
            TaskState::Finished => f.write_str("finished"),
            TaskState::EndedWith { signal } => write!(f, "ended with {signal}"),
            TaskState::NotFinished => f.write_str("not finished"),
            TaskState::Dropped => f.write_str("no longer planned"),
            TaskState::Unknown => f.write_str("unknown"),
        }
    }
}

fn is_zero(used: &UsageTotals) -> bool {
    *used == UsageTotals::default()
}

fn budgets(program: &Program, state: &State) -> Vec<BudgetLeft> {
    let belongs_to_task = |scope: Scope| match scope {
        Scope::Entry(phase) | Scope::Phase(phase) => program.phase(phase).owner.is_some(),
        Scope::Run | Scope::Subject => false,
    };
    let amounts = state.left.iter().zip(&state.full);
    let all = program.budgets.iter().zip(amounts);
    all.filter(|(budget, _)| !belongs_to_task(budget.scope))
        .map(|(budget, (left, full))| BudgetLeft { budget: budget.name.clone(), left: *left, full: *full })
        .collect()
}

fn tasks(program: &Program, state: &State) -> Vec<TaskDetail> {
    let Some(list) = program.list_named(TASKS) else {
        return Vec::new();
    };
    let current_list = match &program.phase(state.main.phase).work {
        Work::Flow { list, .. } => Some(*list),
        Work::Role { .. }
        | Work::Each { .. }
        | Work::Panel { .. }
        | Work::Operation { .. }
        | Work::Ask { .. } => None,
    };
    let detail = |(index, item): (usize, &remand_kernel::event::Item)| {
        // Tasks are in a sub-flow only while the main line is at the phase that owns it.
        let task_run = state.tasks.get(index).filter(|_| current_list == Some(list));
        let rounds_left = task_run.map_or(&[][..], |task_run| task_run.left.as_slice());
        TaskDetail {
            task: item.id.clone(),
            state: task_state(program, state, item, task_run),
            rounds_left: rounds_left
                .iter()
                .map(|(budget, left)| (program.budget(*budget).name.clone(), *left))
                .collect(),
        }
    };
    state.lists[list.index()].iter().enumerate().map(detail).collect()
}

fn task_state(
    program: &Program,
    state: &State,
    item: &remand_kernel::event::Item,
    task_run: Option<&TaskRun>,
) -> TaskState {
    let is_finished = |task: &str| state.finished.contains_key(task);
    match task_run.map(|task_run| (task_run.progress, task_run)) {
        Some((TaskProgress::Running, task_run)) => {
            TaskState::InPhase { phase: program.phase(task_run.lane_state.phase).name.clone() }
        }
        Some((TaskProgress::Waiting, _)) => {
            let needs = item.needs.iter().filter(|need| !is_finished(need)).cloned().collect();
            TaskState::Waiting { needs }
        }
        Some((TaskProgress::Stands, _)) => TaskState::StillValid,
        Some((TaskProgress::Blocked, _)) => TaskState::Blocked,
        Some((TaskProgress::Exited(signal), _)) if !is_finished(&item.id) => {
            TaskState::EndedWith { signal: program.signal(signal).to_string() }
        }
        Some((TaskProgress::Exited(_), _)) => TaskState::Finished,
        None if is_finished(&item.id) => TaskState::Finished,
        None => TaskState::NotFinished,
    }
}
