//! Tables follow the journal: late, projected by whichever process is first, and never with forged events.

use crate::support::{OwnedEntry, TestLedger, TestRun, happy, program, stormy};
use remand_kernel::event::{Event, Start};
use remand_ledger::{Facts, Ledger, ReplayFrom, SNAPSHOT_EVERY, audit, replay};

fn sound(test: &TestLedger) {
    let report = audit(&test.reader(), None, |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.problems);
}

/// The last event that the tables of a file show.
fn projected(test: &TestLedger) -> i64 {
    let conn = rusqlite::Connection::open(test.path()).unwrap();
    conn.query_row("SELECT event FROM followed", [], |row| row.get(0)).unwrap()
}

// CORE-04
#[test]
fn a_reader_sees_committed_events_that_are_not_projected_yet() {
    let mut test = TestLedger::new();
    let mut test_run = TestRun::new("r1", program("quick"));
    let begun = test_run.prepare(Event::Started(Start::default()), Facts::default());
    test.ledger.append(&[begun.entry()]).unwrap();
    let event = test_run.says("ready");
    let ready = test_run.prepare(event, Facts::default());
    test.ledger.append(&[ready.entry()]).unwrap();
    assert_eq!((test.ledger.lag(), projected(&test)), (2, 0));

    let reader = test.reader();
    assert_eq!(reader.run("r1").unwrap().seq, 2);
    assert_eq!(projected(&test), 2);
    // The process that appended them finds them projected.
    test.ledger.follow().unwrap();
    let event = test_run.says("recorded");
    assert_eq!(test_run.feed(&mut test.ledger, event, Facts::default()).unwrap(), 3);
    assert_eq!(reader.run("r1").unwrap().seq, 3);
    sound(&test);
}

// CORE-04
#[test]
fn events_that_a_killed_process_did_not_project_are_projected_on_the_next_open() {
    let test = TestLedger::new();
    let mut killed = Ledger::open(&test.path()).unwrap();
    let mut test_run = TestRun::new("r1", program("feature"));
    for event in happy("feature", 2) {
        let ready = test_run.prepare(event, Facts::default());
        killed.append(&[ready.entry()]).unwrap();
    }
    let all = i64::try_from(killed.lag()).unwrap();
    assert_eq!(projected(&test), 0);
    // A killed process runs no destructor.
    std::mem::forget(killed);
    drop(Ledger::open(&test.path()).unwrap());
    assert_eq!(projected(&test), all);
    sound(&test);
}

// CORE-08
#[test]
fn tables_from_states_in_memory_equal_tables_from_a_replay() {
    let mut test = TestLedger::new();
    let mut one = TestRun::new("r1", program("feature"));
    let mut two = TestRun::new("r2", program("feature"));
    for (number, event) in stormy().into_iter().enumerate() {
        let ready: Vec<OwnedEntry> =
            [&mut one, &mut two].map(|test_run| test_run.prepare(event.clone(), Facts::default())).into();
        let entries: Vec<_> = ready.iter().map(OwnedEntry::entry).collect();
        test.ledger.append(&entries).unwrap();
        match number % 5 {
            // Their states are no longer in memory.
            3 => test.ledger.follow().unwrap(),
            4 => {}
            _ => {
                let states = [(&one.run, &one.state), (&two.run, &two.state)];
                let at_hand = |run: &_| {
                    let known = states.iter().find(|(known, _)| *known == run);
                    known.map(|(_, state)| (program("feature"), *state))
                };
                test.ledger.show(&entries, at_hand).unwrap();
                assert_eq!(test.ledger.lag(), 0);
            }
        }
    }
    sound(&test);
}

// CORE-04
#[test]
fn snapshots_are_taken_at_the_same_events_however_late_the_tables_follow() {
    let mut test = TestLedger::new();
    let mut test_run = TestRun::new("r1", program("feature"));
    let events = happy("feature", 40);
    assert!(i64::try_from(events.len()).unwrap() > SNAPSHOT_EVERY, "{}", events.len());
    for event in events {
        let ready = test_run.prepare(event, Facts::default());
        test.ledger.append(&[ready.entry()]).unwrap();
    }
    test.ledger.follow().unwrap();
    let reader = test.reader();
    let kept = reader.snapshot(&test_run.run).unwrap().expect("a snapshot");
    assert_eq!(i64::try_from(kept.seq).unwrap() % SNAPSHOT_EVERY, 0);
    let resumed = replay(&reader, &test_run.run, ReplayFrom::Snapshot).unwrap();
    assert_eq!(resumed.state, test_run.state);
    sound(&test);
}

// CORE-08
#[test]
fn an_event_that_breaks_the_chain_is_never_projected() {
    let mut test = TestLedger::new();
    test.append_run("r1", program("quick"), &happy("quick", 1));
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
