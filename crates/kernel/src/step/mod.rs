//! The path of an event through the kernel: a refused event changes nothing, any other leads to rulings and commands.
//!
//! `outcome.rs` reads how a seat ended, `settle.rs` turns a finished phase into one signal, `follow.rs` follows its
//! route, `enter.rs` opens the next phase or skips it if `reuse.rs` allows that, `tasks.rs` runs sub-flows,
//! `address.rs` sends findings to phases and tasks, `human.rs` handles what people do,
//! `retry.rs` reopens a run that has ended.

mod address;
mod attribution;
mod enter;
mod follow;
mod human;
mod notice;
mod outcome;
mod retry;
mod reuse;
mod seats;
mod settle;
mod start;
mod tasks;

use crate::command::Command;
use crate::event::Event;
use crate::ids::{BudgetId, CommandId, Lane, PhaseId};
use crate::program::{Condition, Fact, Program, Scope};
use crate::resolve;
use crate::ruling::Ruling;
use crate::state::{LaneState, Stage, State};
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

pub use address::tasks_to_give_up;
pub use settle::tally_of;

/// The visit number of the operations that run when a run fails.
const FAILURE_VISIT: u16 = 0;

/// The result of one event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub rulings: Vec<Ruling>,
    pub commands: Vec<Command>,
    pub receipt: Receipt,
}

/// How an event was received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Receipt {
    #[default]
    Accepted,
    /// A duplicate, or too late to matter: it is recorded, and nothing follows.
    Late,
}

/// Why an event is refused; the state is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the run has not started")]
    NotStarted,
    #[error("the run has started already")]
    AlreadyStarted,
    #[error("command {0} was never issued")]
    UnknownCommand(CommandId),
    #[error("`{says}` is not a possible result here; possible are {possible}")]
    NotSayable { says: String, possible: String },
    #[error("`{option}` is not offered; the options are {offered}")]
    NotOffered { option: String, offered: String },
    #[error("{0} is not waiting for an answer")]
    NotAQuestion(CommandId),
    #[error("{0} is waiting for a human's answer, not for a result")]
    NotADispatch(CommandId),
    #[error("`{name}` is not {what}")]
    UnknownName { what: &'static str, name: String },
    #[error("the list `{list}` cannot be processed: {problem}")]
    BadList { list: String, problem: String },
    #[error("the result is `{says}`, but the evidence is `{evidence}`: {reasons}")]
    Contradicted { says: String, evidence: &'static str, reasons: String },
    #[error("a run can be rolled back only at a gate or while it is paused")]
    NotAtGate,
    #[error("the workflow has no rounds that can be rolled back")]
    NoRounds,
    #[error("there is no round {0} to roll back to")]
    NoSuchRound(u16),
    #[error("no rollback is left: budget `{0}` is empty")]
    NoRollbackLeft(String),
    #[error("there is no approach number {0}")]
    NoSuchApproach(u16),
    #[error("the run has no finding number {0}")]
    NoSuchFinding(u32),
    #[error("the finding was attributed in the meantime to {0}")]
    AttributedSince(String),
    #[error("`{name}` cannot have injected this defect; possible origins are {possible}")]
    NotAnOrigin { name: String, possible: String },
    #[error("name at least one phase that injected the defect")]
    NoOrigin,
    #[error(
        "only a run that an agent's failure ended, or whose commit a hook refused, can be retried; this run is {0}"
    )]
    NotRetriable(String),
    #[error("a run can be retried {0} times, and this one was")]
    NoRetryLeft(u16),
    #[error("the run is {0}")]
    WrongStage(&'static str),
}

/// Applies one event. On refusal the state is unchanged.
pub fn step(program: &Program, state: &mut State, event: &Event) -> Result<Step, Refusal> {
    let mut stepper = Stepper { program, state, answered: None, out: Step::default() };
    match event {
        Event::Started(start) => stepper.start(start)?,
        Event::Ended { id, outcome, usage } => stepper.end_command(*id, outcome, usage)?,
        Event::Interrupted { id, began, usage } => stepper.record_interruption(*id, *began, usage)?,
        Event::Answered { id, option, by, note, flags, grants } => {
            stepper.answered = Some(*id);
            stepper.apply_answer(*id, option, by, note, flags, *grants)?;
        }
        Event::Cancelled { by } => stepper.cancel(by)?,
        Event::Paused { by } => stepper.pause(by)?,
        Event::Resumed { by } => stepper.resume(by)?,
        Event::Retried { by } => stepper.retry(by)?,
        Event::RolledBack { to, by, reason, .. } => stepper.roll_back(*to, by, reason)?,
        Event::ApproachRemoved { at, by } => stepper.remove_approach(*at, by)?,
        Event::Reattributed { at, from, to, by, note } => {
            stepper.reattribute(*at, (from, to), by, note)?;
        }
        Event::Reverted { commit, .. } => stepper.record_revert(commit)?,
    }
    Ok(stepper.out)
}

/// The program, the state being changed, and the output.
struct Stepper<'a> {
    program: &'a Program,
    state: &'a mut State,
    /// The question that this event answers.
    answered: Option<CommandId>,
    out: Step,
}

impl Stepper<'_> {
    fn lane_state(&self, lane: Lane) -> &LaneState {
        match lane {
            Lane::Main => &self.state.main,
            Lane::Task { index, .. } => &self.state.tasks[usize::from(index)].lane_state,
        }
    }

    fn lane_state_mut(&mut self, lane: Lane) -> &mut LaneState {
        match lane {
            Lane::Main => &mut self.state.main,
            Lane::Task { index, .. } => &mut self.state.tasks[usize::from(index)].lane_state,
        }
    }

    /// The id of the task of a lane.
    fn task(&self, lane: Lane) -> Option<&str> {
        match lane {
            Lane::Main => None,
            Lane::Task { index, .. } => {
                self.flow_items().get(usize::from(index)).map(|item| item.id.as_str())
            }
        }
    }

    /// Like `task`, but owned.
    fn task_id(&self, lane: Lane) -> Option<String> {
        self.task(lane).map(String::from)
    }

    /// What is left of a budget for a lane; each task counts the rounds of its sub-flow separately.
    fn left(&self, lane: Lane, budget: BudgetId) -> u16 {
        if let Lane::Task { index, .. } = lane {
            let run = &self.state.tasks[usize::from(index)];
            if let Some((_, left)) = run.left.iter().find(|(id, _)| *id == budget) {
                return *left;
            }
        }
        self.state.left[budget.index()]
    }

    fn left_mut(&mut self, lane: Lane, budget: BudgetId) -> &mut u16 {
        if let Lane::Task { index, .. } = lane
            && let Scope::Entry(entered) = self.program.budget(budget).scope
            && self.program.phase(entered).owner.is_some()
        {
            let left = &mut self.state.tasks[usize::from(index)].left;
            if let Some(at) = left.iter().position(|(id, _)| *id == budget) {
                return &mut left[at].1;
            }
        }
        &mut self.state.left[budget.index()]
    }

    fn fact(&self, lane: Lane, fact: Fact) -> u16 {
        match fact {
            Fact::Count(list) => self.state.count(list),
            Fact::Confidence => self.state.confidence as u16,
            Fact::Mode => self.state.mode as u16,
            Fact::Risk => self.state.risk as u16,
            Fact::Flag(flag) => u16::from(self.state.flag(flag)),
            Fact::Left(budget) => self.left(lane, budget),
        }
    }

    fn holds(&self, lane: Lane, condition: &Condition) -> bool {
        resolve::holds(condition, |fact| self.fact(lane, fact))
    }

    /// The phase that `next` leads to.
    fn following(&self, lane: Lane, from: PhaseId) -> Option<PhaseId> {
        resolve::following(self.program, from, |condition| self.holds(lane, condition))
    }

    /// Emits a command, or holds it back while the run is paused.
    fn emit(&mut self, command: Command) {
        if self.state.paused && command.id().is_some() {
            self.state.deferred.push(command);
        } else {
            self.out.commands.push(command);
        }
    }

    fn check_running(&self) -> Result<(), Refusal> {
        match &self.state.stage {
            Stage::Running => Ok(()),
            Stage::Fresh => Err(Refusal::NotStarted),
            Stage::Ending { .. } => Err(Refusal::WrongStage("ending")),
            Stage::Ended(_) => Err(Refusal::WrongStage("finished")),
        }
    }
}
