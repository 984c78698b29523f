//! `remand ticket merged`: a ticket whose work is in the current branch is complete (DR-22).

use super::Context;
use super::place::Found;
use crate::exit::{Exit, Failure, print, print_json};
use crate::workplace::{Workplace, of_git};
use remand_documents::Status;
use remand_ledger::query::{RunRow, RunStage};
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The ticket [default: that of the latest run on one]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Tick it although no branch shows it: you know that the work is in
    #[arg(long)]
    pub by_hand: bool,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let mut found = Found::find(&workplace, args.file.as_deref())?;
    let run = merged(&workplace, &found.runs)?;
    if run.is_none() && !args.by_hand {
        let what = format!("the current branch contains no finished run on {}", found.file);
        let hint = "merge the branch of a run first; if its commits were squashed under another message, say `--by-hand`";
        return Err(Failure::user(what, hint));
    }
    found.ticket.set_status(Status::Merged);
    found.write()?;
    if context.json {
        print_json(
            &json!({ "ticket": found.file, "status": Status::Merged.name(), "run": run.map(|row| row.run) }),
        )?;
    } else {
        print(&format!("{}: {}\n", found.file, Status::Merged.name()))?;
    }
    Ok(Exit::Done)
}

/// The run whose work the current branch has, whether the branch of the run is still there or not.
fn merged(workplace: &Workplace, runs: &[RunRow]) -> Result<Option<RunRow>, Failure> {
    let head = workplace.repository.head().map_err(|error| of_git(&error))?;
    for row in runs.iter().filter(|row| row.stage == RunStage::Done) {
        if workplace.repository.holds_work(&head.commit, &row.run.0).map_err(|error| of_git(&error))? {
            return Ok(Some(row.clone()));
        }
    }
    Ok(None)
}
