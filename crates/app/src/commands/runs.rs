//! `remand runs`: lists the runs of this repository; also finds the run that a command names.

use crate::context::CommandContext;
use crate::workplace::Workplace;
use remand_engine::clock;
use remand_ledger::Reader;
use remand_ledger::query::RunRow;
use remand_terminal::output::{print, print_json};
use remand_terminal::table::{Cell, ColumnFit, TextTable};
use remand_terminal::{CommandFailure, ExitCode, Ink, Tone, amount, line};
use serde_json::json;

/// The maximum length of an outcome with its reason in the table, in columns.
const MAX_OUTCOME: usize = 90;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// List all runs
    #[arg(long, conflicts_with = "limit")]
    pub all: bool,
    /// The number of runs to list, newest first
    #[arg(long, short = 'n', default_value_t = 20, value_name = "N")]
    pub limit: usize,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let rows = match workplace.reader_if_any()? {
        Some(reader) => reader.runs()?,
        None => Vec::new(),
    };
    let shown = if args.all { rows.as_slice() } else { &rows[..rows.len().min(args.limit)] };
    if context.json {
        print_json(&json!({ "count": rows.len(), "runs": shown }))?;
        return Ok(ExitCode::Done);
    }
    if rows.is_empty() {
        print("no runs yet; start one with `remand run \"what you want\"`")?;
        return Ok(ExitCode::Done);
    }
    let mut text = table(shown).render(Ink::of_stdout());
    if shown.len() < rows.len() {
        let hidden = amount::counted((rows.len() - shown.len()) as u64, "older run");
        text.push_str(&format!("{hidden} not shown: `remand runs --all`\n"));
    }
    print(&text)?;
    Ok(ExitCode::Done)
}

fn table(rows: &[RunRow]) -> TextTable {
    let now = clock::now().0;
    let mut table = TextTable::new(&[
        ("run", ColumnFit::Whole),
        ("workflow", ColumnFit::Cut),
        ("outcome", ColumnFit::Wrap),
        ("confidence", ColumnFit::Whole),
        ("cost", ColumnFit::Whole),
        ("age", ColumnFit::Whole),
        ("request", ColumnFit::Cut),
    ]);
    for row in rows {
        table.row(vec![
            Cell::new(&row.run.0),
            Cell::new(&row.workflow),
            Cell::new(line::cut(&line::one(&row.outcome()), MAX_OUTCOME)).toned(Tone::of_stage(row.stage)),
            Cell::new(row.confidence_level().name()),
            Cell::new(amount::sum_or_unknown(
                amount::money(row.used.money),
                row.used.unpriced,
                row.used.dispatches,
            )),
            Cell::new(amount::age(now, row.created_at.0)),
            Cell::new(line::first(&row.request)),
        ]);
    }
    table
}

/// The run that the user names, or the latest.
pub fn find_run(reader: &Reader, name: Option<&str>) -> Result<RunRow, CommandFailure> {
    match name {
        Some(name) => reader.run(name).map_err(CommandFailure::from),
        None => reader.latest()?.ok_or_else(|| {
            CommandFailure::user(
                "this repository has no runs yet",
                "start one with `remand run \"what you want\"`",
            )
        }),
    }
}

/// The line about a run at the top of a command's output.
pub fn heading(row: &RunRow) -> String {
    let title = format!("{} · {} · {}", row.run, line::one(&row.workflow), line::one(&row.outcome()));
    line::cut(&title, remand_terminal::table::page_width())
}
