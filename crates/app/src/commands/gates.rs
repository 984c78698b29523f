//! `remand gates`: the open gates, with everything needed to answer them.

mod record;

use super::runs::find_run;
use crate::context::CommandContext;
use crate::gate;
use crate::workplace::Workplace;
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode, Ink};
use serde_json::{Value, json};

const NO_GATE: &str = "no gate is open";

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only gates of this run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Include answered gates of one run [default: the latest]
    #[arg(long)]
    pub all: bool,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let ink = Ink::of_stdout();
    let needs_run = args.all || args.run.is_some();
    let reader = match workplace.reader_if_any()? {
        Some(reader) => reader,
        None if needs_run => workplace.reader()?,
        None if context.json => return print_json(&json!({ "gates": [] })).map(|()| ExitCode::Done),
        None => return print(NO_GATE).map(|()| ExitCode::Done),
    };
    if args.all {
        let row = find_run(&reader, args.run.as_deref())?;
        let gates = reader.gates(&row.run)?;
        let refused = reader.refused_requests(&row.run)?;
        if context.json {
            print_json(&json!({ "run": row.run, "gates": gates, "refused": refused }))?;
        } else {
            print(&record::text(&row, &gates, &refused, ink))?;
        }
        return Ok(ExitCode::Done);
    }
    let mut open = reader.open_gates()?;
    if let Some(name) = &args.run {
        let row = find_run(&reader, Some(name))?;
        open.retain(|gate| gate.run == row.run);
    }
    if open.is_empty() && !context.json {
        print(NO_GATE)?;
        return Ok(ExitCode::Done);
    }
    if context.json {
        let shown: Result<Vec<Value>, CommandFailure> =
            open.iter().map(|gate| gate::json_of(&reader, gate, &open)).collect();
        print_json(&json!({ "gates": shown? }))?;
    } else {
        print(&gate::list(&reader, &open, ink)?)?;
    }
    Ok(ExitCode::Done)
}
