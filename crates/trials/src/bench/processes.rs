//! The memory of waiting runs, and the time until a new process has opened its ledger.

use super::child::{BenchProbe, printed_number, run_probe};
use super::folder::BenchFolder;
use super::report::{Figure, Goal, Unit};
use super::sample::Durations;
use super::scale::Scale;
use super::track::Track;
use super::workload::{Workload, bug};
use remand_terminal::CommandFailure;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// The number of runs that wait at a gate. Each keeps a file open.
const PARKED: u32 = 500;

/// The number of runs that one host drives in parallel.
const PARALLEL: u32 = 100;

const STARTS: u32 = 21;

/// Measures the memory that one waiting run adds to a process that took it over.
pub fn idle(bench: &BenchFolder, scale: Scale, workload: &Workload) -> Result<Figure, CommandFailure> {
    let folder = bench.subfolder("idle")?;
    let mut track = Track::open(workload, &folder)?;
    let mut left = scale.of(PARKED).max(50);
    while left > 0 {
        let count = left.min(PARALLEL);
        track.park(count)?;
        left -= count;
    }
    drop(track);
    let ended = run_probe(BenchProbe::Parked, &folder, 0, &[])?;
    let (runs, bytes): (u32, u64) = (printed_number(&ended, "runs ")?, printed_number(&ended, "bytes ")?);
    Ok(Figure {
        what: "idle run".to_string(),
        value: bytes as f64 / 1e3 / f64::from(runs.max(1)),
        unit: Unit::Kilobytes,
        goal: Goal::AtMost(8.0),
        note: format!(
            "resident memory of a new process after taking over {runs} runs of `feature` at their first gate"
        ),
    })
}

/// Measures the time until a new process has opened an existing ledger, and the memory of the process before that.
pub fn start_to_open(folder: &Path) -> Result<Vec<Figure>, CommandFailure> {
    let mut times = Durations::default();
    let mut resident = 0;
    for _ in 0..STARTS {
        let ended = run_probe(BenchProbe::Open, folder, 0, &[])?;
        let opened: u64 = printed_number(&ended, "opened ")?;
        let took = (UNIX_EPOCH + Duration::from_nanos(opened)).duration_since(ended.started);
        times.add(took.map_err(|_| bug("the clock was set back while measuring".to_string()))?);
        resident = printed_number(&ended, "resident ")?;
    }
    let megabytes =
        std::fs::metadata(super::track::ledger_of(folder)).map_or(0, |metadata| metadata.len() / 1_000_000);
    Ok(vec![
        Figure {
            what: "start to open ledger".to_string(),
            value: times.median().as_secs_f64() * 1e3,
            unit: Unit::Millis,
            goal: Goal::AtMost(10.0),
            note: format!(
                "from before the spawn to after `Ledger::open` in the child; a ledger of {megabytes} MB, median of {STARTS}"
            ),
        },
        Figure {
            what: "process before it does anything".to_string(),
            value: resident as f64 / 1e6,
            unit: Unit::Megabytes,
            goal: Goal::AtMost(15.0),
            note: "resident memory before the ledger is opened".to_string(),
        },
    ])
}
