//! `remand costs`: the time, tokens and money of runs, and how much of it is unknown.

mod briefs;

use super::runs::{find_run, heading};
use crate::context::CommandContext;
use crate::workplace::Workplace;
use remand_ledger::query::{CostBy, CostRow, RunRow};
use remand_terminal::output::{print, print_json};
use remand_terminal::table::{Cell, ColumnFit, TextTable};
use remand_terminal::{CommandFailure, ExitCode, Ink, Tone, amount};
use serde_json::json;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest` [default: latest]
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Add up all runs of this repository
    #[arg(long, conflicts_with = "run")]
    pub all: bool,
    /// What to group by
    #[arg(long, value_enum, default_value_t = By::Role)]
    pub by: By,
    /// Show how many bytes the agents were given, by section of the brief
    #[arg(long)]
    pub briefs: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum By {
    Role,
    Agent,
    Model,
    Phase,
    Run,
}

impl By {
    fn rows(self) -> CostBy {
        match self {
            By::Role => CostBy::Role,
            By::Agent => CostBy::Agent,
            By::Model => CostBy::Model,
            By::Phase => CostBy::Phase,
            By::Run => CostBy::Run,
        }
    }

    fn name(self) -> &'static str {
        match self {
            By::Role => "role",
            By::Agent => "agent",
            By::Model => "model",
            By::Phase => "phase",
            By::Run => "run",
        }
    }
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = match workplace.reader_if_any()? {
        Some(reader) => reader,
        None => workplace.reader()?,
    };
    let run = if args.all { None } else { Some(find_run(&reader, args.run.as_deref())?) };
    if args.briefs {
        return briefs::run(context, &reader, run.as_ref(), args.by);
    }
    let rows = reader.costs(run.as_ref().map(|row| &row.run), args.by.rows())?;
    let total = CostRow::total(&rows);
    if context.json {
        let limit = run.as_ref().and_then(|row| row.limits.money);
        let run = run.as_ref().map(|row| &row.run);
        print_json(
            &json!({ "run": run, "by": args.by.rows(), "rows": rows, "total": total, "limit": limit, "currency": amount::CURRENCY }),
        )?;
        return Ok(ExitCode::Done);
    }
    let head = run.as_ref().map_or_else(|| "all runs".to_string(), heading);
    print(&format!(
        "{head}\n\n{}\n{}",
        table(args.by, &rows, &total).render(Ink::of_stdout()),
        cost_summary(&total, run.as_ref())
    ))?;
    Ok(ExitCode::Done)
}

fn table(by: By, rows: &[CostRow], total: &CostRow) -> TextTable {
    let mut table = TextTable::new(&[
        (by.name(), ColumnFit::Cut),
        ("dispatches", ColumnFit::Whole),
        ("time", ColumnFit::Whole),
        ("tokens", ColumnFit::Whole),
        ("input", ColumnFit::Whole),
        ("output", ColumnFit::Whole),
        ("cached", ColumnFit::Whole),
        ("stored", ColumnFit::Whole),
        ("cost", ColumnFit::Whole),
    ]);
    for row in rows {
        table.row(cells(row.name.as_deref().unwrap_or("unknown"), row, Tone::Plain));
    }
    if rows.len() != 1 {
        table.row(cells("all", total, Tone::Strong));
    }
    table
}

fn cells(name: &str, row: &CostRow, tone: Tone) -> Vec<Cell> {
    let has_kinds = row.without_kinds + row.unmetered < row.ended();
    let kind = |count: u64| if has_kinds { amount::grouped(count) } else { String::new() };
    [
        name.to_string(),
        amount::grouped(row.dispatches),
        amount::time(row.time),
        amount::sum_or_unknown(amount::grouped(row.tokens), row.unmetered, row.ended()),
        kind(row.kinds.input),
        kind(row.kinds.output),
        kind(row.kinds.cached),
        kind(row.kinds.stored),
        amount::sum_or_unknown(amount::money(row.money()), row.unpriced, row.ended()),
    ]
    .into_iter()
    .map(|text| Cell::new(text).toned(tone))
    .collect()
}

/// How long the run took. This can be less than the sum of its dispatches, which may run in parallel.
fn run_time(run: &RunRow) -> String {
    let time = amount::time(run.used.time);
    match run.limits.time {
        None => format!("the run took {time}"),
        Some(limit) => format!("the run took {time}; the limit is {}", amount::time(limit)),
    }
}

/// Which costs were reported, which were computed, and which are unknown.
fn cost_summary(total: &CostRow, run: Option<&RunRow>) -> String {
    let ended = amount::counted(total.ended(), "dispatch");
    let mut lines = Vec::new();
    if total.unpriced < total.ended() {
        lines.push(format!(
            "{}: {} reported by agents, {} computed from prices",
            amount::money(total.money()),
            amount::money(total.reported_money),
            amount::money(total.computed_money)
        ));
    }
    if total.unpriced > 0 {
        lines.push(format!(
            "the cost of {} of {ended} is unknown: no agent reported it, and no price applies",
            amount::grouped(total.unpriced)
        ));
    }
    if total.unmetered > 0 {
        lines.push(format!("the tokens of {} of {ended} are unknown", amount::grouped(total.unmetered)));
    }
    if total.running > 0 {
        lines.push(format!("{} still running", amount::counted(total.running, "dispatch")));
    }
    if let Some(limit) = run.and_then(|row| row.limits.money) {
        let limit = amount::money(limit);
        lines.push(match total.unpriced {
            0 => format!("the limit is {limit}"),
            _ => format!(
                "the limit of {limit} counts known costs only; limits on tokens and dispatches still apply"
            ),
        });
    }
    lines.extend(run.map(run_time));
    lines.iter().map(|line| format!("{line}\n")).collect()
}
