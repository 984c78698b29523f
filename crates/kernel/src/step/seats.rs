//! The end of a dispatch or an operation: which seat it belongs to, retries, back-off, limits.

use super::outcome::Reading;
use super::{Note, Refusal, Stepper};
use crate::command::{Command, Question, QuestionKind};
use crate::event::{Limits, Outcome, Usage};
use crate::ids::{CommandId, Lane, PhaseId};
use crate::program::{Confidence, Items, Phase, Work};
use crate::ruling::{Rule, Ruling, Verdict, Why};
use crate::signal::{Failure, GO_ON, NO_RESULT, Remedy, STOP};
use crate::state::{HoldCause, HoldOpen, Progress, Stage, State};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// After so many environment failures of an agent in a row, counted across runs, a human is asked (CORE-10).
const ENVIRONMENT_PATIENCE: u16 = 3;

/// The visit number of the operations that run when a run fails.
pub(super) const FAILURE_VISIT: u16 = 0;

impl Stepper<'_> {
    pub(super) fn ended(&mut self, id: CommandId, outcome: &Outcome, usage: &Usage) -> Result<(), Refusal> {
        if self.state.stage == Stage::Fresh {
            return Err(Refusal::NotStarted);
        }
        if id.visit == FAILURE_VISIT {
            return self.failure_operation_ended(id, usage);
        }
        let Some(at) = open_seat(self.state, id) else {
            self.late(id)?;
            // What was cancelled is paid for too; journals that do not tell the time of the run left that out.
            if usage.wall.is_some() {
                self.use_up(usage, self.is_dispatch(id));
            }
            return Ok(());
        };
        if matches!(self.program.phase(id.phase).work, Work::Ask { .. }) {
            return Err(Refusal::NotADispatch(id));
        }
        let reading = self.read(id, outcome)?;
        self.use_up(usage, self.is_dispatch(id));
        match reading {
            Reading::Valid(valid) => self.take(id.lane, at, *valid),
            Reading::Failed { failure, detail, in_a_row } => {
                self.failed(id.lane, at, failure, detail, in_a_row);
            }
        }
        self.settle_if_over(id.lane);
        Ok(())
    }

    /// What was used is paid for; an agent that has to begin again is one more dispatch.
    pub(super) fn interrupted(&mut self, id: CommandId, began: bool, usage: &Usage) -> Result<(), Refusal> {
        if self.state.stage == Stage::Fresh {
            return Err(Refusal::NotStarted);
        }
        match self.is_open(id) {
            true => self.state.used.dispatches += u64::from(began),
            false => self.late(id)?,
        }
        self.use_up(usage, began);
        Ok(())
    }

    /// An event for a command that is no longer open is harmless; one for a command that never was is refused.
    pub(super) fn late(&mut self, id: CommandId) -> Result<(), Refusal> {
        if !self.was_issued(id) {
            return Err(Refusal::UnknownCommand(id));
        }
        self.out.note = Note::Late;
        Ok(())
    }

    fn was_issued(&self, id: CommandId) -> bool {
        let Some(phase) = self.program.phases.get(id.phase.index()) else {
            return false;
        };
        let entered = |phase: PhaseId| self.state.visits[phase.index()];
        let lane = match (id.lane, phase.owner) {
            (Lane::Main, None) => true,
            (Lane::Task { batch, .. }, Some(owner)) => batch >= 1 && batch <= entered(owner),
            (Lane::Main, Some(_)) | (Lane::Task { .. }, None) => false,
        };
        let visited = id.visit >= 1 && id.visit <= entered(id.phase) && id.attempt >= 1;
        if id.seat == u16::MAX {
            return lane && visited && id.attempt <= self.state.holds;
        }
        let current =
            self.state.desk(id.lane).filter(|desk| desk.phase == id.phase && desk.visit == id.visit);
        let attempted = current
            .and_then(|desk| desk.seats.get(usize::from(id.seat)))
            .is_none_or(|seat| id.attempt <= seat.attempt);
        lane && visited && attempted && usize::from(id.seat) < most_seats(phase)
    }

    fn is_open(&self, id: CommandId) -> bool {
        if id.visit != FAILURE_VISIT {
            return open_seat(self.state, id).is_some();
        }
        let is_at = |seat: u16| seat == id.seat && id.phase == self.state.main.phase;
        matches!(self.state.stage, Stage::Ending { at, .. } if is_at(at))
    }

    fn is_dispatch(&self, id: CommandId) -> bool {
        !self.program.phase(id.phase).contracts().is_empty()
    }

    fn use_up(&mut self, usage: &Usage, dispatch: bool) {
        let used = &mut self.state.used;
        used.time = used.time.saturating_add(usage.of_run());
        match usage.tokens {
            Some(tokens) => used.tokens = used.tokens.saturating_add(tokens),
            None if dispatch => used.untold += 1,
            None => {}
        }
        match usage.money {
            Some(money) => used.money = used.money.saturating_add(money),
            None if dispatch => used.unpriced += 1,
            None => {}
        }
    }

    /// Retries by kind; none of it touches a budget of the workflow.
    pub(super) fn failed(&mut self, lane: Lane, at: usize, failure: Failure, detail: String, in_a_row: u16) {
        let allowed = self.program.phase(self.desk(lane).phase).retries;
        let seat = &mut self.desk_mut(lane).seats[at];
        match failure.remedy() {
            Remedy::Retry if seat.retries < allowed => {
                seat.retries += 1;
                let attempt = seat.attempt;
                self.rule_again(lane, failure, attempt, detail);
                self.issue(lane, at);
            }
            Remedy::BackOff if in_a_row < ENVIRONMENT_PATIENCE => {
                let attempt = seat.attempt;
                self.rule_again(lane, failure, attempt, detail);
                self.issue(lane, at);
            }
            Remedy::BackOff => {
                seat.progress = Progress::Held;
                self.hold(lane, HoldCause::Environment { detail });
            }
            Remedy::Hold => {
                seat.progress = Progress::Held;
                let limit = if detail.is_empty() { String::from("an agent's own budget") } else { detail };
                self.hold(lane, HoldCause::Limit { limit });
            }
            Remedy::Retry | Remedy::GiveUp => seat.progress = Progress::Failed { failure, detail },
        }
    }

    fn rule_again(&mut self, lane: Lane, failure: Failure, attempt: u16, detail: String) {
        let ruling = Ruling {
            phase: self.desk(lane).phase,
            lane,
            signal: NO_RESULT,
            rule: Rule::Retry,
            verdict: Verdict::Again { failure, attempt: attempt.saturating_add(1) },
            exhausted: Vec::new(),
            charges: Vec::new(),
            effects: Vec::new(),
            confidence: self.state.confidence,
            why: Why::Failed { failure, detail },
        };
        self.out.rulings.push(ruling);
    }

    /// The limit of the run that is reached, by name (CORE-07, CORE-11).
    pub(super) fn reached_limit(&self) -> Option<&'static str> {
        let (limits, used, granted) = (self.state.limits, self.state.used, self.state.granted);
        let over = |limit: Option<u64>, used: u64, granted: u64| {
            limit.is_some_and(|limit| used.saturating_sub(granted) >= limit)
        };
        // What is not known is in no sum; only the number of dispatches bounds it.
        let unkept = |limit: Option<u64>, unknown: u64, granted: u64| {
            limit.is_some() && limits.dispatches.is_none() && unknown > granted
        };
        if over(limits.dispatches, used.dispatches, granted.dispatches) {
            Some(Limits::DISPATCHES)
        } else if over(limits.tokens, used.tokens, granted.tokens) {
            Some(Limits::TOKENS)
        } else if over(limits.time, used.time, granted.time) {
            Some(Limits::TIME)
        } else if over(limits.money, used.money, granted.money) {
            Some(Limits::MONEY)
        } else if unkept(limits.tokens, used.untold, granted.untold) {
            Some(Limits::UNTOLD)
        } else if limits.tokens.is_none() && unkept(limits.money, used.unpriced, granted.unpriced) {
            Some(Limits::UNPRICED)
        } else {
            None
        }
    }

    /// Lets a limit hold anew from here, and no other.
    pub(super) fn grant(&mut self, limit: &str) {
        let (granted, used) = (&mut self.state.granted, self.state.used);
        match limit {
            Limits::DISPATCHES => granted.dispatches = used.dispatches,
            Limits::TOKENS => granted.tokens = used.tokens,
            Limits::TIME => granted.time = used.time,
            Limits::MONEY => granted.money = used.money,
            Limits::UNTOLD => granted.untold = used.untold,
            Limits::UNPRICED => granted.unpriced = used.unpriced,
            // An agent's own budget is none of the run's limits.
            _ => {}
        }
    }

    /// Sets a limit of the run that can be set.
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
        self.desk_mut(lane).seats[at].progress = Progress::Held;
        self.hold(lane, HoldCause::Limit { limit: String::from(limit) });
    }

    /// Asks a human whether to go on; one question however many seats are held.
    pub(super) fn hold(&mut self, lane: Lane, cause: HoldCause) {
        if self.state.hold.is_some() {
            return;
        }
        self.state.holds = self.state.holds.saturating_add(1);
        let desk = self.desk(lane);
        let id = CommandId {
            phase: desk.phase,
            lane,
            visit: desk.visit,
            seat: u16::MAX,
            attempt: self.state.holds,
        };
        let (reason, why) = match &cause {
            HoldCause::Environment { detail } => {
                (detail.clone(), Why::Failed { failure: Failure::Environment, detail: detail.clone() })
            }
            HoldCause::Limit { limit } => (limit.clone(), Why::Limit { limit: limit.clone() }),
            HoldCause::Route => (String::from("paused by the workflow"), Why::Said),
        };
        self.out.rulings.push(Ruling {
            phase: id.phase,
            lane,
            signal: NO_RESULT,
            rule: Rule::Hold,
            verdict: Verdict::Hold,
            exhausted: Vec::new(),
            charges: Vec::new(),
            effects: Vec::new(),
            confidence: self.state.confidence,
            why,
        });
        self.state.hold = Some(HoldOpen { id, cause });
        self.emit(Command::Ask(Question {
            id,
            kind: QuestionKind::Hold(reason),
            options: vec![GO_ON, STOP],
            withheld: Vec::new(),
            default: None,
            approaches: Vec::new(),
        }));
    }

    /// Settles the phase at a desk once no seat is open or held.
    pub(super) fn settle_if_over(&mut self, lane: Lane) {
        let over = self.desk(lane).seats.iter().all(|seat| match seat.progress {
            Progress::Open | Progress::Held => false,
            Progress::Said(_) | Progress::Failed { .. } => true,
        });
        if over {
            self.settle(lane);
        }
    }

    /// Lowers the confidence to a ceiling; it never rises.
    pub(super) fn cap(&mut self, ceiling: Confidence) {
        self.state.confidence = self.state.confidence.min(ceiling);
    }
}

/// The most seats that a phase can have.
fn most_seats(phase: &Phase) -> usize {
    match &phase.work {
        Work::Role { .. } | Work::Operation { .. } | Work::Ask { .. } => 1,
        Work::Each { items: Items::Fixed(names), .. } => names.len(),
        Work::Each { items: Items::Listed { up_to, .. }, .. } => usize::from(*up_to),
        Work::Panel { members, advisors } => members.len() + advisors.len(),
        Work::Flow { .. } => 0,
    }
}

/// The seat that a command belongs to, while it is open.
pub(super) fn open_seat(state: &State, id: CommandId) -> Option<usize> {
    if state.stage != Stage::Running {
        return None;
    }
    let desk = state.desk(id.lane)?;
    let at = usize::from(id.seat);
    let seat = desk.seats.get(at)?;
    let same = desk.phase == id.phase && desk.visit == id.visit && seat.attempt == id.attempt;
    (same && seat.progress == Progress::Open).then_some(at)
}
