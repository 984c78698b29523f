//! Whether the last of very many steps costs as much as the first.

use super::place::BenchFolder;
use super::raw::{Raw, size_of};
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

/// The speed of a disk changes from second to second, so steps are compared with raw commits made among them: one commit
/// per this many steps.
const STEPS_A_COMMIT: usize = 10;

/// Raw commits after which their log is reused and stops growing.
const GROWN: usize = 1_500;

/// Milliseconds: a fifth of the time of a graph engine that syncs every step.
const PROCESSOR: f64 = 0.34;

/// Runs of `feature` one after another on one ledger; its folder comes with the figures.
pub fn measure(
    place: &BenchFolder,
    scale: Scale,
    workload: &Workload,
) -> Result<(Vec<Figure>, PathBuf), CommandFailure> {
    let folder = place.part("flat")?;
    let mut track = Track::open(workload, &folder)?;
    let reader = Reader::open(&track.path())?;
    let bytes = || bytes_of(&reader).map_err(CommandFailure::from);
    let warm = track.one(&mut StepTimes::new())?;
    let wanted = scale.of(STEPS) as usize;
    let (mut steps, mut raw) = (StepTimes::new(), Raw::open(&folder, size_of(&track, &warm)?)?);
    raw.commit(GROWN)?;
    raw.times = Durations::default();
    let (mut marks, mut runs) = (vec![(0, bytes()?)], 0);
    let began = processor_time()?;
    while steps.times.len() < wanted {
        track.one(&mut steps)?;
        raw.commit(steps.times.len() / STEPS_A_COMMIT - raw.times.len())?;
        runs += 1;
        if steps.times.len() * 10 >= marks.len() * wanted {
            marks.push((steps.times.len(), bytes()?));
        }
    }
    let used = processor_time()?.saturating_sub(began);
    let count = steps.times.len();
    let ((first, last), (first_raw, last_raw)) = (ends(&steps.times), ends(&raw.times));
    let growth = |at: usize| {
        let ((before, less), (after, more)) = (marks.get(at)?, marks.get(at + 1)?);
        Some(more.saturating_sub(*less) as f64 / after.saturating_sub(*before).max(1) as f64)
    };
    let (early, late) =
        (growth(0).unwrap_or_default(), growth(marks.len().saturating_sub(2)).unwrap_or_default());
    let time = Figure {
        what: format!("last decile of {count} steps against the first"),
        value: ratio(last, last_raw) / ratio(first, first_raw),
        unit: Unit::Times,
        goal: Goal::AtMost(1.1),
        note: format!(
            "{runs} runs on one ledger; median step {first:.0?} at first and {last:.0?} at last, each against the raw \
             commits among them, {first_raw:.0?} and {last_raw:.0?}"
        ),
    };
    let space = Figure {
        what: "file growth per step, last decile against the first".to_string(),
        value: late / early.max(1.0),
        unit: Unit::Times,
        goal: Goal::AtMost(1.1),
        note: format!("{early:.0} bytes at first, {late:.0} at last"),
    };
    let processor = Figure {
        what: "processor time per step".to_string(),
        value: used.as_secs_f64() * 1e3 / count.max(1) as f64,
        unit: Unit::Millis,
        goal: Goal::AtMost(PROCESSOR),
        note: "user and system, over all of these runs; writing and syncing in the kernel is in it, and a raw commit \
               to ten steps"
            .to_string(),
    };
    Ok((vec![processor, time, space], folder))
}

/// The medians of the first and of the last decile.
fn ends(sample: &Durations) -> (Duration, Duration) {
    let deciles = sample.deciles();
    (deciles.first().copied().unwrap_or_default(), deciles.last().copied().unwrap_or_default())
}
