//! What people do: answer, cancel, pause, resume, roll back, remove an approach from the list.

use super::follow::RuledSignal;
use super::seats::open_seat;
use super::{Receipt, Refusal, Stepper};
use crate::command::Command;
use crate::event::Grants;
use crate::ids::{ArtifactId, BudgetId, CommandId, Lane, PhaseId, SignalId};
use crate::program::{Action, Scope, Work};
use crate::ruling::{Charge, Disposition, Rule, Ruling, Why};
use crate::signal::{CANCEL, GO_ON, PAUSE, REMOVE_APPROACH, RESUME, ROLL_BACK, STOP};
use crate::state::{Derived, End, HoldCause, SeatProgress, SeatResult, Stage, TaskProgress};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

impl Stepper<'_> {
    /// Applies the answer to a gate; the same step issues the commands that follow from it.
    pub(super) fn apply_answer(
        &mut self,
        id: CommandId,
        option: &str,
        by: &str,
        note: &str,
        flags: &[(String, bool)],
        grants: Grants,
    ) -> Result<(), Refusal> {
        if self.state.stage == Stage::Fresh {
            return Err(Refusal::NotStarted);
        }
        if self.state.hold.as_ref().is_some_and(|hold| hold.id == id) {
            return self.apply_hold_answer(option, by, note, grants);
        }
        if id.seat == u16::MAX {
            return self.accept_late(id);
        }
        let Some(at) = open_seat(self.state, id) else {
            return self.accept_late(id);
        };
        let phase = self.program.phase(id.phase);
        let Work::Ask { .. } = &phase.work else {
            return Err(Refusal::NotAQuestion(id));
        };
        let (offered, _) = self.offered_and_withheld(id.lane, id.phase);
        let chosen = offered.iter().copied().find(|signal| self.program.signal(*signal) == option);
        let Some(signal) = chosen else {
            return Err(self.not_offered(option, &offered));
        };
        let flags = self.read_flags(flags)?;
        if let Some((flag, _)) = flags.iter().find(|(flag, _)| !phase.sets.contains(flag)) {
            let name = self.program.flags[flag.index()].clone();
            return Err(Refusal::UnknownName { what: "a flag of this question", name });
        }

        // A flag that this answer does not set is cleared.
        for flag in &phase.sets {
            self.state.flags[flag.index()] = flags.contains(&(*flag, true));
        }
        self.lane_state_mut(id.lane).seats[at].progress = SeatProgress::Said(SeatResult {
            signal,
            verdict: signal,
            derived: Derived::Plainly,
            findings: Vec::new(),
            model: None,
        });
        self.remember_result(id.lane, signal);
        let line = phase.route(signal).map_or(0, |route| route.line);
        let why = Why::Human { by: by.to_string(), note: note.to_string() };
        self.settle_with(id.lane, RuledSignal { signal, rule: Rule::Route { line }, why });
        Ok(())
    }

    fn not_offered(&self, option: &str, offered: &[SignalId]) -> Refusal {
        let names: Vec<&str> = offered.iter().map(|signal| self.program.signal(*signal)).collect();
        Refusal::NotOffered { option: option.to_string(), offered: names.join(", ") }
    }

    fn apply_hold_answer(
        &mut self,
        option: &str,
        by: &str,
        note: &str,
        grants: Grants,
    ) -> Result<(), Refusal> {
        let signal = [GO_ON, STOP].into_iter().find(|signal| self.program.signal(*signal) == option);
        let Some(signal) = signal else {
            return Err(self.not_offered(option, &[GO_ON, STOP]));
        };
        let Some(hold) = self.state.hold.clone() else {
            return Ok(());
        };
        let why = Why::Human { by: by.to_string(), note: note.to_string() };
        if signal == STOP {
            let cause = match &hold.cause {
                HoldCause::Environment { detail } => format!("environment: {detail}"),
                HoldCause::Limit { limit } => format!("limit reached: {limit}"),
                HoldCause::Route | HoldCause::Origin { .. } => String::from("stopped by a human"),
            };
            self.push_human_ruling(
                signal,
                Disposition::Follow { action: Action::Stop(cause.clone()), target: None },
                why,
            );
            self.end(End::Stopped { why: cause });
            return Ok(());
        }
        self.state.hold = None;
        self.push_human_ruling(signal, Disposition::GoOn, why);
        match hold.cause {
            // A human is present now, so the question is asked even in autonomous mode.
            HoldCause::Route => self.ask_again(hold.id.lane),
            HoldCause::Limit { limit } => {
                match grants {
                    Grants::AskedFor => self.grant(&limit),
                    Grants::Amount(amount) => {
                        self.grant(&limit);
                        self.set_limit(&limit, amount);
                    }
                    Grants::Everything => self.state.granted = self.state.used,
                }
                self.issue_held_seats();
            }
            HoldCause::Environment { .. } => self.issue_held_seats(),
            HoldCause::Origin { signal, rule, why } => {
                self.follow(hold.id.lane, RuledSignal { signal, rule, why });
            }
        }
        Ok(())
    }

    /// Issues the commands that a hold kept back.
    pub(super) fn issue_held_seats(&mut self) {
        let batch = self.state.visits[self.state.main.phase.index()];
        let mut lanes = alloc::vec![Lane::Main];
        for (index, run) in self.state.tasks.iter().enumerate() {
            if run.progress == TaskProgress::Running {
                lanes.push(Lane::Task { batch, index: u16::try_from(index).unwrap_or(u16::MAX) });
            }
        }
        for lane in lanes {
            for at in 0..self.lane_state(lane).seats.len() {
                if self.lane_state(lane).seats[at].progress == SeatProgress::Held && self.state.hold.is_none()
                {
                    self.issue_command(lane, at);
                }
            }
        }
    }

    /// Cancels the run in any state; later events are recorded and ignored.
    pub(super) fn cancel(&mut self, by: &str) -> Result<(), Refusal> {
        match &self.state.stage {
            Stage::Fresh | Stage::Running => {}
            Stage::Ending { .. } | Stage::Ended(_) => {
                self.out.receipt = Receipt::Late;
                return Ok(());
            }
        }
        let why = Why::Human { by: by.to_string(), note: String::new() };
        self.push_human_ruling(CANCEL, Disposition::Cancel, why);
        self.end(End::Cancelled { by: by.to_string() });
        Ok(())
    }

    pub(super) fn pause(&mut self, by: &str) -> Result<(), Refusal> {
        self.check_running()?;
        if self.state.paused {
            self.out.receipt = Receipt::Late;
            return Ok(());
        }
        self.state.paused = true;
        self.push_human_ruling(
            PAUSE,
            Disposition::Pause,
            Why::Human { by: by.to_string(), note: String::new() },
        );
        Ok(())
    }

    pub(super) fn resume(&mut self, by: &str) -> Result<(), Refusal> {
        self.check_running()?;
        if !self.state.paused {
            self.out.receipt = Receipt::Late;
            return Ok(());
        }
        self.state.paused = false;
        self.push_human_ruling(
            RESUME,
            Disposition::GoOn,
            Why::Human { by: by.to_string(), note: String::new() },
        );
        let deferred = core::mem::take(&mut self.state.deferred);
        self.out.commands.extend(deferred);
        Ok(())
    }

    /// Rolls the run back to the start of a round, at a gate or while paused.
    pub(super) fn roll_back(&mut self, to: u16, by: &str, reason: &str) -> Result<(), Refusal> {
        self.check_running()?;
        let at_gate = matches!(self.program.phase(self.state.main.phase).work, Work::Ask { .. });
        if !at_gate && self.state.hold.is_none() && !self.state.paused {
            return Err(Refusal::NotAtGate);
        }
        let (target, spends) = self.restore_route().ok_or(Refusal::NoRounds)?;
        let has_checkpoint =
            self.state.checkpoints.iter().any(|point| point.round == to && point.phase == target);
        if !has_checkpoint {
            return Err(Refusal::NoSuchRound(to));
        }
        let left = |budget: BudgetId| {
            if self.is_round_budget(budget, target) {
                self.rollbacks_left(budget, to)
            } else {
                self.left(Lane::Main, budget)
            }
        };
        let before: Vec<(BudgetId, u16)> = spends.iter().map(|budget| (*budget, left(*budget))).collect();
        if let Some((empty, _)) = before.iter().find(|(_, left)| *left == 0) {
            return Err(Refusal::NoRollbackLeft(self.program.budget(*empty).name.clone()));
        }

        self.cancel_open();
        let from = self.state.main.phase;
        let mut charges = Vec::new();
        for (budget, before) in before {
            *self.left_mut(Lane::Main, budget) = before - 1;
            charges.push(Charge { budget, before, after: before - 1 });
        }
        self.refill(Lane::Main, from, target, &spends);
        let artifacts = self.restore_round(target, Some(to));
        self.state.results[target.index()] = None;
        let why = Why::Human { by: by.to_string(), note: reason.to_string() };
        self.push_human_ruling(ROLL_BACK, Disposition::RollBack { round: to, artifacts }, why);
        if let Some(ruling) = self.out.rulings.last_mut() {
            ruling.charges = charges;
        }
        self.enter(Lane::Main, target);
        Ok(())
    }

    /// The target and the budgets of the workflow's route that restores a round.
    fn restore_route(&self) -> Option<(PhaseId, Vec<BudgetId>)> {
        let routes = self.program.phases.iter().flat_map(|phase| &phase.routes);
        let mut restoring = routes.filter(|(_, route)| matches!(route.action, Action::Restore(_)));
        restoring.find_map(|(_, route)| Some((route.action.target_phase()?, route.spends.clone())))
    }

    /// At the start of a round, lowers the rollback budgets to the number of rollbacks left for that round.
    pub(super) fn cap_rollback_budgets(&mut self, checkpoint: PhaseId, round: u16) {
        let spends = self.restore_route().map(|(_, spends)| spends).unwrap_or_default();
        for budget in spends {
            if self.is_round_budget(budget, checkpoint) {
                let max = self.rollbacks_left(budget, round);
                let left = self.left_mut(Lane::Main, budget);
                *left = max.min(*left);
            }
        }
    }

    fn is_round_budget(&self, budget: BudgetId, checkpoint: PhaseId) -> bool {
        self.program.budget(budget).scope == Scope::Phase(checkpoint)
    }

    fn rollbacks_left(&self, budget: BudgetId, round: u16) -> u16 {
        let restored = self.state.restored.get(&round).copied().unwrap_or(0);
        self.state.full[budget.index()].saturating_sub(restored)
    }

    /// Restores artifacts, flags and lists from the start of a round, by default the latest; budgets stay spent.
    pub(super) fn restore_round(&mut self, target: PhaseId, round: Option<u16>) -> Vec<ArtifactId> {
        let is_wanted = |point: &crate::state::Checkpoint| {
            point.phase == target && round.is_none_or(|round| point.round == round)
        };
        let Some(at) = self.state.checkpoints.iter().rposition(is_wanted) else {
            return Vec::new();
        };
        let point = self.state.checkpoints[at].clone();
        self.state.checkpoints.truncate(at);
        let restored = self.state.restored.entry(point.round).or_default();
        *restored = restored.saturating_add(1);
        let changed: Vec<(ArtifactId, crate::change::Digest)> = point
            .versions
            .iter()
            .enumerate()
            .filter(|(at, digest)| self.state.versions[*at] != **digest)
            .map(|(at, digest)| (ArtifactId(u16::try_from(at).unwrap_or(u16::MAX)), *digest))
            .collect();
        self.state.changes += 1;
        self.state.versions = point.versions;
        self.state.flags = point.flags;
        self.state.lists = point.lists;
        let artifacts = changed.iter().map(|(artifact, _)| *artifact).collect();
        self.emit(Command::Restore { round: point.round, versions: changed });
        artifacts
    }

    /// Records the commit that reverted the run's commit. There is no ruling, because the run is over.
    pub(super) fn record_revert(&mut self, commit: &str) -> Result<(), Refusal> {
        match &self.state.stage {
            Stage::Ended(_) => {
                self.state.reverted = Some(commit.to_string());
                Ok(())
            }
            Stage::Fresh => Err(Refusal::NotStarted),
            Stage::Running | Stage::Ending { .. } => Err(Refusal::WrongStage("not finished")),
        }
    }

    pub(super) fn remove_approach(&mut self, at: u16, by: &str) -> Result<(), Refusal> {
        self.check_running()?;
        if usize::from(at) >= self.state.approaches.len() {
            return Err(Refusal::NoSuchApproach(at));
        }
        self.state.approaches.remove(usize::from(at));
        let why = Why::Human { by: by.to_string(), note: String::new() };
        self.push_human_ruling(REMOVE_APPROACH, Disposition::RemoveApproach { at }, why);
        Ok(())
    }

    pub(super) fn push_human_ruling(&mut self, signal: SignalId, verdict: Disposition, why: Why) {
        let (phase, lane) = (self.state.main.phase, Lane::Main);
        self.out.rulings.push(Ruling {
            phase,
            lane,
            signal,
            rule: Rule::Human,
            verdict,
            exhausted: Vec::new(),
            charges: Vec::new(),
            effects: Vec::new(),
            confidence: self.state.confidence,
            why,
        });
    }
}
