//! Measures whether the last of very many steps costs as much as the first.

use super::folder::BenchFolder;
use super::raw::{RawCommits, average_step_size};
use super::report::{Figure, Goal, Unit};
use super::sample::{Durations, ratio};
use super::scale::Scale;
use super::system::processor_time;
use super::track::{StepTimes, Track};
use super::workload::Workload;
use remand_ledger::Reader;
use remand_ledger::measure::bytes_of;
use remand_terminal::CommandFailure;
use std::path::PathBuf;
use std::time::Duration;

const STEPS: u32 = 100_000;

/// The number of steps per raw commit. Raw commits are made between the steps and compared with them, because the speed of a
/// disk changes from second to second.
const STEPS_PER_COMMIT: usize = 10;

/// The number of raw commits after which their log is reused and stops growing.
const WARM_UP_COMMITS: usize = 1_500;

/// The goal in milliseconds: a fifth of the time of a graph engine that syncs every step.
const MAX_PROCESSOR_TIME: f64 = 0.34;

/// Drives runs of `feature` one after another on one ledger. Also returns the folder of the ledger.
pub fn measure(
    bench: &BenchFolder,
    scale: Scale,
    workload: &Workload,
) -> Result<(Vec<Figure>, PathBuf), CommandFailure> {
    let folder = bench.subfolder("flat")?;
    let mut track = Track::open(workload, &folder)?;
    let reader = Reader::open(&track.path())?;
    let bytes = || bytes_of(&reader).map_err(CommandFailure::from);
    let warm_up = track.drive_one(&mut StepTimes::new())?;
    let target = scale.of(STEPS) as usize;
    let (mut steps, mut raw) =
        (StepTimes::new(), RawCommits::open(&folder, average_step_size(&track, &warm_up)?)?);
    raw.commit(WARM_UP_COMMITS)?;
    raw.times = Durations::default();
    let (mut sizes, mut runs) = (vec![(0, bytes()?)], 0);
    let started = processor_time()?;
    while steps.times.len() < target {
        track.drive_one(&mut steps)?;
        raw.commit(steps.times.len() / STEPS_PER_COMMIT - raw.times.len())?;
        runs += 1;
        if steps.times.len() * 10 >= sizes.len() * target {
            sizes.push((steps.times.len(), bytes()?));
        }
    }
    let used = processor_time()?.saturating_sub(started);
    let count = steps.times.len();
    let ((first, last), (first_raw, last_raw)) = (first_and_last(&steps.times), first_and_last(&raw.times));
    let growth = |at: usize| {
        let ((before, less), (after, more)) = (sizes.get(at)?, sizes.get(at + 1)?);
        Some(more.saturating_sub(*less) as f64 / after.saturating_sub(*before).max(1) as f64)
    };
    let (early, late) =
        (growth(0).unwrap_or_default(), growth(sizes.len().saturating_sub(2)).unwrap_or_default());
    let time = Figure {
        what: format!("last decile of {count} steps, relative to the first"),
        value: ratio(last, last_raw) / ratio(first, first_raw),
        unit: Unit::Times,
        goal: Goal::AtMost(1.1),
        note: format!(
            "{runs} runs on one ledger; median step {first:.0?} in the first decile and {last:.0?} in the last, relative \
             to the raw commits between them, {first_raw:.0?} and {last_raw:.0?}"
        ),
    };
    let space = Figure {
        what: "file growth per step, last decile relative to the first".to_string(),
        value: late / early.max(1.0),
        unit: Unit::Times,
        goal: Goal::AtMost(1.1),
        note: format!("{early:.0} bytes in the first decile, {late:.0} in the last"),
    };
    let processor = Figure {
        what: "processor time per step".to_string(),
        value: used.as_secs_f64() * 1e3 / count.max(1) as f64,
        unit: Unit::Millis,
        goal: Goal::AtMost(MAX_PROCESSOR_TIME),
        note: "user and system time over all of these runs, including writing and syncing in the kernel, and one raw \
               commit per ten steps"
            .to_string(),
    };
    Ok((vec![processor, time, space], folder))
}

/// The medians of the first and the last decile.
fn first_and_last(sample: &Durations) -> (Duration, Duration) {
    let deciles = sample.deciles();
    (deciles.first().copied().unwrap_or_default(), deciles.last().copied().unwrap_or_default())
}
