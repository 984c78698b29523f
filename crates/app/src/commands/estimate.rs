//! `remand estimate`: what a plan will take, by the runs of the past.

use super::Context;
use super::runs::chosen;
use crate::exit::{Exit, Failure, print, print_json};
use crate::table::{Cell, Fit as Column, Ink, Table, amount, line};
use crate::workplace::{Workplace, of_ledger};
use remand_ledger::Reader;
use remand_ledger::query::{RunRow, RunStage, Totals};
use remand_runtime::quality::{self, Complexity, Fit, Point, Prediction, fit};
use serde_json::{Value, json};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run whose plan is meant: its id, a part of it, or `latest`
    #[arg(value_name = "RUN", conflicts_with = "size")]
    run: Option<String>,
    /// A size instead of a plan: tasks, and files counting 1, 2 or 3 by their risk
    #[arg(long, value_name = "N", requires = "workflow")]
    size: Option<u64>,
    /// The workflow whose runs are looked at [default: that of the run]
    #[arg(long, short, value_name = "NAME")]
    workflow: Option<String>,
    /// How many percent of all cases the range is to hold
    #[arg(long, value_name = "PERCENT", default_value_t = 70, value_parser = clap::value_parser!(u8).range(50..=99))]
    confidence: u8,
}

/// What is estimated, and how people read it.
struct Effort {
    name: &'static str,
    of: fn(&Past) -> Option<u64>,
    words: fn(u64) -> String,
}

const EFFORTS: [Effort; 3] = [
    Effort { name: "time", of: |past| Some(past.used.time), words: amount::time },
    // Where a part is unknown, the whole is.
    Effort {
        name: "tokens",
        of: |past| (past.used.untold == 0).then_some(past.used.tokens),
        words: amount::grouped,
    },
    Effort {
        name: "money",
        of: |past| (past.used.unpriced == 0).then_some(past.used.money),
        words: amount::money,
    },
];

/// A run that an estimate rests on.
struct Past {
    used: Totals,
    /// Of its plan.
    size: u64,
}

/// What is to be estimated.
struct Subject {
    run: Option<RunRow>,
    workflow: String,
    complexity: Option<Complexity>,
    size: u64,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let reader = Workplace::open(context, Vec::new())?.reader()?;
    let subject = subject(&reader, args)?;
    let past = past(&reader, &subject)?;
    let confidence = f64::from(args.confidence) / 100.0;
    let estimates: Vec<(&Effort, Fit, Option<Prediction>)> = EFFORTS
        .iter()
        .map(|effort| {
            let fit = fit(&points(&past, effort));
            let foretold = match fit {
                Fit::Good(line) => Some(line.predict(number(subject.size), confidence)),
                Fit::TooFew { .. } | Fit::Alike { .. } | Fit::TooLoose { .. } | Fit::Falling { .. } => None,
            };
            (effort, fit, foretold)
        })
        .collect();
    match context.json {
        true => print_json(&to_json(&subject, args, &estimates))?,
        false => print(&to_text(&subject, args, &estimates))?,
    }
    Ok(Exit::Done)
}

fn subject(reader: &Reader, args: &Args) -> Result<Subject, Failure> {
    if let (Some(size), Some(workflow)) = (args.size, &args.workflow) {
        return Ok(Subject { run: None, workflow: workflow.clone(), complexity: None, size });
    }
    let row = chosen(reader, args.run.as_deref())?;
    let complexity = quality::of_run(reader, &row).map_err(|error| of_ledger(&error))?;
    let Some(complexity) = complexity else {
        let what = format!("run {} has no plan", row.run);
        return Err(Failure::user(what, "name a run with a plan, or give `--size N --workflow NAME`"));
    };
    let workflow = args.workflow.clone().unwrap_or_else(|| row.workflow.clone());
    Ok(Subject { run: Some(row), workflow, complexity: Some(complexity), size: complexity.size() })
}

/// The runs of the workflow that came to a good end and have a plan; not the one that is meant.
fn past(reader: &Reader, subject: &Subject) -> Result<Vec<Past>, Failure> {
    let mut past = Vec::new();
    for row in reader.runs().map_err(|error| of_ledger(&error))? {
        let is_meant = subject.run.as_ref().is_some_and(|meant| meant.run == row.run);
        if row.workflow != subject.workflow || row.stage != RunStage::Done || is_meant {
            continue;
        }
        if let Some(complexity) = quality::of_run(reader, &row).map_err(|error| of_ledger(&error))? {
            let used = reader.totals(&row.run).map_err(|error| of_ledger(&error))?;
            past.push(Past { used, size: complexity.size() });
        }
    }
    Ok(past)
}

fn points(past: &[Past], effort: &Effort) -> Vec<Point> {
    past.iter()
        .filter_map(|past| Some(Point { size: number(past.size), effort: number((effort.of)(past)?) }))
        .collect()
}

fn to_json(subject: &Subject, args: &Args, estimates: &[(&Effort, Fit, Option<Prediction>)]) -> Value {
    let efforts: serde_json::Map<String, Value> = estimates
        .iter()
        .map(|(effort, fit, foretold)| {
            (effort.name.to_string(), json!({ "fit": fit, "prediction": foretold }))
        })
        .collect();
    json!({
        "run": subject.run.as_ref().map(|row| &row.run), "workflow": subject.workflow, "size": subject.size,
        "complexity": subject.complexity, "confidence": args.confidence, "efforts": efforts,
    })
}

fn to_text(subject: &Subject, args: &Args, estimates: &[(&Effort, Fit, Option<Prediction>)]) -> String {
    let of = subject.complexity.map_or_else(String::new, |it| {
        let files = it.green + it.yellow + it.red;
        format!(
            ": {} and {}, {} of them yellow and {} red",
            amount::counted(it.tasks, "task"),
            amount::counted(files, "file"),
            it.yellow,
            it.red
        )
    });
    let about = match &subject.run {
        Some(row) => format!("the plan of run {}", row.run),
        None => "a plan".to_string(),
    };
    let workflow = line::one(&subject.workflow);
    let mut text = format!("{about} has size {}{of}\n\n", subject.size);
    let head = [
        ("effort", Column::Whole),
        ("expected", Column::Whole),
        ("range", Column::Whole),
        ("r²", Column::Whole),
        ("rests on", Column::Wrap),
    ];
    let mut table = Table::new(&head);
    for (effort, fit, foretold) in estimates {
        let mut cells = vec![Cell::new(effort.name)];
        match (fit, foretold) {
            (Fit::Good(line), Some(foretold)) => {
                let words = |value: f64| (effort.words)(whole(value));
                cells.push(Cell::new(words(foretold.expected)));
                cells.push(Cell::new(format!("{} to {}", words(foretold.low), words(foretold.high))));
                cells.push(Cell::new(format!("{:.2}", line.r2)));
                cells.push(Cell::new(format!(
                    "{} of `{workflow}`",
                    amount::counted(line.points as u64, "run")
                )));
            }
            _ => {
                cells.extend([Cell::new("-"), Cell::new("-"), Cell::new(quality_of(fit))]);
                cells.push(Cell::new(lacking(fit, &workflow)));
            }
        }
        table.row(cells);
    }
    text.push_str(&table.render(Ink::of_stdout()));
    if estimates.iter().any(|(_, _, foretold)| foretold.is_some()) {
        text.push_str(&format!("\nThe range holds {} of 100 such plans.\n", args.confidence));
    }
    text
}

fn quality_of(fit: &Fit) -> String {
    match fit {
        Fit::TooLoose { r2, .. } => format!("{r2:.2}"),
        Fit::TooFew { .. } | Fit::Alike { .. } | Fit::Falling { .. } | Fit::Good(_) => "-".to_string(),
    }
}

/// Why there is nothing to go by.
fn lacking(fit: &Fit, workflow: &str) -> String {
    let runs = |points: usize| amount::counted(points as u64, "run");
    match fit {
        Fit::TooFew { points } => {
            format!(
                "not enough to go by: {} of `{workflow}` with a plan and a known effort, and it takes 3",
                runs(*points)
            )
        }
        Fit::Alike { points } => {
            format!("not enough to go by: the plans of {} were of one size", runs(*points))
        }
        Fit::TooLoose { points, .. } => {
            format!("not enough to go by: size explains less than half of what {} took", runs(*points))
        }
        Fit::Falling { points } => {
            format!("not enough to go by: among {} larger plans took less", runs(*points))
        }
        Fit::Good(_) => String::new(),
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "sizes and efforts of runs are far below what a double holds exactly"
)]
fn number(value: u64) -> f64 {
    value as f64
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a prediction is never negative")]
fn whole(value: f64) -> u64 {
    value.round() as u64
}
