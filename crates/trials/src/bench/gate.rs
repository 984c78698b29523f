//! The time of an evidence gate on a full ledger.

use super::folder::BenchFolder;
use super::report::{Figure, Goal, Unit};
use super::sample::Durations;
use super::scale::Scale;
use super::workload::bug;
use remand_ledger::measure::FullLedger;
use remand_terminal::CommandFailure;
use std::time::Instant;

const CHECKS: u32 = 1_000_000;
const QUERIES: u32 = 20_000;
const WARM_UP: u32 = 500;

pub fn measure(bench: &BenchFolder, scale: Scale) -> Result<Figure, CommandFailure> {
    let path = bench.subfolder("gate")?.join("full.db");
    let full = FullLedger::fill(&path, scale.of(CHECKS))?;
    let mut times = Durations::default();
    for number in 0..WARM_UP + scale.of(QUERIES) {
        let started = Instant::now();
        // The stride is prime, so consecutive queries are about different runs.
        let passed = full.gate(number.wrapping_mul(7_919))?;
        let took = started.elapsed();
        if passed != FullLedger::PASSING {
            let expected = FullLedger::PASSING;
            return Err(bug(format!("the gate counted {passed} passed checks instead of {expected}")));
        }
        if number >= WARM_UP {
            times.add(took);
        }
    }
    Ok(Figure {
        what: format!("gate on {} rows", full.checks()),
        value: times.median().as_secs_f64() * 1e6,
        unit: Unit::Micros,
        goal: Goal::AtMost(15.0),
        note: format!(
            "a prepared query on the view `anvil_checks`; median of {}, each about another task",
            times.len()
        ),
    })
}
