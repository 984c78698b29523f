//! One view of a run for all readers: a snapshot at a sequence number, and the changes since.
//!
//! `Reader::run_view` reads tables and replays nothing; `Reader::changes_since` returns later events. Status,
//! progress, JSON and pages render the same types.

mod change;
mod past;

use crate::column::{Count, Json, Word};
use crate::error::LedgerError;
use crate::fact::{Delivery, Millis, RunId};
use crate::limit::LimitKind;
use crate::query::{FindingRow, GateRow, Reader, RunRow, TaskSummary};
use remand_kernel::program::Confidence;
use rusqlite::OptionalExtension;
use serde::Serialize;
use std::fmt;

pub use crate::detail::{BudgetLeft, RunDetail, TaskDetail, TaskState};
pub use crate::position::{HoldReason, LanePosition, RunPosition};
pub use change::{CommandKind, CommandView, RunChange};
pub use past::PastView;

const DETAIL: &str = "SELECT body FROM run_details WHERE run = ?1";
const LAST: &str = "SELECT coalesce(max(seq), 0) FROM events WHERE run = ?1";
const OPEN: &str =
    "SELECT command, commands.kind, phase, name, item, task, advisory, attempt, retries, started_at
    FROM events JOIN commands ON commands.id BETWEEN events.id << 16 AND events.id << 16 | 65535
    WHERE events.run = ?1 AND status = 'running' ORDER BY commands.id";

/// The state of a run after one of its events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunView {
    /// The last event that the view includes; `changes_since` continues from it.
    pub seq: u64,
    /// Number of journal events that the tables lack. It is above zero if this version cannot replay the run.
    pub lag: u64,
    pub row: RunRow,
    /// Who asked for the run; `None` if an older version started it.
    pub by: Option<String>,
    /// `None` if the ledger was upgraded and cannot be replayed.
    pub detail: Option<RunDetail>,
    /// The current list first, then tasks that a later plan dropped.
    pub tasks: Vec<TaskOverview>,
    /// Dispatches and operations that have not ended, in the order they were issued.
    pub open: Vec<OpenCommand>,
    /// Gates that wait for an answer.
    pub gates: Vec<GateRow>,
    pub findings: Vec<FindingRow>,
    /// Requests from other processes, such as a gate answer, that no driving process has handled yet.
    pub requests: usize,
    /// Dispatches that ended without reporting their tokens.
    pub unreported_tokens: u64,
    /// What happened to the work, if an operation reported it.
    pub delivery: Option<Delivery>,
}

/// One task with its checks and its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaskOverview {
    #[serde(flatten)]
    pub summary: TaskSummary,
    #[serde(serialize_with = "serialize_as_text")]
    pub state: TaskState,
    /// How much is left of each budget of its sub-flow, by name.
    #[serde(rename = "left")]
    pub rounds_left: Vec<(String, u16)>,
}

/// A dispatch or an operation that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenCommand {
    pub command: String,
    pub kind: OpenKind,
    pub phase: String,
    /// The role, or the operation.
    pub name: String,
    pub item: Option<String>,
    pub task: Option<String>,
    pub advisory: bool,
    /// The number of this attempt on its seat, from 1.
    pub attempt: u16,
    /// Failures on the same seat before this attempt.
    pub retries: u16,
    /// When the command was issued.
    pub started_at: Millis,
}

/// Whether an open command is a dispatch or an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpenKind {
    Dispatch,
    Operation,
}

crate::column::column_words! {
    OpenKind {
        OpenKind::Dispatch => "dispatch",
        OpenKind::Operation => "operation",
    }
}

/// One limit of a run, and how much of it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Allowance {
    pub limit: LimitKind,
    /// In total, since the run started.
    pub used: u64,
    /// Since a human last granted more; equal to `used` if nobody did.
    pub used_since_grant: u64,
    /// `None` means no limit.
    pub amount: Option<u64>,
}

impl Allowance {
    /// The amount until the run stops and asks; `None` without a limit.
    pub fn left(&self) -> Option<u64> {
        self.amount.map(|amount| amount.saturating_sub(self.used_since_grant))
    }
}

impl RunView {
    /// The confidence in the result so far.
    pub fn confidence(&self) -> Confidence {
        self.row.confidence_level()
    }

    /// Dispatches, tokens, money and time, each against its limit.
    pub fn allowances(&self) -> [Allowance; 4] {
        let (used, limits) = (&self.row.used, &self.row.limits);
        let granted = self.detail.as_ref().map(|detail| detail.granted).unwrap_or_default();
        let allowance = |limit, used: u64, granted: u64, amount| Allowance {
            limit,
            used,
            used_since_grant: used.saturating_sub(granted),
            amount,
        };
        [
            allowance(LimitKind::Dispatches, used.dispatches, granted.dispatches, limits.dispatches),
            allowance(LimitKind::Tokens, used.tokens, granted.tokens, limits.tokens),
            allowance(LimitKind::Money, used.money, granted.money, limits.money),
            allowance(LimitKind::Time, used.time, granted.time, limits.time),
        ]
    }
}

impl fmt::Display for OpenCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            OpenKind::Dispatch => write!(f, "dispatch {} for {}", self.name, self.phase)?,
            OpenKind::Operation => write!(f, "do {}", self.name)?,
        }
        if let Some(task) = &self.task {
            write!(f, "[{task}]")?;
        }
        if let Some(item) = &self.item {
            write!(f, " ({item})")?;
        }
        if self.advisory { f.write_str(" as advisor") } else { Ok(()) }
    }
}

impl Reader {
    /// Reads a run from its tables, in one snapshot.
    pub fn run_view(&self, run: &RunId) -> Result<RunView, LedgerError> {
        let _snapshot = self.begin_read()?;
        let row = self.run(&run.0)?;
        let (detail, last) = self.read(|conn| {
            let mut statement = conn.prepare_cached(DETAIL)?;
            let detail = statement.query_row([run], |row| row.get::<_, Json<RunDetail>>(0)).optional()?;
            let last = conn.prepare_cached(LAST)?.query_row([run], |row| row.get::<_, Count>(0))?;
            Ok((detail.map(|json| json.0), last.0))
        })?;
        Ok(RunView {
            seq: row.seq,
            lag: last.saturating_sub(row.seq),
            tasks: overviews(self.task_summaries(run)?, detail.as_ref()),
            open: self.open_commands(run)?,
            gates: self.gates(run)?.into_iter().filter(GateRow::is_open).collect(),
            findings: self.findings(run)?,
            requests: self.requests(run)?.len(),
            unreported_tokens: self.totals(run)?.unmetered,
            by: self.run_opening(run)?.and_then(|opening| opening.by),
            delivery: self.deliveries(run)?.pop().map(|row| row.delivery),
            detail,
            row,
        })
    }

    /// The dispatches and operations of a run that have not ended, in the order they were issued.
    pub fn open_commands(&self, run: &RunId) -> Result<Vec<OpenCommand>, LedgerError> {
        self.rows(OPEN, [run], |row| {
            Ok(OpenCommand {
                command: row.get(0)?,
                kind: row.get::<_, Word<OpenKind>>(1)?.0,
                phase: row.get(2)?,
                name: row.get(3)?,
                item: row.get(4)?,
                task: row.get(5)?,
                advisory: row.get(6)?,
                attempt: row.get(7)?,
                retries: row.get(8)?,
                started_at: row.get(9)?,
            })
        })
    }
}

fn overviews(summaries: Vec<TaskSummary>, detail: Option<&RunDetail>) -> Vec<TaskOverview> {
    let overview = |summary: TaskSummary| {
        let Some(detail) = detail else {
            return TaskOverview { summary, state: TaskState::Unknown, rounds_left: Vec::new() };
        };
        let task = detail.tasks.iter().find(|task| task.task == summary.task).filter(|_| summary.listed);
        let state = task.map_or(TaskState::Dropped, |task| task.state.clone());
        let rounds_left = task.map(|task| task.rounds_left.clone()).unwrap_or_default();
        TaskOverview { summary, state, rounds_left }
    };
    summaries.into_iter().map(overview).collect()
}

fn serialize_as_text<S: serde::Serializer>(state: &TaskState, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(state)
}
