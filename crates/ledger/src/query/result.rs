//! Reusable results of checks over all runs, and how long checks took.

use super::Reader;
use super::check::{CheckRow, decode};
use crate::column::Count;
use crate::error::LedgerError;
use crate::fact::BlobId;
use rusqlite::OptionalExtension;

const RESULT: &str =
    "SELECT run, seq, at, task, phase, name, tool, command, exit_code, snippet, output, passed, verdict,
    severity, round, tier, iteration, collected, duration_ms, reason, tests, superseded, NULL, NULL, NULL, tree
    FROM checks WHERE id = (SELECT check_id FROM results WHERE key = ?1)
    AND NOT EXISTS (SELECT 1 FROM reuses WHERE check_id = checks.id)
    AND (output IS NULL OR EXISTS (SELECT 1 FROM blobs WHERE blobs.id = output))
    AND (tests IS NULL OR EXISTS (SELECT 1 FROM blobs WHERE blobs.id = tests))";

/// Passes that ran, not reused ones, among the latest 10,000 checks. Names have no index, so this limits the scan.
const PASSES: &str =
    "SELECT duration_ms, collected FROM checks WHERE name = ?1 AND command IS ?2 AND passed = 1
    AND id > (SELECT max(id) FROM checks) - 10000
    AND NOT EXISTS (SELECT 1 FROM reuses WHERE check_id = checks.id) ORDER BY id DESC LIMIT ?3";

/// An earlier pass of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassRow {
    pub duration_ms: u64,
    pub collected: Option<u32>,
}

impl Reader {
    /// The reusable result for a key, from any run. A row whose output or tests are missing is not reusable.
    pub fn result(&self, key: BlobId) -> Result<Option<CheckRow>, LedgerError> {
        self.read_tables(|conn| Ok(conn.prepare_cached(RESULT)?.query_row([key], decode).optional()?))
    }

    /// At most `max` of the latest passes of a check over all runs, newest last.
    pub fn passes(&self, name: &str, command: Option<&str>, max: u32) -> Result<Vec<PassRow>, LedgerError> {
        let mut rows = self.rows(PASSES, (name, command, max), |row| {
            Ok(PassRow { duration_ms: row.get::<_, Count>(0)?.0, collected: row.get(1)? })
        })?;
        rows.reverse();
        Ok(rows)
    }
}
