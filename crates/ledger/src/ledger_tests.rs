use super::*;
use crate::entry::Blob;
use crate::fact::RunOpening;
use remand_kernel::event::Start;
use remand_kernel::{Program, State, step};

fn quick_program() -> Program {
    remand_workflow::check_shipped("quick").unwrap().compiled.unwrap().program
}

fn start(ledger: &mut Ledger, run: &str, program: &Program) -> Result<Vec<u64>, LedgerError> {
    let (mut state, event) = (State::new(program), Event::Started(Start::default()));
    let step = step(program, &mut state, &event).unwrap();
    let pinned = Blob::of(serde_json::to_vec(&serde_json::json!({"program": program, "for": run})).unwrap());
    let opened = RunOpening {
        request: "a request".to_string(),
        file: None,
        slug: "request".to_string(),
        base: "0123".to_string(),
        branch: "remand/request".to_string(),
        pinned: pinned.id,
        version: "0.1.0".to_string(),
        by: None,
        checkout: None,
    };
    let facts = Facts { opened: Some(opened), ..Facts::default() };
    ledger.append(&[JournalEntry {
        run: &RunId(run.to_string()),
        at: Millis(1),
        event: &event,
        facts: &facts,
        step: &step,
        blobs: &[pinned],
        request: None,
    }])
}

// CORE-09
#[test]
fn a_full_disk_loses_nothing_that_was_saved() {
    let folder = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::open(&folder.path().join("ledger.db")).unwrap();
    let program = quick_program();
    start(&mut ledger, "r1", &program).unwrap();
    let before = ledger.reader().unwrap().head().unwrap();
    // When a database reaches its maximum page count, SQLite reports a full disk.
    let pages: i64 = ledger.conn.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    ledger.conn.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
    let error = start(&mut ledger, "r2", &program).expect_err("the disk is full");
    assert!(matches!(error, LedgerError::DiskFull { .. }), "{error:?}");
    assert_eq!(ledger.reader().unwrap().head().unwrap(), before);

    ledger.conn.pragma_update_and_check(None, "max_page_count", pages * 10, |_| Ok(())).unwrap();
    assert_eq!(start(&mut ledger, "r2", &program).unwrap(), [1]);
}

// CORE-04
#[test]
fn every_commit_is_synced_and_waits_for_other_writers() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(&folder.path().join("ledger.db")).unwrap();
    let number = |name: &str| ledger.conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
    let mode: String = ledger.conn.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    assert_eq!(number("synchronous"), 2, "full");
    assert_eq!(number("busy_timeout"), 5000);
    assert_eq!(number("foreign_keys"), 1);
    assert_eq!(number("application_id"), schema::APPLICATION_ID);
    assert_eq!(number("user_version"), schema::format());
}
