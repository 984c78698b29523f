//! Replaying from the start or from a snapshot gives the same state and open commands. A rebuild gives the same tables.

use crate::support::{SHIPPED, TestLedger, TestRun, happy_path, interactive, program, rough_path, walk};
use remand_kernel::command::Command;
use remand_kernel::event::Event;
use remand_ledger::{Facts, LedgerError, ReplayError, ReplayFrom, RunId, audit, replay};

// CORE-04, EP-28, EP-29
#[test]
fn a_replay_gives_the_same_state_and_open_commands_after_every_event() {
    let mut test = TestLedger::new();
    let mut test_run = TestRun::new("r1", program("feature"));
    for event in rough_path() {
        test_run.feed(&mut test.ledger, event, Facts::default()).unwrap();
        let replayed = replay(&test.reader(), &test_run.run, ReplayFrom::Snapshot).unwrap();
        assert_eq!(replayed.state, test_run.state);
        assert_eq!(replayed.open, test_run.open);
        assert_eq!(&*replayed.program, program("feature"));
        assert_eq!(replayed.at.0, test_run.at);
    }
    let replayed = replay(&test.reader(), &test_run.run, ReplayFrom::Snapshot).unwrap();
    assert!(matches!(replayed.unanswered[..], [Command::Finish { .. }]), "{:?}", replayed.unanswered);
}

#[test]
fn a_long_run_resumes_from_its_latest_snapshot() {
    let mut test = TestLedger::new();
    let events = happy_path("feature", 75);
    assert!(events.len() > 300, "{}", events.len());
    let mut test_run = TestRun::new("r1", program("feature"));
    for event in &events[..300] {
        test_run.feed(&mut test.ledger, event.clone(), Facts::default()).unwrap();
    }
    let reader = test.reader();
    let snapshot = reader.snapshot(&test_run.run).unwrap().expect("a snapshot");
    assert_eq!(snapshot.seq, 256);
    let kept: i64 = test.raw().query_row("SELECT count(*) FROM snapshots", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, 2);
    for from in [ReplayFrom::Snapshot, ReplayFrom::Start] {
        let replayed = replay(&reader, &test_run.run, from).unwrap();
        assert_eq!(replayed.seq, 300);
        assert_eq!(replayed.state, test_run.state);
        assert_eq!(replayed.open, test_run.open, "{from:?}");
    }
    for event in &events[300..] {
        test_run.feed(&mut test.ledger, event.clone(), Facts::default()).unwrap();
    }
    let kept: i64 = test.raw().query_row("SELECT count(*) FROM snapshots", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, 2, "only the latest two are kept");
}

#[test]
fn a_snapshot_keeps_the_commands_that_are_open_at_its_event() {
    let mut test = TestLedger::new();
    let events = happy_path("feature", 60);
    let mut test_run = TestRun::new("r1", program("feature"));
    for event in &events[..256] {
        test_run.feed(&mut test.ledger, event.clone(), Facts::default()).unwrap();
    }
    let snapshot = test.reader().snapshot(&test_run.run).unwrap().expect("a snapshot");
    assert!(!test_run.open.is_empty());
    assert_eq!((snapshot.seq, snapshot.open, snapshot.state), (256, test_run.open, test_run.state));
}

// EP-28
#[test]
fn a_ruling_that_differs_from_the_recorded_one_is_reported_with_both() {
    let mut test = TestLedger::new();
    let test_run = test.append_run("r1", program("feature"), &rough_path());
    let raw = test.raw();
    raw.execute_batch("DROP TRIGGER events_are_not_changed").unwrap();
    let changed = raw.execute(
        "UPDATE events SET rulings = replace(rulings, '\"confidence\":\"high\"', '\"confidence\":\"low\"')
        WHERE seq = 7",
        [],
    );
    assert_eq!(changed, Ok(1));
    for from in [ReplayFrom::Snapshot, ReplayFrom::Start] {
        let error = replay(&test.reader(), &test_run.run, from).expect_err("differs");
        let ReplayError::Mismatch { seq, recorded, now, .. } = error else { panic!("{error}") };
        assert_eq!(seq, 7);
        assert!(recorded.contains("\"confidence\":\"low\"") && now.contains("\"confidence\":\"high\""));
    }
}

// EP-28, CORE-04
#[test]
fn thousands_of_events_are_replayed_in_order_and_a_wrong_one_at_the_end_is_named() {
    let mut test = TestLedger::new();
    let mut test_run = TestRun::new("r1", program("feature"));
    let mut events = happy_path("feature", 60);
    let rest = events.split_off(2);
    // Pausing and resuming makes the run long.
    let by = || "ada".to_string();
    events.extend((0..2_500).flat_map(|_| [Event::Paused { by: by() }, Event::Resumed { by: by() }]));
    events.extend(rest);
    let prepared: Vec<_> =
        events.into_iter().map(|event| test_run.prepare(event, Facts::default())).collect();
    let entries: Vec<_> = prepared.iter().map(|prepared| prepared.entry()).collect();
    test.ledger.append(&entries).unwrap();
    test.ledger.catch_up().unwrap();
    let replayed = replay(&test.reader(), &test_run.run, ReplayFrom::Start).unwrap();
    assert_eq!((replayed.seq, replayed.state), (entries.len() as u64, test_run.state));

    let raw = test.raw();
    raw.execute_batch("DROP TRIGGER events_are_not_changed").unwrap();
    raw.execute("UPDATE events SET body = '{\"started\":' WHERE seq = 4900", []).unwrap();
    let error = replay(&test.reader(), &test_run.run, ReplayFrom::Start).expect_err("undecodable");
    let ReplayError::Ledger(LedgerError::Undecodable { what, .. }) = &error else { panic!("{error:?}") };
    assert_eq!(what, "event 4900 of run r1");
    raw.execute("UPDATE events SET rulings = '[]' WHERE seq = 2000", []).unwrap();
    let error = replay(&test.reader(), &test_run.run, ReplayFrom::Start).expect_err("differs");
    assert!(matches!(error, ReplayError::Mismatch { seq: 2000, .. }), "{error:?}");
}

#[test]
fn an_event_that_the_kernel_refuses_is_named() {
    let mut test = TestLedger::new();
    let test_run = test.append_run("r1", program("quick"), &happy_path("quick", 1));
    let raw = test.raw();
    raw.execute_batch("DROP TRIGGER events_are_not_changed").unwrap();
    raw.execute("UPDATE events SET body = '{\"resumed\":{\"by\":\"eve\"}}' WHERE seq = 1", []).unwrap();
    let error = replay(&test.reader(), &test_run.run, ReplayFrom::Start).expect_err("refused");
    assert!(matches!(error, ReplayError::Refused { seq: 1, .. }), "{error:?}");
    raw.execute("UPDATE events SET body = '{\"started\":' WHERE seq = 1", []).unwrap();
    let error = replay(&test.reader(), &test_run.run, ReplayFrom::Start).expect_err("undecodable");
    let ReplayError::Ledger(LedgerError::Undecodable { what, .. }) = &error else { panic!("{error:?}") };
    assert_eq!(what, "event 1 of run r1");
}

// CORE-18
#[test]
fn a_run_continues_with_its_pinned_program() {
    let mut test = TestLedger::new();
    let mut changed = program("quick").clone();
    changed.phases[0].name = "renamed".to_string();
    let changed: &'static remand_kernel::Program = Box::leak(Box::new(changed));
    let test_run = test.append_run("r1", changed, &happy_path("quick", 1)[..2]);
    let replayed = replay(&test.reader(), &test_run.run, ReplayFrom::Start).unwrap();
    assert_eq!(&*replayed.program, changed);
    assert_ne!(&*replayed.program, program("quick"));

    let raw = test.raw();
    raw.execute_batch("DROP TRIGGER blobs_are_not_changed").unwrap();
    raw.execute(
        "UPDATE blobs SET body = CAST(replace(CAST(body AS TEXT), 'renamed', 'setups!') AS BLOB)",
        [],
    )
    .unwrap();
    let error = replay(&test.reader(), &test_run.run, ReplayFrom::Start).expect_err("changed");
    assert!(matches!(error, ReplayError::NoProgram { .. }), "{error:?}");
}

#[test]
fn a_missing_run_cannot_be_replayed() {
    let test = TestLedger::new();
    let error = replay(&test.reader(), &RunId("r9".to_string()), ReplayFrom::Snapshot).expect_err("absent");
    assert!(matches!(error, ReplayError::Ledger(LedgerError::NoSuchRun { .. })));
}

/// Appends concurrent runs of all shipped workflows: successful, with work sent back, with gates, and cancelled.
/// Returns the number of events.
fn append_many_runs(test: &mut TestLedger) -> usize {
    let mut runs: Vec<(String, &'static str, Vec<Event>)> =
        SHIPPED.iter().map(|name| (format!("happy-{name}"), *name, happy_path(name, 3))).collect();
    runs.push(("stormy".to_string(), "feature", rough_path()));
    for name in ["feature", "ticket", "spec"] {
        let events = walk(program(name), interactive(), 2, |walker| {
            walker.finish().expect("finishes");
        });
        runs.push((format!("asked-{name}"), name, events));
    }
    let mut cancelled = happy_path("issue", 2);
    cancelled.truncate(9);
    cancelled.push(Event::Cancelled { by: "ada".to_string() });
    runs.push(("cancelled".to_string(), "issue", cancelled));
    let longest = runs.iter().map(|(_, _, events)| events.len()).max().unwrap_or(0);
    let mut states: Vec<TestRun> =
        runs.iter().map(|(run, name, _)| TestRun::new(run, program(name))).collect();
    let mut count = 0;
    for index in 0..longest {
        for ((_, _, events), test_run) in runs.iter().zip(&mut states) {
            if let Some(event) = events.get(index) {
                test_run.feed(&mut test.ledger, event.clone(), Facts::default()).unwrap();
                count += 1;
            }
        }
    }
    count
}

/// All rows of all projections, as text.
fn dump(test: &TestLedger) -> Vec<String> {
    let raw = test.raw();
    let tables = [
        "runs",
        "dispatches",
        "operations",
        "rulings",
        "checks",
        "findings",
        "artifacts",
        "gates",
        "notes",
        "tasks",
        "test_proofs",
        "mutants",
    ];
    let mut lines = Vec::new();
    for table in tables {
        let mut statement = raw.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2, 3, 4")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values: Vec<String> =
                (0..columns).map(|column| format!("{:?}", row.get_ref(column).unwrap())).collect();
            lines.push(format!("{table}: {}", values.join(", ")));
        }
    }
    lines
}

// CORE-08
#[test]
fn rebuilt_projections_are_identical() {
    let mut test = TestLedger::new();
    let count = append_many_runs(&mut test);
    let before = dump(&test);
    let raw = test.raw();
    raw.execute_batch(
        "DELETE FROM runs; DELETE FROM findings; UPDATE commands SET status = 'DONE', tokens = 1;
        DELETE FROM gates WHERE id % 2 = 0; UPDATE tasks SET listed = 0;",
    )
    .unwrap();
    assert_ne!(dump(&test), before);
    assert_eq!(test.ledger.rebuild().unwrap(), count as u64);
    assert_eq!(dump(&test), before);
    let report = audit(&test.reader(), None, |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.problems);
}

#[test]
fn a_run_continues_after_a_rebuild() {
    let mut test = TestLedger::new();
    let events = rough_path();
    let mut test_run = TestRun::new("r1", program("feature"));
    for (index, event) in events.iter().enumerate() {
        if index % 10 == 9 {
            test.ledger.rebuild().unwrap();
        }
        test_run.feed(&mut test.ledger, event.clone(), Facts::default()).unwrap();
    }
    let report = audit(&test.reader(), None, |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.problems);
}
