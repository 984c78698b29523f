//! Finds the ticket that the user names, or the ticket of the latest run that worked on one.

use crate::workplace::Workplace;
use remand_documents::Ticket;
use remand_engine::subject;
use remand_ledger::Reader;
use remand_ledger::query::RunRow;
use remand_terminal::CommandFailure;
use std::path::{Path, PathBuf};

/// A ticket in the checkout, with the runs on it.
pub struct FoundTicket {
    /// The path relative to the root of the repository.
    pub file: String,
    pub path: PathBuf,
    pub ticket: Ticket,
    /// Newest first.
    pub runs: Vec<RunRow>,
}

impl FoundTicket {
    pub fn find(workplace: &Workplace, given: Option<&Path>) -> Result<FoundTicket, CommandFailure> {
        let reader = workplace.reader_if_any()?;
        let runs = runs_on_tickets(reader.as_ref())?;
        let root = workplace.repository.root();
        let path = match (given, runs.first().and_then(|row| row.file.as_deref())) {
            (Some(given), _) => workplace.here.join(given),
            (None, Some(file)) => root.join(file),
            (None, None) => {
                let hint = "name one: `remand ticket show tickets/0001_example.md`";
                return Err(CommandFailure::user("no run has worked on a ticket yet", hint));
            }
        };
        let text = std::fs::read_to_string(&path).map_err(|error| {
            let hint = "name a ticket of the checkout; `remand ticket new TITLE` writes one";
            CommandFailure::user(format!("{} cannot be read", path.display()), hint)
                .caused_by(error.to_string())
        })?;
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        let inside = real.strip_prefix(root.canonicalize().unwrap_or_else(|_| root.to_path_buf()));
        let file = inside.map_or_else(|_| path.display().to_string(), |inside| inside.display().to_string());
        let runs = runs.into_iter().filter(|row| row.file.as_deref() == Some(file.as_str())).collect();
        Ok(FoundTicket { file, path, ticket: Ticket::read(text), runs })
    }

    /// Writes the ticket back to the checkout.
    pub fn write(&self) -> Result<(), CommandFailure> {
        subject::replace(&self.path, self.ticket.text()).map_err(|error| {
            let what = format!("{} cannot be written", self.path.display());
            CommandFailure::user(what, "make it writable").caused_by(error.to_string())
        })
    }

    /// The number of design revisions that the ticket states.
    pub fn revisions(&self) -> Result<u16, CommandFailure> {
        self.ticket.revisions().map_err(|error| {
            CommandFailure::user(
                format!("{}: {error}", self.file),
                "write a number there, or remove the line",
            )
        })
    }
}

fn runs_on_tickets(reader: Option<&Reader>) -> Result<Vec<RunRow>, CommandFailure> {
    let Some(reader) = reader else { return Ok(Vec::new()) };
    let runs = reader.runs()?;
    Ok(runs.into_iter().filter(|row| row.subject == "ticket" && row.file.is_some()).collect())
}
