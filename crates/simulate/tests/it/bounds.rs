//! Every simulated run is within the bound that the checker proves.

use crate::support::{WORKFLOWS, plan, program};
use remand_kernel::Program;
use remand_kernel::event::Mode;
use remand_simulate::{ParameterSet, RunSample, SimulationPlan, SimulationSummary, simulate};
use remand_workflow::explore::{Bound, BoundCalculator};
use std::collections::BTreeMap;

/// Runs that used more dispatches than the bound of their mode allows, with retries.
fn beyond_bound(program: &Program, mode: Mode, samples: &[RunSample]) -> Vec<u64> {
    let mut bounds = BoundCalculator::new(program);
    let mut known: BTreeMap<(u16, u16), Bound> = BTreeMap::new();
    let mut beyond = Vec::new();
    for sample in samples {
        let lengths = (sample.tasks, sample.gaps);
        let counts = [("tasks", lengths.0), ("gaps", lengths.1), ("batches", 3), ("areas", 4)];
        let bound = known.entry(lengths).or_insert_with(|| bounds.calculate(&counts).expect("bounded"));
        let worst = match mode {
            Mode::Autonomous => bound.autonomous,
            Mode::Interactive => bound.interactive,
        };
        if sample.dispatches - sample.environment > worst.with_retries {
            beyond.push(sample.dispatches);
        }
    }
    beyond
}

/// Agents that do nearly everything wrong.
fn dreadful() -> ParameterSet {
    let mut parameters = ParameterSet::default();
    let bad = "inject.scale=3 \n cannot=0.5 \n false-alarm.major=1 \n failure.malformed=0.3 \n failure.timeout=0.2 \n \
               checks.flaky=0.4 \n fix.origin=0.2 \n fix.breaks=0.8 \n severity.security=0 \n result.merge.conflict=0.5 \n \
               verdict.other=0.4 \n attribution.error=0.5 \n people.first=0.3 \n gaps.close=0.1 \n gaps.new=0.9";
    parameters.read(bad).unwrap();
    parameters
}

// BY-05
#[test]
fn no_simulated_run_of_a_shipped_workflow_exceeds_its_bound() {
    for name in WORKFLOWS {
        let program = program(name);
        for mode in [Mode::Autonomous, Mode::Interactive] {
            for (seed, mut parameters) in [(1, ParameterSet::default()), (2, dreadful()), (3, dreadful())] {
                // The budgets of `spec` depend on the number of gaps, and each number is explored anew.
                parameters.read("gaps = 2").unwrap();
                let plan = SimulationPlan { mode, ..plan(120, seed) };
                let samples = simulate(&program, &parameters, plan).expect(name);
                let summary = SimulationSummary::new(&program, &samples);
                println!("{name} {} {seed}: {:?} {:?}", mode.name(), summary.dispatches, summary.ends);
                assert_eq!(
                    beyond_bound(&program, mode, &samples),
                    Vec::<u64>::new(),
                    "{name} {}",
                    mode.name()
                );
            }
        }
    }
}

// BY-05
#[test]
fn a_run_beyond_the_bound_is_noticed() {
    let program = program("quick");
    let mut samples = simulate(&program, &dreadful(), plan(20, 1)).expect("simulated");
    samples[7].dispatches = samples[7].environment + 13;
    assert_eq!(beyond_bound(&program, Mode::Autonomous, &samples).len(), 1);
}

#[test]
fn the_same_seed_gives_the_same_runs_and_another_seed_others() {
    let program = program("feature");
    let runs = |seed| simulate(&program, &ParameterSet::default(), plan(30, seed)).expect("simulated");
    assert_eq!(runs(1), runs(1));
    assert_ne!(runs(1), runs(2));
}
