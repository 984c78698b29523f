//! `remand resume`: goes on with runs that were interrupted or answered.

use super::{Context, gates};
use crate::driving;
use crate::exit::{Exit, Failure, print, print_json, print_line, tell};
use crate::table::Ink;
use crate::workplace::{Workplace, of_ledger};
use remand_kernel::Event;
use remand_ledger::query::{RunRow, RunStage};
use remand_ledger::{Reader, RunId};
use remand_runtime::clock;
use serde_json::json;
use std::collections::BTreeSet;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest` [default: every run that can go on]
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let runs: Vec<RunRow> = match &args.run {
        Some(name) => vec![reader.run(name).map_err(|error| of_ledger(&error))?],
        None => {
            let asked = reader.all_requests().map_err(|error| of_ledger(&error))?;
            let answered =
                |row: &RunRow| !row.stage.is_over() && asked.iter().any(|request| request.run == row.run);
            let goes_on = |row: &RunRow| {
                row.stage == RunStage::Running || answered(row) || driving::is_unfinished(&workplace, row)
            };
            reader.runs().map_err(|error| of_ledger(&error))?.into_iter().filter(goes_on).collect()
        }
    };
    if runs.is_empty() {
        return none_goes_on(context, &reader);
    }
    let mut host = driving::host(&workplace)?;
    let (mut driven, mut exit) = (0, Exit::Done);
    for row in &runs {
        if row.stage.is_over() && !driving::is_unfinished(&workplace, row) {
            let what = format!("run {} is over: {}", row.run, row.ended.as_deref().unwrap_or_default());
            return Err(Failure::user(what, "begin a new one with `remand run`"));
        }
        if row.stage == RunStage::Paused {
            let event = Event::Resumed { by: driving::user() };
            host.ledger().request(&row.run, clock::now(), &event).map_err(|error| of_ledger(&error))?;
        }
        match host.resume(&row.run) {
            Ok(()) => {
                driven += 1;
                tell(&format!("going on with run {}, at {}", row.run, row.place));
            }
            // With several to go on with, trouble with one is no reason to leave the others.
            Err(error) if runs.len() > 1 => {
                let failure = driving::of_host(&error);
                exit = exit.max_with(failure.exit);
                failure.print();
                if context.json {
                    print_line(
                        &json!({ "run": row.run, "exit": failure.exit.number(), "failure": failure.json() }),
                    )?;
                }
            }
            Err(error) => return Err(driving::of_host(&error)),
        }
    }
    if driven == 0 {
        return Ok(exit);
    }
    Ok(exit.max_with(driving::drive(context, &workplace, host)?))
}

/// Nothing is left to be driven; whether something waits is another matter.
fn none_goes_on(context: &Context<'_>, reader: &Reader) -> Result<Exit, Failure> {
    let open = reader.open_gates().map_err(|error| of_ledger(&error))?;
    if context.json {
        let waiting: BTreeSet<&RunId> = open.iter().map(|gate| &gate.run).collect();
        print_json(&json!({ "runs": [], "waiting": waiting }))?;
    } else if open.is_empty() {
        print("no run is left to go on with\n")?;
    } else {
        let listed = gates::listed(reader, &open, Ink::of_stdout())?;
        print(&format!("no run goes on without an answer:\n\n{listed}\n"))?;
    }
    Ok(if open.is_empty() { Exit::Done } else { Exit::Waiting })
}
