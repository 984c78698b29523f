//! The totals of a run, and the check results of each of its tasks.

use super::Reader;
use crate::column::{Count, Json};
use crate::error::LedgerError;
use crate::fact::RunId;
use serde::Serialize;

/// Counts rows that are not superseded. A check counts as regressed if it passed at the baseline and fails now.
const TASKS: &str = "SELECT tasks.id, tasks.needs, tasks.files, tasks.listed,
    (SELECT count(*) FROM checks WHERE run = ?1 AND task_id = tasks.id AND phase = 'after'
        AND superseded = 0 AND passed = 1),
    (SELECT count(*) FROM checks WHERE run = ?1 AND task_id = tasks.id AND phase = 'after'
        AND superseded = 0 AND passed = 0),
    (SELECT count(*) FROM checks AS after WHERE after.run = ?1 AND after.task_id = tasks.id
        AND after.phase = 'after' AND after.superseded = 0 AND after.passed = 0
        AND EXISTS (SELECT 1 FROM checks AS before WHERE before.run = ?1
            AND (before.task_id = tasks.id OR before.task_id IS NULL) AND before.phase = 'baseline'
            AND before.superseded = 0 AND before.name = after.name AND before.passed = 1)),
    (SELECT max(iteration) FROM checks WHERE run = ?1 AND task_id = tasks.id AND phase = 'after'
        AND superseded = 0)
    FROM tasks WHERE tasks.run = ?1 ORDER BY tasks.listed DESC, tasks.position, tasks.id";

const TOTALS: &str = "SELECT
    (SELECT count(*) FROM events WHERE run = ?1),
    (SELECT count(*) FROM events JOIN rulings ON rulings.id BETWEEN events.id << 16 AND events.id << 16 | 65535
        WHERE events.run = ?1),
    (SELECT count(*) FROM dispatches WHERE run = ?1),
    (SELECT count(*) FROM dispatches WHERE run = ?1 AND status = 'ERROR'),
    (SELECT coalesce(sum(retries > 0), 0) FROM dispatches WHERE run = ?1),
    (SELECT count(*) FROM operations WHERE run = ?1),
    (SELECT count(*) FROM checks WHERE run = ?1 AND superseded = 0 AND phase = 'after' AND passed = 1),
    (SELECT count(*) FROM checks WHERE run = ?1 AND superseded = 0 AND phase = 'after' AND passed = 0),
    (SELECT count(*) FROM checks WHERE run = ?1 AND superseded = 1),
    (SELECT count(*) FROM findings WHERE run = ?1),
    (SELECT count(*) FROM findings WHERE run = ?1 AND status IN ('open', 'passed-on')),
    (SELECT count(*) FROM findings WHERE run = ?1 AND known = 1),
    (SELECT count(*) FROM gates WHERE run = ?1),
    (SELECT coalesce(sum(tokens), 0) FROM dispatches WHERE run = ?1),
    (SELECT coalesce(sum(money), 0) FROM dispatches WHERE run = ?1),
    (SELECT count(*) FROM dispatches WHERE run = ?1 AND status <> 'running' AND money IS NULL),
    (SELECT count(*) FROM dispatches WHERE run = ?1 AND status <> 'running' AND tokens IS NULL),
    (SELECT coalesce(sum(time), 0) FROM dispatches WHERE run = ?1)
        + (SELECT coalesce(sum(time), 0) FROM operations WHERE run = ?1)";

/// The checks of one task, without superseded rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaskSummary {
    pub task: String,
    pub needs: Vec<String>,
    pub files: Vec<String>,
    /// Whether the task is on the current list. A later plan may have dropped it.
    pub listed: bool,
    pub passed: u64,
    pub failed: u64,
    pub regressions: u64,
    /// The number of the latest verification; `None` if the task was never verified.
    pub iteration: Option<u32>,
}

/// The totals of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Totals {
    pub events: u64,
    pub rulings: u64,
    pub dispatches: u64,
    /// Dispatches without a valid result.
    pub failed_dispatches: u64,
    /// Dispatches that followed a failure on the same seat.
    pub retried_dispatches: u64,
    pub operations: u64,
    pub passed_checks: u64,
    pub failed_checks: u64,
    pub superseded_checks: u64,
    pub findings: u64,
    pub open_findings: u64,
    pub known_issues: u64,
    pub gates: u64,
    /// Tokens of the dispatches that reported them.
    pub tokens: u64,
    /// Micro-units of the currency, of the dispatches with a known cost.
    pub money: u64,
    /// Dispatches that ended with an unknown cost.
    pub unpriced: u64,
    /// Dispatches that ended without reporting their tokens.
    #[serde(rename = "untold")]
    pub unmetered: u64,
    /// Milliseconds of work.
    pub time: u64,
}

impl Reader {
    /// The check results of each task: the current list first, then dropped tasks.
    pub fn task_summaries(&self, run: &RunId) -> Result<Vec<TaskSummary>, LedgerError> {
        self.rows(TASKS, [run], |row| {
            Ok(TaskSummary {
                task: row.get(0)?,
                needs: row.get::<_, Json<Vec<String>>>(1)?.0,
                files: row.get::<_, Json<Vec<String>>>(2)?.0,
                listed: row.get(3)?,
                passed: row.get::<_, Count>(4)?.0,
                failed: row.get::<_, Count>(5)?.0,
                regressions: row.get::<_, Count>(6)?.0,
                iteration: row.get(7)?,
            })
        })
    }

    pub fn totals(&self, run: &RunId) -> Result<Totals, LedgerError> {
        self.read_tables(|conn| {
            let totals = conn.prepare_cached(TOTALS)?.query_row([run], |row| {
                let count = |column: usize| row.get::<_, Count>(column).map(|count| count.0);
                Ok(Totals {
                    events: count(0)?,
                    rulings: count(1)?,
                    dispatches: count(2)?,
                    failed_dispatches: count(3)?,
                    retried_dispatches: count(4)?,
                    operations: count(5)?,
                    passed_checks: count(6)?,
                    failed_checks: count(7)?,
                    superseded_checks: count(8)?,
                    findings: count(9)?,
                    open_findings: count(10)?,
                    known_issues: count(11)?,
                    gates: count(12)?,
                    tokens: count(13)?,
                    money: count(14)?,
                    unpriced: count(15)?,
                    unmetered: count(16)?,
                    time: count(17)?,
                })
            })?;
            Ok(totals)
        })
    }
}
