//! Walks a program: happenings become events, and what the kernel ruled is kept in words.

use super::combination::verdicts_for;
use crate::explore::bound::happy_signal;
use remand_kernel::change::{Approach, Change, Digest, TestResult};
use remand_kernel::command::{Command, QuestionKind};
use remand_kernel::event::{Event, Item, Outcome, Report, Start, Usage};
use remand_kernel::finding::Finding;
use remand_kernel::ids::{CommandId, Lane, PhaseId, SignalId};
use remand_kernel::program::{Program, Work};
use remand_kernel::signal::{Failure, SPENT};
use remand_kernel::view::{self, RulingView};
use remand_kernel::{Refusal, State, Step, step};

/// What is said to have happened at a phase.
#[derive(Clone, Debug, Default)]
pub struct Happening {
    pub phase: String,
    pub task: Option<String>,
    pub says: Says,
    pub findings: Vec<Finding>,
    pub change: Option<Change>,
    pub tests: Vec<TestResult>,
    pub approach: Option<Approach>,
    /// Lists that the result brings, in place of the walk's own.
    pub lists: Vec<(String, Vec<Item>)>,
    pub flags: Vec<(String, bool)>,
    pub models: Vec<String>,
    /// The phase wrote what was there already.
    pub unchanged: bool,
    pub disputes: bool,
    pub by: String,
    pub note: String,
}

/// The signal of a phase, or one verdict for each member.
#[derive(Clone, Debug)]
pub enum Says {
    Signal(String),
    Members(Vec<String>),
}

impl Default for Says {
    fn default() -> Self {
        Says::Signal(String::new())
    }
}

impl Happening {
    pub fn new(phase: &str, says: &str) -> Happening {
        Happening { phase: phase.to_string(), says: Says::Signal(says.to_string()), ..Happening::default() }
    }
}

/// One event with what followed from it.
#[derive(Clone, Debug)]
pub struct Taken {
    pub event: Event,
    /// The event in words.
    pub happened: String,
    pub rulings: Vec<RulingView>,
    pub commands: Vec<String>,
}

/// Why a walk cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalkError {
    /// The run does not wait for this phase; it waits for those.
    NotWaiting {
        phase: String,
        waiting: Vec<String>,
    },
    /// The phase cannot end with this signal; it can end with those.
    NotPossible {
        phase: String,
        signal: String,
        possible: Vec<String>,
    },
    /// The number of verdicts is not the number of members.
    WrongCount {
        phase: String,
        given: usize,
        members: usize,
    },
    Refused(Refusal),
    /// The run is over.
    Over(String),
    /// `until` leads round in a circle, or to the end.
    NotReached(String),
}

impl std::fmt::Display for WalkError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WalkError::NotWaiting { phase, waiting } => {
                write!(f, "the run does not wait for `{phase}`; it waits for {}", waiting.join(", "))
            }
            WalkError::NotPossible { phase, signal, possible } => {
                write!(
                    f,
                    "`{phase}` cannot end with `{signal}` here; it can end with {}",
                    possible.join(", ")
                )
            }
            WalkError::WrongCount { phase, given, members } => {
                write!(f, "`{phase}` has {members} members, and {given} verdicts are given")
            }
            WalkError::Refused(refusal) => write!(f, "the kernel refuses it: {refusal}"),
            WalkError::Over(end) => write!(f, "the run is over: {end}"),
            WalkError::NotReached(phase) => write!(f, "`{phase}` is not reached by happy ends alone"),
        }
    }
}

impl std::error::Error for WalkError {}

/// On paper an environment failure is the last of its row, so that the hold is seen.
const ENVIRONMENT_IN_A_ROW: u16 = 3;

/// A run on paper.
#[derive(Clone, Debug)]
pub struct Walker<'p> {
    pub program: &'p Program,
    pub state: State,
    /// Commands that wait for their event.
    pub open: Vec<Command>,
    pub taken: Vec<Taken>,
    /// The lists that phases bring unless a happening says otherwise.
    pub lists: Vec<(String, Vec<Item>)>,
    written: u64,
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
            taken: Vec::new(),
            lists,
            // Far from the digests that the kernel makes up for supposed results.
            written: 1 << 32,
        };
        walker.feed(Event::Started(start), "the run starts".to_string())?;
        Ok(walker)
    }

    /// Gives one event to the kernel and keeps what follows.
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
        self.taken.push(Taken {
            happened,
            rulings: step
                .rulings
                .iter()
                .map(|ruling| view::ruling(self.program, &self.state, ruling))
                .collect(),
            commands: step.commands.iter().map(|command| view::command(self.program, command)).collect(),
            event,
        });
        Ok(step)
    }

    /// Lets something happen at a phase that the run waits for.
    pub fn happen(&mut self, happening: &Happening) -> Result<(), WalkError> {
        if let Some(end) = self.state.end() {
            return Err(WalkError::Over(view::end(self.program, end)));
        }
        let seats = self.open_at(happening);
        if seats.is_empty() {
            let (phase, waiting) = (happening.phase.clone(), self.waiting());
            return Err(WalkError::NotWaiting { phase, waiting });
        }
        if let [command] = seats.as_slice()
            && let Command::Ask(question) = command
        {
            return self.answer(question.id, happening);
        }
        let outcomes = self.outcomes(happening, &seats)?;
        for (command, (outcome, words)) in seats.iter().zip(outcomes) {
            let Some(id) = command.id() else {
                continue;
            };
            // A member that ends the run early leaves nothing for the others to say.
            if !self.open.iter().any(|open| open.id() == Some(id)) {
                continue;
            }
            let happened = format!("{}: {words}", self.title(id));
            self.feed(Event::Ended { id, outcome, usage: Usage::default() }, happened)?;
        }
        Ok(())
    }

    /// Lets everything end happily until the run waits for this phase.
    pub fn until(&mut self, phase: &str) -> Result<(), WalkError> {
        for _ in 0..10_000 {
            if self.open.iter().any(|command| self.names(command, phase)) {
                return Ok(());
            }
            let Some(command) = self.open.first() else {
                return Err(WalkError::NotReached(phase.to_string()));
            };
            let happening = self.happy(command).ok_or_else(|| WalkError::NotReached(phase.to_string()))?;
            self.happen(&happening)?;
        }
        Err(WalkError::NotReached(phase.to_string()))
    }

    /// Lets everything end happily until the run is over.
    pub fn finish(&mut self) -> Result<(), WalkError> {
        match self.until("") {
            Err(WalkError::NotReached(_)) if self.state.end().is_some() => Ok(()),
            other => other,
        }
    }

    /// How the run ended, or what it waits for.
    pub fn standing(&self) -> String {
        match self.state.end() {
            Some(end) => view::end(self.program, end),
            None => format!("waiting for {}", self.waiting().join(", ")),
        }
    }

    /// What the run waits for, each once.
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

    fn happy(&self, command: &Command) -> Option<Happening> {
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
        let place = match command {
            Command::Operate { operation, .. } if id.visit == 0 => &self.program.operation(*operation).name,
            Command::Ask(question) if question.kind != QuestionKind::Phase => "hold",
            _ => &self.program.phase(id.phase).name,
        };
        Some(Happening { task: self.task(id), ..Happening::new(place, self.program.signal(signal)) })
    }

    /// The commands that wait at a phase, advisors included.
    fn open_at(&self, happening: &Happening) -> Vec<Command> {
        let at = |command: &&Command| {
            let task = command.id().and_then(|id| self.task(id));
            let same_task = happening.task.is_none() || happening.task == task;
            self.names(command, &happening.phase) && same_task
        };
        let first = self.open.iter().find(at).and_then(Command::id);
        self.open
            .iter()
            .filter(at)
            .filter(|command| {
                command
                    .id()
                    .zip(first)
                    .is_some_and(|(id, first)| id.lane == first.lane && id.visit == first.visit)
            })
            .cloned()
            .collect()
    }

    fn names(&self, command: &Command, phase: &str) -> bool {
        match command {
            Command::Ask(question) if question.kind != QuestionKind::Phase => phase == "hold",
            Command::Operate { id, operation, .. } if id.visit == 0 => {
                self.program.operation(*operation).name == phase
            }
            Command::Dispatch(_) | Command::Operate { .. } | Command::Ask(_) => {
                command.id().is_some_and(|id| self.program.phase(id.phase).name == phase)
            }
            Command::Cancel { .. }
            | Command::Discard { .. }
            | Command::Restore { .. }
            | Command::Finish { .. } => false,
        }
    }

    fn answer(&mut self, id: CommandId, happening: &Happening) -> Result<(), WalkError> {
        let option = match &happening.says {
            Says::Signal(option) => option.clone(),
            Says::Members(options) => options.join(", "),
        };
        let by = if happening.by.is_empty() { "a human".to_string() } else { happening.by.clone() };
        let happened = format!("{}: {by} answers {option}", self.phase_title(id));
        let flags = happening.flags.clone();
        let event = Event::Answered { id, option, by, note: happening.note.clone(), flags };
        self.feed(event, happened).map(|_| ())
    }

    /// One outcome for each seat.
    fn outcomes(
        &mut self,
        happening: &Happening,
        seats: &[Command],
    ) -> Result<Vec<(Outcome, String)>, WalkError> {
        let members = seats.iter().filter(|seat| !is_advisory(seat)).count();
        let verdicts: Vec<String> = match &happening.says {
            Says::Members(verdicts) => {
                if verdicts.len() != members {
                    let (phase, given) = (happening.phase.clone(), verdicts.len());
                    return Err(WalkError::WrongCount { phase, given, members });
                }
                verdicts.clone()
            }
            Says::Signal(signal) if members == 1 => vec![signal.clone()],
            Says::Signal(signal) => self.spread(happening, signal, seats, members)?,
        };
        let mut verdicts = verdicts.into_iter();
        let mut outcomes = Vec::new();
        for (at, seat) in seats.iter().enumerate() {
            let Some(id) = seat.id() else {
                continue;
            };
            let says = if is_advisory(seat) {
                let said = self.sayable(id).first().copied();
                said.map_or_else(String::new, |signal| self.program.signal(signal).to_string())
            } else {
                verdicts.next().unwrap_or_default()
            };
            let plain = Happening::default();
            let details = if is_advisory(seat) { &plain } else { happening };
            let outcome = self.outcome(id, &says, details, at)?;
            outcomes.push((outcome, says));
        }
        Ok(outcomes)
    }

    fn spread(
        &self,
        happening: &Happening,
        signal: &str,
        seats: &[Command],
        members: usize,
    ) -> Result<Vec<String>, WalkError> {
        let phase = seats.first().and_then(Command::id).map_or(PhaseId(0), |id| id.phase);
        let wanted = self.program.signal_named(signal);
        if let Some(wanted) = wanted
            && let Some(verdicts) = verdicts_for(self.program, phase, members, wanted)
        {
            return Ok(verdicts.iter().map(|verdict| self.program.signal(*verdict).to_string()).collect());
        }
        if failure(signal).is_some()
            || wanted.is_some_and(|wanted| self.program.phase(phase).route(wanted).is_some())
        {
            return Ok(vec![signal.to_string(); members]);
        }
        Err(self.not_possible(&happening.phase, signal, phase))
    }

    fn outcome(
        &mut self,
        id: CommandId,
        says: &str,
        happening: &Happening,
        seat: usize,
    ) -> Result<Outcome, WalkError> {
        let signal = self.program.signal_named(says);
        // `conflict` is a result of merging and a failure; what the seat can say comes first.
        if signal.is_some_and(|signal| self.sayable(id).contains(&signal)) {
            return Ok(Outcome::Said(Box::new(self.report(id, says, happening, seat))));
        }
        if let Some(failure) = failure(says) {
            let detail = happening.note.clone();
            return Ok(Outcome::Failed { failure, detail, in_a_row: ENVIRONMENT_IN_A_ROW });
        }
        // `spent` follows from a budget; nobody says it.
        let routed =
            |signal: &SignalId| *signal != SPENT && self.program.phase(id.phase).route(*signal).is_some();
        match signal.filter(routed) {
            Some(signal) => Ok(Outcome::Supposed(signal)),
            // A failure operation ends however it ends.
            None if id.visit == 0 => Ok(Outcome::Said(Box::new(Report::saying(says)))),
            None => Err(self.not_possible(&self.program.phase(id.phase).name, says, id.phase)),
        }
    }

    fn report(&mut self, id: CommandId, says: &str, happening: &Happening, seat: usize) -> Report {
        let phase = self.program.phase(id.phase);
        let mut wrote = Vec::new();
        for artifact in &phase.writes {
            let digest = if happening.unchanged { self.state.digest(*artifact) } else { self.fresh() };
            wrote.push((self.program.artifacts[artifact.index()].clone(), digest));
        }
        let brought: Vec<&String> = match &phase.work {
            Work::Operation { operation } => self
                .program
                .operation(*operation)
                .lists
                .iter()
                .map(|list| &self.program.lists[list.index()])
                .collect(),
            Work::Role { .. }
            | Work::Each { .. }
            | Work::Panel { .. }
            | Work::Flow { .. }
            | Work::Ask { .. } => phase
                .contracts()
                .iter()
                .flat_map(|contract| self.program.contract(*contract).lists.iter())
                .map(|list| &self.program.lists[list.index()])
                .collect(),
        };
        let lists = brought
            .into_iter()
            .filter_map(|name| {
                let own = happening.lists.iter().find(|(list, _)| list == name);
                own.or_else(|| self.lists.iter().find(|(list, _)| list == name)).cloned()
            })
            .collect();
        Report {
            says: says.to_string(),
            findings: happening.findings.clone(),
            wrote,
            change: happening.change.clone(),
            tests: happening.tests.clone(),
            approach: happening.approach.clone(),
            lists,
            flags: happening.flags.clone(),
            disputes: happening.disputes,
            model: happening.models.get(seat).cloned(),
            ..Report::default()
        }
    }

    fn fresh(&mut self) -> Digest {
        self.written += 1;
        Digest(self.written)
    }

    fn sayable(&self, id: CommandId) -> Vec<SignalId> {
        match &self.program.phase(id.phase).work {
            Work::Operation { operation } if id.visit > 0 => {
                self.program.operation(*operation).results.clone()
            }
            Work::Role { contract, .. } | Work::Each { contract, .. } => {
                self.program.contract(*contract).says.clone()
            }
            Work::Panel { members, advisors } => {
                let contract = members.iter().chain(advisors).nth(usize::from(id.seat));
                contract.map_or_else(Vec::new, |contract| self.program.contract(*contract).says.clone())
            }
            Work::Operation { .. } | Work::Flow { .. } | Work::Ask { .. } => Vec::new(),
        }
    }

    fn not_possible(&self, phase: &str, signal: &str, id: PhaseId) -> WalkError {
        let routes = &self.program.phase(id).routes;
        WalkError::NotPossible {
            phase: phase.to_string(),
            signal: signal.to_string(),
            possible: routes
                .iter()
                .map(|(signal, _)| *signal)
                .filter(|signal| *signal != SPENT)
                .map(|signal| self.program.signal(signal).to_string())
                .collect(),
        }
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
        let name = if id.seat == u16::MAX { "hold" } else { &self.program.phase(id.phase).name };
        match self.task(id) {
            Some(task) => format!("{task}/{name}"),
            None => name.to_string(),
        }
    }

    fn title(&self, id: CommandId) -> String {
        let name = self.phase_title(id);
        let item = self.open.iter().find(|open| open.id() == Some(id)).and_then(|command| match command {
            Command::Dispatch(dispatch) if dispatch.advisory => Some("advisor".to_string()),
            Command::Dispatch(dispatch) => dispatch.item.clone(),
            _ => None,
        });
        item.map_or(name.clone(), |item| format!("{name} ({item})"))
    }
}

fn is_advisory(command: &Command) -> bool {
    matches!(command, Command::Dispatch(dispatch) if dispatch.advisory)
}

fn failure(name: &str) -> Option<Failure> {
    Failure::ALL.into_iter().find(|failure| failure.name() == name)
}
