//! `remand gates`: the questions that wait for a human, with all that is needed to answer them (EP-12).

mod asked;
mod record;

use super::Context;
use super::runs::{chosen, reader_if_any};
use crate::cli;
use crate::exit::{Exit, Failure, print, print_json};
use crate::table::{Ink, line};
use crate::workplace::{Workplace, of_ledger};
use remand_ledger::Reader;
use remand_ledger::query::GateRow;
use serde_json::{Value, json};

/// So many are shown in full.
const IN_FULL: usize = 20;

const NONE: &str = "no question waits for an answer";

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only those of this run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Those that were answered, too, of one run [default: the latest]
    #[arg(long)]
    pub all: bool,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let ink = Ink::of_stdout();
    let named = args.all || args.run.is_some();
    let reader = match reader_if_any(&workplace)? {
        Some(reader) => reader,
        None if named => workplace.reader()?,
        None if context.json => return print_json(&json!({ "gates": [] })).map(|()| Exit::Done),
        None => return print(NONE).map(|()| Exit::Done),
    };
    if args.all {
        let row = chosen(&reader, args.run.as_deref())?;
        let gates = reader.gates(&row.run).map_err(|error| of_ledger(&error))?;
        if context.json {
            print_json(&json!({ "run": row.run, "gates": gates }))?;
        } else {
            print(&record::text(&row, &gates, ink))?;
        }
        return Ok(Exit::Done);
    }
    let mut open = reader.open_gates().map_err(|error| of_ledger(&error))?;
    if let Some(name) = &args.run {
        let row = chosen(&reader, Some(name))?;
        open.retain(|gate| gate.run == row.run);
    }
    if open.is_empty() && !context.json {
        print(NONE)?;
        return Ok(Exit::Done);
    }
    if context.json {
        let shown: Result<Vec<Value>, Failure> =
            open.iter().map(|gate| Ok(asked::Asked::read(&reader, gate, &open)?.json())).collect();
        print_json(&json!({ "gates": shown? }))?;
    } else {
        print(&listed(&reader, &open, ink)?)?;
    }
    Ok(Exit::Done)
}

/// The first gates with all that belongs to them, and a line for each of the others.
pub fn listed(reader: &Reader, open: &[GateRow], ink: Ink) -> Result<String, Failure> {
    let mut text = String::new();
    for gate in open.iter().take(IN_FULL) {
        text.push_str(&format!("{}\n", text_of(reader, gate, open, ink)?));
    }
    let others = open.get(IN_FULL..).unwrap_or_default();
    if !others.is_empty() {
        text.push_str(&format!("and {} more; `remand gates RUN` shows one in full:\n", others.len()));
        for gate in others {
            text.push_str(&format!("  {}  {}\n", gate.run, place(gate)));
        }
    }
    Ok(text.trim_end().to_string())
}

/// A gate in full, with how to answer it.
pub fn text_of(reader: &Reader, gate: &GateRow, open: &[GateRow], ink: Ink) -> Result<String, Failure> {
    Ok(asked::Asked::read(reader, gate, open)?.text(ink))
}

/// The command that answers a gate with its default, or with its first option.
pub fn answer_command(gate: &GateRow, open: &[GateRow]) -> String {
    let first = gate.default.clone().or_else(|| gate.options.first().map(|option| option.name.clone()));
    answer_with(gate, open, &first.unwrap_or_else(|| "OPTION".to_string()))
}

/// The command that answers a gate. The run names it, unless several gates of the run are open.
pub fn answer_with(gate: &GateRow, open: &[GateRow], option: &str) -> String {
    let several = open.iter().filter(|other| other.run == gate.run).count() > 1;
    let option = line::one(option);
    if several {
        cli::command(format!("answer {}/{} {option}", gate.run, gate.command))
    } else {
        cli::command(format!("answer {} {option}", gate.run))
    }
}

/// What else can be answered, as the end of a sentence.
pub fn other_options(gate: &GateRow) -> String {
    let first = gate.default.as_deref().or_else(|| gate.options.first().map(|option| option.name.as_str()));
    let others: Vec<String> = gate
        .options
        .iter()
        .filter(|option| Some(option.name.as_str()) != first)
        .map(|option| line::one(&option.name))
        .collect();
    if others.is_empty() { String::new() } else { format!(", or with {}", others.join(", ")) }
}

/// Where a gate stands in its run.
pub fn place(gate: &GateRow) -> String {
    match &gate.task {
        Some(task) => format!("{}[{}]", line::one(&gate.phase), line::one(task)),
        None => line::one(&gate.phase),
    }
}
