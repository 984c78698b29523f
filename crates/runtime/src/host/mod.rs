//! The host: takes events one at a time, commits each with its consequences, and has these carried out.
//!
//! It decides nothing that the kernel can decide. One thread reads one inbox, so the order is total; all that is in the
//! inbox goes into one commit, whichever runs it belongs to.

mod at_work;
mod died;
mod driven;
mod effects;
pub mod faults;
mod message;
mod watch;

use crate::clock;
use crate::lock::{DriverLock, LockError};
use driven::{Driven, Taken, read};
use faults::Point;
use message::{From, Message};
use remand_kernel::event::Start;
use remand_kernel::ids::CommandId;
use remand_kernel::state::End;
use remand_kernel::step::Refusal;
use remand_kernel::{Command, Event, Program, State, step};
use remand_ledger::fact::{Note, NoteKind};
use remand_ledger::{Blob, Entry, Facts, Ledger, LedgerError, Reader, ReplayError, Replayed, RunId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

pub use effects::{Begun, Effects, Issue, Order};
pub use message::{Ending, Reply};
pub use watch::{News, TakenUp, Unwatched, Watch};

/// Of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How often the host looks for requests of other processes and for signals.
const POLL: Duration = Duration::from_millis(50);

/// How often it looks whether a run is settled for which an event waits.
const SOON: Duration = Duration::from_millis(2);

/// How long the host waits for what it killed, and between two tries to write to a busy ledger.
const GRACE: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_millis(200);

/// So often a busy ledger is tried; each try waits by itself for seconds.
const TRIES: u32 = 5;

/// So many events at most the tables are behind with while more is to be committed. They follow when nothing waits.
const BEHIND: usize = 64;

/// Whether the commands of a commit are carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carry {
    Out,
    /// Whoever resumes the run does it.
    Later,
}

/// Whether anything was taken of what waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Made,
    None,
}

/// Drives any number of runs in one process.
pub struct Host<E> {
    ledger: Ledger,
    /// Sees what other processes write.
    reader: Reader,
    effects: E,
    /// Where the locks of runs lie, one folder a run.
    runs_folder: PathBuf,
    runs: BTreeMap<RunId, Driven>,
    /// What was taken up and is under way again, and nobody was told of yet.
    taken_up: Vec<(RunId, Vec<Command>)>,
    inbox: Receiver<Message>,
    post: Sender<Message>,
    /// Taken from the inbox, for a later commit: one commit holds at most one event of a run.
    backlog: VecDeque<Message>,
    /// The version of the ledger at the last look for requests.
    seen: Option<i64>,
}

/// A run that is to begin.
#[derive(Clone, Debug)]
pub struct Beginning {
    pub run: RunId,
    pub program: Arc<Program>,
    pub start: Start,
    pub facts: Facts,
    pub blobs: Vec<Blob>,
}

/// How a run stands when this process has nothing left to do for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    Over(End),
    /// At a gate, or paused: a human has to act.
    Waiting,
    /// This process was told to stop; the run can be resumed.
    Left,
}

/// Why a host cannot go on. What was acknowledged is in the ledger.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error("run {run} cannot be resumed")]
    Replay { run: RunId, source: Box<ReplayError> },
    #[error("run {run} cannot take this")]
    Refused { run: RunId, source: Refusal },
    #[error("run {0} is not driven here")]
    NotDriven(RunId),
}

impl<E: Effects> Host<E> {
    pub fn new(ledger: Ledger, effects: E, runs_folder: PathBuf) -> Result<Host<E>, HostError> {
        let (post, inbox) = channel();
        let reader = ledger.reader()?;
        Ok(Host {
            ledger,
            reader,
            effects,
            runs_folder,
            runs: BTreeMap::new(),
            taken_up: Vec::new(),
            inbox,
            post,
            backlog: VecDeque::new(),
            seen: None,
        })
    }

    pub fn ledger(&mut self) -> &mut Ledger {
        &mut self.ledger
    }

    /// Takes a new run in; its first event waits in the inbox.
    pub fn begin(&mut self, beginning: Beginning) -> Result<(), HostError> {
        let Beginning { run, program, start, facts, blobs } = beginning;
        let state = State::new(&program);
        self.drive_run(run.clone(), program, state)?;
        let event = Event::Started(start);
        self.backlog.push_back(Message { run, event, facts, blobs, from: From::Here });
        Ok(())
    }

    /// Takes over a run from the ledger, and issues again what is open.
    pub fn resume(&mut self, run: &RunId) -> Result<(), HostError> {
        let replayed = self.take_over(run)?;
        let is_over = replayed.state.end().is_some();
        let Replayed { state, open, unanswered, .. } = replayed;
        if let Some(driven) = self.runs.get_mut(run) {
            driven.state = Some(Box::new(state));
        }
        self.note_version(run)?;
        self.perform(run, &open, Issue::Again);
        if is_over {
            self.perform(run, &unanswered, Issue::Again);
            self.effects.settle();
        }
        self.taken_up.push((run.clone(), open));
        self.lay_aside(run);
        Ok(())
    }

    /// A run may be gone on with by another version of the program than the one that began it (CORE-18).
    fn note_version(&mut self, run: &RunId) -> Result<(), HostError> {
        let begun_by = self.reader.run(&run.0)?.version;
        if begun_by != VERSION
            && let Some(driven) = self.runs.get_mut(run)
        {
            let text = format!("begun by version {begun_by}, and gone on with by version {VERSION}");
            driven.notes.push(Note { kind: NoteKind::Warning, text, files: Vec::new(), blob: None });
        }
        Ok(())
    }

    /// Takes over a run without going on with it: only what is asked of it now is done.
    pub fn take_over(&mut self, run: &RunId) -> Result<Replayed, HostError> {
        let lock = DriverLock::take(&self.runs_folder.join(&run.0), run)?;
        let mut replayed = read(&self.reader, run)?;
        self.ledger.take_up(run, replayed.seq, replayed.at);
        self.effects.take_over(run);
        let over = replayed.state.end().is_some().then(|| Box::new(replayed.state.clone()));
        // Nothing comes after the end of a run before all is done that belongs to it.
        if over.is_none() {
            self.tell_of_the_dead(run, &mut replayed)?;
        }
        self.runs.insert(run.clone(), Driven::new(Arc::clone(&replayed.program), over, lock));
        Ok(replayed)
    }

    fn drive_run(&mut self, run: RunId, program: Arc<Program>, state: State) -> Result<(), HostError> {
        let lock = DriverLock::take(&self.runs_folder.join(&run.0), &run)?;
        self.runs.insert(run, Driven::new(program, Some(Box::new(state)), lock));
        Ok(())
    }

    /// Lets go of what can be read again, if the run only waits for a human.
    fn lay_aside(&mut self, run: &RunId) {
        let awaited = |message: &Message| message.run == *run;
        let Some(driven) = self.runs.get_mut(run) else {
            return;
        };
        if driven.only_waits() && !self.backlog.iter().any(awaited) {
            driven.state = None;
        }
    }

    /// Takes what a human did at this process's terminal.
    pub fn submit(&mut self, run: &RunId, event: Event, watch: &mut dyn Watch) -> Result<(), HostError> {
        self.effects.settle();
        let driven = self.runs.get_mut(run).ok_or_else(|| HostError::NotDriven(run.clone()))?;
        // On a copy first: a refusal must leave no trace.
        let mut state = driven.recall(&self.reader, run)?.1.clone();
        step(&driven.program, &mut state, &event)
            .map_err(|source| HostError::Refused { run: run.clone(), source })?;
        let (facts, blobs) = (Facts::default(), Vec::new());
        self.backlog.push_back(Message { run: run.clone(), event, facts, blobs, from: From::Here });
        self.commit(Carry::Out, watch).map(drop)
    }

    /// Goes on until no run has anything left that this process could do.
    pub fn drive(&mut self, watch: &mut dyn Watch) -> Result<BTreeMap<RunId, Standing>, HostError> {
        let driven = self.drive_on(watch);
        if driven.is_err() {
            // Nothing more can be recorded, so nothing may go on.
            self.end_all();
        }
        // Whoever is told that a run is over finds all that belongs to its end.
        self.effects.settle();
        self.let_go();
        driven
    }

    fn drive_on(&mut self, watch: &mut dyn Watch) -> Result<BTreeMap<RunId, Standing>, HostError> {
        for (run, open) in std::mem::take(&mut self.taken_up) {
            let driven = self.runs.get(&run).filter(|driven| !driven.under_way.is_empty());
            if let Some((program, state)) = driven.and_then(Driven::at_hand) {
                watch.taken_up(&TakenUp { run: &run, program, state, open: &open });
            }
        }
        loop {
            self.gather();
            if self.commit(Carry::Out, watch)? == Progress::Made {
                continue;
            }
            patiently(&mut self.ledger, Ledger::follow)?;
            self.let_go();
            if watch.told_to_stop() {
                return self.leave(watch);
            }
            // What waits by now is for runs that are not settled.
            if self.backlog.is_empty() {
                self.take_requests()?;
                if !self.backlog.is_empty() {
                    continue;
                }
                if self.runs.values().all(|driven| driven.under_way.is_empty()) {
                    return Ok(self.standings());
                }
            }
            match self.inbox.recv_timeout(if self.backlog.is_empty() { POLL } else { SOON }) {
                Ok(message) => self.backlog.push_back(message),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => watch.waiting(),
            }
        }
    }

    /// Lets go of runs that are over, with all that belongs to their ends.
    fn let_go(&mut self) {
        for (run, driven) in &mut self.runs {
            if driven.is_held() && driven.is_over() && self.effects.is_settled(run) {
                driven.let_go();
            }
        }
    }

    fn gather(&mut self) {
        self.backlog.extend(self.inbox.try_iter());
    }

    /// Looks for requests of other processes, if the ledger changed since the last look.
    fn take_requests(&mut self) -> Result<(), HostError> {
        let version = self.reader.data_version()?;
        if self.seen == Some(version) {
            return Ok(());
        }
        self.seen = Some(version);
        let held = self.runs.iter().filter(|(_, driven)| driven.is_held());
        let runs: Vec<RunId> = held.map(|(run, _)| run.clone()).collect();
        for run in runs {
            for request in self.reader.requests(&run)? {
                let (facts, blobs) = (Facts::default(), Vec::new());
                let from = From::Request(request.id);
                self.backlog.push_back(Message {
                    run: run.clone(),
                    event: request.event,
                    facts,
                    blobs,
                    from,
                });
            }
        }
        Ok(())
    }

    /// One transaction: the events that wait, at most one of each run, with rulings and commands. Before it nothing
    /// has happened in the world; after it, everything needed to go on is on disk.
    fn commit(&mut self, carry: Carry, watch: &mut dyn Watch) -> Result<Progress, HostError> {
        let waiting = self.backlog.len();
        let taken = self.take()?;
        let progress = if self.backlog.len() < waiting { Progress::Made } else { Progress::None };
        let at = clock::now();
        let entries: Vec<Entry<'_>> = taken
            .iter()
            .map(|Taken { message, step }| Entry {
                run: &message.run,
                at,
                event: &message.event,
                facts: &message.facts,
                step,
                blobs: &message.blobs,
                request: match message.from {
                    From::Request(id) => Some(id),
                    From::Effect(_) | From::Here => None,
                },
            })
            .collect();
        if entries.is_empty() {
            return Ok(progress);
        }
        faults::reached(Point::BeforeCommit);
        patiently(&mut self.ledger, |ledger| ledger.append(&entries))?;
        faults::reached(Point::AfterCommit);
        for Taken { message, step } in &taken {
            let Message { run, event, facts, .. } = message;
            let Some((program, state)) = self.runs.get(run).and_then(Driven::at_hand) else {
                continue;
            };
            watch.published(&News { run, program, state, at, event, facts, step });
        }
        if carry == Carry::Out {
            for Taken { message, step } in &taken {
                self.perform(&message.run, &step.commands, Issue::First);
            }
        }
        self.gather();
        if self.backlog.is_empty() || self.ledger.behind() >= BEHIND {
            let state_of = |run: &RunId| self.runs.get(run).and_then(Driven::at_hand);
            patiently(&mut self.ledger, |ledger| ledger.show(&entries, state_of))?;
        }
        for Taken { message, .. } in &taken {
            self.lay_aside(&message.run);
        }
        Ok(progress)
    }

    /// Steps the kernel with the first waiting event of each run.
    fn take(&mut self) -> Result<Vec<Taken>, HostError> {
        let mut taken: Vec<Taken> = Vec::new();
        let mut later = VecDeque::new();
        let mut busy: BTreeSet<RunId> = BTreeSet::new();
        while let Some(mut message) = self.backlog.pop_front() {
            if busy.contains(&message.run) || !self.effects.is_settled(&message.run) {
                later.push_back(message);
                continue;
            }
            let Some(driven) = self.runs.get_mut(&message.run) else {
                continue;
            };
            if let From::Effect(id) = message.from {
                message.tell_wall(driven.under_way.end(id, Instant::now()));
            }
            let run = message.run.clone();
            match driven.take(message, &self.reader, &mut self.ledger)? {
                Some(mut taken_now) => {
                    taken_now.message.facts.notes.append(&mut driven.notes);
                    taken.push(taken_now);
                    busy.insert(run);
                }
                None => self.lay_aside(&run),
            }
        }
        self.backlog = later;
        Ok(taken)
    }

    fn perform(&mut self, run: &RunId, commands: &[Command], issue: Issue) {
        let Some(driven) = self.runs.get_mut(run) else {
            return;
        };
        let Some(state) = driven.state.as_deref() else {
            return;
        };
        for command in commands {
            let order = Order { run, program: &driven.program, state, command, issue };
            match command {
                Command::Dispatch(_) | Command::Operate { .. } => {
                    let Some(id) = command.id() else { continue };
                    driven.under_way.begin(id, Instant::now());
                    faults::reached(Point::BeforeEffect);
                    self.effects.perform(&order, Reply { run: run.clone(), id, post: self.post.clone() });
                }
                Command::Cancel { id } if driven.under_way.contains(*id) => self.effects.cancel(run, *id),
                Command::Cancel { id } => self.effects.clear_away(&order, *id),
                Command::Finish { .. } => self.effects.finish(&order),
                Command::Ask(_) => self.effects.asked(&order),
                // Trees and inputs follow the state when they are next used.
                Command::Discard { .. } | Command::Restore { .. } => {}
            }
        }
    }

    /// Stops driving: what is under way is killed, and open in the ledger for whoever resumes, with what it used. What
    /// came to its end before that is recorded; what follows from it waits for the resume.
    fn leave(&mut self, watch: &mut dyn Watch) -> Result<BTreeMap<RunId, Standing>, HostError> {
        self.end_all();
        self.effects.settle();
        self.backlog.iter_mut().for_each(Message::leave_open);
        while !self.backlog.is_empty() {
            self.commit(Carry::Later, watch)?;
        }
        Ok(self.runs.iter().map(|(run, driven)| (run.clone(), driven.standing(Standing::Left))).collect())
    }

    /// Kills everything that is under way and waits for the ends, for a while.
    fn end_all(&mut self) {
        self.effects.stop();
        let mut awaited: BTreeSet<(RunId, CommandId)> = BTreeSet::new();
        for (run, driven) in &self.runs {
            for id in driven.under_way.iter() {
                self.effects.cancel(run, id);
                awaited.insert((run.clone(), id));
            }
        }
        for message in &self.backlog {
            message.takes_from(&mut awaited);
        }
        while !awaited.is_empty() {
            let Ok(message) = self.inbox.recv_timeout(GRACE) else {
                break;
            };
            message.takes_from(&mut awaited);
            self.backlog.push_back(message);
        }
    }

    fn standings(&self) -> BTreeMap<RunId, Standing> {
        self.runs.iter().map(|(run, driven)| (run.clone(), driven.standing(Standing::Waiting))).collect()
    }
}

/// Does something with the ledger, and waits for another process that holds it for long.
fn patiently<T>(
    ledger: &mut Ledger,
    mut work: impl FnMut(&mut Ledger) -> Result<T, LedgerError>,
) -> Result<T, LedgerError> {
    let mut tries = 1;
    loop {
        match work(ledger) {
            Err(LedgerError::Busy { .. }) if tries < TRIES => {
                tries += 1;
                std::thread::sleep(AGAIN);
            }
            done => return done,
        }
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
#[path = "host_tests.rs"]
mod tests;
