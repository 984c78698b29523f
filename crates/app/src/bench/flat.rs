//! Whether the last of very many steps costs what the first did.

use super::place::{Place, unusable};
use super::report::{Figure, Goal, Unit};
use super::sample::ratio;
use super::scale::Scale;
use super::track::{StepTimes, Track};
use super::workload::Workload;
use crate::exit::Failure;
use std::path::{Path, PathBuf};

const STEPS: u32 = 100_000;

/// Runs of `feature` one after another on one ledger; its folder comes with the figures.
pub fn measure(place: &Place, scale: Scale, workload: &Workload) -> Result<(Vec<Figure>, PathBuf), Failure> {
    let folder = place.part("flat")?;
    let mut track = Track::open(workload, &folder)?;
    let path = track.path();
    track.one(&mut StepTimes::begin())?;
    let wanted = scale.of(STEPS) as usize;
    let mut steps = StepTimes::begin();
    let (mut marks, mut runs) = (vec![(0, bytes_of(&path)?)], 0);
    while steps.times.len() < wanted {
        track.one(&mut steps)?;
        runs += 1;
        if steps.times.len() * 10 >= marks.len() * wanted {
            marks.push((steps.times.len(), bytes_of(&path)?));
        }
    }
    let deciles = steps.times.deciles();
    let (first, last) =
        (deciles.first().copied().unwrap_or_default(), deciles.last().copied().unwrap_or_default());
    let count = steps.times.len();
    let growth = |at: usize| {
        let ((before, less), (after, more)) = (marks.get(at)?, marks.get(at + 1)?);
        Some(more.saturating_sub(*less) as f64 / after.saturating_sub(*before).max(1) as f64)
    };
    let (early, late) =
        (growth(0).unwrap_or_default(), growth(marks.len().saturating_sub(2)).unwrap_or_default());
    let time = Figure {
        what: format!("last decile of {count} steps against the first"),
        value: ratio(last, first),
        unit: Unit::Times,
        goal: Goal::AtMost(1.1),
        note: format!("{runs} runs on one ledger; median step {first:.0?} at first, {last:.0?} at last"),
    };
    let space = Figure {
        what: "file growth per step, last decile against the first".to_string(),
        value: late / early.max(1.0),
        unit: Unit::Times,
        goal: Goal::AtMost(1.1),
        note: format!("{early:.0} bytes at first, {late:.0} at last"),
    };
    Ok((vec![time, space], folder))
}

fn bytes_of(path: &Path) -> Result<u64, Failure> {
    std::fs::metadata(path).map(|about| about.len()).map_err(|error| unusable(path, &error))
}
