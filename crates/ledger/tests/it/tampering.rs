//! Tampering: every change behind the ledger's back is found and named (CORE-08).

use crate::support::{Book, check, happy, program, stormy, with_checks};
use remand_kernel::evidence::RowPhase;
use remand_ledger::audit::{AuditPart, Problem, RowFault};
use remand_ledger::{Head, ReplayFrom, RunId, audit, replay};
use rusqlite::Connection;
use std::sync::LazyLock;

/// Two runs beside each other, with a check, and long enough for a snapshot.
fn book() -> Book {
    static WRITTEN: LazyLock<Vec<u8>> = LazyLock::new(|| written().bytes());
    Book::copy(&WRITTEN)
}

fn written() -> Book {
    let mut book = Book::new();
    let mut lives = [
        crate::support::Life::new("r1", program("feature")),
        crate::support::Life::new("r2", program("feature")),
    ];
    for (at, event) in stormy().into_iter().enumerate() {
        for life in &mut lives {
            let rows = vec![check(Some("t1"), RowPhase::After, "build", false)];
            let facts = if at == 20 { with_checks(rows) } else { Default::default() };
            life.feed(&mut book.ledger, event.clone(), facts).unwrap();
        }
    }
    let long = book.live("long", program("feature"), &happy("feature", 30));
    assert!(book.reader().snapshot(&long.run).unwrap().is_some());
    assert!(audit(&book.reader(), None, |_| {}).unwrap().is_sound());
    book
}

/// Does something that the triggers forbid, and leaves no trace in the schema.
fn tamper(book: &Book, sql: &str) {
    let raw = book.raw();
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

fn problems(book: &Book, expected: Option<Head>) -> Vec<Problem> {
    audit(&book.reader(), expected, |_| {}).unwrap().problems
}

/// The run and number of a row of the journal.
fn place(conn: &Connection, id: i64) -> (Option<RunId>, Option<u64>) {
    conn.query_row("SELECT run, seq FROM events WHERE id = ?1", [id], |row| {
        Ok((Some(RunId(row.get(0)?)), Some(row.get::<_, i64>(1)?.unsigned_abs())))
    })
    .unwrap()
}

// CORE-08
#[test]
fn a_changed_row_is_named_whatever_was_changed_in_it() {
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
        let book = book();
        let (run, seq) = place(&book.raw(), 11);
        tamper(&book, &format!("UPDATE events SET {change} WHERE id = 11"));
        let found = problems(&book, None);
        assert_eq!(
            found.first(),
            Some(&Problem::Row { id: 11, run, seq, fault: RowFault::Changed }),
            "{change}"
        );
        assert_eq!(found[0].to_string(), "row 11 of the journal was changed: event 6 of run r1");
    }
}

// CORE-08
#[test]
fn a_removed_row_is_named() {
    let book = book();
    let (run, seq) = place(&book.raw(), 12);
    tamper(&book, "DELETE FROM events WHERE id = 12");
    let found = problems(&book, None);
    assert_eq!(found.first(), Some(&Problem::Row { id: 12, run, seq, fault: RowFault::Removed }));
}

// CORE-08
#[test]
fn a_removed_row_is_named_although_the_others_were_renumbered() {
    for id in [12, 1] {
        let book = book();
        let (run, seq) = place(&book.raw(), id);
        tamper(
            &book,
            &format!("DELETE FROM events WHERE id = {id}; UPDATE events SET id = id - 1 WHERE id > {id}"),
        );
        let found = problems(&book, None);
        assert_eq!(found.first(), Some(&Problem::Row { id, run, seq, fault: RowFault::Removed }));
    }
}

// CORE-08
#[test]
fn an_inserted_row_is_named_in_the_middle_and_at_the_end() {
    let insert = |id: &str| {
        format!(
            "INSERT INTO events SELECT {id}, 'intruder', 1, at, kind, body, facts, rulings, commands, hash
            FROM events WHERE id = 1"
        )
    };
    let middle = book();
    let shift = "UPDATE events SET id = -id - 1 WHERE id >= 9; UPDATE events SET id = -id WHERE id < 0;";
    tamper(&middle, &format!("{shift} {}", insert("9")));
    let intruder = |id: i64| Problem::Row {
        id,
        run: Some(RunId("intruder".to_string())),
        seq: Some(1),
        fault: RowFault::Inserted,
    };
    assert_eq!(problems(&middle, None).first(), Some(&intruder(9)));

    let end = book();
    let last = end.reader().head().unwrap().count.cast_signed() + 1;
    tamper(&end, &insert(&last.to_string()));
    assert_eq!(problems(&end, None).first(), Some(&intruder(last)));

    let front = book();
    tamper(&front, &insert("0"));
    assert_eq!(problems(&front, None).first(), Some(&intruder(0)));
}

// CORE-08
#[test]
fn a_tail_that_was_cut_off_is_found() {
    let book = book();
    let head = book.reader().head().unwrap();
    let last = head.count.cast_signed();
    let (run, seq) = place(&book.raw(), last);
    tamper(&book, &format!("DELETE FROM events WHERE id = {last}"));
    let found = problems(&book, None);
    assert_eq!(found.first(), Some(&Problem::Row { id: last, run, seq, fault: RowFault::Removed }));
    assert!(
        problems(&book, Some(head))
            .contains(&Problem::CutOff { expected: head.count, found: head.count - 1 })
    );
}

// CORE-08
#[test]
fn a_tail_that_was_cut_off_with_all_traces_is_found_by_the_head_that_was_quoted() {
    let mut book = book();
    let head = book.reader().head().unwrap();
    tamper(&book, &format!("DELETE FROM events WHERE id = {}", head.count));
    book.ledger.rebuild().unwrap();
    assert_eq!(problems(&book, None), [], "nothing else tells");
    assert_eq!(
        problems(&book, Some(head)),
        [Problem::CutOff { expected: head.count, found: head.count - 1 }]
    );

    // The journal went another way after the cut: as long as before, and not the same.
    let events = happy("quick", 1);
    book.live("other", program("quick"), &events);
    assert_eq!(problems(&book, Some(head)), [Problem::OtherHistory { count: head.count }]);
    let now = book.reader().head().unwrap();
    book.live("more", program("quick"), &events);
    assert_eq!(problems(&book, Some(now)), [], "a journal may grow");
}

// CORE-08
#[test]
fn a_changed_projection_is_named_with_table_row_and_column() {
    let book = book();
    tamper(
        &book,
        "UPDATE checks SET passed = 1 WHERE id = (SELECT id FROM checks ORDER BY id LIMIT 1 OFFSET 1)",
    );
    let found = problems(&book, None);
    let [Problem::Projection { table, row, column, found, made }] = &found[..] else { panic!("{found:#?}") };
    assert_eq!((*table, row.as_str(), column.as_deref()), ("checks", "id 2", Some("passed")));
    assert_eq!((found.as_str(), made.as_str()), ("1", "0"));

    let book = self::book();
    tamper(&book, "UPDATE rulings SET action = 'next' WHERE action = 'remand design' AND run = 'r2'");
    let words = problems(&book, None)[0].to_string();
    let said = "in table rulings, row run `r2`, seq 11, n 0, column action holds `next`, and the journal makes \
        `remand design`";
    assert_eq!(words, said);
}

// CORE-08
#[test]
fn a_row_that_a_projection_lacks_or_has_too_many_is_named() {
    for (sql, table, found, made) in [
        ("DELETE FROM findings WHERE run = 'r1' AND position = 1", "findings", "absent", "there"),
        ("DELETE FROM commands WHERE id = (SELECT max(id) FROM commands)", "commands", "absent", "there"),
        ("INSERT INTO tasks VALUES ('r1', 'a-task', 9, '[]', '[]', 1)", "tasks", "there", "absent"),
        ("INSERT INTO tasks VALUES ('z', 'z-task', 9, '[]', '[]', 1)", "tasks", "there", "absent"),
    ] {
        let book = book();
        tamper(&book, sql);
        let problems = problems(&book, None);
        let [Problem::Projection { table: named, column: None, found: is, made: should, .. }] = &problems[..]
        else {
            panic!("{problems:#?}")
        };
        assert_eq!((*named, is.as_str(), should.as_str()), (table, found, made));
    }
}

// CORE-08
#[test]
fn a_blob_that_was_changed_or_removed_is_named() {
    let book = book();
    tamper(&book, "UPDATE blobs SET body = CAST(CAST(body AS TEXT) || ' ' AS BLOB)");
    assert!(matches!(problems(&book, None)[0], Problem::BlobChanged { .. }));
    let book = self::book();
    let pinned = book.reader().run("r1").unwrap().pinned;
    tamper(&book, "DELETE FROM blobs");
    let run = RunId("r1".to_string());
    assert_eq!(problems(&book, None)[0], Problem::BlobMissing { blob: pinned, run, seq: 1 });
}

// CORE-08
#[test]
fn a_snapshot_that_the_journal_does_not_lead_to_is_named() {
    let book = book();
    tamper(
        &book,
        "UPDATE snapshots SET state = replace(state, '\"confidence\":\"high\"', '\"confidence\":\"low\"')",
    );
    let run = RunId("long".to_string());
    assert_eq!(problems(&book, None), [Problem::Snapshot { run, seq: 128 }]);
}

// CORE-08
#[test]
fn a_snapshot_with_other_open_commands_is_named() {
    let book = book();
    tamper(&book, "UPDATE snapshots SET open = '[]'");
    let run = RunId("long".to_string());
    assert_eq!(problems(&book, None), [Problem::Snapshot { run, seq: 128 }]);
}

// CORE-08
#[test]
fn a_snapshot_of_an_event_that_never_was_is_named_and_not_resumed_from() {
    let book = book();
    let run = RunId("long".to_string());
    let before = replay(&book.reader(), &run, ReplayFrom::Start).unwrap();
    tamper(
        &book,
        "INSERT INTO snapshots (run, seq, state, open) SELECT run, 99999, state, '[]' FROM snapshots",
    );
    assert_eq!(problems(&book, None), [Problem::Snapshot { run: run.clone(), seq: 99_999 }]);
    let after = replay(&book.reader(), &run, ReplayFrom::Snapshot).unwrap();
    assert_eq!((after.seq, after.state, after.open), (before.seq, before.state, before.open));
}

// CORE-04, CORE-09
#[test]
fn a_run_whose_snapshot_cannot_be_read_is_resumed_from_its_start() {
    let book = book();
    let run = RunId("long".to_string());
    let before = replay(&book.reader(), &run, ReplayFrom::Start).unwrap();
    tamper(&book, "UPDATE snapshots SET state = '{}'");
    let after = replay(&book.reader(), &run, ReplayFrom::Snapshot).unwrap();
    assert_eq!((after.seq, after.state, after.open), (before.seq, before.state, before.open));
}

// CORE-08
#[test]
fn what_follows_from_the_journal_is_mended_by_making_it_again() {
    let mut book = book();
    tamper(
        &book,
        "UPDATE snapshots SET open = '[]'; UPDATE runs SET place = 'elsewhere'; DELETE FROM rulings",
    );
    let found = problems(&book, None);
    assert!(found.len() >= 3 && found.iter().all(Problem::is_of_projections), "{found:?}");
    book.ledger.rebuild().unwrap();
    assert_eq!(problems(&book, None), []);
}

// CORE-08
#[test]
fn a_schema_without_its_triggers_is_noticed() {
    let book = book();
    let raw = book.raw();
    raw.execute_batch(
        "DROP TRIGGER events_are_not_removed; DROP VIEW anvil_checks;
        CREATE VIEW anvil_checks AS SELECT 1 AS passed; CREATE TABLE extra (id INTEGER)",
    )
    .unwrap();
    let found = problems(&book, None);
    assert_eq!(
        found,
        [
            Problem::SchemaMissing { object: "trigger events_are_not_removed".to_string() },
            Problem::SchemaChanged { object: "view anvil_checks".to_string() },
            Problem::SchemaAdded { object: "table extra".to_string() },
        ]
    );
}

#[test]
fn an_audit_says_how_far_it_is() {
    let book = book();
    let mut seen = Vec::new();
    audit(&book.reader(), None, |progress| {
        if progress.done == 0 {
            seen.push(progress.part);
        }
    })
    .unwrap();
    let parts =
        [AuditPart::File, AuditPart::Schema, AuditPart::Chain, AuditPart::Blobs, AuditPart::Projections];
    assert_eq!(seen, parts);
}
