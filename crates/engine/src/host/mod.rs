//! The host: takes one message after the other, commits the resulting entry, and has the orders performed.
//!
//! The kernel and the turn make all decisions. One thread reads one inbox, so the order is total. One commit contains
//! the waiting messages of all runs, at most one of each run.

mod claim;
mod driven;
mod effects;
pub mod faults;
mod reply;
mod watch;

use crate::clock;
use crate::lock::{DriverLock, LockError};
use crate::store::Store;
use crate::turn::{
    ArtifactParts, EffectOrder, EntryDraft, LoadedRun, Message, Now, Sender, TurnResult, turn,
};
use driven::DrivenRun;
use faults::FaultPoint;
use remand_kernel::event::Start;
use remand_kernel::ids::CommandId;
use remand_kernel::state::End;
use remand_kernel::step::Refusal;
use remand_kernel::{Command, Event, Program, step};
use remand_ledger::{Blob, Facts, JournalEntry, LedgerError, Reader, ReplayError, RunId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tracing::{debug, info};

pub use effects::{Effects, RunAt};
pub use reply::CommandReply;
pub use watch::{CommittedStep, DriveWatch, ResumedRun, Unwatched};

/// How often the host looks for requests of other processes and for signals.
const POLL: Duration = Duration::from_millis(50);

/// How often the host checks whether a run with a waiting message has finished its background tasks.
const BACKGROUND_POLL: Duration = Duration::from_millis(2);

/// How long the host waits for the endings of commands that it killed.
const GRACE: Duration = Duration::from_secs(10);

/// How many times a busy ledger is tried, and the pause between two tries. Each try waits several seconds.
const MAX_TRIES: u32 = 5;
const RETRY_PAUSE: Duration = Duration::from_millis(200);

/// Maximum projection lag, in events, while more messages wait. With nothing left to commit, the tables catch up.
const MAX_LAG: usize = 64;

/// Whether any waiting message was handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Made,
    None,
}

/// Whether this process still drives its runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Driving,
    /// Endings are recorded; the process that resumes the run starts the next commands.
    Leaving,
}

/// Drives any number of runs in one process.
pub struct Host<E> {
    store: Arc<dyn Store>,
    /// A connection that sees the changes of other processes.
    reader: Reader,
    effects: E,
    /// Contains one folder per run, with the lock of the run.
    runs_folder: PathBuf,
    runs: BTreeMap<RunId, DrivenRun>,
    /// Resumed runs with their restarted commands, until the watch is notified.
    resumed: Vec<(RunId, Vec<Command>)>,
    inbox: Receiver<Message>,
    sender: mpsc::Sender<Message>,
    /// Messages from the inbox for a later commit: one commit holds at most one event of a run.
    backlog: VecDeque<Message>,
    /// The version of the ledger at the last read of requests.
    requests_version: Option<i64>,
    started: Instant,
}

/// A run to start.
#[derive(Clone, Debug)]
pub struct NewRun {
    pub run: RunId,
    pub program: Arc<Program>,
    pub start: Start,
    pub facts: Facts,
    pub blobs: Vec<Blob>,
}

/// Why this process has nothing left to do for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriveEnd {
    Over(End),
    /// The run is at a gate, or paused: a human has to act.
    Waiting,
    /// A signal stopped this process; the run can be resumed.
    Left,
}

/// Why a host cannot continue. Everything that was committed is in the ledger.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error("run {run} cannot be resumed")]
    Replay { run: RunId, source: Box<ReplayError> },
    #[error("run {run} cannot accept this")]
    Refused { run: RunId, source: Refusal },
    #[error("run {0} is not driven by this process")]
    NotDriven(RunId),
}

/// A turn that is not committed yet.
struct AcceptedTurn {
    entry: Box<EntryDraft>,
    orders: Vec<EffectOrder>,
}

impl<E: Effects> Host<E> {
    pub fn new(store: Arc<dyn Store>, effects: E, runs_folder: PathBuf) -> Result<Host<E>, HostError> {
        let (sender, inbox) = channel();
        let reader = store.reader()?;
        Ok(Host {
            store,
            reader,
            effects,
            runs_folder,
            runs: BTreeMap::new(),
            resumed: Vec::new(),
            inbox,
            sender,
            backlog: VecDeque::new(),
            requests_version: None,
            started: Instant::now(),
        })
    }

    pub fn effects(&self) -> &E {
        &self.effects
    }

    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Accepts a new run; its first event waits in the backlog.
    pub fn begin(&mut self, new_run: NewRun) -> Result<(), HostError> {
        let NewRun { run, program, start, facts, blobs } = new_run;
        let lock = DriverLock::take(&self.runs_folder.join(&run.0), &run)?;
        info!(%run, workflow = %program.name, "run accepted");
        let loaded = LoadedRun::new(Arc::clone(&program));
        self.runs.insert(run.clone(), DrivenRun::new(program, Some(loaded), lock));
        let message = Message::new(run, Sender::Driver, Event::Started(start));
        self.backlog.push_back(Message { facts, blobs, ..message });
        Ok(())
    }

    /// Unloads a run that only waits for a human.
    fn unload_if_waiting(&mut self, run: &RunId) {
        if self.backlog.iter().any(|message| message.run == *run) {
            return;
        }
        if let Some(driven) = self.runs.get_mut(run) {
            driven.unload_if_waiting();
        }
    }

    /// Records an event that a human caused at the terminal of this process.
    pub fn submit(&mut self, run: &RunId, event: Event, watch: &mut dyn DriveWatch) -> Result<(), HostError> {
        self.enqueue(run, event)?;
        self.commit(Mode::Driving, watch).map(drop)
    }

    /// Accepts an event that a human caused; driving the run commits it.
    pub fn enqueue(&mut self, run: &RunId, event: Event) -> Result<(), HostError> {
        self.effects.finish_background();
        let driven = self.runs.get_mut(run).ok_or_else(|| HostError::NotDriven(run.clone()))?;
        let loaded = driven.load(&self.reader, run)?;
        // Try it on a copy first: a refusal must not change the run.
        step(&loaded.program, &mut loaded.state.clone(), &event)
            .map_err(|source| HostError::Refused { run: run.clone(), source })?;
        self.backlog.push_back(Message::new(run.clone(), Sender::Driver, event));
        Ok(())
    }

    /// Drives all runs until this process has nothing left to do.
    pub fn drive(&mut self, watch: &mut dyn DriveWatch) -> Result<BTreeMap<RunId, DriveEnd>, HostError> {
        let driven = self.drive_runs(watch);
        if driven.is_err() {
            // Nothing more can be recorded, so nothing may continue.
            self.stop_all();
        }
        // When the caller learns that a run is over, its files must be complete.
        self.effects.finish_background();
        self.release_finished();
        driven
    }

    fn drive_runs(&mut self, watch: &mut dyn DriveWatch) -> Result<BTreeMap<RunId, DriveEnd>, HostError> {
        for (run, open) in std::mem::take(&mut self.resumed) {
            let driven = self.runs.get(&run).filter(|driven| !driven.is_idle());
            if let Some((program, state)) = driven.and_then(DrivenRun::loaded_state) {
                watch.resumed(&ResumedRun { run: &run, program, state, open: &open });
            }
        }
        loop {
            self.drain_inbox();
            if self.commit(Mode::Driving, watch)? == Progress::Made {
                continue;
            }
            retry_while_busy(|| self.store.catch_up())?;
            self.release_finished();
            if watch.should_stop() {
                return self.leave(watch);
            }
            // Messages that still wait are for runs with background tasks.
            if self.backlog.is_empty() {
                self.receive_requests()?;
                if !self.backlog.is_empty() {
                    continue;
                }
                if self.runs.values().all(DrivenRun::is_idle) {
                    return Ok(self.drive_ends(&DriveEnd::Waiting));
                }
            }
            match self.inbox.recv_timeout(if self.backlog.is_empty() { POLL } else { BACKGROUND_POLL }) {
                Ok(message) => self.backlog.push_back(message),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => watch.waiting(),
            }
        }
    }

    /// Releases the locks of runs that are over and have no background tasks left.
    fn release_finished(&mut self) {
        for (run, driven) in &mut self.runs {
            if driven.is_held() && driven.is_over() && self.effects.is_background_done(run) {
                driven.release();
            }
        }
    }

    fn drain_inbox(&mut self) {
        self.backlog.extend(self.inbox.try_iter());
    }

    /// Reads requests of other processes, if the ledger changed since the last time.
    fn receive_requests(&mut self) -> Result<(), HostError> {
        let version = self.reader.data_version()?;
        if self.requests_version == Some(version) {
            return Ok(());
        }
        self.requests_version = Some(version);
        for (run, _) in self.runs.iter().filter(|(_, driven)| driven.is_held()) {
            for request in self.store.requests(run)? {
                debug!(%run, request = request.id, "request received");
                let sender = Sender::Request(request.id);
                self.backlog.push_back(Message::new(run.clone(), sender, request.event));
            }
        }
        Ok(())
    }

    /// Commits the waiting messages in one transaction, at most one of each run, with rulings and commands. Before
    /// the commit, nothing has happened in the world; after it, everything that is needed to continue is on disk.
    fn commit(&mut self, mode: Mode, watch: &mut dyn DriveWatch) -> Result<Progress, HostError> {
        let waiting = self.backlog.len();
        let mut accepted = self.take_turns(mode)?;
        let progress = if self.backlog.len() < waiting { Progress::Made } else { Progress::None };
        if accepted.is_empty() {
            return Ok(progress);
        }
        let orders: Vec<Vec<EffectOrder>> =
            accepted.iter_mut().map(|accepted| std::mem::take(&mut accepted.orders)).collect();
        let entries: Vec<JournalEntry<'_>> =
            accepted.iter().map(|accepted| accepted.entry.as_entry()).collect();
        self.append(&entries)?;
        for JournalEntry { run, at, event, facts, step, .. } in entries.iter().copied() {
            if let Some((program, state)) = self.runs.get(run).and_then(DrivenRun::loaded_state) {
                watch.committed(&CommittedStep { run, program, state, at, event, facts, step });
            }
        }
        for (entry, orders) in entries.iter().zip(orders) {
            self.perform(entry.run, orders);
        }
        self.drain_inbox();
        if self.backlog.is_empty() || self.store.lag() >= MAX_LAG {
            let state_of = |run: &RunId| self.runs.get(run).and_then(DrivenRun::loaded_state);
            retry_while_busy(|| self.store.catch_up_with(&entries, &state_of))?;
        }
        for entry in &entries {
            self.unload_if_waiting(entry.run);
        }
        Ok(progress)
    }

    fn append(&self, entries: &[JournalEntry<'_>]) -> Result<Vec<u64>, LedgerError> {
        faults::reached(FaultPoint::BeforeCommit);
        let numbers = retry_while_busy(|| self.store.append(entries))?;
        faults::reached(FaultPoint::AfterCommit);
        for (entry, seq) in entries.iter().zip(&numbers) {
            let (rulings, commands) = (entry.step.rulings.len(), entry.step.commands.len());
            info!(run = %entry.run, seq, event = event_name(entry.event), rulings, commands, "committed");
        }
        Ok(numbers)
    }

    /// Takes a turn with the first waiting message of each run.
    fn take_turns(&mut self, mode: Mode) -> Result<Vec<AcceptedTurn>, HostError> {
        let now = self.now(mode);
        let mut accepted: Vec<AcceptedTurn> = Vec::new();
        let mut deferred = VecDeque::new();
        let mut served: BTreeSet<RunId> = BTreeSet::new();
        while let Some(message) = self.backlog.pop_front() {
            if served.contains(&message.run) || !self.effects.is_background_done(&message.run) {
                deferred.push_back(message);
                continue;
            }
            let run = message.run.clone();
            match self.take_turn(message, &now)? {
                Some(TurnResult::Accepted { entry, orders }) => {
                    accepted.push(AcceptedTurn { entry, orders });
                    served.insert(run);
                }
                Some(TurnResult::Refused { request, reason }) => {
                    info!(%run, request, reason, "request refused");
                    self.store.refuse(request, &reason)?;
                    self.unload_if_waiting(&run);
                }
                None => {}
            }
        }
        self.backlog = deferred;
        Ok(accepted)
    }

    /// Looks up the data that the turn needs, and takes the turn. A message to a run that this process does not drive is
    /// ignored.
    fn take_turn(&mut self, mut message: Message, now: &Now) -> Result<Option<TurnResult>, HostError> {
        let run = message.run.clone();
        let Some(driven) = self.runs.get_mut(&run) else {
            return Ok(None);
        };
        let loaded = driven.load(&self.reader, &run)?;
        if loaded.lacks_parts(&message) {
            retry_while_busy(|| self.store.catch_up())?;
            loaded.set_parts(ArtifactParts::of(&self.reader.artifacts(&run)?));
        }
        if let Some((agent, id)) = message.failed_agent() {
            retry_while_busy(|| self.store.catch_up())?;
            message.failures_before = Some(self.reader.environment_failures_in_a_row(agent, &run, id)?);
        }
        turn(loaded, message, now).map(Some).map_err(|source| HostError::Refused { run, source })
    }

    fn perform(&mut self, run: &RunId, orders: Vec<EffectOrder>) {
        let Some(loaded) = self.runs.get(run).and_then(DrivenRun::loaded) else {
            return;
        };
        let at = RunAt { run, program: &loaded.program, state: &loaded.state };
        for order in orders {
            match order {
                EffectOrder::Start(start) => {
                    debug!(%run, command = %start.id, wait = ?start.wait, "starting");
                    faults::reached(FaultPoint::BeforeEffect);
                    let reply = CommandReply { run: run.clone(), id: start.id, inbox: self.sender.clone() };
                    self.effects.start(&at, start, reply);
                }
                EffectOrder::Stop { id } => self.effects.stop(run, id),
                EffectOrder::Restore { id } => self.effects.restore(&at, id),
                EffectOrder::PrepareQuestion { id } => self.effects.prepare_question(&at, id),
                EffectOrder::Finish => self.effects.finish(&at),
            }
        }
    }

    /// Stops driving: kills the commands and records their usage. They stay open in the ledger for the process that
    /// resumes the runs. Endings that have arrived are recorded; the commands that follow them start on resume.
    fn leave(&mut self, watch: &mut dyn DriveWatch) -> Result<BTreeMap<RunId, DriveEnd>, HostError> {
        info!("stopping");
        self.stop_all();
        self.effects.finish_background();
        while !self.backlog.is_empty() {
            self.commit(Mode::Leaving, watch)?;
        }
        Ok(self.drive_ends(&DriveEnd::Left))
    }

    /// Kills all running commands and waits for their endings, up to a limit.
    fn stop_all(&mut self) {
        self.effects.stop_background();
        let mut awaited: BTreeSet<(RunId, Option<CommandId>)> = BTreeSet::new();
        for (run, driven) in &self.runs {
            for id in driven.loaded().into_iter().flat_map(LoadedRun::running) {
                self.effects.stop(run, id);
                awaited.insert((run.clone(), Some(id)));
            }
        }
        for message in &self.backlog {
            awaited.remove(&sender_of(message));
        }
        while !awaited.is_empty() {
            let Ok(message) = self.inbox.recv_timeout(GRACE) else {
                break;
            };
            awaited.remove(&sender_of(&message));
            self.backlog.push_back(message);
        }
    }

    fn drive_ends(&self, otherwise: &DriveEnd) -> BTreeMap<RunId, DriveEnd> {
        self.runs.iter().map(|(run, driven)| (run.clone(), driven.drive_end(otherwise.clone()))).collect()
    }

    fn now(&self, mode: Mode) -> Now {
        Now { at: clock::now(), uptime: self.started.elapsed(), leaving: mode == Mode::Leaving }
    }
}

impl<E> Drop for Host<E> {
    fn drop(&mut self) {
        // Threads of commands may keep the store alive a moment longer.
        self.store.close();
    }
}

/// An event in one word, for the log.
fn event_name(event: &Event) -> &'static str {
    match event {
        Event::Started(_) => "started",
        Event::Ended { .. } => "ended",
        Event::Interrupted { .. } => "interrupted",
        Event::Answered { .. } => "answered",
        Event::Cancelled { .. } => "cancelled",
        Event::Paused { .. } => "paused",
        Event::Resumed { .. } => "resumed",
        Event::Retried { .. } => "retried",
        Event::RolledBack { .. } => "rolled back",
        Event::ApproachRemoved { .. } => "approach removed",
        Event::Reattributed { .. } => "reattributed",
        Event::Reverted { .. } => "reverted",
    }
}

/// The run of a message, and the command that sent it.
fn sender_of(message: &Message) -> (RunId, Option<CommandId>) {
    let id = match message.sender {
        Sender::Command(id) => Some(id),
        Sender::Driver | Sender::Request(_) => None,
    };
    (message.run.clone(), id)
}

/// Retries work on the ledger while another process keeps it busy.
fn retry_while_busy<T>(mut work: impl FnMut() -> Result<T, LedgerError>) -> Result<T, LedgerError> {
    let mut tries = 1;
    loop {
        match work() {
            Err(LedgerError::Busy { .. }) if tries < MAX_TRIES => {
                tries += 1;
                std::thread::sleep(RETRY_PAUSE);
            }
            done => return done,
        }
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
#[path = "host_tests.rs"]
mod tests;
