use super::*;

const FIRST: &str = "CREATE TABLE events (id INTEGER PRIMARY KEY, body TEXT NOT NULL);";
const SECOND: &str = "ALTER TABLE events ADD COLUMN kind TEXT NOT NULL DEFAULT 'unknown';";
const BROKEN: &str = "CREATE TABLE more (id INTEGER); ALTER TABLE absent ADD COLUMN kind TEXT;";

fn version(conn: &Connection) -> i64 {
    conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

#[test]
fn an_old_ledger_is_brought_up_to_date_with_its_rows() {
    let path = Path::new("ledger.db");
    let mut conn = Connection::open_in_memory().unwrap();
    migrate(&mut conn, path, &[FIRST]).unwrap();
    conn.execute("INSERT INTO events (body) VALUES ('{}')", []).unwrap();
    migrate(&mut conn, path, &[FIRST, SECOND]).unwrap();
    assert_eq!(version(&conn), 2);
    let kind: String = conn.query_row("SELECT kind FROM events", [], |row| row.get(0)).unwrap();
    assert_eq!(kind, "unknown");
    migrate(&mut conn, path, &[FIRST, SECOND]).expect("nothing is left to do");
}

#[test]
fn a_migration_that_fails_leaves_the_ledger_as_it_was() {
    let path = Path::new("ledger.db");
    let mut conn = Connection::open_in_memory().unwrap();
    migrate(&mut conn, path, &[FIRST]).unwrap();
    assert!(migrate(&mut conn, path, &[FIRST, BROKEN]).is_err());
    assert_eq!(version(&conn), 1);
    assert!(conn.prepare("SELECT * FROM more").is_err());
}

#[test]
fn a_ledger_that_was_converted_meanwhile_by_a_newer_program_is_refused() {
    let path = Path::new("ledger.db");
    let mut conn = Connection::open_in_memory().unwrap();
    migrate(&mut conn, path, &[FIRST, SECOND]).unwrap();
    let refused = migrate(&mut conn, path, &[FIRST]);
    assert!(matches!(refused, Err(Fault::Ledger(error))
        if matches!(*error, LedgerError::Newer { found: 2, known: 1, .. })));
}

#[test]
fn every_projection_is_listed_with_the_key_of_its_rows() {
    let conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(PROJECTIONS).unwrap();
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid";
    let mut statement = conn.prepare(sql).unwrap();
    let tables: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let listed: Vec<&str> = PROJECTED.iter().map(|(table, _)| *table).collect();
    assert_eq!(tables, listed);
    for (table, key) in PROJECTED {
        let sql = format!(
            "SELECT group_concat(name, ', ') FROM
            (SELECT name FROM pragma_table_info('{table}') WHERE pk > 0 ORDER BY pk)"
        );
        let primary: String = conn.query_row(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(primary, *key, "{table}");
    }
}
