//! What one event changed, for readers that follow a run: from the journal, or from a step that was just committed.

use crate::entry::JournalEntry;
use crate::error::LedgerError;
use crate::fact::{Check, Millis, Note, RunId};
use crate::history;
use crate::query::Reader;
use crate::replay_error::{ReplayError, ReplayFailure};
use remand_kernel::command::Command;
use remand_kernel::view::{self, RulingView};
use remand_kernel::{Event, Outcome, Program, State};
use serde::Serialize;
use std::collections::BTreeMap;

/// One event of a run and its consequences, with names instead of ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunChange {
    /// The number of the event in its run.
    pub seq: u64,
    pub at: Millis,
    pub notes: Vec<Note>,
    pub checks: Vec<Check>,
    pub rulings: Vec<RulingView>,
    pub commands: Vec<CommandView>,
    /// Ids of commands that are no longer open: ended, answered or cancelled.
    pub closed: Vec<String>,
    /// The dispatch that the event reports as failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// A command that was issued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommandView {
    /// `None` for a command that no event completes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub kind: CommandKind,
    /// The command in one line.
    pub text: String,
}

/// The kind of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandKind {
    Dispatch,
    Operation,
    Question,
    Cancel,
    Discard,
    Restore,
    Finish,
}

impl RunChange {
    /// The change that a step made, from the memory of the driving process that has just committed it.
    pub fn of(program: &Program, state: &State, seq: u64, entry: &JournalEntry<'_>) -> RunChange {
        let rulings = entry.step.rulings.iter().map(|ruling| view::ruling(program, state, ruling)).collect();
        RunChange {
            seq,
            at: entry.at,
            notes: entry.facts.notes.clone(),
            checks: entry.facts.checks.clone(),
            rulings,
            commands: entry.step.commands.iter().map(|command| CommandView::of(program, command)).collect(),
            closed: closed_commands(entry.event, &entry.step.commands),
            failed: failed_dispatch(program, entry.event),
        }
    }
}

impl CommandView {
    pub fn of(program: &Program, command: &Command) -> CommandView {
        CommandView {
            id: command.id().map(|id| id.to_string()),
            kind: match command {
                Command::Dispatch(_) => CommandKind::Dispatch,
                Command::Operate { .. } => CommandKind::Operation,
                Command::Ask(_) => CommandKind::Question,
                Command::Cancel { .. } => CommandKind::Cancel,
                Command::Discard { .. } => CommandKind::Discard,
                Command::Restore { .. } => CommandKind::Restore,
                Command::Finish { .. } => CommandKind::Finish,
            },
            text: view::command(program, command),
        }
    }
}

impl Reader {
    /// The changes of a run after the event with this number, in order. Nothing is replayed.
    pub fn changes_since(&self, run: &RunId, seq: u64) -> Result<Vec<RunChange>, LedgerError> {
        let _snapshot = self.begin_read()?;
        let rows = self.journal(run, seq)?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let mut rulings: BTreeMap<u64, Vec<RulingView>> = BTreeMap::new();
        for row in self.rulings(run, seq)? {
            rulings.entry(row.seq).or_default().push(row.ruling);
        }
        let program = self.program_of(run)?;
        Ok(rows
            .into_iter()
            .map(|row| RunChange {
                seq: row.seq,
                at: row.at,
                rulings: rulings.remove(&row.seq).unwrap_or_default(),
                commands: row.commands.iter().map(|command| CommandView::of(&program, command)).collect(),
                closed: closed_commands(&row.event, &row.commands),
                failed: failed_dispatch(&program, &row.event),
                notes: row.facts.notes,
                checks: row.facts.checks,
            })
            .collect())
    }

    /// The program that a run is pinned to.
    fn program_of(&self, run: &RunId) -> Result<std::sync::Arc<Program>, LedgerError> {
        let conn = self.connection();
        let read = || -> Result<std::sync::Arc<Program>, ReplayFailure> {
            let pinned = history::pinned_of(conn, run)?;
            self.program(pinned, || history::read_program(conn, run, pinned))
        };
        read().map_err(|failure| match failure.at_path(self.path()) {
            ReplayError::Ledger(error) => error,
            other => LedgerError::Undecodable {
                path: self.path().to_path_buf(),
                what: format!("the program of run {run}"),
                detail: other.to_string(),
            },
        })
    }
}

/// The dispatch whose failure an event reports.
fn failed_dispatch(program: &Program, event: &Event) -> Option<String> {
    match event {
        Event::Ended { id, outcome: Outcome::Failed { .. }, .. } => {
            let phase = program.phases.get(id.phase.index())?;
            (!phase.contracts().is_empty()).then(|| id.to_string())
        }
        _ => None,
    }
}

fn closed_commands(event: &Event, commands: &[Command]) -> Vec<String> {
    let completed = match event {
        Event::Ended { id, .. } | Event::Answered { id, .. } => Some(*id),
        Event::Started(_)
        | Event::Interrupted { .. }
        | Event::Cancelled { .. }
        | Event::Paused { .. }
        | Event::Resumed { .. }
        | Event::Retried { .. }
        | Event::RolledBack { .. }
        | Event::ApproachRemoved { .. }
        | Event::Reattributed { .. }
        | Event::Reverted { .. } => None,
    };
    let cancelled = commands.iter().filter_map(|command| match command {
        Command::Cancel { id } => Some(*id),
        Command::Dispatch(_)
        | Command::Operate { .. }
        | Command::Ask(_)
        | Command::Discard { .. }
        | Command::Restore { .. }
        | Command::Finish { .. } => None,
    });
    completed.into_iter().chain(cancelled).map(|id| id.to_string()).collect()
}
