//! Exporting one run to a separate file.

use crate::source_queries::two_runs;
use remand_ledger::{LedgerError, RunId, export};
use rusqlite::Connection;

// EP-17
#[test]
fn an_export_holds_one_run_with_its_journal() {
    let test = two_runs();
    let (to, run) = (test.sibling("evidence.db"), RunId("r2".to_string()));
    export(&test.reader(), &run, &to).unwrap();
    let conn = Connection::open(&to).unwrap();
    let journal = test.reader().journal(&run, 0).unwrap();
    let mut statement = conn.prepare("SELECT seq, hash FROM events ORDER BY seq").unwrap();
    let rows: Vec<(i64, [u8; 32])> =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    let expected: Vec<(i64, [u8; 32])> =
        journal.iter().map(|row| (row.seq.cast_signed(), row.hash.0)).collect();
    assert_eq!(rows, expected);
    let previous: [u8; 32] =
        conn.query_row("SELECT previous FROM events ORDER BY seq LIMIT 1", [], |row| row.get(0)).unwrap();
    let before = test.reader().journal(&RunId("r1".to_string()), 0).unwrap();
    assert_eq!(
        previous,
        before.last().unwrap().hash.0,
        "the first row follows the last row of the previous run"
    );
    let head = test.reader().head().unwrap();
    let exported_head: (i64, [u8; 32]) =
        conn.query_row("SELECT count, hash FROM head", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(exported_head, (head.count.cast_signed(), head.hash.0));
}

// EP-17
#[test]
fn an_export_has_the_constraints_of_the_original_tables() {
    let test = two_runs();
    let to = test.sibling("evidence.db");
    export(&test.reader(), &RunId("r1".to_string()), &to).unwrap();
    let conn = Connection::open(&to).unwrap();
    let insert = |phase: &str, verdict: &str, severity: &str| {
        conn.execute(
            "INSERT INTO anvil_checks (run_id, task_id, phase, check_name, tool, passed, verdict, severity)
            VALUES ('r', 't', ?1, 'c', 'tool', 1, ?2, ?3)",
            [phase, verdict, severity],
        )
    };
    assert!(insert("review", "needs_revision", "Blocker").is_ok());
    assert!(insert("later", "needs_revision", "Blocker").is_err());
    assert!(insert("review", "needs-revision", "Blocker").is_err());
    assert!(insert("review", "needs_revision", "blocker").is_err());
}

// CORE-09
#[test]
fn an_export_overwrites_nothing_and_leaves_no_file_on_failure() {
    let test = two_runs();
    let to = test.sibling("evidence.db");
    std::fs::write(&to, "precious").unwrap();
    let error = export(&test.reader(), &RunId("r1".to_string()), &to).expect_err("it exists");
    assert!(matches!(error, LedgerError::Exists { .. }), "{error:?}");
    assert_eq!(std::fs::read(&to).unwrap(), b"precious");
    let other = test.sibling("other.db");
    let error = export(&test.reader(), &RunId("r9".to_string()), &other).expect_err("no such run");
    assert!(matches!(error, LedgerError::NoSuchRun { .. }));
    assert!(!other.exists());
    let nowhere = test.sibling("absent").join("other.db");
    let error = export(&test.reader(), &RunId("r1".to_string()), &nowhere).expect_err("no such folder");
    assert!(matches!(error, LedgerError::Unwritable { .. }));
}
