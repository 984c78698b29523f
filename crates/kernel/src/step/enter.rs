//! Enters a phase: skips it if its result is still valid, answers it by default, or issues its commands.

use super::Stepper;
use super::follow::RuledSignal;
use crate::change::Digest;
use crate::command::{Command, Dispatch, Question, QuestionKind};
use crate::event::Mode;
use crate::ids::{ArtifactId, BudgetId, CommandId, ContractId, Lane, PhaseId, SignalId};
use crate::program::{Items, Nearest, Program, Work};
use crate::resolve;
use crate::ruling::{Rule, Why};
use crate::state::{Checkpoint, HoldCause, Seat, SeatProgress};
use alloc::string::String;
use alloc::vec::Vec;

impl Stepper<'_> {
    /// Moves a lane to a phase and opens it. A phase with a valid result, or a question with a default, leads straight
    /// to the next phase; this terminates because every way back spends a budget.
    pub(super) fn enter(&mut self, lane: Lane, target: PhaseId) {
        let program = self.program;
        let phase = program.phase(target);
        let visit = self.count_visit(lane, target);
        let reads = self.reads(lane, target);
        let lane_state = self.lane_state_mut(lane);
        lane_state.phase = target;
        lane_state.visit = visit;
        lane_state.reads = reads;
        lane_state.detected = None;
        lane_state.seats.clear();
        if !matches!(phase.work, Work::Operation { .. }) {
            // The run continues with other work, so the refused commit is no longer its last step.
            self.state.retry_point = None;
        }
        let lane_state = self.lane_state_mut(lane);
        if !phase.aside {
            lane_state.caller = None;
            lane_state.carried.clear();
        }
        if phase.checkpoint {
            self.set_checkpoint(target);
        }
        if let Some(signal) = self.reusable_signal(lane, target) {
            self.settle_with(lane, RuledSignal { signal, rule: Rule::Stands, why: Why::SameInputs });
            return;
        }
        match &phase.work {
            Work::Role { .. } | Work::Operation { .. } => self.open_seats(lane, 1, 0),
            Work::Each { items, .. } => {
                let seats = match items {
                    Items::Fixed(names) => names.len(),
                    Items::Listed { list, up_to } => {
                        usize::from(self.state.count(*list).clamp(1, (*up_to).max(1)))
                    }
                };
                self.open_seats(lane, seats, 0);
            }
            Work::Panel { members, advisors } => self.open_seats(lane, members.len(), advisors.len()),
            Work::Flow { .. } => self.start_batch(target),
            Work::Ask { default, .. } => match (default, self.state.mode) {
                (Some(default), Mode::Autonomous) => {
                    let ruled = RuledSignal { signal: *default, rule: Rule::Default, why: Why::Autonomous };
                    self.settle_with(lane, ruled);
                }
                (Some(_) | None, Mode::Autonomous | Mode::Interactive) => self.open_seats(lane, 1, 0),
            },
        }
    }

    /// Asks the lane's question again.
    pub(super) fn ask_again(&mut self, lane: Lane) {
        let phase = self.lane_state(lane).phase;
        let visit = self.count_visit(lane, phase);
        self.lane_state_mut(lane).visit = visit;
        self.open_seats(lane, 1, 0);
    }

    fn count_visit(&mut self, lane: Lane, phase: PhaseId) -> u16 {
        let visits = &mut self.state.visits[phase.index()];
        *visits = visits.saturating_add(1);
        let Lane::Task { index, .. } = lane else {
            return *visits;
        };
        let counts = &mut self.state.tasks[usize::from(index)].visits;
        match counts.iter_mut().find(|(id, _)| *id == phase) {
            Some((_, count)) => {
                *count = count.saturating_add(1);
                *count
            }
            None => {
                counts.push((phase, 1));
                1
            }
        }
    }

    /// The artifacts that a phase reads, with their current digests.
    fn reads(&self, lane: Lane, phase: PhaseId) -> Vec<(ArtifactId, Digest)> {
        let phase = self.program.phase(phase);
        phase
            .reads
            .iter()
            .chain(&phase.may_read)
            .map(|artifact| (*artifact, self.current_digest(lane, *artifact)))
            .collect()
    }

    /// The digest of an artifact for a lane: a task sees its own change.
    pub(super) fn current_digest(&self, lane: Lane, artifact: ArtifactId) -> Digest {
        if let Lane::Task { index, .. } = lane {
            let run = &self.state.tasks[usize::from(index)];
            if run.patch != Digest::default() && self.is_written_in_flow(artifact) {
                return run.patch;
            }
        }
        self.state.digest(artifact)
    }

    fn set_checkpoint(&mut self, phase: PhaseId) {
        let round = u16::try_from(self.state.checkpoints.len() + 1).unwrap_or(u16::MAX);
        self.state.checkpoints.push(Checkpoint {
            phase,
            round,
            versions: self.state.versions.clone(),
            flags: self.state.flags.clone(),
            lists: self.state.lists.clone(),
        });
        self.cap_rollback_budgets(phase, round);
    }

    fn open_seats(&mut self, lane: Lane, members: usize, advisors: usize) {
        let count = members + advisors;
        let seats = (0..count).map(|at| Seat {
            attempt: 0,
            retries: 0,
            advisory: at >= members,
            progress: SeatProgress::Held,
        });
        let lane_state = self.lane_state_mut(lane);
        lane_state.seats.clear();
        lane_state.seats.extend(seats);
        for at in 0..count {
            self.issue_command(lane, at);
        }
    }

    /// Issues the command of a seat, unless a hold or a limit prevents a dispatch.
    pub(super) fn issue_command(&mut self, lane: Lane, at: usize) {
        let program = self.program;
        let phase_id = self.lane_state(lane).phase;
        let phase = program.phase(phase_id);
        let is_dispatch = match &phase.work {
            Work::Role { .. } | Work::Each { .. } | Work::Panel { .. } => true,
            Work::Flow { .. } | Work::Operation { .. } | Work::Ask { .. } => false,
        };
        let has_broken_environment =
            self.state.hold.as_ref().is_some_and(|hold| matches!(hold.cause, HoldCause::Environment { .. }));
        if is_dispatch && has_broken_environment {
            // Another dispatch would fail too.
            self.lane_state_mut(lane).seats[at].progress = SeatProgress::Held;
            return;
        }
        if is_dispatch && let Some(limit) = self.reached_limit() {
            self.hold_for_limit(lane, at, limit);
            return;
        }
        let visit = self.lane_state(lane).visit;
        let seat = &mut self.lane_state_mut(lane).seats[at];
        seat.attempt = seat.attempt.saturating_add(1);
        seat.progress = SeatProgress::Open;
        let (attempt, advisory) = (seat.attempt, seat.advisory);
        let id =
            CommandId { phase: phase_id, lane, visit, seat: u16::try_from(at).unwrap_or(u16::MAX), attempt };
        let command = match &phase.work {
            Work::Role { nearest, .. } => {
                let nearest = match nearest {
                    Nearest::Named => None,
                    Nearest::Caller => self.caller_contract(lane),
                };
                self.dispatch(id, nearest, advisory)
            }
            Work::Each { .. } | Work::Panel { .. } => self.dispatch(id, None, advisory),
            Work::Operation { operation } => Command::Operate {
                id,
                operation: *operation,
                task: self.task_id(lane),
                findings: self.lane_state(lane).carried.clone(),
            },
            Work::Ask { default, .. } => self.question(id, *default),
            // A sub-flow has no seats: its tasks do.
            Work::Flow { .. } => return,
        };
        if is_dispatch {
            self.state.used.dispatches += 1;
        }
        self.emit(command);
    }

    fn dispatch(&self, id: CommandId, nearest: Option<ContractId>, advisory: bool) -> Command {
        let phase = self.program.phase(id.phase);
        let lane_state = self.lane_state(id.lane);
        let seat = usize::from(id.seat);
        let item = match &phase.work {
            Work::Each { items: Items::Fixed(names), .. } => names.get(seat).cloned(),
            Work::Each { items: Items::Listed { list, .. }, .. } => {
                self.state.lists[list.index()].get(seat).map(|item| item.id.clone())
            }
            Work::Role { .. }
            | Work::Panel { .. }
            | Work::Flow { .. }
            | Work::Operation { .. }
            | Work::Ask { .. } => None,
        };
        let task = self.task(id.lane);
        let mut findings = self.state.inbox[id.phase.index()].clone();
        findings.extend(lane_state.carried.iter().copied());
        if let Some(addressed) = task.and_then(|task| self.state.task_inbox.get(task)) {
            findings.extend(addressed.iter().copied());
        }
        let is_new = |at: &u32| !findings.contains(at);
        let binding: Vec<u32> = self.state.constraints_of(id.phase).filter(is_new).collect();
        findings.extend(binding);
        let known = self.state.known.iter().copied().filter(|at| !findings.contains(at)).collect();
        Command::Dispatch(Dispatch {
            id,
            contract: seat_contract(self.program, id.phase, seat).unwrap_or(ContractId(0)),
            nearest,
            item,
            task: task.map(String::from),
            advisory,
            reads: lane_state.reads.clone(),
            findings,
            known,
            failures: id.attempt.saturating_sub(1),
        })
    }

    /// The contract of the phase that led to this lane's aside.
    fn caller_contract(&self, lane: Lane) -> Option<ContractId> {
        let caller = self.lane_state(lane).caller?;
        self.program.phase(caller).contracts().first().copied()
    }

    fn question(&self, id: CommandId, default: Option<SignalId>) -> Command {
        let (options, withheld) = self.offered_and_withheld(id.lane, id.phase);
        Command::Ask(Question {
            id,
            kind: QuestionKind::Phase,
            options,
            withheld,
            default,
            approaches: self.state.approaches.clone(),
        })
    }

    /// The options of a question that can be chosen now, and the others with the empty budget, if one is the reason.
    pub(super) fn offered_and_withheld(
        &self,
        lane: Lane,
        phase: PhaseId,
    ) -> (Vec<SignalId>, Vec<(SignalId, Option<BudgetId>)>) {
        let mut offered = Vec::new();
        let mut withheld = Vec::new();
        let Work::Ask { options, .. } = &self.program.phase(phase).work else {
            return (offered, withheld);
        };
        for option in options {
            let left = |budget| self.left(lane, budget);
            if option.offered.as_ref().is_some_and(|condition| !self.holds(lane, condition)) {
                withheld.push((option.signal, None));
            } else if resolve::can_follow(self.program, phase, option.signal, left) {
                offered.push(option.signal);
            } else {
                let route = self.program.phase(phase).route(option.signal);
                let empty = route.and_then(|route| route.spends.iter().find(|budget| left(**budget) == 0));
                withheld.push((option.signal, empty.copied()));
            }
        }
        (offered, withheld)
    }
}

/// The contract of a seat of a phase.
pub(super) fn seat_contract(program: &Program, phase: PhaseId, seat: usize) -> Option<ContractId> {
    match &program.phase(phase).work {
        Work::Role { contract, .. } | Work::Each { contract, .. } => Some(*contract),
        Work::Panel { members, advisors } => members.iter().chain(advisors).nth(seat).copied(),
        Work::Flow { .. } | Work::Operation { .. } | Work::Ask { .. } => None,
    }
}
