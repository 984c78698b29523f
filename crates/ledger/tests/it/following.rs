//! Catching up: tables lag behind the journal, any process can project events, and forged events are never projected.

use crate::support::{OwnedEntry, TestLedger, TestRun, happy_path, program, rough_path};
use remand_kernel::event::{Event, Start};
use remand_ledger::{Facts, Ledger, ReplayFrom, SNAPSHOT_EVERY, audit, replay};

fn assert_sound(test: &TestLedger) {
    let report = audit(&test.reader(), None, |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.problems);
}

/// The last event that the tables of a file show.
fn last_projected(test: &TestLedger) -> i64 {
    let conn = rusqlite::Connection::open(test.path()).unwrap();
    conn.query_row("SELECT event FROM followed", [], |row| row.get(0)).unwrap()
}

// CORE-04
#[test]
fn a_reader_sees_committed_events_that_are_not_projected_yet() {
    let mut test = TestLedger::new();
    let mut test_run = TestRun::new("r1", program("quick"));
    let started = test_run.prepare(Event::Started(Start::default()), Facts::default());
    test.ledger.append(&[started.entry()]).unwrap();
    let event = test_run.end_event("ready");
    let prepared = test_run.prepare(event, Facts::default());
    test.ledger.append(&[prepared.entry()]).unwrap();
    assert_eq!((test.ledger.lag(), last_projected(&test)), (2, 0));

    let reader = test.reader();
    assert_eq!(reader.run("r1").unwrap().seq, 2);
    assert_eq!(last_projected(&test), 2);
    // The process that appended the events finds them projected.
    test.ledger.catch_up().unwrap();
    let event = test_run.end_event("recorded");
    assert_eq!(test_run.feed(&mut test.ledger, event, Facts::default()).unwrap(), 3);
    assert_eq!(reader.run("r1").unwrap().seq, 3);
    assert_sound(&test);
}

// CORE-04
#[test]
fn events_that_a_killed_process_did_not_project_are_projected_on_the_next_open() {
    let test = TestLedger::new();
    let mut killed = Ledger::open(&test.path()).unwrap();
    let mut test_run = TestRun::new("r1", program("feature"));
    for event in happy_path("feature", 2) {
        let prepared = test_run.prepare(event, Facts::default());
        killed.append(&[prepared.entry()]).unwrap();
    }
    let all = i64::try_from(killed.lag()).unwrap();
    assert_eq!(last_projected(&test), 0);
    // A killed process runs no destructor.
    std::mem::forget(killed);
    drop(Ledger::open(&test.path()).unwrap());
    assert_eq!(last_projected(&test), all);
    assert_sound(&test);
}

// CORE-08
#[test]
fn tables_from_states_in_memory_equal_tables_from_a_replay() {
    let mut test = TestLedger::new();
    let mut one = TestRun::new("r1", program("feature"));
    let mut two = TestRun::new("r2", program("feature"));
    for (number, event) in rough_path().into_iter().enumerate() {
        let prepared: Vec<OwnedEntry> =
            [&mut one, &mut two].map(|test_run| test_run.prepare(event.clone(), Facts::default())).into();
        let entries: Vec<_> = prepared.iter().map(OwnedEntry::entry).collect();
        test.ledger.append(&entries).unwrap();
        match number % 5 {
            // Projects without the states in memory.
            3 => test.ledger.catch_up().unwrap(),
            4 => {}
            _ => {
                let states = [(&one.run, &one.state), (&two.run, &two.state)];
                let state_of = |run: &_| {
                    let found = states.iter().find(|(id, _)| *id == run);
                    found.map(|(_, state)| (program("feature"), *state))
                };
                test.ledger.catch_up_with(&entries, state_of).unwrap();
                assert_eq!(test.ledger.lag(), 0);
            }
        }
    }
    assert_sound(&test);
}

// CORE-04
#[test]
fn snapshots_are_taken_at_the_same_events_whatever_the_lag() {
    let mut test = TestLedger::new();
    let mut test_run = TestRun::new("r1", program("feature"));
    let events = happy_path("feature", 40);
    assert!(i64::try_from(events.len()).unwrap() > SNAPSHOT_EVERY, "{}", events.len());
    for event in events {
        let prepared = test_run.prepare(event, Facts::default());
        test.ledger.append(&[prepared.entry()]).unwrap();
    }
    test.ledger.catch_up().unwrap();
    let reader = test.reader();
    let snapshot = reader.snapshot(&test_run.run).unwrap().expect("a snapshot");
    assert_eq!(i64::try_from(snapshot.seq).unwrap() % SNAPSHOT_EVERY, 0);
    let resumed = replay(&reader, &test_run.run, ReplayFrom::Snapshot).unwrap();
    assert_eq!(resumed.state, test_run.state);
    assert_sound(&test);
}

// CORE-08
#[test]
fn an_event_that_breaks_the_chain_is_never_projected() {
    let mut test = TestLedger::new();
    test.append_run("r1", program("quick"), &happy_path("quick", 1));
    let raw = test.raw();
    raw.execute(
        "INSERT INTO events SELECT 1 + max(id), 'intruder', 1, at, kind, body, facts, rulings, commands, zeroblob(32)
        FROM events WHERE id = (SELECT max(id) FROM events)",
        [],
    )
    .unwrap();
    let refused = test.reader().runs().expect_err("somebody else wrote it");
    assert!(refused.to_string().contains("does not match the event before it"), "{refused}");
    assert!(refused.hint().contains("remand audit"), "{}", refused.hint());
    assert!(Ledger::open(&test.path()).is_err());
    let found: i64 =
        raw.query_row("SELECT count(*) FROM runs WHERE run = 'intruder'", [], |row| row.get(0)).unwrap();
    assert_eq!(found, 0);
    assert!(!audit(&test.reader(), None, |_| {}).unwrap().is_sound());
}
