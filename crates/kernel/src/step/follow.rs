//! Following a route: budgets pay, confidence falls, findings are sent, and the desk moves on.

use super::Stepper;
use super::seats::FAILURE_VISIT;
use crate::change::Digest;
use crate::command::Command;
use crate::event::Usage;
use crate::ids::{ArtifactId, BudgetId, CommandId, Lane, PhaseId, SignalId};
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
            self.push_ruling(lane, &ruled, Followed::failing(), Vec::new());
            self.end(end);
            return;
        };
        let route = resolution.route;
        let accepted = route.action.is_accepting();
        let own = if accepted { self.findings_at(lane) } else { self.findings_to_send(lane) };
        let findings = self.gathered(lane, &own);
        let mut effects: Vec<Effect> = route.effect.into_iter().chain(self.lacks_diversity(lane)).collect();
        if route.effect.is_none() && accepted && !own.is_empty() && resolve::may_dissent(program, phase) {
            // Accepted with an open finding above minor: the run goes on with it, and not as if it were not there.
            effects.push(Effect::Dissent);
        }
        for effect in &effects {
            self.cap(effect.ceiling());
            self.note_known(*effect, &findings);
        }
        // After the effect: the confidence decides which phases `next` passes by.
        let (target, why) = self.target(lane, route, &findings, ruled.why.clone());
        if accepted {
            self.latch(lane, phase, &findings);
        }
        let charges = self.charge(lane, route);
        let followed = Followed {
            action: route.action.clone(),
            target,
            charges,
            exhausted: resolution.exhausted.clone(),
        };
        self.push_ruling(lane, &Ruled { why, ..ruled }, followed, effects);
        let last = resolution.exhausted.last().copied();
        self.carry_out(lane, route, ruled.signal, target, findings, last);
    }

    fn push_ruling(&mut self, lane: Lane, ruled: &Ruled, followed: Followed, effects: Vec<Effect>) {
        self.out.rulings.push(Ruling {
            phase: self.desk(lane).phase,
            lane,
            signal: ruled.signal,
            rule: ruled.rule,
            verdict: Verdict::Follow { action: followed.action, target: followed.target },
            exhausted: followed.exhausted,
            charges: followed.charges,
            effects,
            confidence: self.state.confidence,
            why: ruled.why.clone(),
        });
    }

    /// Where a route leads, if to a phase. A remand to the injector is resolved here.
    fn target(&self, lane: Lane, route: &Route, findings: &[u32], why: Why) -> (Option<PhaseId>, Why) {
        let desk = self.desk(lane);
        match &route.action {
            Action::Next => (self.following(lane, desk.phase), why),
            Action::Return => (desk.caller.and_then(|caller| self.following(lane, caller)), why),
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

    /// What a phase accepted stays accepted: its open findings are settled, but for those the run goes on with, and
    /// what is settled waits in no inbox and is no known issue any more.
    fn latch(&mut self, lane: Lane, phase: PhaseId, current: &[u32]) {
        if self.state.findings.is_empty() {
            return;
        }
        let task = self.task_id(lane);
        let mut settled = Vec::new();
        for (at, filed) in (0_u32..).zip(&mut self.state.findings) {
            let open = matches!(filed.status, FiledStatus::Open | FiledStatus::PassedOn);
            if open && filed.phase == phase && filed.task == task && !current.contains(&at) {
                filed.status = FiledStatus::Settled;
                settled.push(at);
            }
        }
        if settled.is_empty() {
            return;
        }
        self.state.known.retain(|at| !settled.contains(at));
        for inbox in self.state.inbox.iter_mut().chain(self.state.task_inbox.values_mut()) {
            inbox.retain(|at| !settled.contains(at));
        }
        self.state.task_inbox.retain(|_, inbox| !inbox.is_empty());
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
                if self.program.phase(phase).aside && !self.program.phase(target).aside {
                    // The aside is done with them; the flow proper finds them in its inbox.
                    self.address(lane, target, &findings);
                }
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
        self.refill(lane, from, target, &route.spends);
        self.pass_on(lane, target);
        self.address(lane, target, findings);
        // Whoever sends work back wants it done again, with findings or without.
        self.state.results[target.index()] = None;
        self.discard(target);
        // An aside deals with what came along and passes it on; a phase of the flow proper finds it in its inbox.
        self.desk_mut(lane).carried =
            if self.program.phase(target).aside { findings.to_vec() } else { Vec::new() };
        self.note_caller(lane, from);
        self.enter(lane, target);
    }

    /// Fills the budgets again that a way back from `from` to `target` fills.
    pub(super) fn refill(&mut self, lane: Lane, from: PhaseId, target: PhaseId, spends: &[BudgetId]) {
        for at in 0..self.program.budgets.len() {
            let budget = BudgetId(u16::try_from(at).unwrap_or(u16::MAX));
            if resolve::refills(self.program, budget, from, target, spends) {
                *self.left_mut(lane, budget) = self.state.full[at];
            }
        }
    }

    /// Work that is sent back further than a finding was sent before starts afresh: what is found in it is no earlier
    /// report of the same.
    fn pass_on(&mut self, lane: Lane, target: PhaseId) {
        if lane != Lane::Main {
            return;
        }
        for filed in &mut self.state.findings {
            let further = filed.sent_to.is_some_and(|before| target < before);
            if filed.status == FiledStatus::Open && filed.phase >= target && further {
                filed.status = FiledStatus::PassedOn;
            }
        }
    }

    fn discard(&mut self, target: PhaseId) {
        if self.program.phase(target).discards.is_empty() {
            return;
        }
        // What was found in work that is thrown away is of no use to the new one.
        for inbox in &mut self.state.inbox[target.index() + 1..] {
            inbox.clear();
        }
        let there = |artifact: &ArtifactId| self.state.digest(*artifact) != Digest::default();
        let artifacts: Vec<ArtifactId> =
            self.program.phase(target).discards.iter().copied().filter(there).collect();
        if artifacts.is_empty() {
            return;
        }
        for artifact in &artifacts {
            self.state.versions[artifact.index()] = Digest::default();
        }
        self.state.finished.clear();
        self.emit(Command::Discard { artifacts });
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
        let held = self.state.hold.is_some();
        self.cancel_open();
        self.state.paused = false;
        let failed = match &end {
            End::Failed { .. } | End::Cancelled { .. } => true,
            // A stop in the workflow is a decision; one at a hold breaks the run off.
            End::Stopped { .. } => held,
            End::Done => false,
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
        let over = matches!(self.state.stage, Stage::Ended(_));
        let known = id.phase == self.state.main.phase && usize::from(id.seat) < self.program.failure.len();
        let Stage::Ending { end, at } = self.state.stage.clone() else {
            if !(over && known) {
                return Err(super::Refusal::UnknownCommand(id));
            }
            self.out.note = super::Note::Late;
            return Ok(());
        };
        if !known || id.seat > at {
            return Err(super::Refusal::UnknownCommand(id));
        }
        if id.seat < at {
            self.out.note = super::Note::Late;
            return Ok(());
        }
        self.state.used.time = self.state.used.time.saturating_add(usage.of_run());
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
        let batch = self.state.visits.get(self.state.main.phase.index()).copied().unwrap_or(0);
        for (index, run) in self.state.tasks.iter().enumerate() {
            if run.progress == TaskProgress::Running {
                let index = u16::try_from(index).unwrap_or(u16::MAX);
                collect(&run.desk, Lane::Task { batch, index });
            }
        }
        open.extend(self.state.hold.take().filter(|hold| Some(hold.id) != self.answered).map(|hold| hold.id));
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
