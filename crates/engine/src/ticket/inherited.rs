//! The state that a new run inherits from its ticket and from earlier runs on the same ticket.

use super::cause::revision_budget;
use remand_documents::{Ticket, TicketStatus, Unreadable};
use remand_kernel::change::Approach;
use remand_kernel::event::{Event, Start};
use remand_kernel::{Program, State};
use remand_ledger::query::RunRow;
use remand_ledger::{LedgerError, Reader, ReplayError, ReplayFrom, replay};

/// The state that a run inherits when it starts on a ticket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inherited {
    pub spent: Vec<(String, u16)>,
    pub approaches: Vec<Approach>,
    pub flags: Vec<(String, bool)>,
}

/// Why no run can start on a ticket.
#[derive(Debug, thiserror::Error)]
pub enum TicketError {
    #[error("{0}")]
    Unreadable(#[from] Unreadable),
    #[error("the ticket is {}", .0.name())]
    Over(TicketStatus),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Replay(#[from] Box<ReplayError>),
}

impl TicketError {
    pub fn hint(&self) -> String {
        match self {
            TicketError::Unreadable(_) => "write a number there, or delete the line".to_string(),
            TicketError::Over(status) => {
                format!(
                    "to work on it again, remove the tick from `{}` in its file and commit the change",
                    status.name()
                )
            }
            TicketError::Ledger(error) => error.hint().to_string(),
            TicketError::Replay(error) => error.hint().to_string(),
        }
    }
}

impl Inherited {
    /// Revisions are counted across runs. The ticket has the count of merged runs, and the ledger has the count of
    /// unmerged ones. The larger count applies, with the failed approaches that belong to it.
    pub fn of(
        program: &Program,
        file: &str,
        text: &str,
        reader: Option<&Reader>,
    ) -> Result<Inherited, TicketError> {
        let ticket = Ticket::read(text);
        if let Some(status @ (TicketStatus::Merged | TicketStatus::Closed)) = ticket.status() {
            return Err(TicketError::Over(status));
        }
        let listed = ticket.approaches().into_iter();
        let listed = listed.map(|past| Approach { text: past.text, decisions: past.decisions }).collect();
        let mut known = (ticket.revisions()?, listed);
        if let Some(reader) = reader {
            let earlier: Vec<RunRow> =
                reader.runs()?.into_iter().filter(|row| row.file.as_deref() == Some(file)).collect();
            for row in &earlier {
                let replayed = replay(reader, &row.run, ReplayFrom::Snapshot).map_err(Box::new)?;
                let count = spent(&replayed.program, &replayed.state);
                if count > known.0 {
                    known = (
                        count,
                        merge_approaches(
                            known.1,
                            replayed.state.approaches,
                            approaches_at_start(reader, row)?,
                        ),
                    );
                }
            }
        }
        let budget = revision_budget(program).map(|id| program.budget(id).name.clone());
        let flags = program.flags.iter().filter(|flag| is_set(&ticket, flag));
        Ok(Inherited {
            spent: budget.map(|name| (name, known.0)).into_iter().collect(),
            approaches: known.1,
            flags: flags.map(|flag| (flag.clone(), true)).collect(),
        })
    }

    pub fn into_start(self, start: Start) -> Start {
        Start { spent: self.spent, approaches: self.approaches, flags: self.flags, ..start }
    }
}

/// The failed approaches at the end of an earlier run, plus those that a human added to the ticket after its start.
fn merge_approaches(listed: Vec<Approach>, at_end: Vec<Approach>, at_start: Vec<Approach>) -> Vec<Approach> {
    let is_new = |approach: &Approach| !at_end.contains(approach) && !at_start.contains(approach);
    let added: Vec<Approach> = listed.into_iter().filter(is_new).collect();
    at_end.into_iter().chain(added).collect()
}

fn approaches_at_start(reader: &Reader, row: &RunRow) -> Result<Vec<Approach>, TicketError> {
    let first = reader.journal(&row.run, 0)?.into_iter().next().map(|row| row.event);
    Ok(match first {
        Some(Event::Started(start)) => start.approaches,
        _ => Vec::new(),
    })
}

/// The number of revisions that a run and the runs before it have spent.
fn spent(program: &Program, state: &State) -> u16 {
    let value = |values: &[u16], at: usize| values.get(at).copied().unwrap_or(0);
    revision_budget(program).map_or(0, |budget| {
        value(&state.full, budget.index()).saturating_sub(value(&state.left, budget.index()))
    })
}

/// Whether the metadata sets a flag: `Prototype Wanted: yes` or `Requires Prototype: yes` sets `prototype-wanted`.
fn is_set(ticket: &Ticket, flag: &str) -> bool {
    let key = flag.replace('-', " ");
    let requires_key = key.strip_suffix(" wanted").map(|subject| format!("Requires {subject}"));
    let says_yes = |key: &str| {
        let value = ticket.field(key).unwrap_or_default().to_lowercase();
        ["yes", "true"].iter().any(|yes| value.starts_with(yes))
    };
    says_yes(&key) || requires_key.is_some_and(|key| says_yes(&key))
}
