//! Handles the end of a dispatch or an operation: finds its seat, retries, backs off, enforces limits.

use super::outcome::ReadOutcome;
use super::{FAILURE_VISIT, Receipt, Refusal, Stepper};
use crate::command::{Command, Question, QuestionKind};
use crate::event::{Limits, Outcome, Usage};
use crate::ids::{CommandId, Lane, PhaseId};
use crate::program::{Confidence, Items, Phase, Work};
use crate::ruling::{Disposition, Rule, Ruling, Why};
use crate::signal::{Failure, GO_ON, NO_RESULT, Remedy, STOP};
use crate::state::{HoldCause, OpenHold, SeatProgress, Stage, State};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// After this number of consecutive environment failures of an agent, counted across runs, a human is asked.
const ENVIRONMENT_FAILURES_BEFORE_HOLD: u16 = 3;

impl Stepper<'_> {
    pub(super) fn end_command(
        &mut self,
        id: CommandId,
        outcome: &Outcome,
        usage: &Usage,
    ) -> Result<(), Refusal> {
        if self.state.stage == Stage::Fresh {
            return Err(Refusal::NotStarted);
        }
        if id.visit == FAILURE_VISIT {
            return self.end_failure_operation(id, usage);
        }
        let Some(at) = open_seat(self.state, id) else {
            self.accept_late(id)?;
            // Cancelled work costs too. Old journals, without `wall`, did not charge it and must replay unchanged.
            if usage.wall.is_some() {
                self.charge_usage(usage, self.is_dispatch(id));
            }
            return Ok(());
        };
        if matches!(self.program.phase(id.phase).work, Work::Ask { .. }) {
            return Err(Refusal::NotADispatch(id));
        }
        let reading = self.read_outcome(id, outcome)?;
        self.charge_usage(usage, self.is_dispatch(id));
        match reading {
            ReadOutcome::Valid(valid) => self.accept_result(id.lane, at, *valid),
            ReadOutcome::Failed { failure, detail, in_a_row } => {
                self.handle_failure(id.lane, at, failure, detail, in_a_row);
            }
        }
        self.settle_if_complete(id.lane);
        Ok(())
    }

    /// Charges the usage; an agent that must start again counts as one more dispatch.
    pub(super) fn record_interruption(
        &mut self,
        id: CommandId,
        agent_started: bool,
        usage: &Usage,
    ) -> Result<(), Refusal> {
        if self.state.stage == Stage::Fresh {
            return Err(Refusal::NotStarted);
        }
        match self.is_open(id) {
            true => self.state.used.dispatches += u64::from(agent_started),
            false => self.accept_late(id)?,
        }
        self.charge_usage(usage, agent_started);
        Ok(())
    }

    /// Accepts an event for a command that is no longer open; refuses one for a command that was never issued.
    pub(super) fn accept_late(&mut self, id: CommandId) -> Result<(), Refusal> {
        if !self.was_issued(id) {
            return Err(Refusal::UnknownCommand(id));
        }
        self.out.receipt = Receipt::Late;
        Ok(())
    }

    fn was_issued(&self, id: CommandId) -> bool {
        if id.visit == FAILURE_VISIT {
            return self.was_failure_operation_issued(id);
        }
        let Some(phase) = self.program.phases.get(id.phase.index()) else {
            return false;
        };
        let entered = |phase: PhaseId| self.state.visits[phase.index()];
        let lane_existed = match (id.lane, phase.owner) {
            (Lane::Main, None) => true,
            (Lane::Task { batch, .. }, Some(owner)) => batch >= 1 && batch <= entered(owner),
            (Lane::Main, Some(_)) | (Lane::Task { .. }, None) => false,
        };
        let visited = id.visit >= 1 && id.visit <= entered(id.phase) && id.attempt >= 1;
        if id.seat == u16::MAX {
            return lane_existed && visited && id.attempt <= self.state.holds;
        }
        let current = self
            .state
            .lane_state(id.lane)
            .filter(|lane_state| lane_state.phase == id.phase && lane_state.visit == id.visit);
        let attempted = current
            .and_then(|lane_state| lane_state.seats.get(usize::from(id.seat)))
            .is_none_or(|seat| id.attempt <= seat.attempt);
        lane_existed && visited && attempted && usize::from(id.seat) < max_seats(phase)
    }

    fn was_failure_operation_issued(&self, id: CommandId) -> bool {
        // A run that was retried may have failed before, at any phase.
        if id.attempt >= 1 && id.attempt <= self.state.retries {
            return usize::from(id.seat) < self.program.failure.len();
        }
        let is_known = id.phase == self.state.main.phase && usize::from(id.seat) < self.program.failure.len();
        match &self.state.stage {
            Stage::Ending { at, .. } => is_known && id.seat <= *at,
            Stage::Ended(_) => is_known,
            Stage::Fresh | Stage::Running => false,
        }
    }

    pub(super) fn is_open(&self, id: CommandId) -> bool {
        if id.visit != FAILURE_VISIT {
            return open_seat(self.state, id).is_some();
        }
        let is_at = |seat: u16| {
            seat == id.seat && id.phase == self.state.main.phase && id.attempt > self.state.retries
        };
        matches!(self.state.stage, Stage::Ending { at, .. } if is_at(at))
    }

    fn is_dispatch(&self, id: CommandId) -> bool {
        !self.program.phase(id.phase).contracts().is_empty()
    }

    fn charge_usage(&mut self, usage: &Usage, dispatch: bool) {
        let used = &mut self.state.used;
        used.time = used.time.saturating_add(usage.run_time());
        match usage.tokens {
            Some(tokens) => used.tokens = used.tokens.saturating_add(tokens),
            None if dispatch => used.unmetered += 1,
            None => {}
        }
        match usage.money {
            Some(money) => used.money = used.money.saturating_add(money),
            None if dispatch => used.unpriced += 1,
            None => {}
        }
    }

    /// Retries, holds or gives up, depending on the kind of failure. This spends no budget of the workflow.
    pub(super) fn handle_failure(
        &mut self,
        lane: Lane,
        at: usize,
        failure: Failure,
        detail: String,
        in_a_row: u16,
    ) {
        let allowed = self.program.phase(self.lane_state(lane).phase).retries;
        let seat = &mut self.lane_state_mut(lane).seats[at];
        match failure.remedy() {
            Remedy::Retry if seat.retries < allowed => {
                seat.retries += 1;
                let attempt = seat.attempt;
                self.rule_retry(lane, failure, attempt, detail);
                self.issue_command(lane, at);
            }
            Remedy::BackOff if in_a_row < ENVIRONMENT_FAILURES_BEFORE_HOLD => {
                let attempt = seat.attempt;
                self.rule_retry(lane, failure, attempt, detail);
                self.issue_command(lane, at);
            }
            Remedy::BackOff => {
                seat.progress = SeatProgress::Held;
                self.hold(lane, HoldCause::Environment { detail });
            }
            Remedy::Hold => {
                seat.progress = SeatProgress::Held;
                let limit = if detail.is_empty() { String::from("an agent's own budget") } else { detail };
                self.hold(lane, HoldCause::Limit { limit });
            }
            Remedy::Retry | Remedy::GiveUp => seat.progress = SeatProgress::Failed { failure, detail },
        }
    }

    fn rule_retry(&mut self, lane: Lane, failure: Failure, attempt: u16, detail: String) {
        let ruling = Ruling {
            phase: self.lane_state(lane).phase,
            lane,
            signal: NO_RESULT,
            rule: Rule::Retry,
            verdict: Disposition::Again { failure, attempt: attempt.saturating_add(1) },
            exhausted: Vec::new(),
            charges: Vec::new(),
            effects: Vec::new(),
            confidence: self.state.confidence,
            why: Why::Failed { failure, detail },
        };
        self.out.rulings.push(ruling);
    }

    /// The name of a limit that the run has reached.
    pub(super) fn reached_limit(&self) -> Option<&'static str> {
        let (limits, used, granted) = (self.state.limits, self.state.used, self.state.granted);
        let is_reached = |limit: Option<u64>, used: u64, granted: u64| {
            limit.is_some_and(|limit| used.saturating_sub(granted) >= limit)
        };
        // Sums leave out unknown usage, which only a limit on dispatches can bound.
        let is_unenforceable = |limit: Option<u64>, unknown: u64, granted: u64| {
            limit.is_some() && limits.dispatches.is_none() && unknown > granted
        };
        if is_reached(limits.dispatches, used.dispatches, granted.dispatches) {
            Some(Limits::DISPATCHES)
        } else if is_reached(limits.tokens, used.tokens, granted.tokens) {
            Some(Limits::TOKENS)
        } else if is_reached(limits.time, used.time, granted.time) {
            Some(Limits::TIME)
        } else if is_reached(limits.money, used.money, granted.money) {
            Some(Limits::MONEY)
        } else if is_unenforceable(limits.tokens, used.unmetered, granted.unmetered) {
            Some(Limits::UNKNOWN_TOKENS)
        } else if limits.tokens.is_none() && is_unenforceable(limits.money, used.unpriced, granted.unpriced) {
            Some(Limits::UNKNOWN_COSTS)
        } else {
            None
        }
    }

    /// Restarts the count of this limit only.
    pub(super) fn grant(&mut self, limit: &str) {
        let (granted, used) = (&mut self.state.granted, self.state.used);
        match limit {
            Limits::DISPATCHES => granted.dispatches = used.dispatches,
            Limits::TOKENS => granted.tokens = used.tokens,
            Limits::TIME => granted.time = used.time,
            Limits::MONEY => granted.money = used.money,
            Limits::UNKNOWN_TOKENS => granted.unmetered = used.unmetered,
            Limits::UNKNOWN_COSTS => granted.unpriced = used.unpriced,
            // An agent's own budget is not a limit of the run.
            _ => {}
        }
    }

    /// Sets one of the run's limits.
    pub(super) fn set_limit(&mut self, limit: &str, amount: u64) {
        let limits = &mut self.state.limits;
        match limit {
            Limits::DISPATCHES => limits.dispatches = Some(amount),
            Limits::TOKENS => limits.tokens = Some(amount),
            Limits::TIME => limits.time = Some(amount),
            Limits::MONEY => limits.money = Some(amount),
            _ => {}
        }
    }

    pub(super) fn hold_for_limit(&mut self, lane: Lane, at: usize, limit: &str) {
        self.lane_state_mut(lane).seats[at].progress = SeatProgress::Held;
        self.hold(lane, HoldCause::Limit { limit: String::from(limit) });
    }

    /// Asks a human whether to continue: one question, however many seats are held.
    pub(super) fn hold(&mut self, lane: Lane, cause: HoldCause) {
        if self.state.hold.is_some() {
            return;
        }
        self.state.holds = self.state.holds.saturating_add(1);
        let lane_state = self.lane_state(lane);
        let id = CommandId {
            phase: lane_state.phase,
            lane,
            visit: lane_state.visit,
            seat: u16::MAX,
            attempt: self.state.holds,
        };
        let (kind, signal, why) = match &cause {
            HoldCause::Environment { detail } => {
                let why = Why::Failed { failure: Failure::Environment, detail: detail.clone() };
                (QuestionKind::Hold(detail.clone()), NO_RESULT, why)
            }
            HoldCause::Limit { limit } => {
                (QuestionKind::Hold(limit.clone()), NO_RESULT, Why::Limit { limit: limit.clone() })
            }
            HoldCause::Route => {
                (QuestionKind::Hold(String::from("paused by the workflow")), NO_RESULT, Why::Said)
            }
            HoldCause::Origin { signal, why, .. } => (QuestionKind::Origin, *signal, why.clone()),
        };
        let default = (kind == QuestionKind::Origin).then_some(GO_ON);
        self.out.rulings.push(Ruling {
            phase: id.phase,
            lane,
            signal,
            rule: Rule::Hold,
            verdict: Disposition::Hold,
            exhausted: Vec::new(),
            charges: Vec::new(),
            effects: Vec::new(),
            confidence: self.state.confidence,
            why,
        });
        self.state.hold = Some(OpenHold { id, cause });
        self.emit(Command::Ask(Question {
            id,
            kind,
            options: vec![GO_ON, STOP],
            withheld: Vec::new(),
            default,
            approaches: Vec::new(),
        }));
    }

    /// Settles a lane's phase once no seat is open or held.
    pub(super) fn settle_if_complete(&mut self, lane: Lane) {
        let is_complete = self.lane_state(lane).seats.iter().all(|seat| match seat.progress {
            SeatProgress::Open | SeatProgress::Held => false,
            SeatProgress::Said(_) | SeatProgress::Failed { .. } => true,
        });
        if is_complete {
            self.settle(lane);
        }
    }

    /// Lowers the confidence to a ceiling; it never rises.
    pub(super) fn cap_confidence(&mut self, ceiling: Confidence) {
        self.state.confidence = self.state.confidence.min(ceiling);
    }
}

/// The maximum number of seats of a phase.
fn max_seats(phase: &Phase) -> usize {
    match &phase.work {
        Work::Role { .. } | Work::Operation { .. } | Work::Ask { .. } => 1,
        Work::Each { items: Items::Fixed(names), .. } => names.len(),
        Work::Each { items: Items::Listed { up_to, .. }, .. } => usize::from(*up_to),
        Work::Panel { members, advisors } => members.len() + advisors.len(),
        Work::Flow { .. } => 0,
    }
}

/// The seat of a command, while the command is open.
pub(super) fn open_seat(state: &State, id: CommandId) -> Option<usize> {
    if state.stage != Stage::Running {
        return None;
    }
    let lane_state = state.lane_state(id.lane)?;
    let at = usize::from(id.seat);
    let seat = lane_state.seats.get(at)?;
    let is_current =
        lane_state.phase == id.phase && lane_state.visit == id.visit && seat.attempt == id.attempt;
    (is_current && seat.progress == SeatProgress::Open).then_some(at)
}
