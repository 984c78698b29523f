//! `remand runs`: the runs of this repository, and the one that another command is about.

use super::Context;
use crate::exit::{Exit, Failure, print, print_json};
use crate::table::{Cell, Fit, Ink, Table, Tone, amount, line};
use crate::workplace::{Workplace, of_ledger};
use remand_ledger::Reader;
use remand_ledger::query::{RunRow, RunStage};
use remand_runtime::clock;
use serde_json::json;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// List all of them
    #[arg(long, conflicts_with = "limit")]
    pub all: bool,
    /// List at most so many, the newest first
    #[arg(long, short = 'n', default_value_t = 20, value_name = "N")]
    pub limit: usize,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let rows = match reader_if_any(&workplace)? {
        Some(reader) => reader.runs().map_err(|error| of_ledger(&error))?,
        None => Vec::new(),
    };
    let shown = if args.all { rows.as_slice() } else { &rows[..rows.len().min(args.limit)] };
    if context.json {
        print_json(&json!({ "count": rows.len(), "runs": shown }))?;
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        print("no run was ever begun here; begin with `remand run \"what you want\"`")?;
        return Ok(Exit::Done);
    }
    let mut text = table(shown).render(Ink::of_stdout());
    if shown.len() < rows.len() {
        let left = amount::counted((rows.len() - shown.len()) as u64, "older run");
        text.push_str(&format!("and {left}: `remand runs --all`\n"));
    }
    print(&text)?;
    Ok(Exit::Done)
}

fn table(rows: &[RunRow]) -> Table {
    let now = clock::now().0;
    let mut table = Table::new(&[
        ("run", Fit::Whole),
        ("workflow", Fit::Cut),
        ("stage", Fit::Whole),
        ("confidence", Fit::Whole),
        ("dispatches", Fit::Whole),
        ("age", Fit::Whole),
        ("request", Fit::Cut),
    ]);
    for row in rows {
        table.row(vec![
            Cell::new(&row.run.0),
            Cell::new(&row.workflow),
            Cell::new(row.stage.name()).toned(tone(row.stage)),
            Cell::new(row.trusted().name()),
            Cell::new(amount::grouped(row.used.dispatches)),
            Cell::new(amount::age(now, row.created_at.0)),
            Cell::new(line::first(&row.request)),
        ]);
    }
    table
}

/// The colour of a stage.
pub fn tone(stage: RunStage) -> Tone {
    match stage {
        RunStage::Running => Tone::Plain,
        RunStage::Waiting | RunStage::Paused => Tone::Doubtful,
        RunStage::Done => Tone::Good,
        RunStage::Failed | RunStage::Stopped | RunStage::Cancelled => Tone::Bad,
    }
}

/// The ledger, if there is one: lists of nothing are no errors.
pub fn reader_if_any(workplace: &Workplace) -> Result<Option<Reader>, Failure> {
    if workplace.home.ledger().exists() { workplace.reader().map(Some) } else { Ok(None) }
}

/// The run that a command is about: the one that is named, or the latest.
pub fn chosen(reader: &Reader, name: Option<&str>) -> Result<RunRow, Failure> {
    match name {
        Some(name) => reader.run(name).map_err(|error| of_ledger(&error)),
        None => reader.latest().map_err(|error| of_ledger(&error))?.ok_or_else(|| {
            Failure::user("no run was ever begun here", "begin with `remand run \"what you want\"`")
        }),
    }
}

/// A run in one line, above what a command says about it.
pub fn heading(row: &RunRow) -> String {
    let standing = match &row.ended {
        Some(ended) => line::one(ended),
        None => row.stage.name().to_string(),
    };
    let title = format!("{} · {} · {standing}", row.run, line::one(&row.workflow));
    line::cut(&title, crate::table::WIDTH)
}
