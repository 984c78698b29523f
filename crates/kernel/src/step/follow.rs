//! Follows a route: spends budgets, lowers the confidence, sends findings, and moves the lane to the next phase.

use super::{FAILURE_VISIT, Stepper};
use crate::change::Digest;
use crate::command::Command;
use crate::event::{Mode, Usage};
use crate::ids::{ArtifactId, BudgetId, CommandId, Lane, PhaseId, SignalId};
use crate::program::{Action, Effect, Route, Work};
use crate::resolve;
use crate::ruling::{Charge, Disposition, Rule, Ruling, Why};
use crate::signal::{COMPLETED, NO_RESULT};
use crate::state::{Constraint, End, FiledStatus, HoldCause, SeatProgress, Stage, TaskProgress};
use alloc::vec::Vec;

/// A signal, the rule that raised it, and the reason.
pub(super) struct RuledSignal {
    pub signal: SignalId,
    pub rule: Rule,
    pub why: Why,
}

impl Stepper<'_> {
    /// Rules on a lane's phase and acts on the ruling, unless a human must confirm the origin of the findings first.
    pub(super) fn settle_with(&mut self, lane: Lane, ruled: RuledSignal) {
        if self.must_confirm_origin(lane, ruled.signal) {
            let RuledSignal { signal, rule, why } = ruled;
            self.hold(lane, HoldCause::Origin { signal, rule, why });
        } else {
            self.follow(lane, ruled);
        }
    }

    /// Whether findings are about to be sent back to an origin that no human has seen.
    fn must_confirm_origin(&self, lane: Lane, signal: SignalId) -> bool {
        let phase = self.lane_state(lane).phase;
        let route = resolve::resolve(self.program, phase, signal, |budget| self.left(lane, budget));
        self.program.confirms_origin
            && self.state.mode == Mode::Interactive
            && self.state.hold.is_none()
            && lane == Lane::Main
            && !matches!(self.program.phase(phase).work, Work::Ask { .. })
            && route.is_some_and(|found| found.route.action == Action::RemandInjector)
            && !self.findings_to_send(lane).is_empty()
    }

    /// Rules on a lane's phase and acts on the ruling.
    pub(super) fn follow(&mut self, lane: Lane, ruled: RuledSignal) {
        let program = self.program;
        let phase = self.lane_state(lane).phase;
        let resolution = resolve::resolve(program, phase, ruled.signal, |budget| self.left(lane, budget));
        // The checker rules this out; a program that was never checked fails here.
        let Some(resolution) = resolution else {
            let end = End::Failed { phase, signal: ruled.signal, exhausted: None };
            self.push_ruling(lane, &ruled, FollowedRoute::failing(), Vec::new());
            self.end(end);
            return;
        };
        let route = resolution.route;
        let accepted = route.action.is_accepting();
        let reported = if accepted { self.findings_at(lane) } else { self.findings_to_send(lane) };
        let findings = self.findings_for_ruling(lane, &reported);
        let mut effects: Vec<Effect> = route.effect.into_iter().chain(self.diversity_effect(lane)).collect();
        if route.effect.is_none() && accepted && !reported.is_empty() && resolve::may_dissent(program, phase)
        {
            // The work is accepted with an open finding above minor: the run continues with lower confidence.
            effects.push(Effect::Dissent);
        }
        for effect in &effects {
            self.cap_confidence(effect.ceiling());
            self.record_known_issues(phase, *effect, &findings);
        }
        // This comes after the effects, because the confidence decides which phases `next` skips.
        let (target, why) = self.target(lane, route, &findings, ruled.why.clone());
        if let (true, Some(target)) = (effects.contains(&Effect::Constraints), target) {
            self.bind(target, &findings);
        }
        if accepted {
            self.settle_findings(lane, phase, &findings);
        }
        let charges = self.charge(lane, route);
        let followed = FollowedRoute {
            action: route.action.clone(),
            target,
            charges,
            exhausted: resolution.exhausted.clone(),
        };
        self.push_ruling(lane, &RuledSignal { why, ..ruled }, followed, effects);
        let last_exhausted = resolution.exhausted.last().copied();
        self.follow_action(lane, route, ruled.signal, target, findings, last_exhausted);
    }

    fn push_ruling(
        &mut self,
        lane: Lane,
        ruled: &RuledSignal,
        followed: FollowedRoute,
        effects: Vec<Effect>,
    ) {
        self.out.rulings.push(Ruling {
            phase: self.lane_state(lane).phase,
            lane,
            signal: ruled.signal,
            rule: ruled.rule,
            verdict: Disposition::Follow { action: followed.action, target: followed.target },
            exhausted: followed.exhausted,
            charges: followed.charges,
            effects,
            confidence: self.state.confidence,
            why: ruled.why.clone(),
        });
    }

    /// The phase that a route leads to, if any. A remand to the injector is resolved here.
    fn target(&self, lane: Lane, route: &Route, findings: &[u32], why: Why) -> (Option<PhaseId>, Why) {
        let lane_state = self.lane_state(lane);
        match &route.action {
            Action::Next => (self.following(lane, lane_state.phase), why),
            Action::Return => (lane_state.caller.and_then(|caller| self.following(lane, caller)), why),
            Action::To(target) | Action::Remand(target) | Action::Restore(target) => (Some(*target), why),
            Action::RemandInjector => {
                let (target, why) = self.find_injector(lane, findings);
                (Some(target), why)
            }
            Action::Hold => (Some(lane_state.phase), why),
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

    fn record_known_issues(&mut self, phase: PhaseId, effect: Effect, findings: &[u32]) {
        let mut issues = findings.to_vec();
        match effect {
            // A phase that accepts its constraints with blockers does not meet them all.
            Effect::Blockers => issues.extend(self.state.constraints_of(phase)),
            Effect::Dissent => {}
            Effect::Degradation | Effect::Constraints => return,
        }
        for at in issues {
            if !self.state.known.contains(&at) {
                self.state.known.push(at);
            }
        }
    }

    /// Makes findings binding for a phase.
    fn bind(&mut self, phase: PhaseId, findings: &[u32]) {
        for finding in findings {
            let bound = Constraint { finding: *finding, phase };
            if !self.state.constraints.contains(&bound) {
                self.state.constraints.push(bound);
            }
        }
    }

    /// Settles the open findings of a phase that accepted the work, except the current ones, and removes them from
    /// inboxes and known issues.
    fn settle_findings(&mut self, lane: Lane, phase: PhaseId, current: &[u32]) {
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
        self.state.constraints.retain(|bound| !settled.contains(&bound.finding));
        for inbox in self.state.inbox.iter_mut().chain(self.state.task_inbox.values_mut()) {
            inbox.retain(|at| !settled.contains(at));
        }
        self.state.task_inbox.retain(|_, inbox| !inbox.is_empty());
    }

    fn follow_action(
        &mut self,
        lane: Lane,
        route: &Route,
        signal: SignalId,
        target: Option<PhaseId>,
        findings: Vec<u32>,
        exhausted: Option<BudgetId>,
    ) {
        let phase = self.lane_state(lane).phase;
        match (&route.action, target) {
            (Action::Next | Action::Return, Some(target)) => self.enter(lane, target),
            (Action::Next | Action::Return, None) => self.leave_flow(lane, COMPLETED, Vec::new()),
            (Action::To(_), Some(target)) => {
                self.record_caller(lane, phase);
                if self.program.phase(phase).aside && !self.program.phase(target).aside {
                    // The aside has dealt with the findings; the main flow finds them in its inbox.
                    self.address(lane, target, &findings);
                }
                self.lane_state_mut(lane).carried = findings;
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

    /// Sends work back: refills the budgets of the repeated phases, sends findings to their phases, and enters the
    /// target.
    fn remand(&mut self, lane: Lane, route: &Route, target: PhaseId, findings: &[u32]) {
        let from = self.lane_state(lane).phase;
        self.refill(lane, from, target, &route.spends);
        self.pass_on(lane, target);
        self.address(lane, target, findings);
        // Work that is sent back is repeated, with or without findings.
        self.state.results[target.index()] = None;
        self.discard(target);
        // An aside handles carried findings and forwards them; a phase of the main flow finds them in its inbox.
        self.lane_state_mut(lane).carried =
            if self.program.phase(target).aside { findings.to_vec() } else { Vec::new() };
        self.record_caller(lane, from);
        self.enter(lane, target);
    }

    /// Refills the budgets that a remand from `from` to `target` refills.
    pub(super) fn refill(&mut self, lane: Lane, from: PhaseId, target: PhaseId, spends: &[BudgetId]) {
        for at in 0..self.program.budgets.len() {
            let budget = BudgetId(u16::try_from(at).unwrap_or(u16::MAX));
            if resolve::refills(self.program, budget, from, target, spends) {
                *self.left_mut(lane, budget) = self.state.full[at];
            }
        }
    }

    /// Marks findings as passed on if an earlier remand sent them to a later phase than `target`. The work now starts
    /// again from `target`, so a similar finding does not count as a repetition.
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
        // Findings about discarded work do not apply to the new work.
        for inbox in &mut self.state.inbox[target.index() + 1..] {
            inbox.clear();
        }
        let exists = |artifact: &ArtifactId| self.state.digest(*artifact) != Digest::default();
        let artifacts: Vec<ArtifactId> =
            self.program.phase(target).discards.iter().copied().filter(exists).collect();
        if artifacts.is_empty() {
            return;
        }
        for artifact in &artifacts {
            self.state.versions[artifact.index()] = Digest::default();
        }
        self.state.finished.clear();
        self.emit(Command::Discard { artifacts });
    }

    /// Records the phase of the main flow that leads to an aside; asides in between do not count.
    fn record_caller(&mut self, lane: Lane, from: PhaseId) {
        if !self.program.phase(from).aside {
            self.lane_state_mut(lane).caller = Some(from);
        }
    }

    /// Ends the sub-flow of one task, or the main flow.
    fn leave_flow(&mut self, lane: Lane, exit: SignalId, findings: Vec<u32>) {
        match lane {
            Lane::Main => self.end(End::Done),
            Lane::Task { index, .. } => self.exit_task(usize::from(index), exit, findings),
        }
    }

    /// Ends the run: cancels open commands and, after a failure, performs the failure operations first.
    pub(super) fn end(&mut self, end: End) {
        let held = self.state.hold.is_some();
        match &end {
            End::Failed { signal: NO_RESULT, .. } => self.set_retry_point(NO_RESULT),
            End::Failed { .. } | End::Done => {}
            End::Stopped { .. } | End::Cancelled { .. } => self.state.retry_point = None,
        }
        self.cancel_open();
        self.state.paused = false;
        let failed = match &end {
            End::Failed { .. } | End::Cancelled { .. } => true,
            // A stop that the workflow defines is a planned end; a stop at a hold aborts the run.
            End::Stopped { .. } => held,
            End::Done => false,
        };
        if failed && !self.program.failure.is_empty() {
            self.state.stage = Stage::Ending { end, at: 0 };
            self.issue_failure_operation(0);
        } else {
            self.finish(end);
        }
    }

    fn finish(&mut self, end: End) {
        self.state.stage = Stage::Ended(end.clone());
        self.emit(Command::Finish { end });
    }

    fn issue_failure_operation(&mut self, at: u16) {
        let id = CommandId {
            phase: self.state.main.phase,
            lane: Lane::Main,
            visit: FAILURE_VISIT,
            seat: at,
            attempt: self.state.retries.saturating_add(1),
        };
        let operation = self.program.failure[usize::from(at)];
        self.emit(Command::Operate { id, operation, task: None, findings: Vec::new() });
    }

    /// Handles the end of a failure operation; the next one follows whatever the result.
    pub(super) fn end_failure_operation(
        &mut self,
        id: CommandId,
        usage: &Usage,
    ) -> Result<(), super::Refusal> {
        let (true, Stage::Ending { end, at }) = (self.is_open(id), self.state.stage.clone()) else {
            return self.accept_late(id);
        };
        self.state.used.time = self.state.used.time.saturating_add(usage.run_time());
        let next = at + 1;
        if usize::from(next) < self.program.failure.len() {
            self.state.stage = Stage::Ending { end, at: next };
            self.issue_failure_operation(next);
        } else {
            self.finish(end);
        }
        Ok(())
    }

    /// Cancels every open command.
    pub(super) fn cancel_open(&mut self) {
        let mut open = Vec::new();
        let mut collect = |lane_state: &crate::state::LaneState, lane: Lane| {
            for (at, seat) in lane_state.seats.iter().enumerate() {
                if seat.progress == SeatProgress::Open {
                    open.push(CommandId {
                        phase: lane_state.phase,
                        lane,
                        visit: lane_state.visit,
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
                collect(&run.lane_state, Lane::Task { batch, index });
            }
        }
        open.extend(self.state.hold.take().filter(|hold| Some(hold.id) != self.answered).map(|hold| hold.id));
        self.state.main.seats.clear();
        self.state.tasks.clear();
        let deferred = core::mem::take(&mut self.state.deferred);
        let issued = open.into_iter().filter(|id| !deferred.iter().any(|command| command.id() == Some(*id)));
        let commands: Vec<Command> = issued.map(|id| Command::Cancel { id }).collect();
        self.out.commands.extend(commands);
    }
}

/// The part of a ruling that comes from the route.
struct FollowedRoute {
    action: Action,
    target: Option<PhaseId>,
    charges: Vec<Charge>,
    exhausted: Vec<BudgetId>,
}

impl FollowedRoute {
    fn failing() -> FollowedRoute {
        FollowedRoute { action: Action::Fail, target: None, charges: Vec::new(), exhausted: Vec::new() }
    }
}
