//! The ticket that is meant: a file of the checkout, or the one that the latest run on a ticket is about.

use crate::commands::runs::reader_if_any;
use crate::exit::Failure;
use crate::workplace::{Workplace, of_ledger};
use remand_documents::Ticket;
use remand_ledger::Reader;
use remand_ledger::query::RunRow;
use remand_runtime::subject;
use std::path::{Path, PathBuf};

/// A ticket of the checkout, with the runs on it.
pub struct Found {
    /// From the root of the repository.
    pub file: String,
    pub path: PathBuf,
    pub ticket: Ticket,
    /// The newest first.
    pub runs: Vec<RunRow>,
}

impl Found {
    pub fn find(workplace: &Workplace, given: Option<&Path>) -> Result<Found, Failure> {
        let reader = reader_if_any(workplace)?;
        let runs = on_tickets(reader.as_ref())?;
        let root = workplace.repository.root();
        let path = match (given, runs.first().and_then(|row| row.file.as_deref())) {
            (Some(given), _) => workplace.here.join(given),
            (None, Some(file)) => root.join(file),
            (None, None) => {
                let hint = "name one: `remand ticket show tickets/0001_example.md`";
                return Err(Failure::user("no run was about a ticket yet", hint));
            }
        };
        let text = std::fs::read_to_string(&path).map_err(|error| {
            let hint = "name a ticket of the checkout; `remand ticket new TITLE` writes one";
            Failure::user(format!("{} cannot be read", path.display()), hint).caused_by(error.to_string())
        })?;
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        let inside = real.strip_prefix(root.canonicalize().unwrap_or_else(|_| root.to_path_buf()));
        let file = inside.map_or_else(|_| path.display().to_string(), |inside| inside.display().to_string());
        let runs = runs.into_iter().filter(|row| row.file.as_deref() == Some(file.as_str())).collect();
        Ok(Found { file, path, ticket: Ticket::read(text), runs })
    }

    /// Writes the ticket back to the checkout.
    pub fn write(&self) -> Result<(), Failure> {
        subject::replace(&self.path, self.ticket.text()).map_err(|error| {
            let what = format!("{} cannot be written", self.path.display());
            Failure::user(what, "make it writable").caused_by(error.to_string())
        })
    }

    /// How often its design was revised, by its own word.
    pub fn revisions(&self) -> Result<u16, Failure> {
        self.ticket.revisions().map_err(|unread| {
            Failure::user(format!("{}, {unread}", self.file), "put a number there, or take the line out")
        })
    }
}

fn on_tickets(reader: Option<&Reader>) -> Result<Vec<RunRow>, Failure> {
    let Some(reader) = reader else { return Ok(Vec::new()) };
    let runs = reader.runs().map_err(|error| of_ledger(&error))?;
    Ok(runs.into_iter().filter(|row| row.subject == "ticket" && row.file.is_some()).collect())
}
