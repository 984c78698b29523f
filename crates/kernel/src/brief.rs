//! The law of the brief: which earlier results a dispatch is given, in addition to what its phase reads.
//!
//! A phase that runs again is given its own last result and everything that other phases reported since. A phase that
//! runs for the first time is given what was reported since the work left the main line: on the main line, artifacts
//! carry the work. A phase that reads a tree is given the reports of the phases that changed the tree, the change and
//! the evidence.

use crate::command::Dispatch;
use crate::ids::{ArtifactId, PhaseId};
use crate::program::{Action, Effect, Nearest, Phase, Program, Work};
use alloc::string::String;
use alloc::vec::Vec;

/// One visit of a phase that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastVisit {
    pub phase: PhaseId,
    /// The task whose sub-flow the visit belongs to.
    pub task: Option<String>,
    pub onward: Onward,
    /// Whether an agent, the engine or a human reported something. False if an earlier result was reused, or if a
    /// question was answered by default.
    pub spoke: bool,
    /// Whether the visit has a valid result.
    pub has_result: bool,
}

/// How the work left a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Onward {
    /// By `next`, without an effect on the confidence.
    Plainly,
    /// By any other route: back, from or to an aside, out of a sub-flow, or by `next` with an effect.
    Routed,
    /// Back to the same phase.
    Repeated,
}

impl Onward {
    /// Classifies a route by its action, its target and its effect.
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

/// How a visit changes the list of reports that a later phase is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hearing {
    /// The visit is one of the phase itself: its result takes account of all earlier reports, so the list starts again.
    Restart,
    /// The visit is one of the phase itself, which runs again immediately: all earlier reports still matter.
    Repeat,
    /// The work continued on the main line, and the phase has not run yet: earlier reports do not matter to it.
    Forget,
    /// The report of the visit is added.
    Hear,
    /// The visit reported nothing that the phase needs.
    Skip,
}

/// How a visit of `phase` changes the reports for `target`; `been` is true if `target` has run before.
pub fn hearing(program: &Program, target: PhaseId, been: bool, phase: PhaseId, onward: Onward) -> Hearing {
    if phase == target {
        return if onward == Onward::Repeated { Hearing::Repeat } else { Hearing::Restart };
    }
    let target_phase = program.phase(target);
    // When a task finishes, the main line keeps the reports of the other tasks.
    let is_in_task = program.phase(phase).owner.is_some() && target_phase.owner.is_none();
    if onward == Onward::Plainly && !been && !target_phase.everything && !is_in_task {
        return Hearing::Forget;
    }
    match program.phase(phase).work {
        Work::Role { .. } | Work::Each { .. } | Work::Panel { .. } | Work::Ask { .. } => Hearing::Hear,
        // An accepted result of an operation is evidence, and briefs contain the evidence anyway.
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
            // This visit gave no result, so the phase's earlier result is still its last one.
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
            // The engine has accepted the work, so this phase's earlier report is out of date.
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

/// Whether an artifact is a tree of files, which roles change in place.
pub fn is_tree(program: &Program, artifact: ArtifactId) -> bool {
    program.contracts.iter().any(|contract| contract.changes.contains(&artifact))
}

/// Whether a dispatch is given the change so far and its evidence.
pub fn shows_change(program: &Program, dispatch: &Dispatch) -> bool {
    dispatch.task.is_some()
        || dispatch.nearest.is_some()
        || dispatch.reads.iter().any(|(artifact, _)| is_tree(program, *artifact))
}

/// Whether every dispatch of a phase is given the change so far and its evidence.
pub fn always_shows_change(program: &Program, phase: &Phase) -> bool {
    let by_nearest = matches!(&phase.work, Work::Role { nearest, .. } if !matches!(nearest, Nearest::Named));
    phase.everything
        || phase.owner.is_some()
        || by_nearest
        || phase.reads.iter().any(|artifact| is_tree(program, *artifact))
}

/// Whether a phase must answer the findings that are addressed to it; a phase that only judges need not.
pub fn answers_findings(phase: &Phase) -> bool {
    !phase.writes.is_empty()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ContractId, OperationId};
    use crate::program::{Contract, Nearest, Phase};
    use alloc::string::ToString;
    use alloc::vec;

    const PLAN: PhaseId = PhaseId(0);
    const CODE: PhaseId = PhaseId(1);
    const REVIEW: PhaseId = PhaseId(2);
    const CHECKS: PhaseId = PhaseId(3);

    fn phase(name: &str, work: Work) -> Phase {
        Phase {
            name: name.to_string(),
            owner: None,
            aside: false,
            when: None,
            work,
            reads: Vec::new(),
            may_read: Vec::new(),
            writes: Vec::new(),
            discards: Vec::new(),
            sets: Vec::new(),
            routes: Vec::new(),
            qualified: Vec::new(),
            round: None,
            retries: 0,
            repeats: 0,
            status: String::new(),
            checkpoint: false,
            everything: false,
            afresh: false,
            line: 0,
        }
    }

    /// Plan, code, review and checks; code changes the tree that review reads.
    fn program() -> Program {
        let contract = |role: &str, changes: Vec<ArtifactId>| Contract {
            role: role.to_string(),
            mode: String::new(),
            says: Vec::new(),
            mild: None,
            findings: false,
            by_kind: false,
            changes,
            states_approach: false,
            guarded: false,
            lists: Vec::new(),
        };
        let role = |contract: u16| Work::Role { contract: ContractId(contract), nearest: Nearest::Named };
        let tree = vec![ArtifactId(0)];
        Program {
            name: "w".to_string(),
            about: String::new(),
            subject: "request".to_string(),
            phases: vec![
                phase("plan", role(0)),
                Phase { writes: tree.clone(), ..phase("code", role(1)) },
                Phase { reads: tree.clone(), ..phase("review", role(0)) },
                phase("checks", Work::Operation { operation: OperationId(0) }),
            ],
            budgets: Vec::new(),
            artifacts: vec!["code".to_string()],
            signals: Vec::new(),
            flags: Vec::new(),
            lists: Vec::new(),
            contracts: vec![contract("thinker", Vec::new()), contract("coder", tree)],
            operations: Vec::new(),
            injects: Vec::new(),
            confirms_origin: false,
            failure: Vec::new(),
        }
    }

    fn visit(phase: PhaseId, onward: Onward) -> PastVisit {
        PastVisit { phase, task: None, onward, spoke: true, has_result: true }
    }

    fn of_task(task: &str, visit: PastVisit) -> PastVisit {
        PastVisit { task: Some(task.to_string()), ..visit }
    }

    use Onward::{Plainly, Repeated, Routed};

    // HO-01 HO-02
    #[test]
    fn a_phase_that_runs_again_is_given_its_last_result_and_all_reports_since() {
        let history =
            [visit(REVIEW, Routed), visit(CODE, Plainly), visit(CHECKS, Plainly), visit(REVIEW, Routed)];
        let brief = brief(&program(), &history, CODE, None);
        assert_eq!(brief, Brief { own: Some(1), way: vec![3], authors: vec![] });
    }

    // HO-02
    #[test]
    fn a_phase_that_repeats_itself_keeps_the_reports_it_was_given() {
        let history = [visit(REVIEW, Routed), visit(CODE, Repeated)];
        let brief = brief(&program(), &history, CODE, None);
        assert_eq!((brief.own, brief.way), (Some(1), vec![0]));
    }

    // HO-01
    #[test]
    fn a_visit_without_a_result_is_reported_and_the_earlier_result_stays_the_last_one() {
        let failed = PastVisit { has_result: false, ..visit(CODE, Routed) };
        let history = [visit(CODE, Plainly), visit(REVIEW, Routed), failed];
        let brief = brief(&program(), &history, CODE, None);
        assert_eq!((brief.own, brief.way), (Some(0), vec![1, 2]));
    }

    // HO-02
    #[test]
    fn the_main_line_drops_reports_from_before_a_phase_first_runs() {
        let history = [visit(PLAN, Routed), visit(CODE, Plainly)];
        assert_eq!(brief(&program(), &history, REVIEW, None).way, Vec::<usize>::new());
        let aside = [visit(PLAN, Plainly), visit(CODE, Routed)];
        assert_eq!(brief(&program(), &aside, REVIEW, None).way, vec![1]);
    }

    // HO-04
    #[test]
    fn a_phase_that_reads_everything_is_given_every_report() {
        let mut program = program();
        program.phases[REVIEW.index()].everything = true;
        let history =
            [visit(PLAN, Plainly), visit(CODE, Plainly), visit(REVIEW, Routed), visit(CODE, Plainly)];
        let brief = brief(&program, &history, REVIEW, None);
        assert_eq!((brief.own, brief.way), (Some(2), vec![0, 1, 3]));
    }

    // HO-01
    #[test]
    fn a_phase_that_starts_from_scratch_is_not_given_its_own_work() {
        let mut program = program();
        program.phases[CODE.index()].afresh = true;
        let history = [visit(CODE, Plainly), visit(REVIEW, Routed)];
        let brief = brief(&program, &history, CODE, None);
        assert_eq!((brief.own, brief.way), (None, vec![1]));
    }

    // HO-01
    #[test]
    fn the_visits_of_another_task_belong_to_that_task() {
        let history = [
            of_task("t1", visit(CODE, Plainly)),
            of_task("t2", visit(CODE, Plainly)),
            of_task("t2", visit(REVIEW, Routed)),
            of_task("t1", visit(REVIEW, Routed)),
        ];
        let brief = brief(&program(), &history, CODE, Some("t1"));
        assert_eq!(brief, Brief { own: Some(0), way: vec![3], authors: vec![] });
    }

    // HO-04
    #[test]
    fn the_reader_of_a_tree_is_given_the_last_report_of_each_author() {
        let history = [
            of_task("t1", visit(CODE, Plainly)),
            of_task("t2", visit(CODE, Plainly)),
            of_task("t1", visit(CODE, Plainly)),
            visit(PLAN, Plainly),
        ];
        assert_eq!(brief(&program(), &history, REVIEW, None).authors, vec![1, 2]);
        assert_eq!(brief(&program(), &history, PLAN, None).authors, Vec::<usize>::new());
    }

    // HO-02
    #[test]
    fn an_accepted_result_of_the_engine_replaces_its_earlier_complaint() {
        let failed = [visit(CODE, Plainly), visit(CHECKS, Routed), visit(REVIEW, Routed)];
        assert_eq!(brief(&program(), &failed, CODE, None).way, vec![1, 2]);
        let passed =
            [visit(CODE, Plainly), visit(CHECKS, Routed), visit(CHECKS, Plainly), visit(REVIEW, Routed)];
        assert_eq!(brief(&program(), &passed, CODE, None).way, vec![3]);
    }

    // HO-02
    #[test]
    fn a_reused_result_adds_no_report() {
        let reused = PastVisit { spoke: false, ..visit(PLAN, Routed) };
        let history = [visit(CODE, Plainly), reused];
        assert_eq!(brief(&program(), &history, CODE, None).way, Vec::<usize>::new());
    }
}
