//! From one entry of the journal to the tables that people and faces read. The only writer of those tables, so that
//! making them again from the journal gives the same rows.

mod command;
mod evidence;
mod finding;
mod gate;
mod ruling;
mod run;
mod task;

use crate::entry::Entry;
use crate::error::Fault;
use crate::fact::Millis;
use remand_kernel::command::Command;
use remand_kernel::event::{Event, Item};
use rusqlite::Connection;

pub(crate) use command::open_commands;

/// Where an entry stands in the journal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    /// In the whole journal.
    pub id: i64,
    /// In its run.
    pub seq: i64,
    pub at: Millis,
}

/// What the tables of a run hold already, so that only what changed is written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memo {
    findings: Vec<finding::Mark>,
    tasks: Vec<Item>,
}

impl Memo {
    /// What the tables hold of a run that another process wrote.
    pub(crate) fn load(conn: &Connection, run: &str) -> Result<Memo, Fault> {
        Ok(Memo { findings: finding::marks(conn, run)?, tasks: task::listed(conn, run)? })
    }
}

/// Everything that a projection looks at.
struct Projection<'a> {
    conn: &'a Connection,
    entry: &'a Entry<'a>,
    placed: Placed,
}

/// Brings all tables up to date with one entry.
pub(crate) fn project(
    conn: &Connection,
    entry: &Entry<'_>,
    placed: Placed,
    memo: &mut Memo,
) -> Result<(), Fault> {
    let projection = Projection { conn, entry, placed };
    projection.run()?;
    projection.tasks(&mut memo.tasks)?;
    projection.happened()?;
    projection.rulings()?;
    projection.issued()?;
    projection.findings(&mut memo.findings)?;
    projection.checks()?;
    projection.artifacts()?;
    projection.notes()
}

impl Projection<'_> {
    /// What the event closes.
    fn happened(&self) -> Result<(), Fault> {
        match self.entry.event {
            Event::Ended { id, outcome, usage } => self.ended(*id, outcome, usage),
            Event::Answered { id, option, by, note, flags } => {
                self.answered(*id, gate::Answer { option, by, note, flags })
            }
            Event::Started(_)
            | Event::Cancelled { .. }
            | Event::Paused { .. }
            | Event::Resumed { .. }
            | Event::RolledBack { .. }
            | Event::ApproachRemoved { .. } => Ok(()),
        }
    }

    /// What the step opened and withdrew.
    fn issued(&self) -> Result<(), Fault> {
        for command in &self.entry.step.commands {
            match command {
                Command::Dispatch(dispatch) => self.dispatched(dispatch)?,
                Command::Operate { id, operation, task, .. } => {
                    self.operated(*id, *operation, task.as_deref())?;
                }
                Command::Ask(question) => self.asked(question)?,
                Command::Cancel { id } => {
                    self.cancelled(*id)?;
                    self.withdrawn(*id)?;
                }
                Command::Discard { .. } | Command::Restore { .. } | Command::Finish { .. } => {}
            }
        }
        Ok(())
    }
}
