//! The tables of a ledger, the marks that tell a ledger from another file, and how an old one is brought up to date.

use crate::error::{Fault, LedgerError};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, TransactionBehavior};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Marks a SQLite file as a ledger: `RMND`.
pub const APPLICATION_ID: i64 = 0x524D_4E44;

/// What each format adds to the one before; the number of a format is the number of entries up to it.
const MIGRATIONS: &[&str] = &[
    concat!(
        include_str!("schema/journal.sql"),
        include_str!("schema/projections.sql"),
        include_str!("schema/views.sql")
    ),
    include_str!("schema/results.sql"),
    include_str!("schema/subject.sql"),
    include_str!("schema/reservations.sql"),
    include_str!("schema/corrections.sql"),
    concat!(include_str!("schema/tokens.sql"), include_str!("schema/dispatches.sql")),
    concat!(include_str!("schema/price.sql"), include_str!("schema/priced.sql")),
    concat!(
        include_str!("schema/unviewed.sql"),
        include_str!("schema/appended.sql"),
        include_str!("schema/renumbered.sql"),
        include_str!("schema/settled.sql"),
        include_str!("schema/joined.sql")
    ),
    include_str!("schema/followed.sql"),
    include_str!("schema/shorter.sql"),
    include_str!("schema/lines.sql"),
];

/// The tables that are made from the journal, for a place where they are made again.
pub(crate) const PROJECTIONS: &str = concat!(
    include_str!("schema/projections.sql"),
    include_str!("schema/results.sql"),
    include_str!("schema/subject.sql"),
    include_str!("schema/corrections.sql"),
    include_str!("schema/tokens.sql"),
    include_str!("schema/price.sql"),
    include_str!("schema/appended.sql"),
    include_str!("schema/settled.sql")
);

/// A table that is made from the journal.
pub(crate) struct Projected {
    pub table: &'static str,
    /// The columns of its primary key.
    pub key: &'static str,
    /// The columns that people know a row by.
    pub known_by: &'static str,
}

/// The tables that are made from the journal, in the order in which an audit tells of them.
pub(crate) const PROJECTED: &[Projected] = &[
    projected("runs", "run"),
    Projected { known_by: "run, seq, n", ..projected("commands", "id") },
    Projected { known_by: "run, seq, n", ..projected("rulings", "id") },
    projected("checks", "id"),
    projected("findings", "run, position"),
    projected("artifacts", "run, name, part, version"),
    projected("gates", "id"),
    projected("notes", "id"),
    projected("tasks", "run, id"),
    projected("results", "key"),
    projected("reuses", "check_id"),
    projected("corrections", "run, seq, position"),
];

/// A table whose rows are known by their key.
const fn projected(table: &'static str, key: &'static str) -> Projected {
    Projected { table, key, known_by: key }
}

/// How long a connection waits for another process.
const PATIENCE: Duration = Duration::from_secs(5);

/// The newest format that this program knows.
pub fn format() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Makes a connection fit for writing: checks the marks, sets the modes, brings the format up to date.
pub(crate) fn prepare(conn: &mut Connection, path: &Path) -> Result<(), Fault> {
    conn.busy_timeout(PATIENCE)?;
    conn.set_prepared_statement_cache_capacity(64);
    keep_plans(conn)?;
    check_marks(conn, path)?;
    conn.pragma_update(None, "journal_mode", "wal")?;
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "trusted_schema", false)?;
    migrate(conn, path, MIGRATIONS)
}

/// Does something whose commits need not reach the disk before a later one that is synced.
pub(crate) fn unsynced<T>(conn: &Connection, work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    conn.pragma_update(None, "synchronous", "normal")?;
    let done = work();
    conn.pragma_update(None, "synchronous", "full")?;
    done
}

/// Makes a connection fit for reading only.
pub(crate) fn prepare_reader(conn: &Connection, path: &Path) -> Result<(), Fault> {
    conn.busy_timeout(PATIENCE)?;
    conn.set_prepared_statement_cache_capacity(64);
    keep_plans(conn)?;
    let known = format();
    match check_marks(conn, path)? {
        Marks::Ledger(found) if found == known => {}
        Marks::Ledger(found) => {
            return Err(LedgerError::Older { path: path.to_path_buf(), found, known }.into());
        }
        // A disk that was full while the ledger was made leaves a file without anything in it.
        Marks::Empty => return Err(LedgerError::Older { path: path.to_path_buf(), found: 0, known }.into()),
    }
    conn.pragma_update(None, "query_only", true)?;
    Ok(())
}

/// Keeps the plans of prepared statements. Without this a statement on a table with a partial index is planned again
/// whenever its parameters change, and a gate query after an `ANALYZE`.
fn keep_plans(conn: &Connection) -> Result<(), Fault> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// An empty ledger in memory.
pub(crate) fn blank() -> Result<Connection, Fault> {
    let mut conn = Connection::open_in_memory()?;
    migrate(&mut conn, Path::new(":memory:"), MIGRATIONS)?;
    Ok(conn)
}

/// The tables, indexes, triggers and views of a file, each with its definition.
pub(crate) fn objects(conn: &Connection) -> Result<BTreeMap<String, String>, Fault> {
    let sql =
        "SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'";
    let mut statement = conn.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What the marks of a file say.
enum Marks {
    Empty,
    Ledger(i64),
}

fn check_marks(conn: &Connection, path: &Path) -> Result<Marks, Fault> {
    let number = |name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, found, known) = (number("application_id")?, number("user_version")?, format());
    let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application == 0 && found == 0 && tables == 0 {
        return Ok(Marks::Empty);
    }
    if application != APPLICATION_ID {
        return Err(LedgerError::NotALedger { path: path.to_path_buf() }.into());
    }
    if found > known {
        return Err(LedgerError::Newer { path: path.to_path_buf(), found, known }.into());
    }
    Ok(Marks::Ledger(found))
}

/// Brings a ledger to the newest of these formats, one transaction for all of the way.
fn migrate(conn: &mut Connection, path: &Path, migrations: &[&str]) -> Result<(), Fault> {
    let newest = i64::try_from(migrations.len()).unwrap_or(i64::MAX);
    if conn.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))? == newest {
        return Ok(());
    }
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it while this one waited for the lock.
    let found = tx.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))?;
    if found > newest {
        return Err(LedgerError::Newer { path: path.to_path_buf(), found, known: newest }.into());
    }
    for migration in migrations.iter().skip(usize::try_from(found).unwrap_or(0)) {
        tx.execute_batch(migration)?;
    }
    tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    tx.pragma_update(None, "user_version", newest)?;
    tx.commit()?;
    Ok(())
}

#[cfg(test)]
#[allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]
#[path = "schema_tests.rs"]
mod tests;
