//! The law of the brief: which earlier results a dispatch is given, in addition to what its phase reads.
//!
//! A phase that runs again is given its own last result and everything that was said since. A phase that runs for the
//! first time is given what was said since the work left the main line: on the main line, artifacts carry the work.
//! Whoever reads a tree is given the reports of those who changed it.

use crate::ids::{ArtifactId, PhaseId};
use crate::program::{Action, Effect, Program, Work};
use alloc::string::String;
use alloc::vec::Vec;

/// One visit of a phase that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastVisit {
    pub phase: PhaseId,
    /// The task whose sub-flow the visit belongs to.
    pub task: Option<String>,
    pub onward: Onward,
    /// Whether somebody said something: an agent, the engine or a human. Nobody does if an earlier result is reused, or if
    /// a question is answered by default.
    pub spoke: bool,
    /// Whether the visit has a valid result.
    pub has_result: bool,
}

/// How the work left a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Onward {
    /// Along the main line, accepted without any remark.
    Plainly,
    /// By any other route: back, aside, out of a sub-flow, or onward with dissent, degradation or blockers.
    Routed,
    /// Back to the same phase.
    Repeated,
}

impl Onward {
    /// How a route with this effect leaves a phase and leads to another one.
    pub fn of(
        program: &Program,
        phase: PhaseId,
        action: &Action,
        target: Option<PhaseId>,
        effect: Option<Effect>,
    ) -> Onward {
        if target == Some(phase) {
            return Onward::Repeated;
        }
        let is_plain = *action == Action::Next && effect.is_none() && !program.phase(phase).aside;
        if is_plain { Onward::Plainly } else { Onward::Routed }
    }
}

/// What a visit changes in what a phase will hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hearing {
    /// The phase itself: its own work takes account of all that was said before.
    Restart,
    /// The phase itself, which runs again at once: all that was said before still matters.
    Repeat,
    /// The work continued on the main line before the phase ran for the first time.
    Forget,
    Hear,
    /// Nothing was said that the phase must know.
    Skip,
}

/// What a visit changes for `target`; `been` tells whether `target` has run before.
pub fn hearing(program: &Program, target: PhaseId, been: bool, phase: PhaseId, onward: Onward) -> Hearing {
    if phase == target {
        return if onward == Onward::Repeated { Hearing::Repeat } else { Hearing::Restart };
    }
    let target_phase = program.phase(target);
    // A task that finishes does not make the main line forget what another task said.
    let is_in_task = program.phase(phase).owner.is_some() && target_phase.owner.is_none();
    if onward == Onward::Plainly && !been && !target_phase.everything && !is_in_task {
        return Hearing::Forget;
    }
    match program.phase(phase).work {
        Work::Role { .. } | Work::Each { .. } | Work::Panel { .. } | Work::Ask { .. } => Hearing::Hear,
        // An accepted result of the engine is evidence, which is given as such.
        Work::Operation { .. } if onward != Onward::Plainly => Hearing::Hear,
        Work::Operation { .. } | Work::Flow { .. } => Hearing::Skip,
    }
}

/// The earlier results that a dispatch is given, as indexes into the history, in the order of the history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brief {
    /// The phase's own last visit, if it has run before.
    pub own: Option<usize>,
    /// The last visit of each phase on the way here.
    pub way: Vec<usize>,
    /// The last visit of each phase that changed a tree that this phase reads, unless it is on the way.
    pub authors: Vec<usize>,
}

/// The brief of a dispatch of `target`, for a task or on the main line.
pub fn brief(program: &Program, history: &[PastVisit], target: PhaseId, task: Option<&str>) -> Brief {
    let concerns =
        |visit: &PastVisit| task.is_none() || visit.task.is_none() || visit.task.as_deref() == task;
    let is_own = |visit: &PastVisit| visit.phase == target && visit.task.as_deref() == task;
    let phase = program.phase(target);
    let mut brief = Brief::default();
    let mut been = false;
    for (index, visit) in history.iter().enumerate().filter(|(_, visit)| concerns(visit)) {
        match hearing(program, target, been, visit.phase, visit.onward) {
            // Without a result, the earlier work is still the last work.
            Hearing::Restart | Hearing::Repeat if visit.spoke && is_own(visit) && !visit.has_result => {
                been = true;
                add_latest(&mut brief.way, history, index);
            }
            // Another task's visit of the same phase is not a visit of this lane.
            Hearing::Restart if visit.spoke && is_own(visit) => {
                been = true;
                brief.own = Some(index);
                if !phase.everything {
                    brief.way.clear();
                }
            }
            Hearing::Repeat if visit.spoke && is_own(visit) => {
                been = true;
                brief.own = Some(index);
            }
            Hearing::Forget => brief.way.clear(),
            Hearing::Hear if visit.spoke && phase.everything => brief.way.push(index),
            Hearing::Hear if visit.spoke => add_latest(&mut brief.way, history, index),
            // What the phase said before is out of date.
            Hearing::Skip if visit.spoke && !phase.everything => {
                brief.way.retain(|earlier| !is_same(&history[*earlier], visit))
            }
            Hearing::Restart | Hearing::Repeat | Hearing::Hear | Hearing::Skip => {}
        }
    }
    for (index, visit) in history.iter().enumerate().filter(|(_, visit)| concerns(visit)) {
        if visit.spoke && !is_own(visit) && is_author(program, visit.phase, target) {
            add_latest(&mut brief.authors, history, index);
        }
    }
    brief.authors.retain(|author| !brief.way.contains(author));
    if phase.afresh {
        brief.own = None;
    }
    brief
}

/// Adds a visit and removes an earlier visit of the same phase for the same task.
fn add_latest(visits: &mut Vec<usize>, history: &[PastVisit], index: usize) {
    visits.retain(|earlier| !is_same(&history[*earlier], &history[index]));
    visits.push(index);
}

fn is_same(one: &PastVisit, other: &PastVisit) -> bool {
    one.phase == other.phase && one.task == other.task
}

/// Whether a phase changes a tree that another one reads.
pub fn is_author(program: &Program, phase: PhaseId, reader: PhaseId) -> bool {
    let reader = program.phase(reader);
    let author = program.phase(phase);
    let is_read =
        |artifact: &ArtifactId| reader.reads.contains(artifact) || reader.may_read.contains(artifact);
    author
        .contracts()
        .iter()
        .flat_map(|id| &program.contract(*id).changes)
        .any(|artifact| author.writes.contains(artifact) && is_read(artifact))
}
