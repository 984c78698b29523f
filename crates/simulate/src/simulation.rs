//! Many runs of one program, and what they come to.

use crate::model::{SEVERITIES, SimulationModel};
use crate::observed::ObservedRun;
use crate::parameters::ParameterSet;
use crate::run::{LIMITS, RunSample, SampleEnd, SimulationError, observe_run, simulate_run};
use crate::statistics::{Spread, share};
use remand_kernel::Program;
use remand_kernel::event::Mode;
use remand_kernel::program::Confidence;
use serde::Serialize;

/// How many runs are simulated, with which random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulationPlan {
    pub runs: u32,
    pub seed: u64,
    pub mode: Mode,
}

/// Simulates the runs of a plan. The same plan gives the same runs, on every machine.
pub fn simulate(
    program: &Program,
    parameters: &ParameterSet,
    plan: SimulationPlan,
) -> Result<Vec<RunSample>, SimulationError> {
    let model = SimulationModel::new(program, plan.mode, parameters);
    (0..plan.runs).map(|run| simulate_run(&model, plan.seed, u64::from(run))).collect()
}

/// Simulates the runs of a plan, and returns what a ledger would show of each.
pub fn observe(
    program: &Program,
    parameters: &ParameterSet,
    plan: SimulationPlan,
) -> Result<Vec<ObservedRun>, SimulationError> {
    let model = SimulationModel::new(program, plan.mode, parameters);
    (0..plan.runs).map(|run| Ok(observe_run(&model, plan.seed, u64::from(run))?.1)).collect()
}

/// What simulated runs come to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct SimulationSummary {
    pub runs: usize,
    /// Units of the currency.
    pub money: Spread,
    pub tokens: Spread,
    /// Seconds in which anything ran.
    pub time: Spread,
    /// Seconds in which a run only waited for a person.
    pub waiting: Spread,
    pub dispatches: Spread,
    pub injected: Spread,
    /// Defects of any severity in committed work, per commit.
    pub escaped: Spread,
    /// Those that are worse than minor.
    pub flaws: Spread,
    /// The mean number of defects in a commit, by severity, mildest first.
    pub escaped_by_severity: Vec<SeverityCount>,
    /// The share of the commits with a defect that is worse than minor.
    pub flawed: f64,
    pub ends: EndShares,
    pub confidence: ConfidenceShares,
    /// The share of the runs that ask a person.
    pub asked: f64,
    /// The share of the runs that give up a task.
    pub given_up: f64,
    pub budgets: Vec<BudgetShare>,
    pub limits: Vec<LimitShare>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeverityCount {
    pub severity: String,
    pub mean: f64,
}

/// The shares of the ends of runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct EndShares {
    pub committed: f64,
    pub left_to_you: f64,
    pub failed: f64,
    pub stopped: f64,
}

/// The shares of the levels of confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ConfidenceShares {
    pub high: f64,
    pub medium: f64,
    pub low: f64,
}

/// How often a budget is spent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BudgetShare {
    pub budget: String,
    /// The share of the runs that spend it entirely.
    pub spent: f64,
    /// The share of the runs in which a route needs it when it is empty.
    pub exhausted: f64,
}

/// How often a limit is reached.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitShare {
    pub limit: String,
    pub reached: f64,
}

impl SimulationSummary {
    pub fn new(program: &Program, samples: &[RunSample]) -> SimulationSummary {
        let spread = |value: fn(&RunSample) -> f64| Spread::of(samples.iter().map(value));
        let of_all = |is: &dyn Fn(&RunSample) -> bool| share(samples, is);
        let commits: Vec<&RunSample> =
            samples.iter().filter(|sample| sample.end == SampleEnd::Committed).collect();
        let escaped_by_severity = SEVERITIES.iter().enumerate().map(|(at, severity)| {
            let mean = Spread::of(commits.iter().map(|sample| f64::from(sample.escaped[at]))).mean;
            SeverityCount { severity: severity.name().to_string(), mean }
        });
        let budgets = program.budgets.iter().enumerate().map(|(at, budget)| BudgetShare {
            budget: budget.name.clone(),
            spent: of_all(&|sample| sample.spent[at]),
            exhausted: of_all(&|sample| sample.exhausted[at]),
        });
        let limits = LIMITS.iter().enumerate().map(|(at, limit)| LimitShare {
            limit: (*limit).to_string(),
            reached: of_all(&|sample| sample.limits[at]),
        });
        SimulationSummary {
            runs: samples.len(),
            money: spread(money),
            tokens: spread(|sample| to_f64(sample.tokens)),
            time: spread(|sample| to_f64(sample.time) / 1e3),
            waiting: spread(|sample| to_f64(sample.waiting) / 1e3),
            dispatches: spread(|sample| to_f64(sample.dispatches)),
            injected: spread(|sample| f64::from(sample.injected)),
            escaped: Spread::of(commits.iter().map(|sample| escaped(sample))),
            flaws: Spread::of(commits.iter().map(|sample| flaws(sample))),
            escaped_by_severity: escaped_by_severity.collect(),
            flawed: share(&commits, &|sample| flaws(sample) > 0.0),
            ends: EndShares {
                committed: of_all(&|sample| sample.end == SampleEnd::Committed),
                left_to_you: of_all(&|sample| sample.end == SampleEnd::LeftToYou),
                failed: of_all(&|sample| sample.end == SampleEnd::Failed),
                stopped: of_all(&|sample| sample.end == SampleEnd::Stopped),
            },
            confidence: ConfidenceShares {
                high: of_all(&|sample| sample.confidence == Confidence::High),
                medium: of_all(&|sample| sample.confidence == Confidence::Medium),
                low: of_all(&|sample| sample.confidence == Confidence::Low),
            },
            asked: of_all(&|sample| sample.asked > 0),
            given_up: of_all(&|sample| sample.given_up > 0),
            budgets: budgets.collect(),
            limits: limits.collect(),
        }
    }
}

/// The cost of a run, in units of the currency.
pub(crate) fn money(sample: &RunSample) -> f64 {
    to_f64(sample.money) / 1e6
}

/// The defects that a run commits.
pub(crate) fn escaped(sample: &RunSample) -> f64 {
    sample.escaped.iter().map(|count| f64::from(*count)).sum()
}

/// The defects that a run commits and that are worse than minor.
pub(crate) fn flaws(sample: &RunSample) -> f64 {
    sample.escaped.iter().skip(1).map(|count| f64::from(*count)).sum()
}

#[allow(
    clippy::cast_precision_loss,
    reason = "dispatches, tokens and times are far below what a double holds exactly"
)]
pub(crate) fn to_f64(value: u64) -> f64 {
    value as f64
}
