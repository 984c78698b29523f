//! Engine operations of a run.

use super::{DispatchStatus, Reader};
use crate::column::{Count, Word};
use crate::error::LedgerError;
use crate::fact::{Millis, RunId};
use serde::Serialize;

const OPERATIONS: &str =
    "SELECT run, seq, command, phase, name, task, visit, attempt, started_at, completed_at, status,
    time, result, failure, detail FROM operations WHERE run = ?1 ORDER BY seq, n";

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OperationRow {
    pub run: RunId,
    /// The event that it was issued with.
    pub seq: u64,
    pub command: String,
    pub phase: String,
    pub name: String,
    pub task: Option<String>,
    pub visit: u16,
    pub attempt: u16,
    pub started_at: Millis,
    pub completed_at: Option<Millis>,
    pub status: DispatchStatus,
    pub time: Option<u64>,
    pub result: Option<String>,
    pub failure: Option<String>,
    pub detail: Option<String>,
}

impl Reader {
    /// The operations of a run, in the order they were issued.
    pub fn operations(&self, run: &RunId) -> Result<Vec<OperationRow>, LedgerError> {
        self.rows(OPERATIONS, [run], |row| {
            Ok(OperationRow {
                run: row.get(0)?,
                seq: row.get::<_, Count>(1)?.0,
                command: row.get(2)?,
                phase: row.get(3)?,
                name: row.get(4)?,
                task: row.get(5)?,
                visit: row.get(6)?,
                attempt: row.get(7)?,
                started_at: row.get(8)?,
                completed_at: row.get(9)?,
                status: row.get::<_, Word<DispatchStatus>>(10)?.0,
                time: row.get::<_, Option<Count>>(11)?.map(|count| count.0),
                result: row.get(12)?,
                failure: row.get(13)?,
                detail: row.get(14)?,
            })
        })
    }
}
