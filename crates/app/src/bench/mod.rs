//! The journal measured against its goals: the real host and ledger on a real disk, with effects that end at once.
//!
//! `workload.rs` says what is run and `answers.rs` how commands end; each measurement is a file, and `report.rs` sets
//! figures beside goals.

pub mod evidence;
pub mod report;
pub mod scale;

mod answers;
mod place;
mod raw;
mod sample;
mod system;
mod track;
mod workload;

mod child;
pub mod probe;

mod flat;
mod gate;
mod overview;
mod processes;
mod resume;
mod steps;
mod syncs;

use crate::exit::Failure;
use place::Place;
use report::{Build, Report};
use scale::Scale;
use std::path::Path;
use workload::Workload;

pub use child::Probe;

/// Measures everything; `tell` hears what is being measured.
pub fn journal(state: &Path, scale: Scale, tell: impl Fn(&str)) -> Result<Report, Failure> {
    let place = Place::make(state)?;
    let file_system = place.file_system();
    if let Some(memory @ ("tmpfs" | "ramfs")) = file_system.as_deref() {
        tell(&format!("warning: {} is on {memory}, where a sync costs nothing", place.folder().display()));
    }
    let tell = |what: &str| {
        // The disk has nothing left to write of what was measured before.
        rustix::fs::sync();
        tell(what);
    };
    let feature = Workload::feature()?;
    let mut figures = Vec::new();
    tell("syncs per step");
    figures.push(syncs::measure(&place, scale, &feature)?);
    tell("durable steps against raw commits, and many runs at once");
    figures.extend(steps::measure(&place, scale, &feature)?);
    tell("very many steps");
    let (flat, folder) = flat::measure(&place, scale, &feature)?;
    figures.extend(flat);
    tell("resuming a very long run");
    figures.extend(resume::measure(&place, scale)?);
    tell("the gate over a full ledger");
    figures.push(gate::measure(&place, scale)?);
    tell("idle runs");
    figures.push(processes::idle(&place, scale, &feature)?);
    tell("the status of very many runs");
    figures.push(overview::measure(&place, scale, &feature)?);
    tell("start to open ledger");
    figures.extend(processes::start_to_open(&folder)?);
    Ok(Report {
        place: place.folder().display().to_string(),
        file_system,
        build: Build::this(),
        size: scale.words(),
        figures,
    })
}
