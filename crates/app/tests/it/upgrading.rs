//! A ledger that is older than the binary: every command upgrades the ledger and continues.

use crate::place::Place;
use crate::rehearsed::{Script, TRIVIAL};
use std::process::Command;

/// Removes the additions of formats 9 and 12 to 15; 10 and 11 changed no table.
const TO_FORMAT_8: &str = "import sqlite3, sys\nwith sqlite3.connect(sys.argv[1], isolation_level=None) as db:\n    \
     db.executescript('DROP TABLE test_proofs; DROP TABLE mutants; ALTER TABLE runs RENAME COLUMN reason TO ended; DROP INDEX checks_passed_earlier; ALTER TABLE notes DROP COLUMN decision; DROP TABLE followed; DROP TABLE deliveries; DROP TABLE run_details; \
     ALTER TABLE gates DROP COLUMN limit_kind; ALTER TABLE rulings DROP COLUMN kind; \
     ALTER TABLE checks DROP COLUMN tree; ALTER TABLE commands DROP COLUMN malformed; PRAGMA user_version = 8')\n";

fn make_older(place: &Place) {
    // Opening the ledger for writing brings its tables up to date.
    drop(place.ledger());
    let output = Command::new("python3")
        .args(["-c", TO_FORMAT_8])
        .arg(place.home().join("ledger.db"))
        .output()
        .expect("python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

// CORE-09
#[test]
fn every_command_works_on_a_ledger_of_an_older_format() {
    let place = Place::configured(TRIVIAL);
    let shown = place.quick(&Script::quick(), &["--budget-dispatches", "1"]);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    let run = place.latest().run.0;
    let commands: &[(&[&str], i32)] = &[
        (&["status"], 0),
        (&["status", &run], 0),
        (&["runs"], 0),
        (&["gates"], 0),
        (&["log"], 0),
        (&["show", "--list"], 0),
        (&["evidence"], 0),
        (&["findings"], 0),
        (&["costs"], 0),
        (&["stats", "--all"], 0),
        (&["issues"], 0),
        (&["audit"], 0),
        (&["clean", "--dry-run"], 0),
        (&["resume"], 5),
        (&["resume", &run], 5),
        (&["answer", &run, "go-on"], 0),
    ];
    for (arguments, code) in commands {
        make_older(&place);
        let shown = place.remand(arguments);
        assert_eq!(shown.code, *code, "{arguments:?}: {}{}", shown.out, shown.err);
        assert!(!shown.err.contains("format"), "{arguments:?}: {}", shown.err);
    }
    assert_eq!(place.remand(&["audit"]).code, 0);
}

// CORE-09 CORE-17
#[test]
fn a_run_in_a_ledger_of_an_older_format_is_cancelled() {
    let place = Place::configured(TRIVIAL);
    let shown = place.quick(&Script::quick(), &["--budget-dispatches", "1"]);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    make_older(&place);
    let shown = place.remand(&["cancel", "latest"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(place.latest().outcome(), "stopped: cancelled by ada");
}
