//! Exports one run to a SQLite file, with `anvil_checks`, `pipeline_telemetry` and the proofs of tests as tables.

use crate::chain::GENESIS;
use crate::column::sql_integer;
use crate::error::{Fault, LedgerError};
use crate::fact::RunId;
use crate::query::Reader;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, Params, params, params_from_iter};
use std::fs::OpenOptions;
use std::path::Path;

const TABLES: &str = include_str!("schema/export.sql");

const CHECKS: &str =
    "SELECT run_id, task_id, phase, check_name, tool, command, exit_code, output_snippet, passed,
    verdict, severity, round, ts FROM anvil_checks WHERE run_id = ?1 ORDER BY id, task_id";
const INSERT_CHECK: &str =
    "INSERT INTO anvil_checks (run_id, task_id, phase, check_name, tool, command, exit_code,
    output_snippet, passed, verdict, severity, round, ts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

const TELEMETRY: &str =
    "SELECT run_id, step, agent, instance, started_at, completed_at, status, dispatch_count,
    retry_count, notes, ts FROM pipeline_telemetry WHERE run_id = ?1 ORDER BY id";
const INSERT_TELEMETRY: &str =
    "INSERT INTO pipeline_telemetry (run_id, step, agent, instance, started_at, completed_at,
    status, dispatch_count, retry_count, notes, ts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

const TEST_PROOFS: &str = "SELECT seq, task, iteration, check_name, test, origin, proof, detail
    FROM test_proofs WHERE run = ?1 ORDER BY id";
const INSERT_TEST_PROOF: &str = "INSERT INTO test_proofs VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

const MUTANTS: &str =
    "SELECT seq, task, iteration, identity, file, line, function, kind, alteration, fate, detail
    FROM mutants WHERE run = ?1 ORDER BY id";
const INSERT_MUTANT: &str = "INSERT INTO mutants VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

const EVENTS: &str = "SELECT id, run, seq, at, kind, body, facts, rulings, commands, hash,
    coalesce((SELECT hash FROM events AS earlier WHERE earlier.id = events.id - 1), ?2)
    FROM events WHERE run = ?1 ORDER BY seq";
const INSERT_EVENT: &str =
    "INSERT INTO events (id, run, seq, at, kind, body, facts, rulings, commands, hash, previous)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// Writes one run into a new SQLite file.
pub fn export(reader: &Reader, run: &RunId, to: &Path) -> Result<(), LedgerError> {
    // A missing run is an error, not an empty file.
    let run = reader.run(&run.0)?.run;
    create(to)?;
    let written = write(reader, &run, to);
    if written.is_err() {
        // The file is incomplete. The caller needs the first error, not this one.
        let _ = std::fs::remove_file(to);
    }
    written
}

fn create(to: &Path) -> Result<(), LedgerError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    match options.open(to) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(LedgerError::Exists { path: to.to_path_buf() })
        }
        Err(error) => Err(LedgerError::Unwritable { path: to.to_path_buf(), detail: error.to_string() }),
    }
}

fn write(reader: &Reader, run: &RunId, to: &Path) -> Result<(), LedgerError> {
    let target_error = |fault: Fault| LedgerError::from_fault(to, fault);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(to, flags).map_err(|error| target_error(error.into()))?;
    let tx = conn.transaction().map_err(|error| target_error(error.into()))?;
    tx.execute_batch(TABLES).map_err(|error| target_error(error.into()))?;
    let snapshot = reader.begin_read()?;
    copy(reader, &tx, to, (CHECKS, INSERT_CHECK), [run])?;
    copy(reader, &tx, to, (TELEMETRY, INSERT_TELEMETRY), [run])?;
    copy(reader, &tx, to, (TEST_PROOFS, INSERT_TEST_PROOF), [run])?;
    copy(reader, &tx, to, (MUTANTS, INSERT_MUTANT), [run])?;
    copy(reader, &tx, to, (EVENTS, INSERT_EVENT), params![run, GENESIS])?;
    let head = reader.head()?;
    drop(snapshot);
    tx.execute(
        "INSERT INTO head (count, hash) VALUES (?1, ?2)",
        params![sql_integer(head.count), head.hash.0],
    )
    .and_then(|_| tx.commit())
    .map_err(|error| target_error(error.into()))
}

/// Copies the rows of a query.
fn copy(
    reader: &Reader,
    target: &Connection,
    to: &Path,
    (select, insert): (&str, &str),
    params: impl Params,
) -> Result<(), LedgerError> {
    let mut insert = target.prepare(insert).map_err(|error| LedgerError::from_fault(to, error.into()))?;
    reader.read(|conn| {
        let mut select = conn.prepare(select)?;
        let columns = select.column_count();
        let mut rows = select.query(params)?;
        while let Some(row) = rows.next()? {
            let values: Vec<Value> = (0..columns).map(|column| row.get(column)).collect::<Result<_, _>>()?;
            insert
                .execute(params_from_iter(values))
                .map_err(|error| Fault::from(LedgerError::from_fault(to, error.into())))?;
        }
        Ok(())
    })
}
