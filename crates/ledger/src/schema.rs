//! The tables of a ledger, how a ledger file is recognised, and how an old one is upgraded.

use crate::error::{Fault, LedgerError};
use crate::follow;
use crate::history::RunReplays;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, TransactionBehavior};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Identifies a SQLite file as a ledger: `RMND`.
pub const APPLICATION_ID: i64 = 0x524D_4E44;

/// The SQL that upgrades the previous format to each format. The first entry creates format 1.
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
    include_str!("schema/facts.sql"),
    concat!(include_str!("schema/rounds.sql"), include_str!("schema/decisions.sql")),
    concat!(include_str!("schema/outcome.sql"), include_str!("schema/outcomes.sql")),
    include_str!("schema/proofs.sql"),
];

/// Ledgers of formats before this one are rebuilt, which fills the columns that it added.
const REBUILD_BEFORE: i64 = 14;

/// How long a connection waits for the lock of another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The newest format that this program supports.
pub fn format() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Prepares a connection for writing: checks the file, sets its modes and upgrades its format.
pub(crate) fn prepare(conn: &mut Connection, path: &Path) -> Result<(), Fault> {
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.set_prepared_statement_cache_capacity(64);
    keep_plans(conn)?;
    read_format(conn, path)?;
    conn.pragma_update(None, "journal_mode", "wal")?;
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "trusted_schema", false)?;
    migrate(conn, path, MIGRATIONS, |conn, found| if found < REBUILD_BEFORE { rebuild(conn) } else { Ok(()) })
}

/// Rebuilds the tables from the journal, which fills the columns that a format added. If any run cannot be replayed, all
/// rows stay as the older program wrote them.
fn rebuild(conn: &Connection) -> Result<(), Fault> {
    conn.execute_batch("SAVEPOINT rebuild")?;
    if follow::rebuild(conn, &mut RunReplays::default()).is_err() {
        conn.execute_batch("ROLLBACK TO rebuild")?;
    }
    conn.execute_batch("RELEASE rebuild")?;
    Ok(())
}

/// Runs work whose commits may reach the disk as late as the next synced commit.
pub(crate) fn unsynced<T>(conn: &Connection, work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    conn.pragma_update(None, "synchronous", "normal")?;
    let done = work();
    conn.pragma_update(None, "synchronous", "full")?;
    done
}

/// Prepares a connection for reading only.
pub(crate) fn prepare_reader(conn: &Connection, path: &Path) -> Result<(), Fault> {
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.set_prepared_statement_cache_capacity(64);
    keep_plans(conn)?;
    let known = format();
    match read_format(conn, path)? {
        FileContent::Ledger(found) if found == known => {}
        FileContent::Ledger(found) => {
            return Err(LedgerError::Older { path: path.to_path_buf(), found, known }.into());
        }
        // A ledger that was created on a full disk is an empty file.
        FileContent::Empty => {
            return Err(LedgerError::Older { path: path.to_path_buf(), found: 0, known }.into());
        }
    }
    conn.pragma_update(None, "query_only", true)?;
    Ok(())
}

/// Keeps the plans of prepared statements. Otherwise SQLite plans again whenever the parameters change, if the table
/// has a partial index; for a gate query it does so after an `ANALYZE`.
fn keep_plans(conn: &Connection) -> Result<(), Fault> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// An empty ledger in memory.
pub(crate) fn in_memory() -> Result<Connection, Fault> {
    let mut conn = Connection::open_in_memory()?;
    migrate(&mut conn, Path::new(":memory:"), MIGRATIONS, |_, _| Ok(()))?;
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

/// The content of a file.
enum FileContent {
    Empty,
    /// A ledger with this format.
    Ledger(i64),
}

fn read_format(conn: &Connection, path: &Path) -> Result<FileContent, Fault> {
    // In one snapshot: another process may be creating the ledger at this moment.
    let snapshot = conn.unchecked_transaction()?;
    let number = |name: &str| snapshot.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, found, known) = (number("application_id")?, number("user_version")?, format());
    let tables: i64 = snapshot.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application == 0 && found == 0 && tables == 0 {
        return Ok(FileContent::Empty);
    }
    if application != APPLICATION_ID {
        return Err(LedgerError::NotALedger { path: path.to_path_buf() }.into());
    }
    if found > known {
        return Err(LedgerError::Newer { path: path.to_path_buf(), found, known }.into());
    }
    Ok(FileContent::Ledger(found))
}

/// Upgrades a ledger to the newest of these formats in one transaction. `fill` receives the old format, and fills the
/// columns that were added.
fn migrate(
    conn: &mut Connection,
    path: &Path,
    migrations: &[&str],
    fill: impl FnOnce(&Connection, i64) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let newest = i64::try_from(migrations.len()).unwrap_or(i64::MAX);
    if conn.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))? == newest {
        return Ok(());
    }
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have upgraded it while this one waited for the lock.
    let found = tx.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))?;
    if found > newest {
        return Err(LedgerError::Newer { path: path.to_path_buf(), found, known: newest }.into());
    }
    for migration in migrations.iter().skip(usize::try_from(found).unwrap_or(0)) {
        tx.execute_batch(migration)?;
    }
    if found > 0 {
        fill(&tx, found)?;
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
