//! Tampering: an audit reports every change that was not made through the ledger.

use crate::support::{TestLedger, check, happy_path, program, rough_path, with_checks};
use remand_kernel::evidence::RowPhase;
use remand_ledger::audit::{AuditPart, AuditProblem, RowFault};
use remand_ledger::{ChainHead, ReplayFrom, RunId, audit, replay};
use rusqlite::Connection;
use std::sync::LazyLock;

/// Two concurrent runs with a check, and a run that is long enough for a snapshot.
fn three_runs() -> TestLedger {
    static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| append_three_runs().bytes());
    TestLedger::copy(&BYTES)
}

fn append_three_runs() -> TestLedger {
    let mut test = TestLedger::new();
    let mut test_runs = [
        crate::support::TestRun::new("r1", program("feature")),
        crate::support::TestRun::new("r2", program("feature")),
    ];
    for (index, event) in rough_path().into_iter().enumerate() {
        for test_run in &mut test_runs {
            let rows = vec![check(Some("t1"), RowPhase::After, "build", false)];
            let facts = if index == 20 { with_checks(rows) } else { Default::default() };
            test_run.feed(&mut test.ledger, event.clone(), facts).unwrap();
        }
    }
    let long = test.append_run("long", program("feature"), &happy_path("feature", 30));
    assert!(test.reader().snapshot(&long.run).unwrap().is_some());
    assert!(audit(&test.reader(), None, |_| {}).unwrap().is_sound());
    test
}

/// Runs a statement that the triggers forbid, and restores the triggers.
fn tamper(test: &TestLedger, sql: &str) {
    let raw = test.raw();
    raw.pragma_update(None, "foreign_keys", false).unwrap();
    let mut statement = raw.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").unwrap();
    let triggers: Vec<(String, String)> =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    assert_eq!(triggers.len(), 8);
    for (name, _) in &triggers {
        raw.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
    }
    raw.execute_batch(sql).unwrap();
    for (_, sql) in &triggers {
        raw.execute_batch(sql).unwrap();
    }
}

fn problems(test: &TestLedger, expected: Option<ChainHead>) -> Vec<AuditProblem> {
    audit(&test.reader(), expected, |_| {}).unwrap().problems
}

/// The run and number of a row of the journal.
fn event_of_row(conn: &Connection, id: i64) -> (Option<RunId>, Option<u64>) {
    conn.query_row("SELECT run, seq FROM events WHERE id = ?1", [id], |row| {
        Ok((Some(RunId(row.get(0)?)), Some(row.get::<_, i64>(1)?.unsigned_abs())))
    })
    .unwrap()
}

// CORE-08
#[test]
fn a_changed_row_is_reported_whichever_column_changed() {
    for change in [
        "at = at + 1",
        "kind = 'answered'",
        "body = replace(body, '1', '2')",
        "facts = facts || ' '",
        "rulings = '[]'",
        "commands = commands || ' '",
        "hash = zeroblob(32)",
        "hash = x'00'",
    ] {
        let test = three_runs();
        let (run, seq) = event_of_row(&test.raw(), 11);
        tamper(&test, &format!("UPDATE events SET {change} WHERE id = 11"));
        let found = problems(&test, None);
        assert_eq!(
            found.first(),
            Some(&AuditProblem::Row { id: 11, run, seq, fault: RowFault::Changed }),
            "{change}"
        );
        assert_eq!(found[0].to_string(), "row 11 of the journal was changed: event 6 of run r1");
    }
}

// CORE-08
#[test]
fn a_removed_row_is_reported() {
    let test = three_runs();
    let (run, seq) = event_of_row(&test.raw(), 12);
    tamper(&test, "DELETE FROM events WHERE id = 12");
    let found = problems(&test, None);
    assert_eq!(found.first(), Some(&AuditProblem::Row { id: 12, run, seq, fault: RowFault::Removed }));
}

// CORE-08
#[test]
fn a_removed_row_is_reported_even_if_the_others_were_renumbered() {
    for id in [12, 1] {
        let test = three_runs();
        let (run, seq) = event_of_row(&test.raw(), id);
        tamper(
            &test,
            &format!("DELETE FROM events WHERE id = {id}; UPDATE events SET id = id - 1 WHERE id > {id}"),
        );
        let found = problems(&test, None);
        assert_eq!(found.first(), Some(&AuditProblem::Row { id, run, seq, fault: RowFault::Removed }));
    }
}

// CORE-08
#[test]
fn an_inserted_row_is_reported_in_the_middle_and_at_the_end() {
    let insert = |id: &str| {
        format!(
            "INSERT INTO events SELECT {id}, 'intruder', 1, at, kind, body, facts, rulings, commands, hash
            FROM events WHERE id = 1"
        )
    };
    let middle = three_runs();
    let shift = "UPDATE events SET id = -id - 1 WHERE id >= 9; UPDATE events SET id = -id WHERE id < 0;";
    tamper(&middle, &format!("{shift} {}", insert("9")));
    let intruder = |id: i64| AuditProblem::Row {
        id,
        run: Some(RunId("intruder".to_string())),
        seq: Some(1),
        fault: RowFault::Inserted,
    };
    assert_eq!(problems(&middle, None).first(), Some(&intruder(9)));

    let end = three_runs();
    let last = end.reader().head().unwrap().count.cast_signed() + 1;
    tamper(&end, &insert(&last.to_string()));
    assert_eq!(problems(&end, None).first(), Some(&intruder(last)));

    let front = three_runs();
    tamper(&front, &insert("0"));
    assert_eq!(problems(&front, None).first(), Some(&intruder(0)));
}

// CORE-08
#[test]
fn a_truncated_journal_is_found() {
    let test = three_runs();
    let head = test.reader().head().unwrap();
    let last = head.count.cast_signed();
    let (run, seq) = event_of_row(&test.raw(), last);
    tamper(&test, &format!("DELETE FROM events WHERE id = {last}"));
    let found = problems(&test, None);
    assert_eq!(found.first(), Some(&AuditProblem::Row { id: last, run, seq, fault: RowFault::Removed }));
    assert!(
        problems(&test, Some(head))
            .contains(&AuditProblem::CutOff { expected: head.count, found: head.count - 1 })
    );
}

// CORE-08
#[test]
fn a_truncation_without_traces_is_found_by_the_expected_head() {
    let mut test = three_runs();
    let head = test.reader().head().unwrap();
    tamper(&test, &format!("DELETE FROM events WHERE id = {}", head.count));
    test.ledger.rebuild().unwrap();
    assert_eq!(problems(&test, None), [], "nothing else shows it");
    assert_eq!(
        problems(&test, Some(head)),
        [AuditProblem::CutOff { expected: head.count, found: head.count - 1 }]
    );

    // After the truncation other events were appended: the same length, another history.
    let events = happy_path("quick", 1);
    test.append_run("other", program("quick"), &events);
    assert_eq!(problems(&test, Some(head)), [AuditProblem::OtherHistory { count: head.count }]);
    let now = test.reader().head().unwrap();
    test.append_run("more", program("quick"), &events);
    assert_eq!(problems(&test, Some(now)), [], "a journal may grow");
}

// CORE-08
#[test]
fn a_changed_projection_is_reported_with_table_row_and_column() {
    let test = three_runs();
    tamper(
        &test,
        "UPDATE checks SET passed = 1 WHERE id = (SELECT id FROM checks ORDER BY id LIMIT 1 OFFSET 1)",
    );
    let found = problems(&test, None);
    let [AuditProblem::Projection { table, row, column, found, made }] = &found[..] else {
        panic!("{found:#?}")
    };
    assert_eq!((*table, row.as_str(), column.as_deref()), ("checks", "id 2", Some("passed")));
    assert_eq!((found.as_str(), made.as_str()), ("1", "0"));

    let test = three_runs();
    tamper(&test, "UPDATE rulings SET action = 'next' WHERE action = 'remand design' AND run = 'r2'");
    let message = problems(&test, None)[0].to_string();
    let expected = "in table rulings, row run `r2`, seq 11, n 0, column action holds `next`, but the journal gives \
        `remand design`";
    assert_eq!(message, expected);
}

// CORE-08
#[test]
fn a_missing_or_superfluous_projection_row_is_reported() {
    for (sql, table, found, made) in [
        ("DELETE FROM findings WHERE run = 'r1' AND position = 1", "findings", "absent", "present"),
        ("DELETE FROM commands WHERE id = (SELECT max(id) FROM commands)", "commands", "absent", "present"),
        ("INSERT INTO tasks VALUES ('r1', 'a-task', 9, '[]', '[]', 1)", "tasks", "present", "absent"),
        ("INSERT INTO tasks VALUES ('z', 'z-task', 9, '[]', '[]', 1)", "tasks", "present", "absent"),
    ] {
        let test = three_runs();
        tamper(&test, sql);
        let problems = problems(&test, None);
        let [AuditProblem::Projection { table: reported, column: None, found: actual, made: expected, .. }] =
            &problems[..]
        else {
            panic!("{problems:#?}")
        };
        assert_eq!((*reported, actual.as_str(), expected.as_str()), (table, found, made));
    }
}

// CORE-08
#[test]
fn a_blob_that_was_changed_or_removed_is_reported() {
    let test = three_runs();
    tamper(&test, "UPDATE blobs SET body = CAST(CAST(body AS TEXT) || ' ' AS BLOB)");
    assert!(matches!(problems(&test, None)[0], AuditProblem::BlobChanged { .. }));
    let test = three_runs();
    let pinned = test.reader().run("r1").unwrap().pinned;
    tamper(&test, "DELETE FROM blobs");
    let run = RunId("r1".to_string());
    assert_eq!(problems(&test, None)[0], AuditProblem::BlobMissing { blob: pinned, run, seq: 1 });
}

// CORE-08
#[test]
fn a_snapshot_that_differs_from_a_replay_is_reported() {
    let test = three_runs();
    tamper(
        &test,
        "UPDATE snapshots SET state = replace(state, '\"confidence\":\"high\"', '\"confidence\":\"low\"')",
    );
    let run = RunId("long".to_string());
    assert_eq!(problems(&test, None), [AuditProblem::Snapshot { run, seq: 128 }]);
}

// CORE-08
#[test]
fn a_snapshot_with_other_open_commands_is_reported() {
    let test = three_runs();
    tamper(&test, "UPDATE snapshots SET open = '[]'");
    let run = RunId("long".to_string());
    assert_eq!(problems(&test, None), [AuditProblem::Snapshot { run, seq: 128 }]);
}

// CORE-08
#[test]
fn a_snapshot_of_a_nonexistent_event_is_reported_and_not_used() {
    let test = three_runs();
    let run = RunId("long".to_string());
    let before = replay(&test.reader(), &run, ReplayFrom::Start).unwrap();
    tamper(
        &test,
        "INSERT INTO snapshots (run, seq, state, open) SELECT run, 99999, state, '[]' FROM snapshots",
    );
    assert_eq!(problems(&test, None), [AuditProblem::Snapshot { run: run.clone(), seq: 99_999 }]);
    let after = replay(&test.reader(), &run, ReplayFrom::Snapshot).unwrap();
    assert_eq!((after.seq, after.state, after.open), (before.seq, before.state, before.open));
}

// CORE-04, CORE-09
#[test]
fn a_run_with_an_unreadable_snapshot_resumes_from_its_start() {
    let test = three_runs();
    let run = RunId("long".to_string());
    let before = replay(&test.reader(), &run, ReplayFrom::Start).unwrap();
    tamper(&test, "UPDATE snapshots SET state = '{}'");
    let after = replay(&test.reader(), &run, ReplayFrom::Snapshot).unwrap();
    assert_eq!((after.seq, after.state, after.open), (before.seq, before.state, before.open));
}

// CORE-08
#[test]
fn a_rebuild_repairs_projections_and_snapshots() {
    let mut test = three_runs();
    tamper(
        &test,
        "UPDATE snapshots SET open = '[]'; UPDATE runs SET place = 'elsewhere'; DELETE FROM rulings",
    );
    let found = problems(&test, None);
    assert!(found.len() >= 3 && found.iter().all(AuditProblem::is_in_projections), "{found:?}");
    test.ledger.rebuild().unwrap();
    assert_eq!(problems(&test, None), []);
}

// CORE-08
#[test]
fn missing_changed_and_added_schema_objects_are_found() {
    let test = three_runs();
    let raw = test.raw();
    raw.execute_batch(
        "DROP TRIGGER events_are_not_removed; DROP VIEW anvil_checks;
        CREATE VIEW anvil_checks AS SELECT 1 AS passed; CREATE TABLE extra (id INTEGER)",
    )
    .unwrap();
    let found = problems(&test, None);
    assert_eq!(
        found,
        [
            AuditProblem::SchemaMissing { object: "trigger events_are_not_removed".to_string() },
            AuditProblem::SchemaChanged { object: "view anvil_checks".to_string() },
            AuditProblem::SchemaAdded { object: "table extra".to_string() },
        ]
    );
}

#[test]
fn an_audit_reports_its_progress() {
    let test = three_runs();
    let mut seen = Vec::new();
    audit(&test.reader(), None, |progress| {
        if progress.done == 0 {
            seen.push(progress.part);
        }
    })
    .unwrap();
    let parts =
        [AuditPart::File, AuditPart::Schema, AuditPart::Chain, AuditPart::Blobs, AuditPart::Projections];
    assert_eq!(seen, parts);
}
