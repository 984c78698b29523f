//! From one event of the journal to the tables that people and faces read. The only writer of those tables, so that
//! making them again from the journal gives the same rows.

mod command;
mod correction;
mod evidence;
mod finding;
mod gate;
mod ruling;
mod run;
mod task;

use crate::error::Fault;
use crate::fact::{Facts, Millis, RunId};
use command::Untold;
use remand_kernel::command::Command;
use remand_kernel::event::{Event, Item};
use remand_kernel::{Program, State, Step};
use rusqlite::Connection;

/// Where an event stands in the journal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    /// In the whole journal.
    pub id: i64,
    /// In its run.
    pub seq: i64,
    pub at: Millis,
}

impl Placed {
    /// Numbers the rows that an event makes in a table, over all runs in the order of the journal.
    fn row(self, n: i64) -> i64 {
        self.id << 16 | n
    }
}

/// One event of the journal, lived through again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lived<'l> {
    pub run: &'l RunId,
    pub program: &'l Program,
    pub event: &'l Event,
    pub facts: &'l Facts,
    pub step: &'l Step,
    /// After the step.
    pub state: &'l State,
}

/// What the tables of a run hold already, so that only what changed is written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memo {
    findings: Vec<finding::Mark>,
    sendings: correction::Sendings,
    tasks: Vec<Item>,
    untold: Untold,
}

impl Memo {
    /// What the tables hold of a run that another process wrote.
    pub(crate) fn load(conn: &Connection, run: &str) -> Result<Memo, Fault> {
        Ok(Memo {
            findings: finding::marks(conn, run)?,
            sendings: correction::sendings(conn, run)?,
            tasks: task::listed(conn, run)?,
            untold: command::untold(conn, run)?,
        })
    }
}

/// Everything that a projection looks at.
struct Projection<'a> {
    conn: &'a Connection,
    lived: &'a Lived<'a>,
    placed: Placed,
}

/// Brings all tables up to date with one event.
pub(crate) fn project(
    conn: &Connection,
    lived: &Lived<'_>,
    placed: Placed,
    memo: &mut Memo,
) -> Result<(), Fault> {
    let projection = Projection { conn, lived, placed };
    projection.run()?;
    projection.tasks(&mut memo.tasks)?;
    projection.happened(&mut memo.untold)?;
    projection.rulings()?;
    projection.issued(&mut memo.untold)?;
    projection.findings(&mut memo.findings)?;
    projection.corrections(&mut memo.sendings)?;
    projection.checks()?;
    projection.artifacts()?;
    projection.notes()
}

impl Projection<'_> {
    /// What the event closes.
    fn happened(&self, untold: &mut Untold) -> Result<(), Fault> {
        match self.lived.event {
            Event::Ended { id, outcome, usage } => self.ended(*id, outcome, usage, untold),
            Event::Interrupted { id, began: true, usage } => self.interrupted(*id, usage, untold),
            Event::Answered { id, option, by, note, flags, .. } => {
                self.answered(*id, gate::Answer { option, by, note, flags })
            }
            Event::Started(_)
            | Event::Interrupted { began: false, .. }
            | Event::Cancelled { .. }
            | Event::Paused { .. }
            | Event::Resumed { .. }
            | Event::RolledBack { .. }
            | Event::ApproachRemoved { .. }
            | Event::Reattributed { .. }
            | Event::Reverted { .. } => Ok(()),
        }
    }

    /// What the step opened and withdrew.
    fn issued(&self, untold: &mut Untold) -> Result<(), Fault> {
        for (command, n) in self.lived.step.commands.iter().zip(0..) {
            match command {
                Command::Dispatch(dispatch) => self.dispatched(dispatch, n, untold)?,
                Command::Operate { id, operation, task, .. } => {
                    self.operated(*id, *operation, task.as_deref(), n, untold)?;
                }
                Command::Ask(question) => self.asked(question)?,
                Command::Cancel { id } => {
                    self.cancelled(*id, untold)?;
                    self.withdrawn(*id)?;
                }
                Command::Discard { .. } | Command::Restore { .. } | Command::Finish { .. } => {}
            }
        }
        Ok(())
    }
}
