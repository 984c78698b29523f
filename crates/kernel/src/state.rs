//! The state of a run. All of it follows from the program and the events so far.

use crate::change::{Approach, Digest};
use crate::command::Command;
use crate::detect::{Trace, Trail};
use crate::event::{Item, Limits, Mode, Risk};
use crate::evidence::GateDemand;
use crate::finding::Finding;
use crate::ids::{ArtifactId, BudgetId, CommandId, FlagId, Lane, ListId, PhaseId, SignalId};
use crate::program::{Confidence, Program};
use crate::ruling::{Rule, Why};
use crate::signal::Failure;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

pub use crate::end::End;

/// The maximum number of retries of a run, so that every run ends.
pub const MAX_RETRIES: u16 = 3;

/// The state of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub stage: Stage,
    pub paused: bool,
    pub mode: Mode,
    pub risk: Risk,
    pub confidence: Confidence,
    /// Whether the user accepts work that nothing can prove.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub unproven: bool,
    /// What is left of each budget; budgets of a sub-flow are kept per task.
    pub left: Vec<u16>,
    /// The size of each budget; fixed once the list it depends on is known.
    pub full: Vec<u16>,
    /// The digest of each artifact's current content.
    pub versions: Vec<Digest>,
    pub flags: Vec<bool>,
    pub lists: Vec<Vec<Item>>,
    /// Which lists have ever had items.
    pub listed: Vec<bool>,
    /// How often each phase was entered.
    pub visits: Vec<u16>,
    /// The main line of the flow.
    pub main: LaneState,
    /// The tasks of the running sub-flow; empty outside a phase that has one.
    pub tasks: Vec<TaskRun>,
    /// The last result of each phase.
    pub results: Vec<Option<LastResult>>,
    /// Finished tasks, by id. A task is not repeated while nothing it depends on changes.
    pub finished: BTreeMap<String, Finished>,
    /// Every finding that was reported.
    pub findings: Vec<Filed>,
    /// Findings addressed to each phase and not worked on yet.
    pub inbox: Vec<Vec<u32>>,
    /// The digest of each task's last change, whether the task finished or not.
    pub attempts: BTreeMap<String, Digest>,
    /// Findings addressed to a task and not worked on yet.
    pub task_inbox: BTreeMap<String, Vec<u32>>,
    /// Known issues: open findings that do not stop the run.
    pub known: Vec<u32>,
    /// Open findings that bind a phase: each of its results answers them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<Constraint>,
    /// What the detectors remember about each phase that changes something.
    pub memories: Vec<Memory>,
    /// Counts changes of artifacts.
    pub changes: u32,
    pub approaches: Vec<Approach>,
    /// The approach of the current design.
    pub approach: Option<Approach>,
    pub checkpoints: Vec<Checkpoint>,
    /// How often the run was rolled back to each round.
    #[serde(default)]
    pub restored: BTreeMap<u16, u16>,
    pub hold: Option<OpenHold>,
    /// The number of holds so far.
    pub holds: u16,
    /// Commands held back while the run is paused.
    pub deferred: Vec<Command>,
    pub limits: Limits,
    /// The usage at which each limit starts to count: where a human last let the run continue past the limit.
    pub granted: UsageTotals,
    pub used: UsageTotals,
    /// The commit that reverted the run's commit.
    #[serde(default)]
    pub reverted: Option<String>,
    /// Where a retry continues, if the run ends now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_point: Option<RetryPoint>,
    /// How often the run was retried.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retries: u16,
}

fn is_zero(count: &u16) -> bool {
    *count == 0
}

/// The lanes of a run when a phase of it failed. The seats that a retry issues again are held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryPoint {
    /// The signal of the failed phase.
    pub signal: SignalId,
    pub main: LaneState,
    pub tasks: Vec<TaskRun>,
}

/// The stage of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    Fresh,
    Running,
    /// The failure operation with this index is running.
    Ending {
        end: End,
        at: u16,
    },
    Ended(End),
}

/// The state of one lane: which phase it is at, and what its seats do. The main line has one, and so has each task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneState {
    pub phase: PhaseId,
    /// At an aside: the phase of the main flow that led to it.
    pub caller: Option<PhaseId>,
    pub visit: u16,
    pub seats: Vec<Seat>,
    /// Findings carried along to an aside.
    pub carried: Vec<u32>,
    /// What the phase reads, with the digests on entry.
    pub reads: Vec<(ArtifactId, Digest)>,
    /// The first detection of this visit: its signal and explanation.
    pub detected: Option<(SignalId, String)>,
}

impl LaneState {
    /// A lane that has just reached this phase.
    pub fn new(phase: PhaseId) -> LaneState {
        LaneState {
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

/// One dispatch, operation or question of a lane's current phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// Counts dispatches on this seat.
    pub attempt: u16,
    /// Counts charged failures.
    pub retries: u8,
    pub advisory: bool,
    pub progress: SeatProgress,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeatProgress {
    Open,
    /// Not issued because of a hold.
    Held,
    Said(SeatResult),
    Failed {
        failure: Failure,
        detail: String,
    },
}

/// The result of a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatResult {
    pub signal: SignalId,
    /// The verdict that the signal was derived from.
    pub verdict: SignalId,
    pub derived: Derived,
    pub findings: Vec<u32>,
    pub model: Option<String>,
}

/// How a signal was derived from a verdict.
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
    #[serde(rename = "desk")]
    pub lane_state: LaneState,
    /// What is left of the rounds inside the sub-flow, by budget.
    pub left: Vec<(BudgetId, u16)>,
    pub visits: Vec<(PhaseId, u16)>,
    /// The digest of the task's change.
    pub patch: Digest,
    /// The findings that the task raised.
    pub raised: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskProgress {
    Waiting,
    Running,
    /// Finished earlier, and nothing it depends on has changed.
    Stands,
    Exited(SignalId),
    /// Not started, because a task it needs did not finish.
    Blocked,
}

/// A finished task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finished {
    pub spec: Digest,
    pub patch: Digest,
    /// The patches of the tasks it needed, at that time.
    pub needs: Vec<(String, Digest)>,
    /// The artifacts that its sub-flow read, at that time.
    pub reads: Vec<(ArtifactId, Digest)>,
}

/// The last result of a phase; it stays valid while its inputs and outputs are unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastResult {
    pub signal: SignalId,
    pub accepted: bool,
    pub reads: Vec<(ArtifactId, Digest)>,
    pub wrote: Vec<(ArtifactId, Digest)>,
}

/// A finding and what happened to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filed {
    pub finding: Finding,
    /// The phase that reported it.
    pub phase: PhaseId,
    /// The task whose sub-flow reported it.
    pub task: Option<String>,
    /// How often the same finding has been reported, including this report.
    pub count: u8,
    /// The value of `State::changes` when the finding was last sent back.
    pub sent_at: Option<u32>,
    /// The phase to which this finding, or the report that it repeats, was sent.
    pub sent_to: Option<PhaseId>,
    pub status: FiledStatus,
    /// Who named the phases that injected it.
    #[serde(default)]
    pub attribution: Attribution,
}

/// Who named a finding's origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attribution {
    #[default]
    Reported,
    /// Later reports of the same finding do not override this.
    Human,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FiledStatus {
    Open,
    /// Minor: for later.
    FollowUp,
    /// Reported by an advisor: recorded only.
    Advice,
    /// Replaced by a later report of the same finding.
    Superseded,
    /// Sent further back than before; findings in the new work count as new.
    PassedOn,
    /// The phase that reported it has accepted the work since.
    Settled,
}

/// A finding that binds a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constraint {
    /// Index into the findings of the run.
    pub finding: u32,
    pub phase: PhaseId,
}

/// What the detectors remember about one phase's changes since its inputs last changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    pub phase: PhaseId,
    pub task: Option<String>,
    pub inputs: Vec<(ArtifactId, Digest)>,
    pub trail: Trail,
    pub last: Option<Trace>,
}

/// What rolling back a round restores.
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
pub struct OpenHold {
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
    /// A route of the workflow.
    Route,
    /// Findings wait to be sent back to their origin until a human has confirmed it. The ruling follows then.
    Origin {
        signal: SignalId,
        rule: Rule,
        why: Why,
    },
}

/// What the run has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageTotals {
    pub dispatches: u64,
    pub money: u64,
    /// The number of dispatches with unknown cost.
    pub unpriced: u64,
    pub tokens: u64,
    /// The number of dispatches with unknown token count.
    #[serde(default, rename = "untold")]
    pub unmetered: u64,
    pub time: u64,
}

impl State {
    /// What the evidence gate demands in this run.
    pub fn demand(&self) -> GateDemand {
        if self.unproven { GateDemand::NoFailure } else { GateDemand::Proof }
    }

    /// The state before the first event.
    pub fn new(program: &Program) -> State {
        State {
            stage: Stage::Fresh,
            paused: false,
            mode: Mode::Autonomous,
            risk: Risk::Green,
            confidence: Confidence::High,
            unproven: false,
            left: Vec::new(),
            full: Vec::new(),
            versions: vec![Digest::default(); program.artifacts.len()],
            flags: vec![false; program.flags.len()],
            lists: vec![Vec::new(); program.lists.len()],
            listed: vec![false; program.lists.len()],
            visits: vec![0; program.phases.len()],
            main: LaneState::new(PhaseId(0)),
            tasks: Vec::new(),
            results: vec![None; program.phases.len()],
            finished: BTreeMap::new(),
            findings: Vec::new(),
            inbox: vec![Vec::new(); program.phases.len()],
            attempts: BTreeMap::new(),
            task_inbox: BTreeMap::new(),
            known: Vec::new(),
            constraints: Vec::new(),
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
            granted: UsageTotals::default(),
            used: UsageTotals::default(),
            reverted: None,
            retry_point: None,
            retries: 0,
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
        let used = self.used.time.saturating_sub(self.granted.time);
        self.limits.time.map(|limit| limit.saturating_sub(used))
    }

    pub fn digest(&self, artifact: ArtifactId) -> Digest {
        self.versions[artifact.index()]
    }

    /// The findings that bind a phase, as indexes.
    pub fn constraints_of(&self, phase: PhaseId) -> impl Iterator<Item = u32> {
        self.constraints.iter().filter(move |bound| bound.phase == phase).map(|bound| bound.finding)
    }

    /// How the run ended; `None` while it runs.
    pub fn end(&self) -> Option<&End> {
        match &self.stage {
            Stage::Ended(end) => Some(end),
            Stage::Fresh | Stage::Running | Stage::Ending { .. } => None,
        }
    }

    /// Whether a human can retry the run, which is over.
    pub fn can_be_retried(&self) -> bool {
        self.end().is_some() && self.retry_point.is_some() && self.retries < MAX_RETRIES
    }

    /// The state of a lane, while the lane exists.
    pub fn lane_state(&self, lane: Lane) -> Option<&LaneState> {
        match lane {
            Lane::Main => Some(&self.main),
            Lane::Task { batch, index } => {
                let run = self.tasks.get(usize::from(index))?;
                let current = batch == self.visits[self.main.phase.index()];
                (current && run.progress == TaskProgress::Running).then_some(&run.lane_state)
            }
        }
    }
}
