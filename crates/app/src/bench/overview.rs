//! How soon `remand status` answers when very many runs wait for a human in one ledger.

use super::child::this_program;
use super::place::{Place, unusable};
use super::report::{Figure, Goal, Unit};
use super::sample::Sample;
use super::scale::Scale;
use super::track::Track;
use super::workload::{Workload, defect};
use crate::exit::Failure;
use crate::workplace::{of_git, of_home};
use remand_runtime::git::Repository;
use remand_runtime::home::Home;
use std::ffi::OsString;

/// Runs that wait at a gate, and how many of them a host takes there at once.
const PARKED: u32 = 1_000;
const AT_ONCE: u32 = 100;

const STARTS: u32 = 21;

pub fn measure(place: &Place, scale: Scale, workload: &Workload) -> Result<Figure, Failure> {
    let (tree, state) = (place.part("tree")?, place.part("state")?);
    let file = tree.join("README.md");
    std::fs::write(&file, "Nothing is done here.\n").map_err(|error| unusable(&file, &error))?;
    let repository = Repository::create(&tree, "work", "a file").map_err(|error| of_git(&error))?;
    let home = Home::open(&state, &repository).map_err(|error| of_home(&error))?;
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
    let mut times = Sample::default();
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
