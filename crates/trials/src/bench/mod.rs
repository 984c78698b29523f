//! Measures the journal against its goals: the real host and ledger on a real disk, with commands that end immediately.
//!
//! `workload.rs` defines the runs and `answers.rs` the results of commands. Each measurement has its own file, and
//! `report.rs` compares figures with goals.

pub mod briefs;
pub mod evidence;
pub mod report;
pub mod scale;

mod answers;
mod folder;
mod project;
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
mod proofs;
mod resume;
mod steps;
mod syncs;
mod whole_runs;

use folder::BenchFolder;
use remand_terminal::CommandFailure;
use report::{BenchReport, Build};
use scale::Scale;
use std::path::Path;
use workload::Workload;

pub use child::BenchProbe;

/// Measures everything; `progress` receives the name of each measurement.
pub fn journal(state: &Path, scale: Scale, progress: impl Fn(&str)) -> Result<BenchReport, CommandFailure> {
    let bench = BenchFolder::create(state)?;
    let file_system = bench.file_system();
    if let Some(memory @ ("tmpfs" | "ramfs")) = file_system.as_deref() {
        progress(&format!("warning: {} is on {memory}, where a sync costs nothing", bench.path().display()));
    }
    let progress = |what: &str| {
        // Flushes what earlier measurements left to write.
        rustix::fs::sync();
        progress(what);
    };
    let feature = Workload::feature()?;
    let mut figures = Vec::new();
    progress("syncs per step");
    figures.push(syncs::measure(&bench, scale, &feature)?);
    progress("durable steps and raw commits, and many parallel runs");
    figures.extend(steps::measure(&bench, scale, &feature)?);
    progress("very many steps");
    let (flat, folder) = flat::measure(&bench, scale, &feature)?;
    figures.extend(flat);
    progress("resuming a very long run");
    figures.extend(resume::measure(&bench, scale)?);
    progress("the gate over a full ledger");
    figures.push(gate::measure(&bench, scale)?);
    progress("idle runs");
    figures.push(processes::idle(&bench, scale, &feature)?);
    progress("the status of very many runs");
    figures.push(overview::measure(&bench, scale, &feature)?);
    progress("start to open ledger");
    figures.extend(processes::start_to_open(&folder)?);
    Ok(BenchReport {
        folder: bench.path().display().to_string(),
        file_system,
        build: Build::this(),
        size: scale.describe(),
        figures,
    })
}
