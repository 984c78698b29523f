//! Checked workflows for tests.

use remand_kernel::Program;
use remand_kernel::event::Mode;
use remand_simulate::SimulationPlan;

/// The workflows that agents take part in.
pub const WORKFLOWS: [&str; 6] = ["feature", "quick", "issue", "ticket", "spec", "tsp"];

pub fn program(name: &str) -> Program {
    let checked = remand_workflow::check_shipped(name).expect("shipped");
    checked.compiled.expect("compiled").program
}

pub fn plan(runs: u32, seed: u64) -> SimulationPlan {
    SimulationPlan { runs, seed, mode: Mode::Autonomous }
}
