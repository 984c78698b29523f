//! `remand ticket show`: the state of a ticket in the checkout and on the branches of its runs.

use super::found_ticket::FoundTicket;
use crate::context::CommandContext;
use crate::workplace::Workplace;
use remand_documents::{Ticket, TicketStatus};
use remand_ledger::query::RunRow;
use remand_terminal::output::{print, print_json};
use remand_terminal::table::{Cell, ColumnFit, FieldList, TextTable};
use remand_terminal::{CommandFailure, ExitCode, Ink, line};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The ticket [default: that of the latest run on a ticket]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// A run on the ticket, and the ticket as it is on the run's branch.
struct TicketRun {
    row: RunRow,
    copy: Option<Ticket>,
    /// Whether the current branch contains the commit of the run.
    is_merged: bool,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let found = FoundTicket::find(&workplace, args.file.as_deref())?;
    let runs: Vec<TicketRun> =
        found.runs.iter().map(|row| read_run(&workplace, &found.file, row)).collect::<Result<_, _>>()?;
    let revisions = found.revisions()?;
    if context.json {
        let runs: Vec<Value> = runs
            .iter()
            .map(|run| {
                json!({
                    "run": run.row.run,
                    "stage": run.row.stage.name(),
                    "branch": run.row.branch,
                    "status": run.copy.as_ref().and_then(Ticket::status).map(TicketStatus::name),
                    "revisions": run.copy.as_ref().and_then(|copy| copy.revisions().ok()),
                    "merged": run.is_merged,
                })
            })
            .collect();
        let approaches: Vec<Value> = found
            .ticket
            .approaches()
            .into_iter()
            .map(|past| json!({ "text": past.text, "decisions": past.decisions }))
            .collect();
        print_json(&json!({
            "ticket": found.file,
            "title": found.ticket.title(),
            "status": found.ticket.status().map(TicketStatus::name),
            "revisions": revisions,
            "approaches": approaches,
            "runs": runs,
        }))?;
        return Ok(ExitCode::Done);
    }
    let ink = Ink::of_stdout();
    let mut fields = FieldList::new();
    fields.add("ticket", line::one(found.ticket.title().unwrap_or(&found.file)).as_str());
    fields.add("file", found.file.as_str());
    fields.add("status", found.ticket.status().map_or("none", TicketStatus::name));
    fields.add("revisions", revisions.to_string().as_str());
    for (index, past) in found.ticket.approaches().iter().enumerate() {
        fields.add(
            if index == 0 { "failed" } else { "" },
            format!("{}. {}", index + 1, line::one(&past.text)).as_str(),
        );
    }
    let mut text = fields.render(ink);
    if !runs.is_empty() {
        let mut table = TextTable::new(&[
            ("run", ColumnFit::Whole),
            ("stage", ColumnFit::Whole),
            ("revisions", ColumnFit::Whole),
            ("its copy", ColumnFit::Wrap),
        ]);
        for run in &runs {
            let status = run.copy.as_ref().and_then(Ticket::status).map_or("nothing", TicketStatus::name);
            let revisions = run.copy.as_ref().and_then(|copy| copy.revisions().ok()).unwrap_or(0);
            let merged = if run.is_merged { "; the current branch contains it" } else { "" };
            table.row(vec![
                Cell::new(run.row.run.0.as_str()),
                Cell::new(run.row.stage.name()),
                Cell::new(revisions.to_string()),
                Cell::new(format!("{status}{merged}")),
            ]);
        }
        text.push_str(&format!("\n{}", table.render(ink)));
    }
    print(&text)?;
    Ok(ExitCode::Done)
}

fn read_run(workplace: &Workplace, file: &str, row: &RunRow) -> Result<TicketRun, CommandFailure> {
    let repository = &workplace.repository;
    let head = repository.head()?;
    let is_merged = repository.holds_work(&head.commit, &row.run.0)?;
    let Ok(tip) = repository.commit(&format!("refs/heads/{}", row.branch)) else {
        return Ok(TicketRun { row: row.clone(), copy: None, is_merged });
    };
    let tree = repository.tree_of(&tip)?;
    let bytes = repository.read(&tree, Path::new(file))?;
    let copy = bytes.map(|bytes| Ticket::read(String::from_utf8_lossy(&bytes).into_owned()));
    Ok(TicketRun { row: row.clone(), copy, is_merged })
}
