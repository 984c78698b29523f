//! Fits parameters from runs that are over: costs, failures and results directly, and the finding of defects by simulation.
//!
//! A ledger shows what reviewers report, and not what they overlook. So each reviewing phase is scaled until it rejects
//! work as often in the simulation as in the ledger; where defects come from keeps its default.

use crate::model::FAILURES;
use crate::observed::{ObservedDispatch, ObservedRun};
use crate::parameters::{ParameterBasis, ParameterError, ParameterSet};
use crate::run::SimulationError;
use crate::simulation::{SimulationPlan, observe, to_f64};
use crate::statistics::{length, mean_and_error, ratio};
use remand_kernel::Program;
use remand_kernel::event::Mode;
use remand_kernel::program::{Phase, Work};
use serde::Serialize;
use std::collections::BTreeMap;

/// The minimum number of runs, and of observations for one parameter.
pub const MIN_RUNS: usize = 5;
const MIN_OBSERVATIONS: usize = 8;

/// How often and with how many runs reviews are scaled.
const CALIBRATIONS: usize = 12;
const CALIBRATION_RUNS: u32 = 400;

/// Parameters fitted from a history.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedParameters {
    pub parameters: ParameterSet,
    pub runs: usize,
    pub phases: Vec<FittedPhase>,
}

/// What the history shows about a phase, in order of phases.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct FittedPhase {
    pub phase: String,
    pub dispatches: usize,
    pub tokens: Option<MeanInterval>,
    /// Units of the currency.
    pub money: Option<MeanInterval>,
    /// Seconds.
    pub time: Option<MeanInterval>,
    /// The share of the results that reject the work.
    pub rejected: Option<MeanInterval>,
}

/// A mean with the interval that contains the real mean in 95 of 100 cases.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeanInterval {
    pub observations: usize,
    pub mean: f64,
    pub low: f64,
    pub high: f64,
}

/// Why nothing can be fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FitError {
    #[error("the ledger has {runs} finished runs of this workflow, and {MIN_RUNS} are needed")]
    TooFew { runs: usize },
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}

impl MeanInterval {
    fn of(values: &[f64]) -> Option<MeanInterval> {
        let (mean, error) = mean_and_error(values);
        let observations = values.len();
        let (low, high) = (mean - 1.96 * error, mean + 1.96 * error);
        (observations >= MIN_OBSERVATIONS).then_some(MeanInterval { observations, mean, low, high })
    }

    /// A share, with the interval of Wilson.
    fn of_share(part: usize, whole: usize) -> Option<MeanInterval> {
        let (count, share, z) = (ratio(whole, 1), ratio(part, whole), 1.96_f64);
        let middle = (share + z * z / (2.0 * count)) / (1.0 + z * z / count);
        let half =
            z / (1.0 + z * z / count) * (share * (1.0 - share) / count + (z / (2.0 * count)).powi(2)).sqrt();
        let (low, high) = ((middle - half).max(0.0), (middle + half).min(1.0));
        (whole >= MIN_OBSERVATIONS).then_some(MeanInterval { observations: whole, mean: share, low, high })
    }

    fn basis(&self) -> ParameterBasis {
        ParameterBasis::Fitted { observations: self.observations, interval: Some((self.low, self.high)) }
    }
}

/// Fits parameters from runs of a workflow. Parameters that the runs do not show keep their values.
pub fn fit(
    program: &Program,
    runs: &[ObservedRun],
    before: &ParameterSet,
    mode: Mode,
) -> Result<FittedParameters, FitError> {
    if runs.len() < MIN_RUNS {
        return Err(FitError::TooFew { runs: runs.len() });
    }
    let mut fitter = Fitter { program, runs, mode, parameters: before.clone(), phases: Vec::new() };
    fitter.fit_tasks()?;
    fitter.fit_failures()?;
    let run_spread = fitter.fit_run_spread()?;
    for id in program.phase_ids() {
        let phase = program.phase(id);
        if phase.contracts().is_empty() {
            fitter.fit_results(phase)?;
        } else {
            fitter.fit_dispatches(phase, run_spread)?;
            fitter.fit_verdicts(phase)?;
        }
    }
    fitter.calibrate()?;
    Ok(FittedParameters { parameters: fitter.parameters, runs: runs.len(), phases: fitter.phases })
}

struct Fitter<'a> {
    program: &'a Program,
    runs: &'a [ObservedRun],
    mode: Mode,
    parameters: ParameterSet,
    phases: Vec<FittedPhase>,
}

impl Fitter<'_> {
    fn set(&mut self, key: &str, found: MeanInterval) -> Result<(), ParameterError> {
        self.parameters.set(key, found.mean, found.basis())
    }

    fn set_at(&mut self, key: &str, phase: &str, value: f64, count: usize) -> Result<(), ParameterError> {
        let basis = ParameterBasis::Fitted { observations: count, interval: None };
        self.parameters.set(&format!("{key}@{phase}"), value, basis)
    }

    fn fit_tasks(&mut self) -> Result<(), ParameterError> {
        let tasks: Vec<f64> =
            self.runs.iter().filter(|run| run.tasks > 0).map(|run| f64::from(run.tasks)).collect();
        let (mean, error) = mean_and_error(&tasks);
        let (low, high, observations) = (mean - 1.96 * error, mean + 1.96 * error, tasks.len());
        match observations >= MIN_RUNS {
            true => self.set("tasks", MeanInterval { observations, mean, low, high }),
            false => Ok(()),
        }
    }

    fn fit_failures(&mut self) -> Result<(), ParameterError> {
        let failures: Vec<Option<&str>> = self
            .runs
            .iter()
            .flat_map(|run| &run.dispatches)
            .map(|dispatch| dispatch.failure.as_deref())
            .collect();
        for name in FAILURES {
            let count = failures.iter().filter(|failure| **failure == Some(name)).count();
            if let Some(found) = MeanInterval::of_share(count, failures.len()) {
                self.set(&format!("failure.{name}"), found)?;
            }
        }
        Ok(())
    }

    fn dispatches(&self, phase: &str) -> Vec<&ObservedDispatch> {
        let all = self.runs.iter().flat_map(|run| &run.dispatches);
        all.filter(|dispatch| dispatch.phase == phase && !dispatch.advisory).collect()
    }

    /// How much all dispatches of a run deviate together.
    fn fit_run_spread(&mut self) -> Result<f64, ParameterError> {
        let mut by_phase: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for dispatch in self.runs.iter().flat_map(|run| &run.dispatches) {
            by_phase.entry(&dispatch.phase).or_default().extend(log_tokens(dispatch));
        }
        let means: BTreeMap<&str, f64> =
            by_phase.iter().map(|(phase, logs)| (*phase, mean_and_error(logs).0)).collect();
        let mut of_runs = Vec::new();
        let mut noise = 0.0;
        for run in self.runs {
            let deviations: Vec<f64> = run
                .dispatches
                .iter()
                .filter_map(|dispatch| Some(log_tokens(dispatch)? - means.get(dispatch.phase.as_str())?))
                .collect();
            if deviations.len() > 1 {
                let (mean, error) = mean_and_error(&deviations);
                of_runs.push(mean);
                noise += error * error;
            }
        }
        if of_runs.len() < MIN_RUNS {
            return Ok(self.parameters.value("tokens.run-spread"));
        }
        let (_, error) = mean_and_error(&of_runs);
        let variance = (error * error * length(&of_runs) - noise / length(&of_runs)).max(0.0);
        let spread = variance.sqrt();
        let basis = ParameterBasis::Fitted { observations: of_runs.len(), interval: None };
        self.parameters.set("tokens.run-spread", spread, basis)?;
        Ok(spread)
    }

    /// Tokens, time and price of the dispatches of a phase.
    fn fit_dispatches(&mut self, phase: &Phase, run_spread: f64) -> Result<(), ParameterError> {
        let name = phase.name.as_str();
        let (mut tokens, mut more_tokens) = (Vec::new(), Vec::new());
        let (mut times, mut more_times) = (Vec::new(), Vec::new());
        let (mut money, mut priced) = (Vec::new(), 0.0);
        let dispatches = self.dispatches(name);
        let count = dispatches.len();
        for dispatch in dispatches {
            let is_first = dispatch.visit <= 1;
            let of_tokens = if is_first { &mut tokens } else { &mut more_tokens };
            of_tokens.extend(dispatch.tokens.map(to_f64));
            let of_time = if is_first { &mut times } else { &mut more_times };
            of_time.extend(dispatch.time.map(|time| to_f64(time) / 1e3));
            if let (Some(cost), Some(used)) = (dispatch.money, dispatch.tokens) {
                money.push(to_f64(cost) / 1e6);
                priced += to_f64(used);
            }
        }
        if let Some(found) = MeanInterval::of(&tokens) {
            self.set(&format!("tokens@{name}"), found)?;
            self.set_at("tokens.review", name, 1.0, count)?;
            let spread = (log_variance(&tokens) - run_spread.powi(2)).max(0.0).sqrt();
            self.set_at("tokens.spread", name, spread, tokens.len())?;
            if more_tokens.len() >= MIN_OBSERVATIONS {
                let share = mean_and_error(&more_tokens).0 / found.mean.max(1.0);
                self.set_at("rework.tokens", name, share, more_tokens.len())?;
            }
        }
        if let Some(found) = MeanInterval::of(&times) {
            self.set(&format!("time@{name}"), found)?;
            self.set_at("time.review", name, 1.0, count)?;
            self.set_at("time.spread", name, log_variance(&times).sqrt(), times.len())?;
            if more_times.len() >= MIN_OBSERVATIONS {
                let share = mean_and_error(&more_times).0 / found.mean.max(1e-3);
                self.set_at("rework.time", name, share, more_times.len())?;
            }
        }
        if money.len() >= MIN_OBSERVATIONS && priced > 0.0 {
            self.set_at("price", name, money.iter().sum::<f64>() * 1e6 / priced, money.len())?;
        }
        if count > 0 {
            let all = |first: &[f64], more: &[f64]| MeanInterval::of(&[first, more].concat());
            let rejected = self.rejections(phase, |_| true);
            self.phases.push(FittedPhase {
                phase: name.to_string(),
                dispatches: count,
                tokens: all(&tokens, &more_tokens),
                money: MeanInterval::of(&money),
                time: all(&times, &more_times),
                rejected: MeanInterval::of_share(rejected.0, rejected.1),
            });
        }
        Ok(())
    }

    /// The verdicts of roles that do not review.
    fn fit_verdicts(&mut self, phase: &Phase) -> Result<(), ParameterError> {
        let contracts = phase.contracts().iter().map(|id| self.program.contract(*id));
        let says: Vec<&str> = contracts
            .filter(|contract| !contract.findings)
            .flat_map(|contract| contract.says.iter().map(|signal| self.program.signal(*signal)))
            .collect();
        let (rejected, all) = self.rejections(phase, |dispatch| dispatch.visit <= 1);
        let Some(found) = MeanInterval::of_share(rejected, all).filter(|_| says.len() > 1) else {
            return Ok(());
        };
        // Some of those who fail claim success, which only the defects show.
        let claims = self.parameters.at("cannot.claims-success", &phase.name);
        self.set_at("cannot", &phase.name, (found.mean / (1.0 - claims).max(0.01)).min(1.0), all)?;
        let verdicts: Vec<String> =
            self.dispatches(&phase.name).iter().filter_map(|dispatch| dispatch.says.clone()).collect();
        for verdict in says {
            let count = verdicts.iter().filter(|said| *said == verdict).count();
            if let Some(found) = MeanInterval::of_share(count, verdicts.len()) {
                self.set(&format!("verdict.{}.{verdict}", phase.name), found)?;
            }
        }
        Ok(())
    }

    /// The results of an operation that does not run checks.
    fn fit_results(&mut self, phase: &Phase) -> Result<(), ParameterError> {
        let Work::Operation { operation } = &phase.work else { return Ok(()) };
        let operation = self.program.operation(*operation);
        let found: Vec<&str> = self
            .runs
            .iter()
            .flat_map(|run| &run.operations)
            .filter(|seen| seen.phase == phase.name)
            .map(|seen| seen.result.as_str())
            .collect();
        if operation.judges {
            return Ok(());
        }
        for signal in operation.results.iter().skip(1) {
            let result = self.program.signal(*signal);
            let count = found.iter().filter(|seen| **seen == result).count();
            if let Some(share) = MeanInterval::of_share(count, found.len()) {
                self.set(&format!("result.{}.{result}@{}", operation.name, phase.name), share)?;
            }
        }
        Ok(())
    }

    fn rejections(&self, phase: &Phase, is_wanted: impl Fn(&ObservedDispatch) -> bool) -> (usize, usize) {
        let success = success(self.program, phase);
        let dispatches = self.dispatches(&phase.name);
        let said: Vec<&str> = dispatches
            .iter()
            .filter(|dispatch| is_wanted(dispatch))
            .filter_map(|dispatch| dispatch.says.as_deref())
            .collect();
        (said.iter().filter(|said| Some(**said) != success).count(), said.len())
    }

    /// Scales reviews and checks until they reject as often as in the ledger.
    fn calibrate(&mut self) -> Result<(), FitError> {
        let targets = rejection_shares(self.program, self.runs);
        let mut scales: BTreeMap<(String, bool), f64> = BTreeMap::new();
        for _ in 0..CALIBRATIONS {
            let plan = SimulationPlan { runs: CALIBRATION_RUNS, seed: 1, mode: self.mode };
            let simulated = rejection_shares(self.program, &observe(self.program, &self.parameters, plan)?);
            for (key, (rejected, all)) in &targets {
                let Some(seen) = simulated.get(key).filter(|_| *all >= MIN_OBSERVATIONS) else { continue };
                let scale = scales.entry(key.clone()).or_insert(1.0);
                let step = smooth_odds(*rejected, *all) / smooth_odds(seen.0, seen.1);
                *scale = (*scale * libm::pow(step, 0.7)).clamp(0.001, 1000.0);
            }
            for ((phase, is_later), scale) in &scales {
                let count = targets.get(&(phase.clone(), *is_later)).map_or(0, |target| target.1);
                let first = scales.get(&(phase.clone(), false)).copied().unwrap_or(1.0);
                let (key, value) =
                    if *is_later { ("findings.later", scale / first) } else { ("findings.scale", *scale) };
                self.set_at(key, phase, value, count)?;
            }
        }
        Ok(())
    }
}

/// The success verdict or result of a phase.
fn success<'p>(program: &'p Program, phase: &Phase) -> Option<&'p str> {
    let first = match &phase.work {
        Work::Operation { operation } => program.operation(*operation).results.first(),
        _ => phase.contracts().first().and_then(|id| program.contract(*id).says.first()),
    };
    first.map(|signal| program.signal(*signal))
}

/// How often each review or check rejects, on the first visit and later: rejections and results.
fn rejection_shares(program: &Program, runs: &[ObservedRun]) -> BTreeMap<(String, bool), (usize, usize)> {
    let mut shares: BTreeMap<(String, bool), (usize, usize)> = BTreeMap::new();
    for id in program.phase_ids() {
        let phase = program.phase(id);
        let judges = match &phase.work {
            Work::Operation { operation } => program.operation(*operation).judges,
            _ => phase.contracts().iter().any(|id| program.contract(*id).findings),
        };
        if !judges {
            continue;
        }
        let success = success(program, phase);
        for run in runs {
            let said =
                run.dispatches.iter().filter(|dispatch| dispatch.phase == phase.name && !dispatch.advisory);
            let said = said.filter_map(|dispatch| Some((dispatch.visit > 1, dispatch.says.as_deref()?)));
            let results = run.operations.iter().filter(|operation| operation.phase == phase.name);
            let results = results.map(|operation| (operation.is_repeated, operation.result.as_str()));
            for (is_later, result) in said.chain(results) {
                let counts = shares.entry((phase.name.clone(), is_later)).or_default();
                counts.0 += usize::from(Some(result) != success);
                counts.1 += 1;
            }
        }
    }
    shares
}

/// Odds that are neither zero nor infinite.
fn smooth_odds(part: usize, whole: usize) -> f64 {
    (ratio(part, 1) + 0.5) / (ratio(whole - part, 1) + 0.5)
}

fn log_tokens(dispatch: &ObservedDispatch) -> Option<f64> {
    dispatch.tokens.filter(|tokens| *tokens > 0).map(|tokens| libm::log(to_f64(tokens)))
}

/// The variance of the logarithm of a log-normal quantity with the mean and variance of these values.
fn log_variance(values: &[f64]) -> f64 {
    let (mean, error) = mean_and_error(values);
    let variance = error * error * length(values);
    libm::log(1.0 + variance / (mean * mean).max(f64::EPSILON))
}
