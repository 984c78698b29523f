//! The time of an evidence gate on a full ledger.

use super::place::BenchFolder;
use super::report::{Figure, Goal, Unit};
use super::sample::Durations;
use super::scale::Scale;
use super::workload::defect;
use remand_ledger::measure::FullLedger;
use remand_terminal::CommandFailure;
use std::time::Instant;

const CHECKS: u32 = 1_000_000;
const QUERIES: u32 = 20_000;
const WARM: u32 = 500;

pub fn measure(place: &BenchFolder, scale: Scale) -> Result<Figure, CommandFailure> {
    let path = place.part("gate")?.join("full.db");
    let full = FullLedger::fill(&path, scale.of(CHECKS))?;
    let mut times = Durations::default();
    for number in 0..WARM + scale.of(QUERIES) {
        let begun = Instant::now();
        // The stride has no common divisor, so every query is about another run.
        let passed = full.gate(number.wrapping_mul(7_919))?;
        let took = begun.elapsed();
        if passed != FullLedger::PASSING {
            return Err(defect(format!("the gate of the measurement counted {passed}")));
        }
        if number >= WARM {
            times.take(took);
        }
    }
    Ok(Figure {
        what: format!("gate on {} rows", full.checks()),
        value: times.median().as_secs_f64() * 1e6,
        unit: Unit::Micros,
        goal: Goal::AtMost(15.0),
        note: format!(
            "the source's query on the view `anvil_checks`, prepared; median of {}, another task each",
            times.len()
        ),
    })
}
