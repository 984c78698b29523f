//! Durable steps of one run, compared with raw commits, and of a hundred parallel runs.

use super::folder::BenchFolder;
use super::raw::{RawCommits, average_step_size};
use super::report::{Figure, Goal, Unit};
use super::sample::ratio;
use super::scale::Scale;
use super::track::{StepTimes, Track};
use super::workload::Workload;
use remand_terminal::CommandFailure;

/// The number of runs that are driven one after another.
const RUNS: u32 = 60;

/// The number of rounds with parallel runs.
const ROUNDS: u32 = 5;

/// The number of parallel runs in a round.
const PARALLEL: u32 = 100;

/// The number of single runs before the parallel ones in a round.
const SINGLE: u32 = 4;

/// The ratio of two goals: parallel runs reach thirty times, and a single run five times, the rate of a graph engine
/// that syncs every step.
const MIN_GAIN: f64 = 6.0;

/// Measures the full cost of steps, including checkpoints and projections. Each run is followed by as many raw commits as it
/// had steps, so that noise affects both. Both start with a new log, like a new process: the log of the raw commits grows
/// until SQLite first writes it back, and until then commits cost more.
pub fn measure(
    bench: &BenchFolder,
    scale: Scale,
    workload: &Workload,
) -> Result<Vec<Figure>, CommandFailure> {
    let folder = bench.subfolder("steps")?;
    let mut track = Track::open(workload, &folder)?;
    let warm_up = track.drive_one(&mut StepTimes::new())?;
    let size = average_step_size(&track, &warm_up)?;
    let (mut steps, mut raw) = (StepTimes::new(), RawCommits::open(&folder, size)?);
    for _ in 0..scale.of(RUNS) {
        track.drive_one(&mut steps)?;
        raw.commit(steps.times.len() - raw.times.len())?;
    }
    let (steps, raw) = (steps.times, raw.times);
    let single = Figure {
        what: "durable step relative to a raw commit".to_string(),
        value: ratio(steps.mean(), raw.mean()),
        unit: Unit::Times,
        goal: Goal::AtMost(1.3),
        note: format!(
            "{} steps of `feature` and as many raw commits of a row of {size} bytes, run by run in turns; on average \
             {:.0?} and {:.0?}, checkpoints and tables included; medians {:.0?} and {:.0?}",
            steps.len(),
            steps.mean(),
            raw.mean(),
            steps.median(),
            raw.median(),
        ),
    };

    Ok(vec![single, parallel(&mut track, scale)?])
}

/// Measures the steps of many parallel runs, which share commits, relative to one run at a time.
fn parallel(track: &mut Track<'_>, scale: Scale) -> Result<Figure, CommandFailure> {
    let count = scale.of(10 * PARALLEL).min(PARALLEL);
    let (mut many, mut single) = (StepTimes::new(), StepTimes::new());
    for _ in 0..scale.of(ROUNDS) {
        for _ in 0..SINGLE {
            track.drive_one(&mut single)?;
        }
        track.drive_many(count, &mut many)?;
    }
    let per_second = |steps: &StepTimes| steps.times.len() as f64 / steps.times.total().as_secs_f64();
    let (many, single) = (per_second(&many), per_second(&single));
    Ok(Figure {
        what: format!("steps of {count} parallel runs, relative to one run"),
        value: many / single,
        unit: Unit::Times,
        goal: Goal::AtLeast(MIN_GAIN),
        note: format!("{many:.0} steps/s, and {single:.0} steps/s of one run"),
    })
}
