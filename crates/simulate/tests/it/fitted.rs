//! Parameters fitted from a history reproduce the means of that history.

use crate::support::{plan, program};
use remand_kernel::event::Mode;
use remand_simulate::{
    FitError, ObservedRun, ParameterBasis, ParameterSet, SimulationSummary, Spread, fit, observe, simulate,
};

/// A history of agents that are unlike the defaults.
fn history(workflow: &str, runs: u32) -> Vec<ObservedRun> {
    let mut real = ParameterSet::default();
    let unlike = "tasks=2 \n inject.scale=0.8 \n recall.major=0.5 \n false-alarm.major=0.3 \n tokens=90000 \n time=200 \n \
                  price=7 \n fix.origin=0.7 \n failure.malformed=0.08 \n checks.catch=0.7 \n result.merge.conflict=0.15 \n \
                  rework.tokens=0.9 \n tokens.spread=0.6 \n tokens.run-spread=0.4";
    real.read(unlike).unwrap();
    observe(&program(workflow), &real, plan(runs, 99)).expect("observed")
}

/// The mean of a history, with its interval of 99 of 100 cases.
fn interval(history: &[ObservedRun], value: fn(&ObservedRun) -> f64) -> (f64, f64, f64) {
    let spread = Spread::of(history.iter().map(value));
    (spread.mean, spread.mean - 2.58 * spread.error, spread.mean + 2.58 * spread.error)
}

// BY-05
#[test]
#[allow(clippy::cast_precision_loss)]
fn a_simulation_with_fitted_parameters_reproduces_the_means_of_the_history() {
    for workflow in ["quick", "feature", "tsp"] {
        let program = program(workflow);
        let history = history(workflow, 150);
        let fitted = fit(&program, &history, &ParameterSet::default(), Mode::Autonomous).expect("fitted");
        let summary = |parameters: &ParameterSet| {
            SimulationSummary::new(
                &program,
                &simulate(&program, parameters, plan(2000, 5)).expect("simulated"),
            )
        };
        let (before, after) = (summary(&ParameterSet::default()), summary(&fitted.parameters));
        for (name, value, before, after) in [
            (
                "dispatches",
                (|run: &ObservedRun| run.total_dispatches as f64) as fn(&ObservedRun) -> f64,
                before.dispatches,
                after.dispatches,
            ),
            ("money", |run| run.total_money.unwrap() as f64 / 1e6, before.money, after.money),
            ("time", |run| run.total_time as f64 / 1e3, before.time, after.time),
        ] {
            let (mean, low, high) = interval(&history, value);
            println!(
                "{workflow} {name}: history {mean:.2} ({low:.2} to {high:.2}), default {:.2}, fitted {:.2}",
                before.mean, after.mean
            );
            assert!((low..=high).contains(&after.mean), "{workflow} {name} {} {low} {high}", after.mean);
            assert!(
                name == "dispatches" || !(low..=high).contains(&before.mean),
                "{workflow} {name}: the default fits too"
            );
        }
    }
}

#[test]
fn fitted_parameters_state_how_much_they_rest_on() {
    let program = program("quick");
    let fitted =
        fit(&program, &history("quick", 40), &ParameterSet::default(), Mode::Autonomous).expect("fitted");
    let basis =
        |key: &str| fitted.parameters.iter().find(|(known, _)| *known == key).map(|(_, value)| &value.basis);
    let Some(ParameterBasis::Fitted { observations, interval: Some((low, high)) }) =
        basis("tokens@implement")
    else {
        panic!("{:?}", basis("tokens@implement"));
    };
    assert!(*observations >= 40 && low < high);
    assert!(matches!(basis("inject.code"), Some(ParameterBasis::Default { .. })));
    let implement = fitted.phases.iter().find(|phase| phase.phase == "implement").expect("dispatched");
    assert!(implement.money.is_some() && implement.dispatches >= 40);
}

#[test]
fn too_few_runs_fit_nothing() {
    let result = fit(&program("quick"), &history("quick", 4), &ParameterSet::default(), Mode::Autonomous);
    assert_eq!(result, Err(FitError::TooFew { runs: 4 }));
}
