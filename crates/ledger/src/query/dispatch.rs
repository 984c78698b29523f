//! Dispatches with their telemetry.

use super::Reader;
use crate::column::{ColumnWord, Count, Word, column_words};
use crate::error::LedgerError;
use crate::fact::{BlobId, MalformedCause, Millis, RunId, TokenCounts};
use remand_kernel::ids::CommandId;
use remand_kernel::signal::Failure;
use rusqlite::Row;
use serde::{Deserialize, Serialize};

const COLUMNS: &str = "run, seq, command, phase, role, item, task, advisory, visit, attempt, started_at, completed_at,
    status, retries, tokens, money, time, model, driver, session, says, failure, detail, summary, prompt, output,
    exit_code, result, before, after, tokens_in, tokens_out, tokens_cached, tokens_stored, price,
    (SELECT malformed FROM commands WHERE commands.id = dispatches.id)";

/// How the dispatches of a driver ended, latest first. Results that arrived too late for their run are left out.
const ENDED: &str =
    "SELECT failure FROM dispatches WHERE driver = ?1 AND ended_by IS NOT NULL ORDER BY ended_by DESC";

/// Counts the interruptions of a command; `interruption_id` builds their ids.
const INTERRUPTIONS: &str =
    "SELECT count(*) FROM dispatches WHERE run = ?1 AND substr(command, 1, length(?2) + 1) = ?2 || '~'";

/// The status of a dispatch or an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DispatchStatus {
    #[serde(rename = "running")]
    Running,
    #[serde(rename = "DONE")]
    Done,
    #[serde(rename = "NEEDS_REVISION")]
    NeedsRevision,
    #[serde(rename = "ERROR")]
    Error,
}

column_words! {
    DispatchStatus {
        DispatchStatus::Running => "running",
        DispatchStatus::Done => "DONE",
        DispatchStatus::NeedsRevision => "NEEDS_REVISION",
        DispatchStatus::Error => "ERROR",
    }
}

impl DispatchStatus {
    pub fn name(self) -> &'static str {
        self.word()
    }
}

/// One dispatch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DispatchRow {
    pub run: RunId,
    /// The event that it was issued with.
    pub seq: u64,
    pub command: String,
    pub phase: String,
    pub role: String,
    pub item: Option<String>,
    pub task: Option<String>,
    pub advisory: bool,
    pub visit: u16,
    pub attempt: u16,
    pub started_at: Millis,
    pub completed_at: Option<Millis>,
    pub status: DispatchStatus,
    pub retries: u16,
    /// `None` if the agent did not report them.
    pub tokens: Option<u64>,
    /// Micro-units of the currency; `None` if unknown.
    pub money: Option<u64>,
    pub time: Option<u64>,
    pub model: Option<String>,
    pub driver: Option<String>,
    pub session: Option<String>,
    pub says: Option<String>,
    pub failure: Option<String>,
    pub detail: Option<String>,
    pub summary: Option<String>,
    pub prompt: Option<BlobId>,
    pub output: Option<BlobId>,
    pub exit_code: Option<i32>,
    /// The result as the agent left it, valid or not.
    pub result: Option<BlobId>,
    /// The git trees before and after the dispatch.
    pub before: Option<String>,
    pub after: Option<String>,
    /// The tokens by kind; `None` if the agent did not report them.
    pub spent: Option<TokenCounts>,
    /// The price that the cost was computed from; `None` if the agent reported the cost, or the cost is unknown.
    pub price: Option<String>,
    /// Why the result was refused, if `failure` is `malformed`.
    #[serde(skip)]
    pub malformed: Option<MalformedCause>,
}

impl Reader {
    /// The dispatches of a run, in the order they were issued.
    pub fn dispatches(&self, run: &RunId) -> Result<Vec<DispatchRow>, LedgerError> {
        self.rows(&format!("SELECT {COLUMNS} FROM dispatches WHERE run = ?1 ORDER BY seq, n"), [run], decode)
    }

    /// The dispatch of a command.
    pub fn dispatch(&self, run: &RunId, command: &str) -> Result<Option<DispatchRow>, LedgerError> {
        let sql = format!("SELECT {COLUMNS} FROM dispatches WHERE run = ?1 AND command = ?2");
        Ok(self.rows(&sql, (run, command), decode)?.into_iter().next())
    }

    /// The number of recorded interruptions of a command.
    pub fn interruptions(&self, run: &RunId, command: &str) -> Result<u64, LedgerError> {
        self.read_tables(|conn| {
            let count =
                conn.prepare_cached(INTERRUPTIONS)?.query_row((run, command), |row| row.get::<_, Count>(0));
            Ok(count?.0)
        })
    }

    /// Dispatches of a run whose usage is not reported yet, in the order they were issued: they are running, or were
    /// cancelled and have not exited.
    pub fn unreported_dispatches(&self, run: &RunId) -> Result<Vec<String>, LedgerError> {
        let sql = "SELECT command FROM dispatches WHERE run = ?1 AND time IS NULL ORDER BY seq, n";
        self.rows(sql, [run], |row| row.get(0))
    }

    /// Consecutive environment failures of a driver over all runs, or of the seat of this command, whichever is more.
    ///
    /// The driver may succeed on other seats, for example with another model, while this seat keeps failing.
    pub fn environment_failures_in_a_row(
        &self,
        driver: &str,
        run: &RunId,
        command: CommandId,
    ) -> Result<u16, LedgerError> {
        let driver_failures = self.read_tables(|conn| {
            let mut statement = conn.prepare_cached(ENDED)?;
            let mut rows = statement.query([driver])?;
            let mut count: u16 = 0;
            while let Some(row) = rows.next()?
                && is_environment_failure(row.get::<_, Option<String>>(0)?.as_deref())
            {
                count = count.saturating_add(1);
            }
            Ok(count)
        })?;
        let mut seat_failures: u16 = 0;
        for attempt in (1..command.attempt).rev() {
            let previous = self.dispatch(run, &CommandId { attempt, ..command }.to_string())?;
            if !previous.is_some_and(|row| is_environment_failure(row.failure.as_deref())) {
                break;
            }
            seat_failures = seat_failures.saturating_add(1);
        }
        Ok(driver_failures.max(seat_failures))
    }
}

fn is_environment_failure(failure: Option<&str>) -> bool {
    failure == Some(Failure::Environment.name())
}

fn token_counts(row: &Row<'_>) -> rusqlite::Result<Option<TokenCounts>> {
    let count = |column: usize| row.get::<_, Option<Count>>(column).map(|count| count.map(|count| count.0));
    let (input, output, cached, stored) = (count(30)?, count(31)?, count(32)?, count(33)?);
    let or_zero = |kind: Option<u64>| kind.unwrap_or(0);
    Ok(input.map(|input| TokenCounts {
        input,
        output: or_zero(output),
        cached: or_zero(cached),
        stored: or_zero(stored),
    }))
}

fn decode(row: &Row<'_>) -> rusqlite::Result<DispatchRow> {
    let count = |column: usize| row.get::<_, Option<Count>>(column).map(|count| count.map(|count| count.0));
    Ok(DispatchRow {
        run: row.get(0)?,
        seq: row.get::<_, Count>(1)?.0,
        command: row.get(2)?,
        phase: row.get(3)?,
        role: row.get(4)?,
        item: row.get(5)?,
        task: row.get(6)?,
        advisory: row.get(7)?,
        visit: row.get(8)?,
        attempt: row.get(9)?,
        started_at: row.get(10)?,
        completed_at: row.get(11)?,
        status: row.get::<_, Word<DispatchStatus>>(12)?.0,
        retries: row.get(13)?,
        tokens: count(14)?,
        money: count(15)?,
        time: count(16)?,
        model: row.get(17)?,
        driver: row.get(18)?,
        session: row.get(19)?,
        says: row.get(20)?,
        failure: row.get(21)?,
        detail: row.get(22)?,
        summary: row.get(23)?,
        prompt: row.get(24)?,
        output: row.get(25)?,
        exit_code: row.get(26)?,
        result: row.get(27)?,
        before: row.get(28)?,
        after: row.get(29)?,
        spent: token_counts(row)?,
        price: row.get(34)?,
        malformed: row.get::<_, Option<Word<MalformedCause>>>(35)?.map(|word| word.0),
    })
}
