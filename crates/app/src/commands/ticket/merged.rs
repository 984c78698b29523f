//! `remand ticket merged`: marks a ticket as complete if the current branch contains its work.

use super::found_ticket::FoundTicket;
use crate::context::CommandContext;
use crate::workplace::Workplace;
use remand_documents::TicketStatus;
use remand_ledger::query::RunRow;
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode};
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The ticket [default: that of the latest run on a ticket]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Tick it without checking the branch
    #[arg(long)]
    pub by_hand: bool,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let mut found = FoundTicket::find(&workplace, args.file.as_deref())?;
    let run = merged_run(&workplace, &found.runs)?;
    if run.is_none() && !args.by_hand {
        let what = format!("the current branch contains no finished run on {}", found.file);
        let hint = "merge the branch of a run first; if its commits were squashed, use `--by-hand`";
        return Err(CommandFailure::user(what, hint));
    }
    found.ticket.set_status(TicketStatus::Merged);
    found.write()?;
    if context.json {
        print_json(
            &json!({ "ticket": found.file, "status": TicketStatus::Merged.name(), "run": run.map(|row| row.run) }),
        )?;
    } else {
        print(&format!("{}: {}\n", found.file, TicketStatus::Merged.name()))?;
    }
    Ok(ExitCode::Done)
}

/// The run whose work the current branch contains, even if the run's branch is gone.
fn merged_run(workplace: &Workplace, runs: &[RunRow]) -> Result<Option<RunRow>, CommandFailure> {
    let head = workplace.repository.head()?;
    for row in runs.iter().filter(|row| row.stage.is_finished()) {
        if workplace.repository.holds_work(&head.commit, &row.run.0)? {
            return Ok(Some(row.clone()));
        }
    }
    Ok(None)
}
