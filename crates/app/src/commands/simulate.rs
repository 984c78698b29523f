//! `remand simulate`: what a workflow will cost, what escapes it, and how variants of it differ.

mod history;
mod text;

use crate::context::CommandContext;
use crate::load;
use crate::workplace::Workplace;
use remand_kernel::event::Mode;
use remand_simulate::{
    ChartText, ChartVariant, FitError, FittedPhase, ParameterEffect, ParameterError, ParameterSet, RunSample,
    SimulationPlan, SimulationSummary, SimulationVariant, VariantChange, VariantDifference, Variation,
    VariationError, chart, combinations, compare, sensitivity, simulate,
};
use remand_terminal::output::{print, print_json, tell};
use remand_terminal::{CommandFailure, ExitCode, Ink};
use remand_workflow::explore::{Bound, bound};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Workflow files or names; several are compared
    #[arg(value_name = "FILE|NAME", required = true)]
    workflows: Vec<String>,
    /// Number of runs of each variant
    #[arg(long, default_value_t = 2000, value_name = "N", value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    runs: u32,
    /// The same seed gives the same runs
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Compare variants: `reviewers=1..5`, `budgets.NAME=0..4`, `rounds.PHASE=1..3`, `retries=0..2`,
    /// `feedback=phase-aware,single-step`, `without=none,PHASE`, or values of a parameter. Repeat it to combine
    #[arg(long = "vary", value_name = "KEY=VALUES")]
    vary: Vec<String>,
    /// Set a parameter, for all phases or with `KEY@PHASE` for one
    #[arg(long = "set", value_name = "KEY=NUMBER")]
    set: Vec<String>,
    /// Read parameters from a file, in the form that `--print-parameters` prints
    #[arg(long, value_name = "FILE")]
    parameters: Option<PathBuf>,
    /// Ignore the runs of this repository
    #[arg(long)]
    defaults: bool,
    /// Print every parameter with what it rests on, and simulate nothing
    #[arg(long)]
    print_parameters: bool,
    /// Simulate interactive runs, in which a person answers every gate
    #[arg(long)]
    interactive: bool,
    /// Leave out which parameters matter most
    #[arg(long)]
    no_sensitivity: bool,
    /// Draw the result as SVG into this file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The parameters for one workflow.
struct Parameters {
    set: ParameterSet,
    /// Finished runs of the workflow in this repository.
    known_runs: usize,
    /// The number of runs that parameters were fitted from.
    fitted_runs: usize,
    phases: Vec<FittedPhase>,
}

/// One simulated variant of a workflow.
struct Simulated {
    workflow: String,
    variant: SimulationVariant,
    summary: SimulationSummary,
    samples: Vec<RunSample>,
    /// The bound for the largest simulated number of tasks.
    bound: Option<u64>,
    /// How it differs from the first variant.
    difference: Option<VariantDifference>,
    /// The number that is varied on the horizontal axis of a drawing, and the rest of the changes.
    number: Option<f64>,
    rest: String,
}

/// Everything that is reported.
struct Simulations {
    plan: SimulationPlan,
    all: Vec<Simulated>,
    /// Variants that do not exist, and why.
    refused: Vec<(String, String)>,
    parameters: Vec<(String, Parameters)>,
    effects: Vec<ParameterEffect>,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let roles = load::roles(context)?;
    let mode = if args.interactive { Mode::Interactive } else { Mode::Autonomous };
    let plan = SimulationPlan { runs: args.runs, seed: args.seed, mode };
    let variations: Vec<Variation> = args
        .vary
        .iter()
        .map(|written| Variation::read(written).map_err(wrong_variation))
        .collect::<Result<_, _>>()?;
    let combined = combinations(&variations).map_err(wrong_variation)?;
    let axis = axis(&variations);
    let mut simulations = Simulations {
        plan,
        all: Vec::new(),
        refused: Vec::new(),
        parameters: Vec::new(),
        effects: Vec::new(),
    };
    for name in &args.workflows {
        let (compiled, source) = load::with_source(context, name, &roles)?;
        let parameters = parameters(context, args, &compiled.program, mode)?;
        let workflow = compiled.program.name.clone();
        if !args.print_parameters {
            for changes in &combined {
                let label = changes.iter().map(VariantChange::label).collect::<Vec<_>>().join(" ");
                match SimulationVariant::new(&compiled, &source, &roles, changes, &parameters.set) {
                    Ok(variant) => {
                        let (number, rest) = on_axis(changes, axis);
                        simulations.add(&workflow, variant, number, rest)?;
                    }
                    Err(error) => {
                        simulations.refused.push((format!("{workflow} {label}"), error.to_string()))
                    }
                }
            }
        }
        simulations.parameters.push((workflow, parameters));
    }
    if args.print_parameters {
        return print_parameters(context, &simulations);
    }
    if simulations.all.is_empty() {
        for (label, why) in &simulations.refused {
            tell(&format!("{label}: {why}"));
        }
        return Err(CommandFailure::user("no variant can be simulated", "vary something else"));
    }
    if let ([only], false) = (simulations.all.as_slice(), args.no_sensitivity) {
        simulations.effects =
            sensitivity(&only.variant.program, &only.variant.parameters, plan).map_err(failed)?;
    }
    if let Some(path) = &args.output {
        let drawing = simulations.drawing(args, axis.map_or("", |at| variations[at].key.as_str()));
        std::fs::write(path, drawing).map_err(|error| {
            let what = format!("{} cannot be written", path.display());
            CommandFailure::user(what, "name a file that you can write").caused_by(error.to_string())
        })?;
    }
    match context.json {
        true => print_json(&simulations.json())?,
        false => print(&text::report(&simulations, Ink::of_stdout()))?,
    }
    Ok(ExitCode::Done)
}

fn wrong_variation(error: VariationError) -> CommandFailure {
    CommandFailure::user(error.to_string(), "`remand help simulate` shows what can be varied")
}

fn wrong_parameter(error: &ParameterError) -> CommandFailure {
    CommandFailure::user(error.to_string(), "`remand simulate WORKFLOW --print-parameters` lists them")
}

fn failed(error: remand_simulate::SimulationError) -> CommandFailure {
    CommandFailure::internal_error("a run cannot be simulated", &error)
}

/// Defaults, then what the history shows, then the user's file and settings.
fn parameters(
    context: &CommandContext<'_>,
    args: &Args,
    program: &remand_kernel::Program,
    mode: Mode,
) -> Result<Parameters, CommandFailure> {
    let mut found =
        Parameters { set: ParameterSet::default(), known_runs: 0, fitted_runs: 0, phases: Vec::new() };
    if !args.defaults && load::root(context).is_some() {
        let reader = Workplace::open(context, Vec::new())?.reader_if_any()?;
        let runs =
            reader.map(|reader| history::runs(&reader, &program.name)).transpose()?.unwrap_or_default();
        found.known_runs = runs.len();
        match remand_simulate::fit(program, &runs, &found.set, mode) {
            Ok(fitted) => {
                (found.set, found.fitted_runs, found.phases) =
                    (fitted.parameters, fitted.runs, fitted.phases);
            }
            Err(FitError::TooFew { .. }) => {}
            Err(FitError::Parameter(error)) => {
                return Err(CommandFailure::internal_error("the history cannot be used", &error));
            }
            Err(FitError::Simulation(error)) => return Err(failed(error)),
        }
    }
    if let Some(path) = &args.parameters {
        let bytes = load::read(path)?;
        found.set.read(&String::from_utf8_lossy(&bytes)).map_err(|error| wrong_parameter(&error))?;
    }
    for written in &args.set {
        found.set.set_written(written).map_err(|error| wrong_parameter(&error))?;
    }
    Ok(found)
}

fn print_parameters(
    context: &CommandContext<'_>,
    simulations: &Simulations,
) -> Result<ExitCode, CommandFailure> {
    match context.json {
        true => print_json(&simulations.parameters_json())?,
        false => {
            let texts = simulations.parameters.iter().map(|(workflow, parameters)| {
                format!("# {workflow}: {}\n{}", text::basis(parameters), parameters.set.text())
            });
            print(&texts.collect::<Vec<String>>().join("\n"))?;
        }
    }
    Ok(ExitCode::Done)
}

/// The variation that belongs on the horizontal axis: the last one with at least three numbers.
fn axis(variations: &[Variation]) -> Option<usize> {
    let has_numbers = |variation: &Variation| {
        variation.changes.len() > 2 && variation.changes.iter().all(|change| change.number().is_some())
    };
    variations.iter().rposition(has_numbers)
}

fn on_axis(changes: &[VariantChange], axis: Option<usize>) -> (Option<f64>, String) {
    let number = axis.and_then(|at| changes.get(at)).and_then(VariantChange::number);
    let rest = changes.iter().enumerate().filter(|(at, _)| Some(*at) != axis);
    (number, rest.map(|(_, change)| change.label()).collect::<Vec<_>>().join(" "))
}

impl Simulations {
    fn add(
        &mut self,
        workflow: &str,
        variant: SimulationVariant,
        number: Option<f64>,
        rest: String,
    ) -> Result<(), CommandFailure> {
        let samples = simulate(&variant.program, &variant.parameters, self.plan).map_err(failed)?;
        let summary = SimulationSummary::new(&variant.program, &samples);
        let difference = self.all.first().map(|first| compare(&first.samples, &samples));
        let longest = |length: fn(&RunSample) -> u16| samples.iter().map(length).max().unwrap_or_default();
        let counts = [("tasks", longest(|sample| sample.tasks)), ("gaps", longest(|sample| sample.gaps))];
        let bound = bound(&variant.program, &counts).ok().map(|bound| self.worst(&bound));
        let workflow = workflow.to_string();
        self.all.push(Simulated { workflow, variant, summary, samples, bound, difference, number, rest });
        Ok(())
    }

    fn worst(&self, bound: &Bound) -> u64 {
        match self.plan.mode {
            Mode::Autonomous => bound.autonomous.with_retries,
            Mode::Interactive => bound.interactive.with_retries,
        }
    }

    fn has_several_workflows(&self) -> bool {
        self.parameters.len() > 1
    }

    /// What a variant is called in tables.
    fn name(&self, simulated: &Simulated) -> String {
        self.named(&simulated.workflow, &simulated.variant.label)
    }

    fn named(&self, workflow: &str, changes: &str) -> String {
        match (self.has_several_workflows(), changes.is_empty()) {
            (true, false) => format!("{workflow} {changes}"),
            (false, false) => changes.to_string(),
            (_, true) => workflow.to_string(),
        }
    }

    fn drawing(&self, args: &Args, axis: &str) -> String {
        let mut command = vec!["remand simulate".to_string()];
        command.extend(args.workflows.iter().cloned());
        command.push(format!("--runs {} --seed {}", self.plan.runs, self.plan.seed));
        command.extend(args.vary.iter().map(|vary| format!("--vary {vary}")));
        command.extend(args.set.iter().map(|set| format!("--set {set}")));
        if args.defaults {
            command.push("--defaults".to_string());
        }
        if args.interactive {
            command.push("--interactive".to_string());
        }
        let workflows: Vec<&str> = self.parameters.iter().map(|(workflow, _)| workflow.as_str()).collect();
        let title = format!("{}: simulated runs", workflows.join(", "));
        let text = ChartText { title: &title, origin: &command.join(" "), axis };
        let variants: Vec<ChartVariant<'_>> = self
            .all
            .iter()
            .map(|simulated| ChartVariant {
                name: match simulated.number {
                    Some(_) => self.named(&simulated.workflow, &simulated.rest),
                    None => self.name(simulated),
                },
                number: simulated.number,
                summary: &simulated.summary,
            })
            .collect();
        chart(&text, &variants)
    }

    fn json(&self) -> Value {
        let variants = self.all.iter().map(|simulated| {
            json!({
                "workflow": simulated.workflow,
                "changes": simulated.variant.label,
                "broken-guarantees": simulated.variant.broken,
                "bound": simulated.bound,
                "summary": simulated.summary,
                "difference": simulated.difference,
            })
        });
        let refused = self.refused.iter().map(|(variant, why)| json!({ "variant": variant, "why": why }));
        json!({
            "runs": self.plan.runs,
            "seed": self.plan.seed,
            "mode": self.plan.mode.name(),
            "currency": remand_terminal::amount::CURRENCY,
            "variants": variants.collect::<Vec<Value>>(),
            "refused": refused.collect::<Vec<Value>>(),
            "sensitivity": { "raised-by": remand_simulate::RAISE, "effects": self.effects },
            "parameters": self.parameters_json(),
        })
    }

    fn parameters_json(&self) -> Value {
        let workflows = self.parameters.iter().map(|(workflow, parameters)| {
            let values: Map<String, Value> =
                parameters.set.iter().map(|(key, value)| (key.to_string(), json!(value))).collect();
            let value = json!({
                "finished-runs": parameters.known_runs, "fitted-runs": parameters.fitted_runs,
                "phases": parameters.phases, "values": values,
            });
            (workflow.clone(), value)
        });
        Value::Object(workflows.collect())
    }
}
