//! Projects one event of the journal into the tables that readers query. The only writer of those tables, so a rebuild
//! gives the same rows.

mod command;
mod correction;
mod evidence;
mod finding;
mod gate;
mod old_prose;
mod ruling;
mod run;
mod task;

use crate::error::Fault;
use crate::fact::{Facts, Millis, RunId};
use command::Unreported;
use remand_kernel::command::Command;
use remand_kernel::event::{Event, Item};
use remand_kernel::{Program, State, Step};
use rusqlite::Connection;

/// The place of an event in the journal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventSlot {
    /// In the whole journal.
    pub id: i64,
    /// In its run.
    pub seq: i64,
    pub at: Millis,
}

impl EventSlot {
    /// The id of the n-th row that an event adds to a table. Ids sort in the order of the journal.
    fn row(self, n: i64) -> i64 {
        self.id << 16 | n
    }
}

/// One event of the journal with its step, and the state after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplayedEvent<'l> {
    pub run: &'l RunId,
    pub program: &'l Program,
    pub event: &'l Event,
    pub facts: &'l Facts,
    pub step: &'l Step,
    /// After the step.
    pub state: &'l State,
}

/// What the tables of a run hold, so that only changes are written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memo {
    findings: Vec<finding::FindingProgress>,
    sendings: correction::Sendings,
    tasks: Vec<Item>,
    unreported: Unreported,
    /// The run's detail as its row holds it; empty for unknown.
    detail: String,
}

impl Memo {
    /// Reads what the tables hold of a run that another process wrote.
    pub(crate) fn load(conn: &Connection, run: &str) -> Result<Memo, Fault> {
        Ok(Memo {
            findings: finding::progress(conn, run)?,
            sendings: correction::sendings(conn, run)?,
            tasks: task::listed(conn, run)?,
            unreported: command::unreported(conn, run)?,
            detail: run::stored_detail(conn, run)?,
        })
    }
}

/// The projection of one event.
struct Projection<'a> {
    conn: &'a Connection,
    replayed: &'a ReplayedEvent<'a>,
    slot: EventSlot,
}

/// Projects one event into all tables.
pub(crate) fn project(
    conn: &Connection,
    replayed: &ReplayedEvent<'_>,
    slot: EventSlot,
    memo: &mut Memo,
) -> Result<(), Fault> {
    let projection = Projection { conn, replayed, slot };
    projection.run(&mut memo.detail)?;
    projection.tasks(&mut memo.tasks)?;
    projection.event(&mut memo.unreported)?;
    projection.rulings()?;
    projection.issued(&mut memo.unreported)?;
    projection.findings(&mut memo.findings)?;
    projection.corrections(&mut memo.sendings)?;
    projection.checks()?;
    projection.artifacts()?;
    projection.notes()?;
    projection.delivery()
}

impl Projection<'_> {
    /// Rows that the event closes.
    fn event(&self, unreported: &mut Unreported) -> Result<(), Fault> {
        match self.replayed.event {
            Event::Ended { id, outcome, usage } => self.ended(*id, outcome, usage, unreported),
            Event::Interrupted { id, began: true, usage } => self.interrupted(*id, usage, unreported),
            Event::Answered { id, option, by, note, flags, .. } => {
                self.answered(*id, gate::GateAnswer { option, by, note, flags })
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

    /// Rows that the step opens and withdraws.
    fn issued(&self, unreported: &mut Unreported) -> Result<(), Fault> {
        for (command, n) in self.replayed.step.commands.iter().zip(0..) {
            match command {
                Command::Dispatch(dispatch) => self.dispatched(dispatch, n, unreported)?,
                Command::Operate { id, operation, task, .. } => {
                    self.operated(*id, *operation, task.as_deref(), n, unreported)?;
                }
                Command::Ask(question) => self.asked(question)?,
                Command::Cancel { id } => {
                    self.cancelled(*id, unreported)?;
                    self.withdrawn(*id)?;
                }
                Command::Discard { .. } | Command::Restore { .. } | Command::Finish { .. } => {}
            }
        }
        Ok(())
    }
}
