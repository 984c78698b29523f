//! Reports about all runs of a repository, one for each workflow: yield, density, correction rates and costs.

use super::figures::{Cost, PhaseFigures, RunFigures, ratio};
use super::history::{Alert, alert};
use serde::Serialize;

/// The report about all runs of one workflow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QualityReport {
    pub workflow: String,
    pub runs: usize,
    pub changed_lines: u64,
    pub defects: u64,
    /// Defects per thousand changed lines; `None` without changed lines.
    pub density: Option<f64>,
    pub phases: Vec<PhaseReport>,
    pub alerts: Vec<Alert>,
}

/// One phase over all runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhaseReport {
    #[serde(flatten)]
    pub figures: PhaseFigures,
    /// The share of the present defects that the phase removed; `None` without defects.
    #[serde(rename = "yield")]
    pub share: Option<f64>,
    /// Injected defects per thousand changed lines.
    pub density: Option<f64>,
    /// Remands per entry.
    pub rate: Option<f64>,
    /// Remands per entry in each run, newest last.
    pub rates: Vec<f64>,
}

/// One report for each workflow, in the order of their first runs. `runs` starts with the oldest.
pub fn reports(runs: &[RunFigures]) -> Vec<QualityReport> {
    let mut workflows: Vec<&str> = Vec::new();
    for run in runs {
        if !workflows.contains(&run.workflow.as_str()) {
            workflows.push(&run.workflow);
        }
    }
    let runs_of =
        |workflow: &str| -> Vec<&RunFigures> { runs.iter().filter(|run| run.workflow == workflow).collect() };
    workflows.into_iter().map(|workflow| report(workflow, &runs_of(workflow))).collect()
}

fn report(workflow: &str, runs: &[&RunFigures]) -> QualityReport {
    let changed_lines = runs.iter().map(|run| run.changed_lines).sum();
    let phases: Vec<PhaseReport> =
        phase_names(runs).iter().map(|name| phase_report(name, runs, changed_lines)).collect();
    let defects = phases.iter().map(|phase| phase.figures.injected).sum();
    let newest_rate = |name: &str| runs.last().and_then(|run| run.phase(name)).and_then(PhaseFigures::rate);
    let entered = phases.iter().filter(|phase| newest_rate(&phase.figures.phase).is_some());
    let alerts = entered.filter_map(|phase| alert(&phase.figures.phase, &phase.rates)).collect();
    let density = per_thousand(defects, changed_lines);
    QualityReport {
        workflow: workflow.to_string(),
        runs: runs.len(),
        changed_lines,
        defects,
        density,
        phases,
        alerts,
    }
}

/// All phases, in the order of the newest run. A phase that only older runs have keeps its predecessor.
fn phase_names(runs: &[&RunFigures]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for run in runs.iter().rev() {
        let mut after = 0;
        for figures in &run.phases {
            match names.iter().position(|name| *name == figures.phase) {
                Some(at) => after = at + 1,
                None => {
                    names.insert(after, figures.phase.clone());
                    after += 1;
                }
            }
        }
    }
    names
}

fn phase_report(name: &str, runs: &[&RunFigures], changed_lines: u64) -> PhaseReport {
    let mut sum = PhaseFigures { phase: name.to_string(), ..PhaseFigures::default() };
    let mut rates = Vec::new();
    for figures in runs.iter().filter_map(|run| run.phase(name)) {
        sum.entries += figures.entries;
        sum.remands += figures.remands;
        sum.injected += figures.injected;
        sum.entering += figures.entering;
        sum.removed += figures.removed;
        sum.correction.add(figures.correction);
        rates.extend(figures.rate());
    }
    let present = sum.entering + sum.injected;
    PhaseReport {
        share: (present > 0).then(|| ratio(sum.removed, present)),
        density: per_thousand(sum.injected, changed_lines),
        rate: sum.rate(),
        rates,
        figures: sum,
    }
}

fn per_thousand(defects: u64, lines: u64) -> Option<f64> {
    (lines > 0).then(|| ratio(defects * 1000, lines))
}

impl Cost {
    /// The average cost of one defect.
    pub fn per_defect(&self) -> Option<Cost> {
        (self.defects > 0).then(|| Cost {
            defects: 1,
            dispatches: self.dispatches / ratio(self.defects, 1),
            tokens: self.tokens / self.defects,
            unmetered: self.unmetered / ratio(self.defects, 1),
            money: self.money / self.defects,
            unpriced: self.unpriced / ratio(self.defects, 1),
            time: self.time / self.defects,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use remand_ledger::RunId;

    fn phase(name: &str, [entries, remands, injected, entering, removed]: [u64; 5]) -> PhaseFigures {
        let phase = name.to_string();
        PhaseFigures { phase, entries, remands, injected, entering, removed, correction: Cost::default() }
    }

    fn run(name: &str, phases: Vec<PhaseFigures>) -> RunFigures {
        let (run, workflow) = (RunId(name.to_string()), "tsp".to_string());
        RunFigures { run, workflow, phases, changed_lines: 500 }
    }

    // PF-10: removed / (entering + injected), per 1,000 changed lines, remands / entries.
    #[test]
    fn yield_density_and_rate_are_computed_over_all_runs() {
        let first = run("1", vec![phase("plan", [2, 1, 2, 0, 0]), phase("review", [2, 0, 0, 2, 1])]);
        let second = run("2", vec![phase("plan", [1, 0, 1, 0, 0]), phase("review", [1, 0, 1, 1, 2])]);
        let [report] = reports(&[first, second]).try_into().expect("one workflow");
        assert_eq!((report.runs, report.changed_lines, report.defects), (2, 1000, 4));
        assert_eq!(report.density, Some(4.0));
        let [plan, review] = report.phases.as_slice() else { panic!("{report:?}") };
        assert_eq!((plan.share, plan.density, plan.rate), (Some(0.0), Some(3.0), Some(1.0 / 3.0)));
        assert_eq!(plan.rates, [0.5, 0.0]);
        // One of two defects was removed in the first run, two of two in the second.
        assert_eq!(review.share, Some(0.75));
    }

    #[test]
    fn figures_without_data_are_absent() {
        let mut empty = run("1", vec![phase("plan", [0, 0, 0, 0, 0])]);
        empty.changed_lines = 0;
        let [report] = reports(&[empty]).try_into().expect("one workflow");
        assert_eq!(report.density, None);
        assert_eq!((report.phases[0].share, report.phases[0].rate), (None, None));
        assert!(reports(&[]).is_empty());
    }
}
