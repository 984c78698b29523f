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
        return Err(Failure::user(what, "merge the branch of a run first, or say `--by-hand`"));
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

/// The run whose commits the current branch has.
fn merged(workplace: &Workplace, runs: &[RunRow]) -> Result<Option<RunRow>, Failure> {
    let head = workplace.repository.head().map_err(|error| of_git(&error))?;
    for row in runs.iter().filter(|row| row.stage == RunStage::Done) {
        let Ok(tip) = workplace.repository.commit(&format!("refs/heads/{}", row.branch)) else { continue };
        if workplace.repository.contains(&head.commit, &tip).map_err(|error| of_git(&error))? {
            return Ok(Some(row.clone()));
        }
    }
    Ok(None)
}
