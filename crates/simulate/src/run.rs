//! One simulated run: the kernel decides, random agents answer, and a clock without waiting orders their events.

use crate::board::GapBoard;
use crate::defects::{DefectStock, Desk};
use crate::draws::{Drawn, Draws};
use crate::model::{SEVERITIES, SimulationModel, whole};
use crate::observed::{ObservedDispatch, ObservedOperation, ObservedRun};
use remand_kernel::change::Digest;
use remand_kernel::command::{Command, Dispatch, Question};
use remand_kernel::event::{Event, Grants, Item, Limits, Outcome, Start, Usage};
use remand_kernel::ids::{CommandId, PhaseId};
use remand_kernel::program::Confidence;
use remand_kernel::ruling::{Rule, Ruling, Why};
use remand_kernel::signal::{Failure, GO_ON};
use remand_kernel::state::End;
use remand_kernel::step::Step;
use remand_kernel::{Refusal, State, step};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// The limits that a hold can name, in the order of `RunSample::limits`.
pub const LIMITS: [&str; 4] = [Limits::MONEY, Limits::TOKENS, Limits::TIME, Limits::DISPATCHES];

/// No run of an accepted workflow has more events.
const MAX_EVENTS: usize = 200_000;

/// What one simulated run came to.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSample {
    pub dispatches: u64,
    /// Dispatches that the environment made necessary; the bound does not count them.
    pub environment: u64,
    pub tokens: u64,
    /// Micro-units of the currency.
    pub money: u64,
    /// Milliseconds in which anything ran.
    pub time: u64,
    /// Milliseconds in which the run only waited for a person.
    pub waiting: u64,
    /// Questions to a person.
    pub asked: u16,
    pub end: SampleEnd,
    pub confidence: Confidence,
    /// Defects in the committed work, by severity; 0 without a commit.
    pub escaped: [u16; 4],
    pub injected: u16,
    /// Tasks that the run gave up.
    pub given_up: u16,
    /// The number of tasks.
    pub tasks: u16,
    pub gaps: u16,
    /// Budgets that were spent entirely, by id.
    pub spent: Vec<bool>,
    /// Budgets that were empty when a route needed them, by id.
    pub exhausted: Vec<bool>,
    /// Limits that were reached, in the order of `LIMITS`.
    pub limits: [bool; 4],
}

/// How a simulated run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleEnd {
    Committed,
    /// Done, without a commit: the work is left to the user.
    LeftToYou,
    Failed,
    Stopped,
}

/// Why a run could not be simulated to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimulationError {
    #[error("the kernel refuses a simulated event")]
    Refused(#[from] Refusal),
    #[error("a simulated run does not end")]
    Endless,
    #[error("a simulated run neither ends nor waits")]
    Stuck,
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FindingTruth {
    Defect(usize),
    FalseAlarm,
}

/// A command under way.
struct OpenCommand {
    id: CommandId,
    command: Command,
    started: u64,
}

/// One run.
pub(crate) struct SimulatedRun<'m, 'p> {
    pub model: &'m SimulationModel<'p>,
    pub draws: Draws,
    pub state: State,
    pub defects: DefectStock,
    pub tasks: Vec<Item>,
    pub sizes: Vec<f64>,
    pub board: GapBoard,
    /// What each finding is about, by its id.
    pub truths: BTreeMap<String, FindingTruth>,
    /// The last report of a defect by a phase.
    pub last_reports: BTreeMap<(usize, PhaseId), String>,
    /// Work that was done at least once.
    pub produced: BTreeSet<(PhaseId, Desk)>,
    pub has_new_tests: bool,
    pub is_committed: bool,
    pub given_up: u16,
    next_digest: u64,
    now: u64,
    worked: u64,
    reported: u64,
    open: BTreeMap<u64, OpenCommand>,
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    next_order: u64,
    sample: RunSample,
    observed: Option<ObservedRun>,
}

impl<'m, 'p> SimulatedRun<'m, 'p> {
    fn new(model: &'m SimulationModel<'p>, draws: Draws, observes: bool) -> SimulatedRun<'m, 'p> {
        let state = State::new(model.program);
        let budgets = model.program.budgets.len();
        let (tasks, sizes) = tasks(model, draws);
        let gaps = draws.count(model.gaps.found, Drawn::GapCount, &[]);
        let sample = RunSample {
            dispatches: 0,
            environment: 0,
            tokens: 0,
            money: 0,
            time: 0,
            waiting: 0,
            asked: 0,
            end: SampleEnd::Stopped,
            confidence: Confidence::High,
            escaped: [0; SEVERITIES.len()],
            injected: 0,
            given_up: 0,
            tasks: u16::try_from(tasks.len()).unwrap_or(u16::MAX),
            gaps,
            spent: vec![false; budgets],
            exhausted: vec![false; budgets],
            limits: [false; 4],
        };
        SimulatedRun {
            model,
            draws,
            state,
            defects: DefectStock::default(),
            tasks,
            sizes,
            board: GapBoard::new(gaps),
            truths: BTreeMap::new(),
            last_reports: BTreeMap::new(),
            produced: BTreeSet::new(),
            has_new_tests: false,
            is_committed: false,
            given_up: 0,
            next_digest: 0,
            now: 0,
            worked: 0,
            reported: 0,
            open: BTreeMap::new(),
            queue: BinaryHeap::new(),
            next_order: 0,
            sample,
            observed: observes.then(ObservedRun::default),
        }
    }

    /// New content.
    pub fn fresh_digest(&mut self) -> Digest {
        self.next_digest += 1;
        Digest(self.next_digest)
    }

    /// The number of a command's task.
    pub fn desk(&self, task: Option<&str>) -> Desk {
        let at = self.tasks.iter().position(|item| Some(item.id.as_str()) == task)?;
        u16::try_from(at).ok()
    }

    fn start(&mut self) -> Result<(), SimulationError> {
        let flags = self.flags(self.model.program.flags.iter().map(String::as_str), &[u64::MAX]);
        let mode = self.model.mode;
        let start = Start { mode, flags, limits: self.model.limits, ..Start::default() };
        self.take(&Event::Started(start))
    }

    /// A random value for each flag.
    pub fn flags<'n>(&self, names: impl Iterator<Item = &'n str>, key: &[u64]) -> Vec<(String, bool)> {
        names
            .filter_map(|name| {
                let flag = self.model.program.flag_named(name)?;
                let key = [key, &[u64::from(flag.0)]].concat();
                let probability = self.model.flags.get(flag.index()).copied().unwrap_or_default();
                Some((name.to_string(), self.draws.happens(probability, Drawn::Flag, &key)))
            })
            .collect()
    }

    /// Gives an event to the kernel, and starts what it commands.
    fn take(&mut self, event: &Event) -> Result<(), SimulationError> {
        let taken = step(self.model.program, &mut self.state, event)?;
        self.note(&taken);
        for command in taken.commands {
            match command {
                Command::Dispatch(_) | Command::Operate { .. } | Command::Ask(_) => self.begin(command),
                Command::Cancel { id } => self.open.retain(|_, open| open.id != id),
                Command::Discard { artifacts } => self.discard(&artifacts),
                Command::Restore { .. } => {}
                Command::Finish { .. } => self.open.clear(),
            }
        }
        Ok(())
    }

    fn note(&mut self, taken: &Step) {
        for Ruling { rule, charges, exhausted, why, .. } in &taken.rulings {
            for charge in charges.iter().filter(|charge| charge.after == 0) {
                self.sample.spent[charge.budget.index()] = true;
            }
            for budget in exhausted {
                self.sample.exhausted[budget.index()] = true;
            }
            if let (Rule::Hold, Why::Limit { limit }) = (rule, why)
                && let Some(at) = LIMITS.iter().position(|name| name == limit)
            {
                self.sample.limits[at] = true;
            }
        }
    }

    fn begin(&mut self, command: Command) {
        let Some(id) = command.id() else { return };
        let takes = match &command {
            Command::Dispatch(dispatch) => self.cost(dispatch).time,
            Command::Operate { .. } => self.operation_time(id),
            _ => self.answer_time(id),
        };
        let order = self.next_order;
        self.next_order += 1;
        self.queue.push(Reverse((self.now.saturating_add(takes), order)));
        self.open.insert(order, OpenCommand { id, command, started: self.now });
    }

    fn advance(&mut self, to: u64) {
        let passed = to.saturating_sub(self.now);
        let works = self.open.values().any(|open| !matches!(open.command, Command::Ask(_)));
        match works {
            true => self.worked += passed,
            false => self.sample.waiting += passed,
        }
        self.now = to;
    }

    /// Runs to the end.
    fn finish(mut self) -> Result<(RunSample, Option<ObservedRun>), SimulationError> {
        self.start()?;
        for _ in 0..MAX_EVENTS {
            let Some(Reverse((at, order))) = self.queue.pop() else {
                return self.result();
            };
            if !self.open.contains_key(&order) {
                continue;
            }
            self.advance(at);
            let Some(OpenCommand { id, command, started }) = self.open.remove(&order) else { continue };
            let event = self.answer(id, &command, at.saturating_sub(started));
            self.take(&event)?;
        }
        Err(SimulationError::Endless)
    }

    fn answer(&mut self, id: CommandId, command: &Command, time: u64) -> Event {
        let wall = Some(self.worked - self.reported);
        match command {
            Command::Dispatch(dispatch) => {
                let cost = self.cost(dispatch);
                let outcome = self.perform(dispatch);
                self.sample.environment +=
                    u64::from(matches!(outcome, Outcome::Failed { failure: Failure::Environment, .. }));
                self.observe_dispatch(dispatch, &outcome, cost);
                self.reported = self.worked;
                let usage = Usage { money: Some(cost.money), tokens: Some(cost.tokens), time, wall };
                Event::Ended { id, outcome, usage }
            }
            Command::Ask(question) => self.answer_question(question),
            Command::Operate { .. }
            | Command::Cancel { .. }
            | Command::Discard { .. }
            | Command::Restore { .. }
            | Command::Finish { .. } => {
                let outcome = self.operate(id, command);
                self.observe_operation(id, &outcome);
                self.reported = self.worked;
                Event::Ended { id, outcome, usage: Usage { time, wall, ..Usage::default() } }
            }
        }
    }

    fn answer_question(&mut self, question: &Question) -> Event {
        self.sample.asked += 1;
        let id = question.id;
        let phase = self.model.program.phase(id.phase);
        let key = [self.model.phase(id.phase).key, u64::from(id.visit), u64::from(id.attempt)];
        let is_hold = question.options.contains(&GO_ON);
        let probability = if is_hold { self.model.people_go_on } else { self.model.people_first };
        let preferred = question.default.or(question.options.first().copied());
        let others: Vec<_> =
            question.options.iter().copied().filter(|option| Some(*option) != preferred).collect();
        let drawn = self.draws.uniform(Drawn::Answer, &key);
        let rest = (drawn - probability) / (1.0 - probability).max(f64::EPSILON);
        let option = match drawn < probability || others.is_empty() {
            true => preferred,
            false => pick(&others, rest),
        };
        let option = option.map_or_else(String::new, |signal| self.model.program.signal(signal).to_string());
        let sets = phase.sets.iter().map(|flag| self.model.program.flags[flag.index()].as_str());
        let flags = if is_hold { Vec::new() } else { self.flags(sets, &key) };
        let (by, note, grants) = ("a person".to_string(), String::new(), Grants::AskedFor);
        Event::Answered { id, option, by, note, flags, grants }
    }

    fn answer_time(&self, id: CommandId) -> u64 {
        let key = [self.model.phase(id.phase).key, u64::from(id.visit), u64::from(id.attempt)];
        let seconds = self.draws.log_normal(self.model.people_time, 1.0, Drawn::AnswerTime, &key);
        whole(seconds * 1e3).unwrap_or_default()
    }

    fn observe_dispatch(&mut self, dispatch: &Dispatch, outcome: &Outcome, cost: DispatchCost) {
        let Some(observed) = &mut self.observed else { return };
        let (says, failure) = match outcome {
            Outcome::Said(report) => (Some(report.says.clone()), None),
            Outcome::Failed { failure, .. } => (None, Some(*failure)),
            Outcome::Supposed(_) => (None, None),
        };
        observed.dispatches.push(ObservedDispatch {
            phase: self.model.program.phase(dispatch.id.phase).name.clone(),
            task: dispatch.task.clone(),
            visit: dispatch.id.visit,
            advisory: dispatch.advisory,
            says,
            failure: failure.map(|failure| failure.name().to_string()),
            tokens: Some(cost.tokens),
            money: Some(cost.money),
            time: Some(cost.time),
        });
    }

    fn observe_operation(&mut self, id: CommandId, outcome: &Outcome) {
        let (Some(observed), Outcome::Said(report)) = (&mut self.observed, outcome) else { return };
        observed.operations.push(ObservedOperation {
            phase: self.model.program.phase(id.phase).name.clone(),
            is_repeated: id.visit > 1,
            result: report.says.clone(),
        });
    }

    fn result(mut self) -> Result<(RunSample, Option<ObservedRun>), SimulationError> {
        let end = self.state.end().ok_or(SimulationError::Stuck)?;
        self.sample.end = match end {
            End::Done if self.is_committed => SampleEnd::Committed,
            End::Done => SampleEnd::LeftToYou,
            End::Failed { .. } => SampleEnd::Failed,
            End::Stopped { .. } | End::Cancelled { .. } => SampleEnd::Stopped,
        };
        let used = self.state.used;
        if self.sample.end == SampleEnd::Committed {
            self.sample.escaped = self.defects.remaining();
        }
        self.sample.injected = u16::try_from(self.defects.all.len()).unwrap_or(u16::MAX);
        self.sample.given_up = self.given_up;
        self.sample.confidence = self.state.confidence;
        self.sample.dispatches = used.dispatches;
        self.sample.tokens = used.tokens;
        self.sample.money = used.money;
        self.sample.time = used.time;
        if let Some(observed) = &mut self.observed {
            observed.workflow.clone_from(&self.model.program.name);
            observed.tasks = self.sample.tasks;
            observed.total_dispatches = used.dispatches;
            observed.total_money = Some(used.money);
            observed.total_tokens = Some(used.tokens);
            observed.total_time = used.time;
        }
        Ok((self.sample, self.observed))
    }
}

/// What a dispatch costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DispatchCost {
    pub tokens: u64,
    pub money: u64,
    pub time: u64,
}

/// Simulates one run.
pub(crate) fn simulate_run(
    model: &SimulationModel<'_>,
    seed: u64,
    run: u64,
) -> Result<RunSample, SimulationError> {
    Ok(SimulatedRun::new(model, Draws::new(seed, run), false).finish()?.0)
}

/// Simulates one run, and records what a ledger would show of it.
pub(crate) fn observe_run(
    model: &SimulationModel<'_>,
    seed: u64,
    run: u64,
) -> Result<(RunSample, ObservedRun), SimulationError> {
    let (sample, observed) = SimulatedRun::new(model, Draws::new(seed, run), true).finish()?;
    Ok((sample, observed.unwrap_or_default()))
}

/// The tasks of a run with their sizes.
fn tasks(model: &SimulationModel<'_>, draws: Draws) -> (Vec<Item>, Vec<f64>) {
    const MAX_TASKS: u16 = 20;
    let count = (1 + draws.count((model.tasks - 1.0).max(0.0), Drawn::Tasks, &[])).min(MAX_TASKS);
    let name = |at: u16| format!("task-{at}");
    let items = (1..=count).map(|at| {
        let is_needy = at > 1 && draws.happens(model.tasks_need, Drawn::Need, &[u64::from(at)]);
        let needs = if is_needy { vec![name(at - 1)] } else { Vec::new() };
        Item { id: name(at), needs, spec: Digest(u64::from(at)), files: vec![format!("file-{at}")] }
    });
    let size = |at: u16| draws.log_normal(model.size, model.size_spread, Drawn::TaskSize, &[u64::from(at)]);
    (items.collect(), (1..=count).map(size).collect())
}

/// The choice at a position between 0 and 1.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a question has few options"
)]
pub(crate) fn pick<T: Copy>(choices: &[T], position: f64) -> Option<T> {
    let at = (position.clamp(0.0, 1.0) * choices.len() as f64) as usize;
    choices.get(at.min(choices.len().saturating_sub(1))).copied()
}
