//! Simulates a run of a program: turns the steps of a walk into events, and records the kernel's rulings in words.

use super::walk_step::{Says, WalkError, WalkStep};
use crate::diagnostic::suggest;
use crate::explore::bound::happy_signal;
use remand_kernel::brief::{Onward, PastVisit, answers_findings, brief, shows_change};
use remand_kernel::command::{Command, QuestionKind};
use remand_kernel::event::{Event, Grants, Item, Start, Usage};
use remand_kernel::ids::{CommandId, Lane, PhaseId};
use remand_kernel::program::{Action, Program, Work};
use remand_kernel::ruling::{Disposition, Ruling};
use remand_kernel::signal::NO_RESULT;
use remand_kernel::view::{self, RulingView};
use remand_kernel::{State, Step, step};
use std::collections::{BTreeMap, BTreeSet};

/// One event and its consequences.
#[derive(Clone, Debug)]
pub struct WalkRecord {
    pub event: Event,
    /// The event in words.
    pub happened: String,
    pub rulings: Vec<RulingView>,
    pub commands: Vec<String>,
    /// For each command, what the dispatch would be given in addition to what its phase reads. `None` if it is given
    /// nothing more, or if the command is not a dispatch.
    pub given: Vec<Option<String>>,
}

/// A simulated run.
#[derive(Clone, Debug)]
pub struct Walker<'p> {
    pub program: &'p Program,
    pub state: State,
    /// Commands that wait for their event.
    pub open: Vec<Command>,
    pub records: Vec<WalkRecord>,
    /// The visits that have ended, oldest first.
    visits: Vec<PastVisit>,
    /// The phases in which a command has ended since the phase was entered, each with its lane.
    spoken: BTreeSet<(PhaseId, Lane)>,
    /// The task of each lane.
    tasks: BTreeMap<Lane, String>,
    /// The lists that phases produce unless a step produces others.
    pub lists: Vec<(String, Vec<Item>)>,
    pub(super) last_digest: u64,
}

impl<'p> Walker<'p> {
    /// Starts a run.
    pub fn start(
        program: &'p Program,
        start: Start,
        lists: Vec<(String, Vec<Item>)>,
    ) -> Result<Walker<'p>, WalkError> {
        let mut walker = Walker {
            program,
            state: State::new(program),
            open: Vec::new(),
            records: Vec::new(),
            visits: Vec::new(),
            spoken: BTreeSet::new(),
            tasks: BTreeMap::new(),
            lists,
            // Above the digests that the kernel invents for supposed outcomes.
            last_digest: 1 << 32,
        };
        walker.feed(Event::Started(start), "the run starts".to_string())?;
        Ok(walker)
    }

    /// Feeds one event to the kernel and keeps the consequences.
    pub fn feed(&mut self, event: Event, happened: String) -> Result<Step, WalkError> {
        let step = step(self.program, &mut self.state, &event).map_err(WalkError::Refused)?;
        let ended = match &event {
            Event::Ended { id, .. } | Event::Answered { id, .. } => Some(*id),
            _ => None,
        };
        self.open.retain(|command| command.id() != ended || ended.is_none());
        for command in &step.commands {
            match command {
                Command::Cancel { id } => self.open.retain(|open| open.id() != Some(*id)),
                Command::Dispatch(_) | Command::Operate { .. } | Command::Ask(_) => {
                    self.open.push(command.clone())
                }
                Command::Discard { .. } | Command::Restore { .. } => {}
                Command::Finish { .. } => self.open.clear(),
            }
        }
        self.spoken.extend(ended.map(|id| (id.phase, id.lane)));
        for ruling in &step.rulings {
            self.leave(ruling);
        }
        let given = step.commands.iter().map(|command| self.given(command)).collect();
        self.records.push(WalkRecord {
            happened,
            rulings: step
                .rulings
                .iter()
                .map(|ruling| view::ruling(self.program, &self.state, ruling))
                .collect(),
            commands: step.commands.iter().map(|command| view::command(self.program, command)).collect(),
            given,
            event,
        });
        Ok(step)
    }

    /// Ends a visit if the ruling leaves its phase.
    fn leave(&mut self, ruling: &Ruling) {
        let Disposition::Follow { action, target } = &ruling.verdict else { return };
        if matches!(action, Action::Ignore | Action::Hold) {
            return;
        }
        let effect = ruling.effects.first().copied();
        self.visits.push(PastVisit {
            phase: ruling.phase,
            task: self.tasks.get(&ruling.lane).cloned(),
            onward: Onward::of(self.program, ruling.phase, action, *target, effect),
            spoke: self.spoken.remove(&(ruling.phase, ruling.lane)),
            has_result: ruling.signal != NO_RESULT,
        });
    }

    /// What a dispatch would be given in addition to what its phase reads.
    fn given(&mut self, command: &Command) -> Option<String> {
        let Command::Dispatch(dispatch) = command else { return None };
        if let (Some(task), Lane::Task { .. }) = (&dispatch.task, dispatch.id.lane) {
            self.tasks.insert(dispatch.id.lane, task.clone());
        }
        let law = brief(self.program, &self.visits, dispatch.id.phase, dispatch.task.as_deref());
        let name = |visit: &usize| {
            let visit = &self.visits[*visit];
            let phase = &self.program.phase(visit.phase).name;
            visit.task.as_ref().map_or_else(|| phase.clone(), |task| format!("{phase}[{task}]"))
        };
        let mut given: Vec<String> = law.own.iter().map(|_| "its own last work".to_string()).collect();
        for (title, visits) in [("the words of", &law.way), ("the reports of", &law.authors)] {
            if !visits.is_empty() {
                let names: Vec<String> = visits.iter().map(name).collect();
                given.push(format!("{title} {}", names.join(", ")));
            }
        }
        if shows_change(self.program, dispatch) {
            given.push("the change and its evidence".to_string());
        }
        let to_answer = if answers_findings(self.program.phase(dispatch.id.phase)) {
            dispatch.findings.as_slice()
        } else {
            &[]
        };
        for (title, positions) in
            [("the findings to answer", to_answer), ("the known issues", &dispatch.known)]
        {
            let filed = positions.iter().filter_map(|at| self.state.findings.get(*at as usize));
            let ids: Vec<&str> = filed.map(|filed| filed.finding.id.as_str()).collect();
            if !ids.is_empty() {
                given.push(format!("{title} ({})", ids.join(", ")));
            }
        }
        (!given.is_empty()).then(|| given.join("; "))
    }

    /// Applies a step of the walk to a phase that the run waits for.
    pub fn happen(&mut self, walk_step: &WalkStep) -> Result<(), WalkError> {
        if let Some(end) = self.state.end() {
            return Err(WalkError::Over(view::end(self.program, end)));
        }
        self.check_phase(&walk_step.phase)?;
        let seats = self.open_commands(walk_step);
        if seats.is_empty() {
            if self.state.paused && self.open.is_empty() {
                return Err(WalkError::Paused);
            }
            let phase = match &walk_step.task {
                Some(task) => format!("{task}/{}", walk_step.phase),
                None => walk_step.phase.clone(),
            };
            let waiting = self.waiting();
            return Err(WalkError::NotWaiting { phase, waiting });
        }
        if let [command] = seats.as_slice()
            && let Command::Ask(question) = command
        {
            return self.answer(question.id, walk_step);
        }
        let outcomes = self.outcomes(walk_step, &seats)?;
        for (command, (outcome, says)) in seats.iter().zip(outcomes) {
            let Some(id) = command.id() else {
                continue;
            };
            // An earlier member may have ended the run.
            if !self.open.iter().any(|open| open.id() == Some(id)) {
                continue;
            }
            let happened = format!("{}: {says}", self.seat_title(id));
            self.feed(Event::Ended { id, outcome, usage: Usage::default() }, happened)?;
        }
        Ok(())
    }

    /// Ends every phase with success until the run waits for the named phase.
    pub fn until(&mut self, phase: &str) -> Result<(), WalkError> {
        self.check_phase(phase)?;
        self.succeed(|walker| walker.open.iter().any(|command| walker.belongs_to(command, phase)))?
            .ok_or_else(|| WalkError::NotReached(phase.to_string()))
    }

    /// Ends every phase with success until a condition holds; `None` if the run ends or stalls first.
    fn succeed(&mut self, is_there: impl Fn(&Self) -> bool) -> Result<Option<()>, WalkError> {
        for _ in 0..10_000 {
            if self.state.paused && self.open.is_empty() {
                return Err(WalkError::Paused);
            }
            if is_there(self) {
                return Ok(Some(()));
            }
            let Some(walk_step) = self.open.first().and_then(|command| self.happy_step(command)) else {
                return Ok(None);
            };
            self.happen(&walk_step)?;
        }
        Ok(None)
    }

    /// Rejects an unknown name as a typo, instead of reporting a phase that the run does not reach.
    fn check_phase(&self, name: &str) -> Result<(), WalkError> {
        let is_failure_operation =
            self.program.failure.iter().any(|id| self.program.operation(*id).name.name() == name);
        if name == "hold" || is_failure_operation || self.program.phase_named(name).is_some() {
            return Ok(());
        }
        let known: Vec<&str> = self.program.phases.iter().map(|phase| phase.name.as_str()).collect();
        Err(WalkError::NoSuchPhase { phase: name.to_string(), remedy: suggest(name, known) })
    }

    /// Ends every phase with success until the run ends.
    pub fn finish(&mut self) -> Result<(), WalkError> {
        self.succeed(|_| false)?;
        if self.state.end().is_some() { Ok(()) } else { Err(WalkError::NotEnded) }
    }

    /// How the run ended, or what it waits for.
    pub fn status(&self) -> String {
        match self.state.end() {
            Some(end) => view::end(self.program, end),
            None if self.state.paused && self.open.is_empty() => "paused".to_string(),
            None => format!("waiting for {}", self.waiting().join(", ")),
        }
    }

    /// The phases that the run waits for, each once.
    pub fn waiting(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for id in self.open.iter().filter_map(Command::id) {
            let title = self.phase_title(id);
            if !names.contains(&title) {
                names.push(title);
            }
        }
        names
    }

    fn happy_step(&self, command: &Command) -> Option<WalkStep> {
        let id = command.id()?;
        let signal = match command {
            Command::Ask(question) if question.kind != QuestionKind::Phase => *question.options.first()?,
            Command::Ask(question) => question.default.or(question.options.first().copied())?,
            Command::Operate { operation, .. } => *self.program.operation(*operation).results.first()?,
            Command::Dispatch(_) => happy_signal(self.program, id.phase)?,
            Command::Cancel { .. }
            | Command::Discard { .. }
            | Command::Restore { .. }
            | Command::Finish { .. } => return None,
        };
        let name = match command {
            Command::Operate { operation, .. } if id.visit == 0 => {
                self.program.operation(*operation).name.name()
            }
            Command::Ask(question) if question.kind != QuestionKind::Phase => "hold",
            _ => &self.program.phase(id.phase).name,
        };
        // A result or answer clears the flags that it does not set, so all are set to their current values.
        let sets = self.program.phase(id.phase).sets.iter().filter(|_| id.visit > 0);
        let flags =
            sets.map(|flag| (self.program.flags[flag.index()].clone(), self.state.flag(*flag))).collect();
        Some(WalkStep { task: self.task(id), flags, ..WalkStep::new(name, self.program.signal(signal)) })
    }

    /// The open commands that a step is for: those of its phase in one lane and visit, including advisors.
    fn open_commands(&self, walk_step: &WalkStep) -> Vec<Command> {
        let matches = |command: &&Command| {
            let task = command.id().and_then(|id| self.task(id));
            let same_task = walk_step.task.is_none() || walk_step.task == task;
            self.belongs_to(command, &walk_step.phase) && same_task
        };
        let first = self.open.iter().find(matches).and_then(Command::id);
        self.open
            .iter()
            .filter(matches)
            .filter(|command| {
                command
                    .id()
                    .zip(first)
                    .is_some_and(|(id, first)| id.lane == first.lane && id.visit == first.visit)
            })
            .cloned()
            .collect()
    }

    fn belongs_to(&self, command: &Command, phase: &str) -> bool {
        match command {
            Command::Ask(question) if question.kind != QuestionKind::Phase => phase == "hold",
            Command::Operate { id, operation, .. } if id.visit == 0 => {
                self.program.operation(*operation).name.name() == phase
            }
            Command::Dispatch(_) | Command::Operate { .. } | Command::Ask(_) => {
                let inner = command.id().map(|id| self.program.phase(id.phase));
                let owner = inner.and_then(|inner| inner.owner).map(|owner| self.program.phase(owner));
                inner.is_some_and(|inner| inner.name == phase)
                    || owner.is_some_and(|owner| owner.name == phase)
            }
            Command::Cancel { .. }
            | Command::Discard { .. }
            | Command::Restore { .. }
            | Command::Finish { .. } => false,
        }
    }

    fn answer(&mut self, id: CommandId, walk_step: &WalkStep) -> Result<(), WalkError> {
        let option = match &walk_step.says {
            Says::Signal(option) => option.clone(),
            Says::Members(options) => options.join(", "),
        };
        let by = if walk_step.by.is_empty() { "a human".to_string() } else { walk_step.by.clone() };
        let happened = format!("{}: {by} answers {option}", self.phase_title(id));
        let flags = walk_step.flags.clone();
        let (note, grants) = (walk_step.note.clone(), Grants::AskedFor);
        let event = Event::Answered { id, option, by, note, flags, grants };
        self.feed(event, happened).map(|_| ())
    }

    fn task(&self, id: CommandId) -> Option<String> {
        let Lane::Task { index, .. } = id.lane else {
            return None;
        };
        let owner = self.program.phase(id.phase).owner?;
        let Work::Flow { list, .. } = &self.program.phase(owner).work else {
            return None;
        };
        self.state.lists[list.index()].get(usize::from(index)).map(|item| item.id.clone())
    }

    fn phase_title(&self, id: CommandId) -> String {
        let failure = self.program.failure.get(usize::from(id.seat)).filter(|_| id.visit == 0);
        let name = match failure {
            Some(operation) => self.program.operation(*operation).name.name(),
            None if id.seat == u16::MAX => "hold",
            None => &self.program.phase(id.phase).name,
        };
        match self.task(id) {
            Some(task) => format!("{task}/{name}"),
            None => name.to_string(),
        }
    }

    fn seat_title(&self, id: CommandId) -> String {
        let name = self.phase_title(id);
        let item = self.open.iter().find(|open| open.id() == Some(id)).and_then(|command| match command {
            Command::Dispatch(dispatch) if dispatch.advisory => Some("advisor".to_string()),
            Command::Dispatch(dispatch) => dispatch.item.clone(),
            _ => None,
        });
        item.map_or(name.clone(), |item| format!("{name} ({item})"))
    }
}
