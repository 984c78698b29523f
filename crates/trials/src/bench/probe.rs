//! The probes: the work of a child process in a measurement. A probe prints its results to standard output.

use super::answers::Answers;
use super::child::BenchProbe;
use super::folder::unusable;
use super::syncs::{BEGIN, END};
use super::system::resident;
use super::track::{StepTimes, Track, ledger_of, open_store};
use super::workload::Workload;
use remand_engine::host::Host;
use remand_engine::store::Store;
use remand_ledger::{Ledger, RunId};
use remand_terminal::CommandFailure;
use remand_terminal::output::print;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

pub fn run(probe: BenchProbe, folder: &Path, count: u32) -> Result<(), CommandFailure> {
    match probe {
        BenchProbe::Open => open(folder),
        BenchProbe::Parked => parked(folder),
        BenchProbe::Steps => steps(folder, count),
        BenchProbe::Resume => super::resume::probe(folder, count),
    }
}

fn open(folder: &Path) -> Result<(), CommandFailure> {
    let before = resident()?;
    let ledger = Ledger::open(&ledger_of(folder))?;
    let opened = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    print(&format!("opened {}\nresident {before}\n", opened.as_nanos()))?;
    drop(ledger);
    Ok(())
}

/// Measures the memory of parked runs. The first runs warm the caches; only the memory that the others add is counted.
fn parked(folder: &Path) -> Result<(), CommandFailure> {
    let store = open_store(folder)?;
    let rows = store.reader().and_then(|reader| reader.runs_under_way())?;
    let runs: Vec<RunId> = rows.into_iter().map(|row| row.run).collect();
    let mut host = Host::new(store, Answers::succeeding(0, 0), folder.join("runs"))?;
    let (warm_up, others) = runs.split_at(runs.len() / 5);
    let mut take_over =
        |runs: &[RunId]| runs.iter().try_for_each(|run| host.take_over(run)).map_err(CommandFailure::from);
    take_over(warm_up)?;
    let before = resident()?;
    take_over(others)?;
    let after = resident()?;
    print(&format!("runs {}\nbytes {}\n", others.len(), after.saturating_sub(before)))
}

/// Drives whole runs until there are `count` steps.
fn steps(folder: &Path, count: u32) -> Result<(), CommandFailure> {
    let workload = Workload::feature()?;
    let mut track = Track::open(&workload, folder)?;
    let commits = track.count_commits()?;
    // The first commit includes work left over from opening, so the first run is not measured.
    track.drive_one(&mut StepTimes::new())?;
    commits.store(0, Ordering::Relaxed);
    let mut steps = StepTimes::new();
    sync_marker(folder, BEGIN)?;
    while steps.times.len() < count as usize {
        track.drive_one(&mut steps)?;
    }
    sync_marker(folder, END)?;
    print(&format!("steps {}\ncommits {}\n", steps.times.len(), commits.load(Ordering::Relaxed)))
}

/// Syncs a file with this name, so that a tracer sees the sync.
fn sync_marker(folder: &Path, name: &str) -> Result<(), CommandFailure> {
    let path = folder.join(name);
    File::create(&path).and_then(|file| file.sync_all()).map_err(|error| unusable(&path, &error))
}
