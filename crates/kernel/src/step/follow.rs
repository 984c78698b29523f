//! Following a route: budgets pay, confidence falls, findings are sent, and the desk moves on.

use super::Stepper;
use super::seats::FAILURE_VISIT;
use crate::command::Command;
use crate::event::Usage;
use crate::ids::{BudgetId, CommandId, Lane, PhaseId, SignalId};
use crate::program::{Action, Effect, Route};
use crate::resolve;
use crate::ruling::{Charge, Rule, Ruling, Verdict, Why};
use crate::signal::COMPLETED;
use crate::state::{End, FiledStatus, HoldCause, Progress, Stage, TaskProgress};
use alloc::vec::Vec;

/// A signal with the rule that raised it and its reason.
pub(super) struct Ruled {
    pub signal: SignalId,
    pub rule: Rule,
    pub why: Why,
}

impl Stepper<'_> {
    /// Rules on the phase at a desk and carries the ruling out.
    pub(super) fn settle_as(&mut self, lane: Lane, ruled: Ruled) {
        let program = self.program;
        let phase = self.desk(lane).phase;
        let resolution = resolve::resolve(program, phase, ruled.signal, |budget| self.left(lane, budget));
        // The checker excludes a signal without a route; a program that was never checked fails here.
        let Some(resolution) = resolution else {
            let end = End::Failed { phase, signal: ruled.signal, exhausted: None };
            self.push_ruling(lane, &ruled, Followed::failing(), None);
            self.end(end);
            return;
        };
        let route = resolution.route;
        let own = self.findings_at(lane);
        let findings = self.gathered(lane, &own);
        let effect = route.effect.max(self.lacks_diversity(lane));
        if let Some(effect) = effect {
            self.cap(effect.ceiling());
            self.note_known(effect, &findings);
        }
        // After the effect: the confidence decides which phases `next` passes by.
        let (target, why) = self.target(lane, route, &findings, ruled.why.clone());
        if resolve::accepts(route) {
            self.latch(lane, phase, &findings);
        }
        let charges = self.charge(lane, route);
        let followed = Followed {
            action: route.action.clone(),
            target,
            charges,
            exhausted: resolution.exhausted.clone(),
        };
        self.push_ruling(lane, &Ruled { why, ..ruled }, followed, effect);
        let last = resolution.exhausted.last().copied();
        self.carry_out(lane, route, ruled.signal, target, findings, last);
    }

    fn push_ruling(&mut self, lane: Lane, ruled: &Ruled, followed: Followed, effect: Option<Effect>) {
        self.out.rulings.push(Ruling {
            phase: self.desk(lane).phase,
            lane,
            signal: ruled.signal,
            rule: ruled.rule,
            verdict: Verdict::Follow { action: followed.action, target: followed.target },
            exhausted: followed.exhausted,
            charges: followed.charges,
            effect,
            confidence: self.state.confidence,
            why: ruled.why.clone(),
        });
    }

    /// Where a route leads, if to a phase. A remand to the injector is resolved here.
    fn target(&self, lane: Lane, route: &Route, findings: &[u32], why: Why) -> (Option<PhaseId>, Why) {
        let desk = self.desk(lane);
        match &route.action {
            Action::Next => (self.following(desk.phase), why),
            Action::Return => (desk.caller.and_then(|caller| self.following(caller)), why),
            Action::To(target) | Action::Remand(target) | Action::Restore(target) => (Some(*target), why),
            Action::RemandInjector => {
                let (target, why) = self.injector(lane, findings);
                (Some(target), why)
            }
            Action::Hold => (Some(desk.phase), why),
            Action::Raise(_) | Action::Done | Action::Fail | Action::Stop(_) | Action::Ignore => (None, why),
        }
    }

    fn charge(&mut self, lane: Lane, route: &Route) -> Vec<Charge> {
        route
            .spends
            .iter()
            .map(|budget| {
                let left = self.left_mut(lane, *budget);
                let before = *left;
                *left = left.saturating_sub(1);
                Charge { budget: *budget, before, after: before.saturating_sub(1) }
            })
            .collect()
    }

    fn note_known(&mut self, effect: Effect, findings: &[u32]) {
        match effect {
            Effect::Blockers | Effect::Dissent => {
                for at in findings {
                    if !self.state.known.contains(at) {
                        self.state.known.push(*at);
                    }
                }
            }
            Effect::Degradation => {}
        }
    }

    /// What a phase accepted stays accepted: its open findings are settled, but for those the run goes on with.
    fn latch(&mut self, lane: Lane, phase: PhaseId, current: &[u32]) {
        let task = self.task_id(lane);
        for (at, filed) in self.state.findings.iter_mut().enumerate() {
            let open = filed.phase == phase && filed.task == task && filed.status == FiledStatus::Open;
            let going_on = current.iter().any(|known| *known as usize == at);
            if open && !going_on {
                filed.status = FiledStatus::Settled;
            }
        }
    }

    fn carry_out(
        &mut self,
        lane: Lane,
        route: &Route,
        signal: SignalId,
        target: Option<PhaseId>,
        findings: Vec<u32>,
        exhausted: Option<BudgetId>,
    ) {
        let phase = self.desk(lane).phase;
        match (&route.action, target) {
            (Action::Next | Action::Return, Some(target)) => self.enter(lane, target),
            (Action::Next | Action::Return, None) => self.leave_flow(lane, COMPLETED, Vec::new()),
            (Action::To(_), Some(target)) => {
                self.note_caller(lane, phase);
                self.desk_mut(lane).carried = findings;
                self.enter(lane, target);
            }
            (Action::Restore(_), Some(target)) => {
                self.restore_round(target, None);
                self.remand(lane, route, target, &findings);
            }
            (Action::Remand(_) | Action::RemandInjector, Some(target)) => {
                self.remand(lane, route, target, &findings);
            }
            (Action::Raise(raised), _) => self.leave_flow(lane, *raised, findings),
            (Action::Done, _) => self.end(End::Done),
            (Action::Stop(why), _) => self.end(End::Stopped { why: why.clone() }),
            (Action::Hold, _) => self.hold(lane, HoldCause::Route),
            (
                Action::Fail
                | Action::Ignore
                | Action::To(_)
                | Action::Restore(_)
                | Action::Remand(_)
                | Action::RemandInjector,
                _,
            ) => self.end(End::Failed { phase, signal, exhausted }),
        }
    }

    /// Sends work back: budgets of the stretch are filled again, findings go to their phases, the target opens.
    fn remand(&mut self, lane: Lane, route: &Route, target: PhaseId, findings: &[u32]) {
        let from = self.desk(lane).phase;
        for at in 0..self.program.budgets.len() {
            let budget = BudgetId(u16::try_from(at).unwrap_or(u16::MAX));
            if resolve::refills(self.program, budget, from, target, &route.spends) {
                let full = self.program.capacity(budget, |list| self.state.count(list));
                *self.left_mut(lane, budget) = full;
            }
        }
        self.address(lane, target, findings);
        let discards = &self.program.phase(target).discards;
        if !discards.is_empty() {
            for artifact in discards {
                self.state.versions[artifact.index()] = crate::change::Digest::default();
                self.state.changes += 1;
            }
            self.state.finished.clear();
            self.emit(Command::Discard { artifacts: discards.clone() });
        }
        // An aside deals with what came along and passes it on; a phase of the flow proper finds it in its inbox.
        self.desk_mut(lane).carried =
            if self.program.phase(target).aside { findings.to_vec() } else { Vec::new() };
        self.note_caller(lane, from);
        self.enter(lane, target);
    }

    /// An aside knows the phase of the flow proper that led to it, however many asides lie between.
    fn note_caller(&mut self, lane: Lane, from: PhaseId) {
        if !self.program.phase(from).aside {
            self.desk_mut(lane).caller = Some(from);
        }
    }

    /// The end of a sub-flow for one task, or of the main flow.
    fn leave_flow(&mut self, lane: Lane, exit: SignalId, findings: Vec<u32>) {
        match lane {
            Lane::Main => self.end(End::Done),
            Lane::Task { index, .. } => self.task_exited(usize::from(index), exit, findings),
        }
    }

    /// Ends the run: what is open is cancelled, and after a failure its operations run first.
    pub(super) fn end(&mut self, end: End) {
        self.cancel_open();
        self.state.hold = None;
        self.state.deferred.clear();
        self.state.paused = false;
        let failed = match &end {
            End::Failed { .. } | End::Cancelled { .. } => true,
            End::Done | End::Stopped { .. } => false,
        };
        if failed && !self.program.failure.is_empty() {
            self.state.stage = Stage::Ending { end, at: 0 };
            self.next_failure_operation(0);
        } else {
            self.finish(end);
        }
    }

    fn finish(&mut self, end: End) {
        self.state.stage = Stage::Ended(end.clone());
        self.emit(Command::Finish { end });
    }

    fn next_failure_operation(&mut self, at: u16) {
        let id = CommandId {
            phase: self.state.main.phase,
            lane: Lane::Main,
            visit: FAILURE_VISIT,
            seat: at,
            attempt: 1,
        };
        let operation = self.program.failure[usize::from(at)];
        self.emit(Command::Operate { id, operation, task: None, findings: Vec::new() });
    }

    /// An operation of the failure handler ended; however it ended, the next one follows.
    pub(super) fn failure_operation_ended(
        &mut self,
        id: CommandId,
        usage: &Usage,
    ) -> Result<(), super::Refusal> {
        let Stage::Ending { end, at } = self.state.stage.clone() else {
            self.out.note = super::Note::Late;
            return Ok(());
        };
        if id.seat != at || id.phase != self.state.main.phase {
            self.out.note = super::Note::Late;
            return Ok(());
        }
        self.state.used.time = self.state.used.time.saturating_add(usage.time);
        let next = at + 1;
        if usize::from(next) < self.program.failure.len() {
            self.state.stage = Stage::Ending { end, at: next };
            self.next_failure_operation(next);
        } else {
            self.finish(end);
        }
        Ok(())
    }

    /// Cancels everything that is open; nothing is orphaned (CORE-17).
    pub(super) fn cancel_open(&mut self) {
        let mut open = Vec::new();
        let mut collect = |desk: &crate::state::Desk, lane: Lane| {
            for (at, seat) in desk.seats.iter().enumerate() {
                if seat.progress == Progress::Open {
                    open.push(CommandId {
                        phase: desk.phase,
                        lane,
                        visit: desk.visit,
                        seat: u16::try_from(at).unwrap_or(u16::MAX),
                        attempt: seat.attempt,
                    });
                }
            }
        };
        collect(&self.state.main, Lane::Main);
        let batch = self.state.visits[self.state.main.phase.index()];
        for (index, run) in self.state.tasks.iter().enumerate() {
            if run.progress == TaskProgress::Running {
                let index = u16::try_from(index).unwrap_or(u16::MAX);
                collect(&run.desk, Lane::Task { batch, index });
            }
        }
        self.state.main.seats.clear();
        self.state.tasks.clear();
        let deferred = core::mem::take(&mut self.state.deferred);
        let started = open.into_iter().filter(|id| !deferred.iter().any(|kept| kept.id() == Some(*id)));
        let commands: Vec<Command> = started.map(|id| Command::Cancel { id }).collect();
        self.out.commands.extend(commands);
    }
}

/// The part of a ruling that comes from the route.
struct Followed {
    action: Action,
    target: Option<PhaseId>,
    charges: Vec<Charge>,
    exhausted: Vec<BudgetId>,
}

impl Followed {
    fn failing() -> Followed {
        Followed { action: Action::Fail, target: None, charges: Vec::new(), exhausted: Vec::new() }
    }
}
