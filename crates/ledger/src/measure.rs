//! SQLite files for benchmarks: bare commits to compare with, and a ledger full of evidence.

use crate::error::{Fault, LedgerError};
use crate::ledger::Ledger;
use crate::query::Reader;
use rusqlite::{Connection, OpenFlags, params};
use std::path::{Path, PathBuf};

const CREATE_BARE: &str =
    "CREATE TABLE IF NOT EXISTS bare (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT";
const INSERT_BARE: &str = "INSERT INTO bare (body) VALUES (?1)";

/// A gate's query, which counts the passed checks of a task.
pub const GATE: &str =
    "SELECT COUNT(*) FROM anvil_checks WHERE run_id = ?1 AND task_id = ?2 AND phase = 'after' AND passed = 1";

/// The number of tasks of each run in a ledger full of evidence.
const TASKS_PER_RUN: u32 = 20;
const CHECKS_PER_TASK: u32 = 100;

/// Of each task's checks, ten are baseline rows, three are reviews, and the rest belong to three iterations.
const FILL_CHECKS: &str = "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1),
    row (run, task, k) AS (SELECT i / 2000, i / 100 % 20, i % 100 FROM n)
    INSERT INTO checks (run, seq, at, task, task_id, phase, name, tool, command, exit_code, snippet, passed,
        verdict, round, tier, iteration, duration_ms, reason, superseded)
    SELECT printf('run-%06d', run), 1 + task, 1700000000000 + k, printf('task-%02d', task), printf('task-%02d', task),
        CASE WHEN k < 10 THEN 'baseline' WHEN k < 97 THEN 'after' ELSE 'review' END,
        printf('check-%d', k % 29), 'cargo', 'cargo test --workspace', 0, 'test result: ok. 412 passed; 0 failed',
        k % 10 <> 0, CASE WHEN k < 97 THEN NULL ELSE 'approve' END, 1, 2,
        CASE WHEN k < 10 THEN 0 WHEN k < 97 THEN 1 + (k - 10) / 29 ELSE 1 END, 1800, '', k >= 10 AND k < 68
    FROM row";
const FILL_TASKS: &str = "INSERT INTO tasks (run, id, position, needs, files, listed)
    SELECT DISTINCT run, task, CAST(substr(task, 6) AS INTEGER), '[]', '[]', 1 FROM checks ORDER BY run, task";
const FILL_RUNS: &str = "INSERT INTO runs (run, workflow, subject, request, slug, mode, base, branch, pinned, version,
        created_at, updated_at, seq, stage, place, confidence, risk, dispatches, money, unpriced, tokens, time)
    SELECT DISTINCT run, 'feature', '', '', 'a-slug', 'autonomous', '', '', x'', '', 0, 0, 1, 'running', '', 'high',
        'green', 0, 0, 0, 0, 0 FROM tasks ORDER BY run";

/// The size of a ledger in bytes, including pages that are still in its log.
pub fn bytes_of(reader: &Reader) -> Result<u64, LedgerError> {
    reader.read(|conn| {
        let number = |name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        Ok(u64::try_from(number("page_count")? * number("page_size")?).unwrap_or(0))
    })
}

/// A database with one table and fully synced commits. Its commit is the lower bound for a durable step.
#[derive(Debug)]
pub struct BareCommits {
    conn: Connection,
    path: PathBuf,
}

impl BareCommits {
    pub fn open(path: &Path) -> Result<BareCommits, LedgerError> {
        let open = || -> Result<Connection, Fault> {
            let conn = Connection::open(path)?;
            conn.pragma_update(None, "journal_mode", "wal")?;
            conn.pragma_update(None, "synchronous", "full")?;
            conn.execute_batch(CREATE_BARE)?;
            Ok(conn)
        };
        let conn = open().map_err(|fault| LedgerError::from_fault(path, fault))?;
        Ok(BareCommits { conn, path: path.to_path_buf() })
    }

    /// Commits one row.
    pub fn commit(&self, body: &[u8]) -> Result<(), LedgerError> {
        let insert =
            || -> Result<usize, Fault> { Ok(self.conn.prepare_cached(INSERT_BARE)?.execute([body])?) };
        insert().map(drop).map_err(|fault| LedgerError::from_fault(&self.path, fault))
    }
}

/// A ledger with made-up checks, to run gate queries on.
#[derive(Debug)]
pub struct FullLedger {
    reader: Reader,
    runs: u32,
}

impl FullLedger {
    /// Passed checks of each task in its last iteration.
    pub const PASSING: u64 = 26;

    /// Creates a ledger with about this many checks.
    pub fn fill(path: &Path, checks: u32) -> Result<FullLedger, LedgerError> {
        drop(Ledger::open(path)?);
        let runs = (checks / (TASKS_PER_RUN * CHECKS_PER_TASK)).max(1);
        let fill = || -> Result<(), Fault> {
            let mut conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            // The file is disposable.
            conn.pragma_update(None, "synchronous", "off")?;
            let tx = conn.transaction()?;
            tx.execute(FILL_CHECKS, [runs * TASKS_PER_RUN * CHECKS_PER_TASK])?;
            tx.execute(FILL_TASKS, [])?;
            tx.execute(FILL_RUNS, [])?;
            tx.commit()?;
            Ok(())
        };
        fill().map_err(|fault| LedgerError::from_fault(path, fault))?;
        Ok(FullLedger { reader: Reader::open(path)?, runs })
    }

    pub fn checks(&self) -> u32 {
        self.runs * TASKS_PER_RUN * CHECKS_PER_TASK
    }

    /// Runs the gate query for the task with this number, and returns its count of passed checks.
    pub fn gate(&self, number: u32) -> Result<u64, LedgerError> {
        let (run, task) = (
            format!("run-{:06}", number % self.runs),
            format!("task-{:02}", number / self.runs % TASKS_PER_RUN),
        );
        let count: i64 = self
            .reader
            .read(|conn| Ok(conn.prepare_cached(GATE)?.query_row(params![run, task], |row| row.get(0))?))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn every_task_of_a_full_ledger_has_the_same_passing_checks() {
        let folder = tempfile::tempdir().expect("a folder");
        let full = FullLedger::fill(&folder.path().join("full.db"), 4_000).expect("filled");
        assert_eq!(full.checks(), 4_000);
        for number in 0..2 * TASKS_PER_RUN {
            assert_eq!(full.gate(number).expect("counted"), FullLedger::PASSING, "{number}");
        }
    }

    #[test]
    fn bare_commits_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("bare.db");
        let bare = BareCommits::open(&path).expect("opened");
        bare.commit(b"one").expect("committed");
        drop(bare);
        let conn = Connection::open(&path).expect("opened");
        let count: i64 = conn.query_row("SELECT count(*) FROM bare", [], |row| row.get(0)).expect("counted");
        assert_eq!(count, 1);
    }
}
