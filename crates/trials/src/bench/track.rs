//! Runs driven by the real host on a real ledger, one after another or in parallel.

use super::answers::Answers;
use super::sample::Durations;
use super::workload::{Workload, defect};
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

/// Tasks of every run of `feature`.
const TASKS: u16 = 6;

/// A host keeps the lock of every run that is not over, and the number of open files is limited.
const RUNS_A_HOST: u32 = 100;

/// A ledger with runs.
pub struct Track<'w> {
    workload: &'w Workload,
    folder: PathBuf,
    store: Arc<EmbeddedStore>,
    host: Host<Answers>,
    begun: u32,
}

impl<'w> Track<'w> {
    /// Opens or creates the ledger of a folder.
    pub fn open(workload: &'w Workload, folder: &Path) -> Result<Track<'w>, CommandFailure> {
        let store = open_store(folder)?;
        let host = host(folder, Arc::clone(&store), 0)?;
        Ok(Track { workload, folder: folder.to_path_buf(), store, host, begun: 0 })
    }

    /// Counts the commits to the ledger from now on.
    pub fn count_commits(&self) -> Result<Arc<AtomicU64>, CommandFailure> {
        self.store.with_ledger(Ledger::count_commits).map_err(CommandFailure::from)
    }

    pub fn path(&self) -> PathBuf {
        ledger_of(&self.folder)
    }

    /// Drives one new run to its end.
    pub fn one(&mut self, watch: &mut dyn Timing) -> Result<RunId, CommandFailure> {
        let run = self.begin(Mode::Autonomous)?;
        self.drive(watch, Expected::Over)?;
        Ok(run)
    }

    /// Drives `count` new runs to their ends in parallel; at most a hundred.
    pub fn many(&mut self, count: u32, watch: &mut dyn Timing) -> Result<(), CommandFailure> {
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
        if self.begun > 0 && self.begun.is_multiple_of(RUNS_A_HOST) {
            self.store = open_store(&self.folder)?;
            self.host = host(&self.folder, Arc::clone(&self.store), self.begun)?;
        }
        self.begun += 1;
        let beginning = self.workload.beginning(self.begun, mode);
        let run = beginning.run.clone();
        self.host.begin(beginning)?;
        Ok(run)
    }

    fn drive(&mut self, watch: &mut dyn Timing, expected: Expected) -> Result<(), CommandFailure> {
        watch.begin();
        let standings = self.host.drive(watch)?;
        expected.of(&standings)
    }
}

/// The expected state of runs; anything else would be another measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Over,
    Parked,
}

impl Expected {
    fn of(self, standings: &BTreeMap<RunId, DriveEnd>) -> Result<(), CommandFailure> {
        use remand_kernel::state::End;
        let stands = |standing: &DriveEnd| match self {
            Expected::Over => *standing == DriveEnd::Over(End::Done),
            Expected::Parked => *standing == DriveEnd::Waiting,
        };
        match standings.iter().find(|(_, standing)| !stands(standing)) {
            None => Ok(()),
            Some((run, standing)) => {
                Err(defect(format!("run {run} of the measurement ended as {standing:?}")))
            }
        }
    }
}

fn host(folder: &Path, store: Arc<EmbeddedStore>, begun: u32) -> Result<Host<Answers>, CommandFailure> {
    let answers = Answers::happy(TASKS, u64::from(begun) << 16);
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
    /// The next step starts now.
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
        self.times.take(now - self.last);
        self.last = now;
    }
}
