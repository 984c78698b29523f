//! The time of `remand status` with very many waiting runs in one ledger.

use super::child::run_this_program;
use super::folder::{BenchFolder, unusable};
use super::report::{Figure, Goal, Unit};
use super::sample::Durations;
use super::scale::Scale;
use super::track::Track;
use super::workload::{Workload, bug};
use remand_engine::home::Home;
use remand_git::Repository;
use remand_terminal::CommandFailure;
use std::ffi::OsString;

/// The number of runs that wait at a gate.
const PARKED: u32 = 1_000;

/// The number of runs that one host drives in parallel.
const PARALLEL: u32 = 100;

const STARTS: u32 = 21;

pub fn measure(bench: &BenchFolder, scale: Scale, workload: &Workload) -> Result<Figure, CommandFailure> {
    let (tree, state) = (bench.subfolder("tree")?, bench.subfolder("state")?);
    let file = tree.join("README.md");
    std::fs::write(&file, "Nothing is done here.\n").map_err(|error| unusable(&file, &error))?;
    let repository = Repository::create(&tree, "work", "a file")?;
    let home = Home::open(&state, &repository)?;
    let runs = scale.of(PARKED);
    let mut track = Track::open(workload, home.root())?;
    let mut left = runs;
    while left > 0 {
        let count = left.min(PARALLEL);
        track.park(count)?;
        left -= count;
    }
    drop(track);
    let arguments = [OsString::from("--state"), state.into(), "--json".into(), "status".into()];
    let mut times = Durations::default();
    for _ in 0..STARTS {
        let ended = run_this_program(&tree, &arguments)?;
        let status: serde_json::Value = serde_json::from_str(&ended.stdout.text()).unwrap_or_default();
        if status.get("count") != Some(&runs.into()) {
            return Err(bug(format!("`remand status` did not count {runs} runs")));
        }
        times.add(ended.duration);
    }
    Ok(Figure {
        what: format!("`remand status` with {runs} runs at a gate"),
        value: times.median().as_secs_f64() * 1e3,
        unit: Unit::Millis,
        goal: Goal::AtMost(50.0),
        note: format!("the whole program from start to end, including git; median of {STARTS}"),
    })
}
