//! Projects one event of the journal into the tables that readers query. Nothing else writes to those tables, so a
//! rebuild gives the same rows.

mod command;
mod correction;
mod evidence;
mod finding;
mod gate;
mod old_prose;
mod proof;
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

/// The position of an event in the journal and in its run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventSlot {
    /// The number in the whole journal.
    pub id: i64,
    /// The number in its run.
    pub seq: i64,
    pub at: Millis,
}

impl EventSlot {
    /// The id of the n-th row that the event adds to a table. Ids sort in the order of the journal.
    fn row_id(self, n: i64) -> i64 {
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
    /// The state after the step.
    pub state: &'l State,
}

/// What the tables hold of a run, so that only changes are written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memo {
    findings: Vec<finding::FindingProgress>,
    sendings: correction::Sendings,
    tasks: Vec<Item>,
    unreported: Unreported,
    /// The stored detail of the run; empty if there is none.
    detail: String,
}

impl Memo {
    /// Reads what the tables hold of a run.
    pub(crate) fn load(conn: &Connection, run: &str) -> Result<Memo, Fault> {
        Ok(Memo {
            findings: finding::load_progress(conn, run)?,
            sendings: correction::load_sendings(conn, run)?,
            tasks: task::load_tasks(conn, run)?,
            unreported: command::load_unreported(conn, run)?,
            detail: run::load_detail(conn, run)?,
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
    // The row of the run names what happened to its work.
    projection.project_delivery()?;
    projection.project_run(&mut memo.detail)?;
    projection.project_tasks(&mut memo.tasks)?;
    projection.close_rows(&mut memo.unreported)?;
    projection.project_rulings()?;
    projection.open_rows(&mut memo.unreported)?;
    projection.project_findings(&mut memo.findings)?;
    projection.project_corrections(&mut memo.sendings)?;
    projection.project_checks()?;
    projection.project_artifacts()?;
    projection.project_notes()?;
    projection.project_proof()
}

impl Projection<'_> {
    /// Completes the rows that the event closes.
    fn close_rows(&self, unreported: &mut Unreported) -> Result<(), Fault> {
        match self.replayed.event {
            Event::Ended { id, outcome, usage } => self.end_command(*id, outcome, usage, unreported),
            Event::Interrupted { id, began: true, usage } => self.record_interruption(*id, usage, unreported),
            Event::Answered { id, option, by, note, flags, .. } => {
                self.answer_gate(*id, gate::GateAnswer { option, by, note, flags })
            }
            Event::Started(_)
            | Event::Interrupted { began: false, .. }
            | Event::Cancelled { .. }
            | Event::Paused { .. }
            | Event::Resumed { .. }
            | Event::Retried { .. }
            | Event::RolledBack { .. }
            | Event::ApproachRemoved { .. }
            | Event::Reattributed { .. }
            | Event::Reverted { .. } => Ok(()),
        }
    }

    /// Adds the rows of the commands that the step issued, and closes the rows of those that it cancelled.
    fn open_rows(&self, unreported: &mut Unreported) -> Result<(), Fault> {
        for (command, n) in self.replayed.step.commands.iter().zip(0..) {
            match command {
                Command::Dispatch(dispatch) => self.open_dispatch(dispatch, n, unreported)?,
                Command::Operate { id, operation, task, .. } => {
                    self.open_operation(*id, *operation, task.as_deref(), n, unreported)?;
                }
                Command::Ask(question) => self.open_gate(question)?,
                Command::Cancel { id } => {
                    self.cancel_command(*id, unreported)?;
                    self.withdraw_gate(*id)?;
                }
                Command::Discard { .. } | Command::Restore { .. } | Command::Finish { .. } => {}
            }
        }
        Ok(())
    }
}
