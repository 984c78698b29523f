//! Which parameter matters most: each is raised alone, with the same random numbers.

use crate::comparison::{MeanDifference, VariantDifference, compare};
use crate::defaults::{DEFAULTS, ParameterUnit};
use crate::model::SimulationModel;
use crate::parameters::{ParameterBasis, ParameterSet};
use crate::run::SimulationError;
use crate::simulation::{SimulationPlan, SimulationSummary, simulate};
use remand_kernel::Program;
use serde::Serialize;

/// By how much each parameter is raised.
pub const RAISE: f64 = 0.25;

/// The maximum number of runs for each parameter.
const MAX_RUNS: u32 = 250;

/// What happens if one parameter is a quarter higher.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ParameterEffect {
    pub parameter: String,
    /// The change of the mean cost, as a share of it; `None` if it may be chance.
    pub money: Option<f64>,
    /// The change of the mean number of dispatches, as a share of it.
    pub dispatches: Option<f64>,
    /// The change of the share of the runs that commit.
    pub committed: Option<f64>,
    /// The change of the mean number of defects in a commit that are worse than minor.
    pub flaws: Option<f64>,
    pub difference: VariantDifference,
}

/// The effects of all parameters, the greatest effect first. Parameters whose effect may be chance are left out.
pub fn sensitivity(
    program: &Program,
    parameters: &ParameterSet,
    plan: SimulationPlan,
) -> Result<Vec<ParameterEffect>, SimulationError> {
    let plan = SimulationPlan { runs: plan.runs.min(MAX_RUNS), ..plan };
    let samples = simulate(program, parameters, plan)?;
    let summary = SimulationSummary::new(program, &samples);
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
        let difference = compare(&samples, &simulate(program, &raised, plan)?);
        let effect = ParameterEffect {
            parameter: row.key.to_string(),
            money: share(difference.money, summary.money.mean),
            dispatches: share(difference.dispatches, summary.dispatches.mean),
            committed: share(difference.committed, 1.0),
            flaws: share(difference.flaws, 1.0),
            difference,
        };
        if effect.size() > 0.0 {
            effects.push(effect);
        }
    }
    effects.sort_by(|a, b| b.size().total_cmp(&a.size()));
    Ok(effects)
}

/// A difference as a share of a whole, unless it may be chance.
fn share(difference: MeanDifference, whole: f64) -> Option<f64> {
    (!difference.is_noise()).then(|| difference.mean / whole.max(f64::EPSILON))
}

impl ParameterEffect {
    /// The greatest of the changes that are not chance.
    pub fn size(&self) -> f64 {
        let changes = [self.money, self.committed, self.flaws].into_iter().flatten();
        changes.map(f64::abs).fold(0.0, f64::max)
    }
}
