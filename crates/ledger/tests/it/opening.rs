//! Opening: files that are not ledgers, and ledgers that are damaged, newer, older or unwritable.

use crate::support::{TO_FORMAT_11, TestLedger, happy_path, program};
use remand_ledger::{Ledger, LedgerError, Reader, schema};
use std::os::unix::fs::PermissionsExt;

// CORE-09
#[test]
fn a_file_that_is_not_a_ledger_is_refused_and_left_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "Dear diary, this is not a database. ".repeat(200)).unwrap();
    let before = std::fs::read(&text).unwrap();
    assert!(matches!(Ledger::open(&text), Err(LedgerError::NotALedger { path }) if path == text));
    assert!(matches!(Reader::open(&text), Err(LedgerError::NotALedger { .. })));
    assert_eq!(std::fs::read(&text).unwrap(), before);

    let other = folder.path().join("other.db");
    let conn = rusqlite::Connection::open(&other).unwrap();
    conn.execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
    drop(conn);
    let before = std::fs::read(&other).unwrap();
    let error = Ledger::open(&other).expect_err("refused");
    assert_eq!(error.to_string(), format!("{} is not a ledger", other.display()));
    assert_eq!(error.hint(), "name another file, or move this one away");
    assert_eq!(std::fs::read(&other).unwrap(), before);
}

// CORE-09
#[test]
fn an_empty_file_is_a_ledger_without_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    std::fs::write(&path, "").unwrap();
    let reader = Reader::open(&path).unwrap();
    assert_eq!(reader.runs().unwrap(), []);
    Ledger::open(&path).unwrap();
}

// CORE-09
#[test]
fn a_newer_format_is_refused_with_both_numbers() {
    let test = TestLedger::new();
    let newer = schema::format() + 41;
    test.raw().pragma_update(None, "user_version", newer).unwrap();
    for error in [Ledger::open(&test.path()).map(drop), Reader::open(&test.path()).map(drop)] {
        let error = error.expect_err("refused");
        assert!(matches!(error, LedgerError::Newer { found, known, .. }
            if found == newer && known == schema::format()));
        assert!(error.to_string().contains(&format!("has format {newer}")), "{error}");
    }
}

/// Removes what format 9 added; formats 10 and 11 added no columns.
const FROM_11_TO_8: &str = "DROP TABLE followed; PRAGMA user_version = 8";

// CORE-09
#[test]
fn a_reader_upgrades_an_older_format() {
    let mut test = TestLedger::new();
    test.append_run("r1", program("quick"), &happy_path("quick", 1));
    let before = Reader::open(&test.path()).and_then(|reader| reader.runs()).unwrap();
    test.raw().execute_batch(&format!("{TO_FORMAT_11} {FROM_11_TO_8}")).unwrap();

    let reader = Reader::open(&test.path()).unwrap();
    assert_eq!(reader.runs().unwrap(), before);
    let format: i64 = test.raw().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(format, schema::format());
    assert!(remand_ledger::audit(&reader, None, |_| {}).unwrap().is_sound());
}

// CORE-09
#[test]
fn a_damaged_file_is_an_error_without_a_panic() {
    let mut test = TestLedger::new();
    test.append_run("r1", program("feature"), &happy_path("feature", 3));
    let intact = test.bytes();

    let torn = test.sibling("torn.db");
    let mut bytes = intact.clone();
    for byte in &mut bytes[4096..] {
        *byte = 0x5a;
    }
    std::fs::write(&torn, &bytes).unwrap();
    let read = Reader::open(&torn).and_then(|reader| reader.runs());
    assert!(matches!(read, Err(LedgerError::Corrupt { .. })), "{read:?}");

    let short = test.sibling("short.db");
    std::fs::write(&short, &intact[..intact.len() / 2]).unwrap();
    let read = Reader::open(&short).and_then(|reader| remand_ledger::audit(&reader, None, |_| {}));
    match read {
        Ok(report) => assert!(!report.is_sound()),
        Err(error) => assert!(matches!(error, LedgerError::Corrupt { .. }), "{error:?}"),
    }
}

// CORE-09
#[test]
fn an_error_names_the_path_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for path in [folder.path().join("absent/ledger.db"), file.join("ledger.db"), folder.path().to_path_buf()]
    {
        let error = Ledger::open(&path).expect_err("refused");
        assert!(matches!(error, LedgerError::Unwritable { .. }), "{error:?}");
        assert!(error.to_string().contains(&path.display().to_string()));
        assert!(error.hint().contains("write permission"));
    }
    let absent = folder.path().join("absent.db");
    assert!(matches!(Reader::open(&absent), Err(LedgerError::Missing { path }) if path == absent));
    assert!(!absent.exists(), "reading creates no file");
}

// CORE-05
#[test]
fn only_its_owner_can_read_a_ledger() {
    let mut test = TestLedger::new();
    test.append_run("r1", program("quick"), &happy_path("quick", 1));
    for name in ["ledger.db", "ledger.db-wal", "ledger.db-shm"] {
        let mode = std::fs::metadata(test.sibling(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    std::fs::set_permissions(test.path(), std::fs::Permissions::from_mode(0o644)).unwrap();
    drop(Ledger::open(&test.path()).unwrap());
    assert_eq!(std::fs::metadata(test.path()).unwrap().permissions().mode() & 0o777, 0o600);
}
