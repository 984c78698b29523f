//! Which parameter matters most: each is raised alone, with the same random numbers.

use crate::defaults::{DEFAULTS, ParameterUnit};
use crate::model::SimulationModel;
use crate::parameters::{ParameterBasis, ParameterSet};
use crate::run::SimulationError;
use crate::simulation::{SimulationPlan, SimulationSummary, flaws, money, simulate};
use crate::statistics::mean_and_error;
use remand_kernel::Program;
use serde::Serialize;

/// By how much each parameter is raised.
pub const RAISE: f64 = 0.25;

/// The maximum number of runs for each parameter.
const MAX_RUNS: u32 = 200;

/// What happens if one parameter is a quarter higher.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ParameterEffect {
    pub parameter: String,
    /// Relative change of the mean cost.
    pub money: f64,
    /// Relative change of the mean number of dispatches.
    pub dispatches: f64,
    /// Change of the share of the runs that commit.
    pub committed: f64,
    /// Change of the mean number of defects in a commit that are worse than minor.
    pub flaws: f64,
}

/// The effects of all parameters, the greatest effect on cost first. Parameters without an effect are left out.
pub fn sensitivity(
    program: &Program,
    parameters: &ParameterSet,
    plan: SimulationPlan,
) -> Result<Vec<ParameterEffect>, SimulationError> {
    let plan = SimulationPlan { runs: plan.runs.min(MAX_RUNS), ..plan };
    let base = Outcome::of(program, parameters, plan)?;
    let model = SimulationModel::new(program, plan.mode, parameters);
    let mut effects = Vec::new();
    for row in DEFAULTS {
        let value = parameters.value(row.key);
        if value <= 0.0 || row.key.starts_with("limit.") {
            continue;
        }
        let mut raised = parameters.clone();
        let higher = value * (1.0 + RAISE);
        let higher = if row.unit == ParameterUnit::Probability { higher.min(1.0) } else { higher };
        if raised.set(row.key, higher, ParameterBasis::Set).is_err() {
            continue;
        }
        // The workflow has nothing that this parameter is about.
        if SimulationModel::new(program, plan.mode, &raised) == model {
            continue;
        }
        let changed = Outcome::of(program, &raised, plan)?;
        let effect = ParameterEffect {
            parameter: row.key.to_string(),
            money: changed.money / base.money.max(f64::EPSILON) - 1.0,
            dispatches: changed.dispatches / base.dispatches.max(f64::EPSILON) - 1.0,
            committed: changed.committed - base.committed,
            flaws: changed.flaws - base.flaws,
        };
        if effect.size() > 0.001 {
            effects.push(effect);
        }
    }
    effects.sort_by(|a, b| b.size().total_cmp(&a.size()));
    Ok(effects)
}

impl ParameterEffect {
    /// The greatest of the changes.
    pub fn size(&self) -> f64 {
        self.money.abs().max(self.committed.abs()).max(self.flaws.abs())
    }
}

struct Outcome {
    money: f64,
    dispatches: f64,
    committed: f64,
    flaws: f64,
}

impl Outcome {
    fn of(
        program: &Program,
        parameters: &ParameterSet,
        plan: SimulationPlan,
    ) -> Result<Outcome, SimulationError> {
        let samples = simulate(program, parameters, plan)?;
        let summary = SimulationSummary::new(program, &samples);
        let flawed: Vec<f64> = samples
            .iter()
            .filter(|sample| sample.end == crate::run::SampleEnd::Committed)
            .map(flaws)
            .collect();
        let spent: Vec<f64> = samples.iter().map(money).collect();
        Ok(Outcome {
            money: mean_and_error(&spent).0,
            dispatches: summary.dispatches.mean,
            committed: summary.ends.committed,
            flaws: mean_and_error(&flawed).0,
        })
    }
}
