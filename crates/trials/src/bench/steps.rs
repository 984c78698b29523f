//! Durable steps of one run, compared with raw commits, and of a hundred parallel runs.

use super::place::BenchFolder;
use super::raw::{Raw, size_of};
use super::report::{Figure, Goal, Unit};
use super::sample::ratio;
use super::scale::Scale;
use super::track::{StepTimes, Track};
use super::workload::Workload;
use remand_terminal::CommandFailure;

/// Runs that are driven one after another.
const RUNS: u32 = 60;

/// How often parallel runs are driven, and how many there are.
const ROUNDS: u32 = 5;
const AT_ONCE: u32 = 100;

/// Runs that are driven one after another before each of them.
const SINGLE: u32 = 4;

/// Thirty times the rate of a graph engine that syncs every step; the goal of a single run is five times that rate.
const GAIN: f64 = 6.0;

/// The full cost of steps, including checkpoints and projections. After each run there are as many raw commits
/// as it had steps, so that noise hits both. Both start with a new log, as a process does: that of raw commits grows until
/// SQLite writes it back for the first time, and these first commits cost more than later ones.
pub fn measure(
    place: &BenchFolder,
    scale: Scale,
    workload: &Workload,
) -> Result<Vec<Figure>, CommandFailure> {
    let folder = place.part("steps")?;
    let mut track = Track::open(workload, &folder)?;
    let warm = track.one(&mut StepTimes::new())?;
    let size = size_of(&track, &warm)?;
    let (mut steps, mut raw) = (StepTimes::new(), Raw::open(&folder, size)?);
    for _ in 0..scale.of(RUNS) {
        track.one(&mut steps)?;
        raw.commit(steps.times.len() - raw.times.len())?;
    }
    let (steps, raw) = (steps.times, raw.times);
    let one = Figure {
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

    Ok(vec![one, together(&mut track, scale)?])
}

/// Many runs in one commit after another, against one run at a time.
fn together(track: &mut Track<'_>, scale: Scale) -> Result<Figure, CommandFailure> {
    let at_once = scale.of(10 * AT_ONCE).min(AT_ONCE);
    let (mut many, mut single) = (StepTimes::new(), StepTimes::new());
    for _ in 0..scale.of(ROUNDS) {
        for _ in 0..SINGLE {
            track.one(&mut single)?;
        }
        track.many(at_once, &mut many)?;
    }
    let per_second = |steps: &StepTimes| steps.times.len() as f64 / steps.times.total().as_secs_f64();
    let (many, single) = (per_second(&many), per_second(&single));
    Ok(Figure {
        what: format!("steps of {at_once} parallel runs against one run"),
        value: many / single,
        unit: Unit::Times,
        goal: Goal::AtLeast(GAIN),
        note: format!("{many:.0} steps/s, {single:.0} of one run"),
    })
}
