//! The time of `remand status` with very many waiting runs in one ledger.

use super::child::this_program;
use super::place::{BenchFolder, unusable};
use super::report::{Figure, Goal, Unit};
use super::sample::Durations;
use super::scale::Scale;
use super::track::Track;
use super::workload::{Workload, defect};
use remand_engine::home::Home;
use remand_git::Repository;
use remand_terminal::CommandFailure;
use std::ffi::OsString;

/// The number of runs that wait at a gate, and how many of them one host drives in parallel.
const PARKED: u32 = 1_000;
const AT_ONCE: u32 = 100;

const STARTS: u32 = 21;

pub fn measure(place: &BenchFolder, scale: Scale, workload: &Workload) -> Result<Figure, CommandFailure> {
    let (tree, state) = (place.part("tree")?, place.part("state")?);
    let file = tree.join("README.md");
    std::fs::write(&file, "Nothing is done here.\n").map_err(|error| unusable(&file, &error))?;
    let repository = Repository::create(&tree, "work", "a file")?;
    let home = Home::open(&state, &repository)?;
    let runs = scale.of(PARKED);
    let mut track = Track::open(workload, home.root())?;
    let mut left = runs;
    while left > 0 {
        let now = left.min(AT_ONCE);
        track.park(now)?;
        left -= now;
    }
    drop(track);
    let arguments = [OsString::from("--state"), state.into(), "--json".into(), "status".into()];
    let mut times = Durations::default();
    for _ in 0..STARTS {
        let ended = this_program(&tree, &arguments)?;
        let said: serde_json::Value = serde_json::from_str(&ended.stdout.text()).unwrap_or_default();
        if said.get("count") != Some(&runs.into()) {
            return Err(defect(format!("`remand status` did not count {runs} runs")));
        }
        times.take(ended.duration);
    }
    Ok(Figure {
        what: format!("`remand status` with {runs} runs at a gate"),
        value: times.median().as_secs_f64() * 1e3,
        unit: Unit::Millis,
        goal: Goal::AtMost(50.0),
        note: format!("the whole program from its start to its end, git among it; median of {STARTS}"),
    })
}
