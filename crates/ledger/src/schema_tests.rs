use super::*;
use crate::tables::{PROJECTION_SCHEMA, PROJECTION_TABLES, ProjectionTable};

const FIRST: &str = "CREATE TABLE events (id INTEGER PRIMARY KEY, body TEXT NOT NULL);";
const SECOND: &str = "ALTER TABLE events ADD COLUMN kind TEXT NOT NULL DEFAULT 'unknown';";
const BROKEN: &str = "CREATE TABLE more (id INTEGER); ALTER TABLE absent ADD COLUMN kind TEXT;";

fn fill_nothing(_: &Connection, _: i64) -> Result<(), Fault> {
    Ok(())
}

fn format_of(conn: &Connection) -> i64 {
    conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

#[test]
fn an_old_ledger_is_upgraded_and_keeps_its_rows() {
    let path = Path::new("ledger.db");
    let mut conn = Connection::open_in_memory().unwrap();
    migrate(&mut conn, path, &[FIRST], fill_nothing).unwrap();
    conn.execute("INSERT INTO events (body) VALUES ('{}')", []).unwrap();
    migrate(&mut conn, path, &[FIRST, SECOND], fill_nothing).unwrap();
    assert_eq!(format_of(&conn), 2);
    let kind: String = conn.query_row("SELECT kind FROM events", [], |row| row.get(0)).unwrap();
    assert_eq!(kind, "unknown");
    migrate(&mut conn, path, &[FIRST, SECOND], fill_nothing).expect("already upgraded");
}

#[test]
fn a_failed_migration_leaves_the_ledger_unchanged() {
    let path = Path::new("ledger.db");
    let mut conn = Connection::open_in_memory().unwrap();
    migrate(&mut conn, path, &[FIRST], fill_nothing).unwrap();
    assert!(migrate(&mut conn, path, &[FIRST, BROKEN], fill_nothing).is_err());
    assert_eq!(format_of(&conn), 1);
    assert!(conn.prepare("SELECT * FROM more").is_err());
}

#[test]
fn a_ledger_that_a_newer_version_has_just_upgraded_is_refused() {
    let path = Path::new("ledger.db");
    let mut conn = Connection::open_in_memory().unwrap();
    migrate(&mut conn, path, &[FIRST, SECOND], fill_nothing).unwrap();
    let refused = migrate(&mut conn, path, &[FIRST], fill_nothing);
    assert!(matches!(refused, Err(Fault::Ledger(error))
        if matches!(*error, LedgerError::Newer { found: 2, known: 1, .. })));
}

#[test]
fn every_projection_is_listed_with_its_primary_key() {
    let conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(PROJECTION_SCHEMA).unwrap();
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    let mut statement = conn.prepare(sql).unwrap();
    let tables: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut listed: Vec<&str> = PROJECTION_TABLES.iter().map(|projection| projection.table).collect();
    listed.sort_unstable();
    assert_eq!(tables, listed);
    for ProjectionTable { table, key, .. } in PROJECTION_TABLES {
        let sql = format!(
            "SELECT group_concat(name, ', ') FROM
            (SELECT name FROM pragma_table_info('{table}') WHERE pk > 0 ORDER BY pk)"
        );
        let primary: String = conn.query_row(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(primary, *key, "{table}");
    }
}

/// Up to format 7, commands and rulings were stored by run instead of in the order of the journal.
#[test]
fn commands_and_rulings_keep_their_rows_when_they_are_stored_in_journal_order() {
    let path = Path::new("ledger.db");
    let mut conn = Connection::open_in_memory().unwrap();
    migrate(&mut conn, path, &MIGRATIONS[..7], fill_nothing).unwrap();
    let event = "INSERT INTO events (id, run, seq, at, kind, body, facts, rulings, commands, hash)
        VALUES (?1, ?2, ?3, 1, 'ended', '', '', '', '', x'')";
    let command = "INSERT INTO commands (run, seq, n, id, kind, command, phase, name, advisory, visit, attempt,
        started_at, status, retries, price) VALUES (?2, ?3, 1, ?1 << 16 | 1, 'dispatch', ?1, '', '', 0, 1, 1, 1,
        'running', 0, 'dear')";
    let ruling = "INSERT INTO rulings (run, seq, n, at, phase, signal, action, body)
        VALUES (?2, ?3, 2, 1, '', ?1, '', '{}')";
    for (id, run, seq) in [(1, "b", 1), (2, "a", 1), (3, "b", 2)] {
        for sql in [event, command, ruling] {
            conn.execute(sql, (id, run, seq)).unwrap();
        }
    }
    migrate(&mut conn, path, MIGRATIONS, fill_nothing).unwrap();
    let rows = |sql: &str| -> Vec<(i64, String, i64, String)> {
        let mut statement = conn.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)));
        rows.unwrap().map(Result::unwrap).collect()
    };
    let row = |id: i64, run: &str, seq: i64, n: i64| (id << 16 | n, run.to_string(), seq, id.to_string());
    assert_eq!(
        rows("SELECT id, run, seq, command FROM dispatches WHERE run = 'b' AND price = 'dear' ORDER BY seq"),
        [row(1, "b", 1, 1), row(3, "b", 2, 1)]
    );
    assert_eq!(
        rows("SELECT id, run, seq, signal FROM rulings ORDER BY id"),
        [row(1, "b", 1, 2), row(2, "a", 1, 2), row(3, "b", 2, 2)]
    );
}

/// A query for one run finds its rows through its events; a query for all runs reads every row once. SQLite has no
/// statistics to choose a plan by.
#[test]
fn commands_are_found_by_the_events_of_their_run_and_never_by_an_automatic_index() {
    let conn = in_memory().unwrap();
    let plan = |sql: &str| -> String {
        let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let lines = statement.query_map([], |row| row.get::<_, String>(3)).unwrap();
        lines.map(Result::unwrap).collect::<Vec<_>>().join("; ")
    };
    for view in ["dispatches", "operations"] {
        let of_run =
            plan(&format!("SELECT * FROM {view} WHERE run = 'r1' AND phase = 'design' ORDER BY seq, n"));
        let events = "SEARCH events USING COVERING INDEX events_of_run (run=?)";
        let commands = "SEARCH commands USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)";
        assert!(of_run.contains(events) && of_run.contains(commands), "{view}: {of_run}");
    }
    for sql in [
        "SELECT count(*) FROM dispatches WHERE phase = 'design'",
        "SELECT * FROM pipeline_telemetry WHERE agent = 'a'",
    ] {
        assert!(
            plan(sql).starts_with("SCAN commands; SEARCH events USING INTEGER PRIMARY KEY"),
            "{}",
            plan(sql)
        );
    }
}
