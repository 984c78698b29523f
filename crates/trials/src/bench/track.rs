//! Drives runs with the real host on a real ledger, one after another or in parallel.

use super::answers::Answers;
use super::sample::Durations;
use super::workload::{Workload, bug};
use remand_engine::host::{CommittedStep, DriveEnd, DriveWatch, Host};
use remand_engine::store::EmbeddedStore;
use remand_kernel::event::Mode;
use remand_ledger::{Ledger, RunId};
use remand_terminal::CommandFailure;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

/// The number of tasks in every run of `feature`.
const TASKS: u16 = 6;

/// The number of runs per host. A host keeps the lock of every run that is not over, and open files are limited.
const RUNS_PER_HOST: u32 = 100;

/// A ledger, and the host that drives runs on it.
pub struct Track<'w> {
    workload: &'w Workload,
    folder: PathBuf,
    store: Arc<EmbeddedStore>,
    host: Host<Answers>,
    started: u32,
}

impl<'w> Track<'w> {
    /// Opens or creates the ledger of a folder.
    pub fn open(workload: &'w Workload, folder: &Path) -> Result<Track<'w>, CommandFailure> {
        let store = open_store(folder)?;
        let host = host(folder, Arc::clone(&store), 0)?;
        Ok(Track { workload, folder: folder.to_path_buf(), store, host, started: 0 })
    }

    /// Counts the commits to the ledger from now on.
    pub fn count_commits(&self) -> Result<Arc<AtomicU64>, CommandFailure> {
        self.store.with_ledger(Ledger::count_commits).map_err(CommandFailure::from)
    }

    pub fn path(&self) -> PathBuf {
        ledger_of(&self.folder)
    }

    /// Drives one new run to its end.
    pub fn drive_one(&mut self, watch: &mut dyn Timing) -> Result<RunId, CommandFailure> {
        let run = self.begin(Mode::Autonomous)?;
        self.drive(watch, Expected::Over)?;
        Ok(run)
    }

    /// Drives `count` new runs to their ends in parallel; at most a hundred.
    pub fn drive_many(&mut self, count: u32, watch: &mut dyn Timing) -> Result<(), CommandFailure> {
        for _ in 0..count {
            self.begin(Mode::Autonomous)?;
        }
        self.drive(watch, Expected::Over)
    }

    /// Drives `count` new runs to their first gate; at most a hundred.
    pub fn park(&mut self, count: u32) -> Result<(), CommandFailure> {
        for _ in 0..count {
            self.begin(Mode::Interactive)?;
        }
        self.drive(&mut StepTimes::new(), Expected::Parked)
    }

    fn begin(&mut self, mode: Mode) -> Result<RunId, CommandFailure> {
        if self.started > 0 && self.started.is_multiple_of(RUNS_PER_HOST) {
            self.store = open_store(&self.folder)?;
            self.host = host(&self.folder, Arc::clone(&self.store), self.started)?;
        }
        self.started += 1;
        let beginning = self.workload.beginning(self.started, mode);
        let run = beginning.run.clone();
        self.host.begin(beginning)?;
        Ok(run)
    }

    fn drive(&mut self, watch: &mut dyn Timing, expected: Expected) -> Result<(), CommandFailure> {
        watch.begin();
        let ends = self.host.drive(watch)?;
        expected.check(&ends)
    }
}

/// The expected state of runs. Any other state would make the measurement meaningless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Over,
    Parked,
}

impl Expected {
    fn check(self, ends: &BTreeMap<RunId, DriveEnd>) -> Result<(), CommandFailure> {
        use remand_kernel::state::End;
        let is_expected = |end: &DriveEnd| match self {
            Expected::Over => *end == DriveEnd::Over(End::Done),
            Expected::Parked => *end == DriveEnd::Waiting,
        };
        match ends.iter().find(|(_, end)| !is_expected(end)) {
            None => Ok(()),
            Some((run, end)) => Err(bug(format!("run {run} of the measurement ended as {end:?}"))),
        }
    }
}

fn host(folder: &Path, store: Arc<EmbeddedStore>, started: u32) -> Result<Host<Answers>, CommandFailure> {
    let answers = Answers::succeeding(TASKS, u64::from(started) << 16);
    Host::new(store, answers, folder.join("runs")).map_err(CommandFailure::from)
}

/// The store of a folder.
pub fn open_store(folder: &Path) -> Result<Arc<EmbeddedStore>, CommandFailure> {
    let store = EmbeddedStore::open_at(ledger_of(folder), folder.join("runs"));
    store.map(Arc::new).map_err(CommandFailure::from)
}

/// The ledger of a folder.
pub fn ledger_of(folder: &Path) -> PathBuf {
    folder.join("ledger.db")
}

/// Measures the times of committed steps.
pub trait Timing: DriveWatch {
    /// Starts the measurement of the next step.
    fn begin(&mut self);
}

/// Measures the time from each committed step to the next.
#[derive(Debug)]
pub struct StepTimes {
    pub times: Durations,
    last: Instant,
}

impl StepTimes {
    pub fn new() -> StepTimes {
        StepTimes { times: Durations::default(), last: Instant::now() }
    }
}

impl Timing for StepTimes {
    fn begin(&mut self) {
        self.last = Instant::now();
    }
}

impl DriveWatch for StepTimes {
    fn committed(&mut self, _: &CommittedStep<'_>) {
        let now = Instant::now();
        self.times.add(now - self.last);
        self.last = now;
    }
}
