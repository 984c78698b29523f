//! What a child does for a measurement, and says on standard output.

use super::answers::Answers;
use super::child::Probe;
use super::place::unusable;
use super::syncs::{BEGIN, END};
use super::system::resident;
use super::track::{StepTimes, Track, ledger_of};
use super::workload::Workload;
use crate::driving::of_host;
use crate::exit::{Failure, print};
use crate::workplace::of_ledger;
use remand_ledger::{Ledger, RunId};
use remand_runtime::host::Host;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

pub fn run(probe: Probe, folder: &Path, count: u32) -> Result<(), Failure> {
    match probe {
        Probe::Open => open(folder),
        Probe::Parked => parked(folder),
        Probe::Steps => steps(folder, count),
        Probe::Resume => super::resume::in_child(folder, count),
    }
}

fn open(folder: &Path) -> Result<(), Failure> {
    let before = resident()?;
    let ledger = Ledger::open(&ledger_of(folder)).map_err(|error| of_ledger(&error))?;
    let opened = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    print(&format!("opened {}\nresident {before}\n", opened.as_nanos()))?;
    drop(ledger);
    Ok(())
}

/// The first runs warm the caches; what the others add is theirs.
fn parked(folder: &Path) -> Result<(), Failure> {
    let ledger = Ledger::open(&ledger_of(folder)).map_err(|error| of_ledger(&error))?;
    let rows =
        ledger.reader().and_then(|reader| reader.runs_under_way()).map_err(|error| of_ledger(&error))?;
    let runs: Vec<RunId> = rows.into_iter().map(|row| row.run).collect();
    let mut host =
        Host::new(ledger, Answers::happy(0, 0), folder.join("runs")).map_err(|error| of_host(&error))?;
    let (warm, others) = runs.split_at(runs.len() / 5);
    let mut take_over = |runs: &[RunId]| {
        runs.iter().try_for_each(|run| host.take_over(run).map(drop)).map_err(|error| of_host(&error))
    };
    take_over(warm)?;
    let before = resident()?;
    take_over(others)?;
    let after = resident()?;
    print(&format!("runs {}\nbytes {}\n", others.len(), after.saturating_sub(before)))
}

/// Whole runs until there are so many steps.
fn steps(folder: &Path, count: u32) -> Result<(), Failure> {
    let workload = Workload::feature()?;
    let mut track = Track::open(&workload, folder)?;
    let commits = track.ledger().count_commits().map_err(|error| of_ledger(&error))?;
    // What opening leaves to the first commit is no part of a step.
    track.one(&mut StepTimes::new())?;
    commits.store(0, Ordering::Relaxed);
    let mut steps = StepTimes::new();
    mark(folder, BEGIN)?;
    while steps.times.len() < count as usize {
        track.one(&mut steps)?;
    }
    mark(folder, END)?;
    print(&format!("steps {}\ncommits {}\n", steps.times.len(), commits.load(Ordering::Relaxed)))
}

/// Syncs a file of this name, for a tracer to see.
fn mark(folder: &Path, name: &str) -> Result<(), Failure> {
    let path = folder.join(name);
    File::create(&path).and_then(|file| file.sync_all()).map_err(|error| unusable(&path, &error))
}
