//! `remand estimate`: estimates the effort of a plan from past runs.

use super::runs::find_run;
use crate::context::CommandContext;
use crate::workplace::Workplace;
use remand_engine::quality::{self, Complexity, Prediction, RegressionResult, RunEffort, fit_line};
use remand_ledger::Reader;
use remand_ledger::query::{RunRow, Totals};
use remand_terminal::output::{print, print_json};
use remand_terminal::table::{Cell, ColumnFit, TextTable};
use remand_terminal::{CommandFailure, ExitCode, Ink, amount, line};
use serde_json::{Value, json};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run with the plan: its id, a part of it, or `latest`
    #[arg(value_name = "RUN", conflicts_with = "size")]
    run: Option<String>,
    /// A size instead of a plan: tasks plus files, each counted 1, 2 or 3 by risk
    #[arg(long, value_name = "N", requires = "workflow")]
    size: Option<u64>,
    /// Use past runs of this workflow [default: that of the run]
    #[arg(long, short, value_name = "NAME")]
    workflow: Option<String>,
    /// Confidence level of the range, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 70, value_parser = clap::value_parser!(u8).range(50..=99))]
    confidence: u8,
}

/// One estimated quantity.
struct Effort {
    name: &'static str,
    value: fn(&Past) -> Option<u64>,
    format: fn(u64) -> String,
}

const EFFORTS: [Effort; 3] = [
    Effort { name: "time", value: |past| Some(past.used.time), format: amount::time },
    // A sum with an unknown part is unknown.
    Effort {
        name: "tokens",
        value: |past| (past.used.unmetered == 0).then_some(past.used.tokens),
        format: amount::grouped,
    },
    Effort {
        name: "money",
        value: |past| (past.used.unpriced == 0).then_some(past.used.money),
        format: amount::money,
    },
];

/// A past run that the estimate uses.
struct Past {
    used: Totals,
    /// The size of its plan.
    size: u64,
}

/// The plan to estimate.
struct Subject {
    run: Option<RunRow>,
    workflow: String,
    complexity: Option<Complexity>,
    size: u64,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let reader = Workplace::open(context, Vec::new())?.reader()?;
    let subject = subject(&reader, args)?;
    let past = past(&reader, &subject)?;
    let confidence = f64::from(args.confidence) / 100.0;
    let estimates: Vec<(&Effort, RegressionResult, Option<Prediction>)> = EFFORTS
        .iter()
        .map(|effort| {
            let fit = fit_line(&points(&past, effort));
            let predicted = match fit {
                RegressionResult::Good(line) => Some(line.predict(to_f64(subject.size), confidence)),
                RegressionResult::TooFew { .. }
                | RegressionResult::Alike { .. }
                | RegressionResult::TooLoose { .. }
                | RegressionResult::Falling { .. } => None,
            };
            (effort, fit, predicted)
        })
        .collect();
    match context.json {
        true => print_json(&to_json(&subject, args, &estimates))?,
        false => print(&to_text(&subject, args, &estimates))?,
    }
    Ok(ExitCode::Done)
}

fn subject(reader: &Reader, args: &Args) -> Result<Subject, CommandFailure> {
    if let (Some(size), Some(workflow)) = (args.size, &args.workflow) {
        return Ok(Subject { run: None, workflow: workflow.clone(), complexity: None, size });
    }
    let row = find_run(reader, args.run.as_deref())?;
    let complexity = quality::run_complexity(reader, &row)?;
    let Some(complexity) = complexity else {
        let what = format!("run {} has no plan", row.run);
        return Err(CommandFailure::user(what, "name a run with a plan, or give `--size N --workflow NAME`"));
    };
    let workflow = args.workflow.clone().unwrap_or_else(|| row.workflow.clone());
    Ok(Subject { run: Some(row), workflow, complexity: Some(complexity), size: complexity.size() })
}

/// The successful runs of the workflow with a plan, except the estimated one.
fn past(reader: &Reader, subject: &Subject) -> Result<Vec<Past>, CommandFailure> {
    let mut past = Vec::new();
    for row in reader.runs()? {
        let is_subject = subject.run.as_ref().is_some_and(|estimated| estimated.run == row.run);
        if row.workflow != subject.workflow || !row.stage.is_finished() || is_subject {
            continue;
        }
        if let Some(complexity) = quality::run_complexity(reader, &row)? {
            let used = reader.totals(&row.run)?;
            past.push(Past { used, size: complexity.size() });
        }
    }
    Ok(past)
}

fn points(past: &[Past], effort: &Effort) -> Vec<RunEffort> {
    past.iter()
        .filter_map(|past| Some(RunEffort { size: to_f64(past.size), effort: to_f64((effort.value)(past)?) }))
        .collect()
}

fn to_json(
    subject: &Subject,
    args: &Args,
    estimates: &[(&Effort, RegressionResult, Option<Prediction>)],
) -> Value {
    let efforts: serde_json::Map<String, Value> = estimates
        .iter()
        .map(|(effort, fit, predicted)| {
            (effort.name.to_string(), json!({ "fit": fit, "prediction": predicted }))
        })
        .collect();
    json!({
        "run": subject.run.as_ref().map(|row| &row.run), "workflow": subject.workflow, "size": subject.size,
        "complexity": subject.complexity, "confidence": args.confidence, "efforts": efforts,
    })
}

fn to_text(
    subject: &Subject,
    args: &Args,
    estimates: &[(&Effort, RegressionResult, Option<Prediction>)],
) -> String {
    let parts = subject.complexity.map_or_else(String::new, |complexity| {
        let files = complexity.green + complexity.yellow + complexity.red;
        format!(
            ": {} and {}, {} of them yellow and {} red",
            amount::counted(complexity.tasks, "task"),
            amount::counted(files, "file"),
            complexity.yellow,
            complexity.red
        )
    });
    let about = match &subject.run {
        Some(row) => format!("the plan of run {}", row.run),
        None => "a plan".to_string(),
    };
    let workflow = line::one(&subject.workflow);
    let mut text = format!("{about} has size {}{parts}\n\n", subject.size);
    let head = [
        ("effort", ColumnFit::Whole),
        ("expected", ColumnFit::Whole),
        ("range", ColumnFit::Whole),
        ("r²", ColumnFit::Whole),
        ("based on", ColumnFit::Wrap),
    ];
    let mut table = TextTable::new(&head);
    for (effort, fit, predicted) in estimates {
        let mut cells = vec![Cell::new(effort.name)];
        match (fit, predicted) {
            (RegressionResult::Good(line), Some(predicted)) => {
                let format = |value: f64| (effort.format)(to_u64(value));
                cells.push(Cell::new(format(predicted.expected)));
                cells.push(Cell::new(format!("{} to {}", format(predicted.low), format(predicted.high))));
                cells.push(Cell::new(format!("{:.2}", line.r2)));
                cells.push(Cell::new(format!(
                    "{} of `{workflow}`",
                    amount::counted(line.points as u64, "run")
                )));
            }
            _ => {
                cells.extend([Cell::new("-"), Cell::new("-"), Cell::new(r2(fit))]);
                cells.push(Cell::new(why_no_estimate(fit, &workflow)));
            }
        }
        table.row(cells);
    }
    text.push_str(&table.render(Ink::of_stdout()));
    if estimates.iter().any(|(_, _, predicted)| predicted.is_some()) {
        text.push_str(&format!("\nAbout {} of 100 such plans fall within the range.\n", args.confidence));
    }
    text
}

fn r2(fit: &RegressionResult) -> String {
    match fit {
        RegressionResult::TooLoose { r2, .. } => format!("{r2:.2}"),
        RegressionResult::TooFew { .. }
        | RegressionResult::Alike { .. }
        | RegressionResult::Falling { .. }
        | RegressionResult::Good(_) => "-".to_string(),
    }
}

fn why_no_estimate(fit: &RegressionResult, workflow: &str) -> String {
    let runs = |points: usize| amount::counted(points as u64, "run");
    match fit {
        RegressionResult::TooFew { points } => {
            format!(
                "no estimate: {} of `{workflow}` with a plan and a known effort, but 3 are needed",
                runs(*points)
            )
        }
        RegressionResult::Alike { points } => {
            format!("no estimate: the plans of {} all have the same size", runs(*points))
        }
        RegressionResult::TooLoose { points, .. } => {
            format!("no estimate: size explains less than half of the effort of {}", runs(*points))
        }
        RegressionResult::Falling { points } => {
            format!("no estimate: among {}, larger plans took less effort", runs(*points))
        }
        RegressionResult::Good(_) => String::new(),
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "sizes and efforts of runs are far below what a double holds exactly"
)]
fn to_f64(value: u64) -> f64 {
    value as f64
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a prediction is never negative")]
fn to_u64(value: f64) -> u64 {
    value.round() as u64
}
