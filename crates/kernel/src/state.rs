//! Where a run stands. Everything in it follows from the program and the events so far.

use crate::change::{Approach, Digest};
use crate::command::Command;
use crate::detect::{Trace, Trail};
use crate::event::{Item, Limits, Mode, Risk};
use crate::finding::Finding;
use crate::ids::{ArtifactId, BudgetId, CommandId, FlagId, Lane, ListId, PhaseId, SignalId};
use crate::program::{Confidence, Program};
use crate::signal::Failure;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The state of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub stage: Stage,
    pub paused: bool,
    pub mode: Mode,
    pub risk: Risk,
    pub confidence: Confidence,
    /// What is left of each budget; those of sub-flows are kept per task.
    pub left: Vec<u16>,
    /// What each budget holds when full; fixed once the list that it goes by is known.
    pub full: Vec<u16>,
    /// The current content of each artifact.
    pub versions: Vec<Digest>,
    pub flags: Vec<bool>,
    pub lists: Vec<Vec<Item>>,
    /// Which lists were ever known.
    pub listed: Vec<bool>,
    /// How often each phase was entered.
    pub visits: Vec<u16>,
    /// The main line of the flow.
    pub main: Desk,
    /// The sub-flows under way; empty outside a phase that has them.
    pub tasks: Vec<TaskRun>,
    /// The last result of each phase.
    pub results: Vec<Option<LastResult>>,
    /// Tasks that went through, by id; they stand while nothing they rest on changes.
    pub finished: BTreeMap<String, Finished>,
    /// Every finding that was reported.
    pub findings: Vec<Filed>,
    /// Findings addressed to each phase and not yet worked on.
    pub inbox: Vec<Vec<u32>>,
    /// What each task wrote last, finished or not.
    pub attempts: BTreeMap<String, Digest>,
    /// Findings addressed to a task and not yet worked on.
    pub task_inbox: BTreeMap<String, Vec<u32>>,
    /// Open findings that the run goes on with.
    pub known: Vec<u32>,
    /// What detectors remember of each phase that changes something.
    pub memories: Vec<Memory>,
    /// Counts changes of artifacts.
    pub changes: u32,
    pub approaches: Vec<Approach>,
    /// The approach of the design as it is.
    pub approach: Option<Approach>,
    pub checkpoints: Vec<Checkpoint>,
    /// How often each round was gone back to, however far the run had come.
    #[serde(default)]
    pub restored: BTreeMap<u16, u16>,
    pub hold: Option<HoldOpen>,
    /// How many holds there were.
    pub holds: u16,
    /// Commands kept back while the run is paused.
    pub deferred: Vec<Command>,
    pub limits: Limits,
    /// What had been used when a human last let the run go on past a limit, by limit; it holds anew from there.
    pub granted: Used,
    pub used: Used,
    /// The commit that undid what the run had committed.
    #[serde(default)]
    pub reverted: Option<String>,
}

/// Where a run is in its life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    Fresh,
    Running,
    /// The failure operation at this position is under way.
    Ending {
        end: End,
        at: u16,
    },
    Ended(End),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    Done,
    /// With the phase and the signal that it could not go on from, and the budget that was empty, if any.
    Failed {
        phase: PhaseId,
        signal: SignalId,
        exhausted: Option<BudgetId>,
    },
    Stopped {
        why: String,
    },
    Cancelled {
        by: String,
    },
}

/// A place where one phase at a time is worked on: the main line, or one task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Desk {
    pub phase: PhaseId,
    /// The phase of the flow proper that led to the aside that the desk is at.
    pub caller: Option<PhaseId>,
    pub visit: u16,
    pub seats: Vec<Seat>,
    /// Findings that travel along to an aside.
    pub carried: Vec<u32>,
    /// What the phase reads, as it was when the desk came to it.
    pub reads: Vec<(ArtifactId, Digest)>,
    /// What detectors saw in the results of this visit, by precedence.
    pub detected: Option<(SignalId, String)>,
}

impl Desk {
    /// A desk at which nothing has happened yet.
    pub fn new(phase: PhaseId) -> Desk {
        Desk {
            phase,
            caller: None,
            visit: 0,
            seats: Vec::new(),
            carried: Vec::new(),
            reads: Vec::new(),
            detected: None,
        }
    }
}

/// One dispatch, operation or question of the phase at a desk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// Counts dispatches on this seat.
    pub attempt: u16,
    /// Counts charged failures.
    pub retries: u8,
    pub advisory: bool,
    pub progress: Progress,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Progress {
    Open,
    /// Kept back by a hold.
    Held,
    Said(Answer),
    Failed {
        failure: Failure,
        detail: String,
    },
}

/// What a seat ended with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub signal: SignalId,
    /// The verdict as it was given, where the signal was derived from it.
    pub verdict: SignalId,
    pub derived: Derived,
    pub findings: Vec<u32>,
    pub model: Option<String>,
}

/// How a signal came from a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Derived {
    Plainly,
    OnlyMinor,
    ByKind { assumed: bool },
    SecurityBlocker,
    Supposed,
}

/// One task on its way through a sub-flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRun {
    pub progress: TaskProgress,
    pub desk: Desk,
    /// What is left of the rounds inside the sub-flow, by budget.
    pub left: Vec<(BudgetId, u16)>,
    pub visits: Vec<(PhaseId, u16)>,
    /// The task's own change.
    pub patch: Digest,
    /// Findings that it raised.
    pub raised: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskProgress {
    Waiting,
    Running,
    /// Finished before, and nothing it rests on has changed.
    Stands,
    Exited(SignalId),
    /// Not started, since something it needs was not finished.
    Blocked,
}

/// A task that went through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finished {
    pub spec: Digest,
    pub patch: Digest,
    /// The patches of the tasks that it needed, as they were.
    pub needs: Vec<(String, Digest)>,
    /// What its sub-flow read besides, as it was.
    pub reads: Vec<(ArtifactId, Digest)>,
}

/// The last result of a phase, for it to stand on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastResult {
    pub signal: SignalId,
    pub accepted: bool,
    pub reads: Vec<(ArtifactId, Digest)>,
    pub wrote: Vec<(ArtifactId, Digest)>,
}

/// A finding with what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filed {
    pub finding: Finding,
    /// Who reported it.
    pub phase: PhaseId,
    /// In which sub-flow.
    pub task: Option<String>,
    /// The how-manieth report of the same finding, from 1.
    pub count: u8,
    /// The number of changes when a remand was last addressed to it.
    pub sent_at: Option<u32>,
    /// The phase to which it, or the report that it repeats, was sent.
    pub sent_to: Option<PhaseId>,
    pub status: FiledStatus,
    /// By whose word it names the phases that injected it.
    #[serde(default)]
    pub attribution: Attribution,
}

/// By whose word a finding names its origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attribution {
    #[default]
    Reported,
    /// Later reports of the same finding do not overrule it.
    Human,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FiledStatus {
    Open,
    /// Minor: for later.
    FollowUp,
    /// Of an advisor: recorded only.
    Advice,
    /// A later report of the same finding took its place.
    Superseded,
    /// Sent further back than before; what is found in the new work is new.
    PassedOn,
    /// The phase that reported it accepted the work since.
    Settled,
}

/// What the detectors remember of one phase's changes, since its inputs last changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    pub phase: PhaseId,
    pub task: Option<String>,
    pub inputs: Vec<(ArtifactId, Digest)>,
    pub trail: Trail,
    pub last: Option<Trace>,
}

/// What a rolled-back round goes back to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    pub phase: PhaseId,
    pub round: u16,
    pub versions: Vec<Digest>,
    pub flags: Vec<bool>,
    pub lists: Vec<Vec<Item>>,
}

/// A hold that waits for its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldOpen {
    pub id: CommandId,
    pub cause: HoldCause,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HoldCause {
    Environment {
        detail: String,
    },
    Limit {
        limit: String,
    },
    /// A route of the workflow says hold.
    Route,
}

/// What the run used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    pub dispatches: u64,
    pub money: u64,
    /// Dispatches whose cost is unknown.
    pub unpriced: u64,
    pub tokens: u64,
    /// Dispatches whose tokens are unknown.
    #[serde(default)]
    pub untold: u64,
    pub time: u64,
}

impl State {
    /// The state before the first event.
    pub fn new(program: &Program) -> State {
        State {
            stage: Stage::Fresh,
            paused: false,
            mode: Mode::Autonomous,
            risk: Risk::Green,
            confidence: Confidence::High,
            left: Vec::new(),
            full: Vec::new(),
            versions: vec![Digest::default(); program.artifacts.len()],
            flags: vec![false; program.flags.len()],
            lists: vec![Vec::new(); program.lists.len()],
            listed: vec![false; program.lists.len()],
            visits: vec![0; program.phases.len()],
            main: Desk::new(PhaseId(0)),
            tasks: Vec::new(),
            results: vec![None; program.phases.len()],
            finished: BTreeMap::new(),
            findings: Vec::new(),
            inbox: vec![Vec::new(); program.phases.len()],
            attempts: BTreeMap::new(),
            task_inbox: BTreeMap::new(),
            known: Vec::new(),
            memories: Vec::new(),
            changes: 0,
            approaches: Vec::new(),
            approach: None,
            checkpoints: Vec::new(),
            restored: BTreeMap::new(),
            hold: None,
            holds: 0,
            deferred: Vec::new(),
            limits: Limits::default(),
            granted: Used::default(),
            used: Used::default(),
            reverted: None,
        }
    }

    pub fn count(&self, list: ListId) -> u16 {
        u16::try_from(self.lists[list.index()].len()).unwrap_or(u16::MAX)
    }

    pub fn flag(&self, flag: FlagId) -> bool {
        self.flags[flag.index()]
    }

    /// What is left of the limit on time.
    pub fn time_left(&self) -> Option<u64> {
        let since = self.used.time.saturating_sub(self.granted.time);
        self.limits.time.map(|limit| limit.saturating_sub(since))
    }

    pub fn digest(&self, artifact: ArtifactId) -> Digest {
        self.versions[artifact.index()]
    }

    /// How the run ended, once it has.
    pub fn end(&self) -> Option<&End> {
        match &self.stage {
            Stage::Ended(end) => Some(end),
            Stage::Fresh | Stage::Running | Stage::Ending { .. } => None,
        }
    }

    /// The desk of a lane, while the lane exists.
    pub fn desk(&self, lane: Lane) -> Option<&Desk> {
        match lane {
            Lane::Main => Some(&self.main),
            Lane::Task { batch, index } => {
                let run = self.tasks.get(usize::from(index))?;
                let current = batch == self.visits[self.main.phase.index()];
                (current && run.progress == TaskProgress::Running).then_some(&run.desk)
            }
        }
    }
}
