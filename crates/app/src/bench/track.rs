//! Runs driven by the real host on a real ledger, one after another or many at once.

use super::answers::Answers;
use super::sample::Sample;
use super::workload::{Workload, defect};
use crate::driving::of_host;
use crate::exit::Failure;
use crate::workplace::of_ledger;
use remand_kernel::event::Mode;
use remand_ledger::{Ledger, RunId};
use remand_runtime::host::{Host, News, Standing, Watch};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Tasks of every run of `feature`.
const TASKS: u16 = 6;

/// A host keeps the lock of every run that is not over, and a process may open only so many files.
const RUNS_A_HOST: u32 = 100;

/// A ledger on which runs are made.
pub struct Track<'w> {
    workload: &'w Workload,
    folder: PathBuf,
    host: Host<Answers>,
    begun: u32,
}

impl<'w> Track<'w> {
    /// Opens the ledger of a folder, or makes one.
    pub fn open(workload: &'w Workload, folder: &Path) -> Result<Track<'w>, Failure> {
        Ok(Track { workload, folder: folder.to_path_buf(), host: host(folder, 0)?, begun: 0 })
    }

    pub fn ledger(&mut self) -> &mut Ledger {
        self.host.ledger()
    }

    pub fn path(&self) -> PathBuf {
        ledger_of(&self.folder)
    }

    /// Drives one new run to its end.
    pub fn one(&mut self, watch: &mut dyn Timing) -> Result<RunId, Failure> {
        let run = self.begin(Mode::Autonomous)?;
        self.drive(watch, Expected::Over)?;
        Ok(run)
    }

    /// Drives so many new runs to their ends, all at once; at most a hundred.
    pub fn many(&mut self, count: u32, watch: &mut dyn Timing) -> Result<(), Failure> {
        for _ in 0..count {
            self.begin(Mode::Autonomous)?;
        }
        self.drive(watch, Expected::Over)
    }

    /// Drives so many new runs to their first gate; at most a hundred.
    pub fn park(&mut self, count: u32) -> Result<(), Failure> {
        for _ in 0..count {
            self.begin(Mode::Interactive)?;
        }
        self.drive(&mut StepTimes::new(), Expected::Parked)
    }

    fn begin(&mut self, mode: Mode) -> Result<RunId, Failure> {
        if self.begun > 0 && self.begun.is_multiple_of(RUNS_A_HOST) {
            self.host = host(&self.folder, self.begun)?;
        }
        self.begun += 1;
        let beginning = self.workload.beginning(self.begun, mode);
        let run = beginning.run.clone();
        self.host.begin(beginning).map_err(|error| of_host(&error))?;
        Ok(run)
    }

    fn drive(&mut self, watch: &mut dyn Timing, expected: Expected) -> Result<(), Failure> {
        watch.begin();
        let standings = self.host.drive(watch).map_err(|error| of_host(&error))?;
        expected.of(&standings)
    }
}

/// How runs must stand, lest something else than meant was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Over,
    Parked,
}

impl Expected {
    fn of(self, standings: &BTreeMap<RunId, Standing>) -> Result<(), Failure> {
        use remand_kernel::state::End;
        let stands = |standing: &Standing| match self {
            Expected::Over => *standing == Standing::Over(End::Done),
            Expected::Parked => *standing == Standing::Waiting,
        };
        match standings.iter().find(|(_, standing)| !stands(standing)) {
            None => Ok(()),
            Some((run, standing)) => {
                Err(defect(format!("run {run} of the measurement stands at {standing:?}")))
            }
        }
    }
}

fn host(folder: &Path, begun: u32) -> Result<Host<Answers>, Failure> {
    let ledger = Ledger::open(&ledger_of(folder)).map_err(|error| of_ledger(&error))?;
    let answers = Answers::happy(TASKS, u64::from(begun) << 16);
    Host::new(ledger, answers, folder.join("runs")).map_err(|error| of_host(&error))
}

/// The ledger of a folder.
pub fn ledger_of(folder: &Path) -> PathBuf {
    folder.join("ledger.db")
}

/// Looks at a clock when steps are committed.
pub trait Timing: Watch {
    /// The next step begins now.
    fn begin(&mut self);
}

/// Takes the time from each committed step to the next.
#[derive(Debug)]
pub struct StepTimes {
    pub times: Sample,
    last: Instant,
}

impl StepTimes {
    pub fn new() -> StepTimes {
        StepTimes { times: Sample::default(), last: Instant::now() }
    }
}

impl Timing for StepTimes {
    fn begin(&mut self) {
        self.last = Instant::now();
    }
}

impl Watch for StepTimes {
    fn published(&mut self, _: &News<'_>) {
        let now = Instant::now();
        self.times.take(now - self.last);
        self.last = now;
    }
}
