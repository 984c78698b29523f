//! Durable steps of one run against raw commits, and of a hundred runs at once.

use super::place::Place;
use super::report::{Figure, Goal, Unit};
use super::sample::{Sample, ratio};
use super::scale::Scale;
use super::system::processor_time;
use super::track::{StepTimes, Track};
use super::workload::Workload;
use crate::exit::Failure;
use crate::workplace::of_ledger;
use remand_kernel::Command;
use remand_ledger::measure::BareCommits;
use remand_ledger::{Reader, RunId};
use std::time::{Duration, Instant};

/// Runs that are driven one after another.
const RUNS: u32 = 60;

/// How often a hundred runs are driven at once, and how many they are.
const ROUNDS: u32 = 5;
const AT_ONCE: u32 = 100;

/// A graph engine that syncs every step takes five raw commits for it, and thirty times less is the goal.
const STEPS_A_COMMIT: f64 = 6.0;

/// A fifth of what such an engine uses.
const CPU: f64 = 0.34;

/// Blocks of steps and of raw commits take turns, so that noise hits both.
pub fn measure(place: &Place, scale: Scale, workload: &Workload) -> Result<Vec<Figure>, Failure> {
    let folder = place.part("steps")?;
    let mut track = Track::open(workload, &folder)?;
    let bare = BareCommits::open(&folder.join("bare.db")).map_err(|error| of_ledger(&error))?;
    let warm = track.one(&mut StepTimes::begin())?;
    let (bytes, _) = size_of(&track, &warm)?;
    let body = vec![b'x'; bytes];

    let (mut steps, mut commits) = (StepTimes::begin(), Sample::default());
    let mut cpu = Duration::ZERO;
    for _ in 0..scale.of(RUNS) {
        let (before, began) = (steps.times.len(), processor_time().unwrap_or_default());
        track.one(&mut steps)?;
        cpu += processor_time().unwrap_or_default().saturating_sub(began);
        commit(&bare, &body, steps.times.len() - before, &mut commits)?;
    }
    let (step, raw) = (steps.times.median(), commits.median());
    let count = steps.times.len();
    let alone = count as f64 / steps.times.total().as_secs_f64();
    let one = Figure {
        what: "durable step against a raw commit".to_string(),
        value: ratio(step, raw),
        unit: Unit::Times,
        goal: Goal::AtMost(1.3),
        note: format!("{count} steps of `feature`, median {step:.0?}; a row of {bytes} bytes {raw:.0?}"),
    };
    let used = Figure {
        what: "processor time per step".to_string(),
        value: cpu.as_secs_f64() * 1e3 / count as f64,
        unit: Unit::Millis,
        goal: Goal::AtMost(CPU),
        note: "user and system, the writing and syncing in the kernel among it".to_string(),
    };

    let (mut many, mut commits) = (StepTimes::begin(), Sample::default());
    let mut took = Duration::ZERO;
    for _ in 0..scale.of(ROUNDS) {
        commit(&bare, &body, 200, &mut commits)?;
        let begun = Instant::now();
        track.many(AT_ONCE, &mut many)?;
        took += begun.elapsed();
    }
    let per_second = many.times.len() as f64 / took.as_secs_f64();
    let together = Figure {
        what: format!("steps in the time of a raw commit, {AT_ONCE} runs at once"),
        value: per_second * commits.median().as_secs_f64(),
        unit: Unit::Count,
        goal: Goal::AtLeast(STEPS_A_COMMIT),
        note: format!(
            "{per_second:.0} steps/s, {:.1}× one run; the time to begin and lock the runs is in it",
            per_second / alone
        ),
    };
    Ok(vec![one, used, together])
}

fn commit(bare: &BareCommits, body: &[u8], count: usize, times: &mut Sample) -> Result<(), Failure> {
    for _ in 0..count {
        let begun = Instant::now();
        bare.commit(body).map_err(|error| of_ledger(&error))?;
        times.take(begun.elapsed());
    }
    Ok(())
}

/// How many bytes a step of this run puts into the journal on average, its blobs among them, and how many steps it has.
fn size_of(track: &Track<'_>, run: &RunId) -> Result<(usize, usize), Failure> {
    let reader = Reader::open(&track.path()).map_err(|error| of_ledger(&error))?;
    let (mut bytes, mut count) = (0, 0);
    let mut blobs = Vec::new();
    let text = |value: serde_json::Result<String>| value.map_or(0, |text| text.len());
    let seen = reader.each_event(run, 0, |row| {
        let commands: &[Command] = &row.commands;
        bytes += text(serde_json::to_string(&row.event)) + text(serde_json::to_string(&row.facts));
        bytes += text(serde_json::to_string(&row.rulings)) + text(serde_json::to_string(commands));
        blobs.extend(row.facts.artifacts.iter().map(|artifact| artifact.blob));
        count += 1;
    });
    seen.map_err(|error| of_ledger(&error))?;
    for blob in blobs {
        bytes += reader.blob(blob).map_err(|error| of_ledger(&error))?.len();
    }
    Ok((bytes / count.max(1), count))
}
