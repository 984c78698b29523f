//! How long a gate over evidence takes on a ledger full of it.

use super::place::Place;
use super::report::{Figure, Goal, Unit};
use super::sample::Sample;
use super::scale::Scale;
use super::workload::defect;
use crate::exit::Failure;
use crate::workplace::of_ledger;
use remand_ledger::measure::FullLedger;
use std::time::Instant;

const CHECKS: u32 = 1_000_000;
const QUERIES: u32 = 20_000;
const WARM: u32 = 500;

pub fn measure(place: &Place, scale: Scale) -> Result<Figure, Failure> {
    let path = place.part("gate")?.join("full.db");
    let full = FullLedger::fill(&path, scale.of(CHECKS)).map_err(|error| of_ledger(&error))?;
    let mut times = Sample::default();
    for number in 0..WARM + scale.of(QUERIES) {
        let begun = Instant::now();
        // A stride without a common divisor: every query is about another run.
        let passed = full.gate(number.wrapping_mul(7_919)).map_err(|error| of_ledger(&error))?;
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
