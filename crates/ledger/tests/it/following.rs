//! Tables follow the journal: behind it, by whoever comes first, and by nothing that does not belong to it.

use crate::support::{Book, Life, Ready, happy, program, stormy};
use remand_kernel::event::{Event, Start};
use remand_ledger::{Facts, Ledger, ReplayFrom, SNAPSHOT_EVERY, audit, replay};

fn sound(book: &Book) {
    let report = audit(&book.reader(), None, |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.problems);
}

/// The last event that the tables of a file show.
fn shown(book: &Book) -> i64 {
    let conn = rusqlite::Connection::open(book.path()).unwrap();
    conn.query_row("SELECT event FROM followed", [], |row| row.get(0)).unwrap()
}

// CORE-04
#[test]
fn a_reader_sees_what_was_acknowledged_before_the_tables_followed() {
    let mut book = Book::new();
    let mut life = Life::new("r1", program("quick"));
    let begun = life.ready(Event::Started(Start::default()), Facts::default());
    book.ledger.append(&[begun.entry()]).unwrap();
    let event = life.says("ready");
    let ready = life.ready(event, Facts::default());
    book.ledger.append(&[ready.entry()]).unwrap();
    assert_eq!((book.ledger.behind(), shown(&book)), (2, 0));

    let reader = book.reader();
    assert_eq!(reader.run("r1").unwrap().seq, 2);
    assert_eq!(shown(&book), 2);
    // Whoever appended them finds it done.
    book.ledger.follow().unwrap();
    let event = life.says("recorded");
    assert_eq!(life.feed(&mut book.ledger, event, Facts::default()).unwrap(), 3);
    assert_eq!(reader.run("r1").unwrap().seq, 3);
    sound(&book);
}

// CORE-04
#[test]
fn what_a_killed_process_did_not_show_is_shown_by_the_next_that_opens_the_ledger() {
    let book = Book::new();
    let mut killed = Ledger::open(&book.path()).unwrap();
    let mut life = Life::new("r1", program("feature"));
    for event in happy("feature", 2) {
        let ready = life.ready(event, Facts::default());
        killed.append(&[ready.entry()]).unwrap();
    }
    let all = i64::try_from(killed.behind()).unwrap();
    assert_eq!(shown(&book), 0);
    // A killed process runs no destructor.
    std::mem::forget(killed);
    drop(Ledger::open(&book.path()).unwrap());
    assert_eq!(shown(&book), all);
    sound(&book);
}

// CORE-08
#[test]
fn tables_made_from_states_at_hand_are_those_that_the_journal_leads_to() {
    let mut book = Book::new();
    let mut one = Life::new("r1", program("feature"));
    let mut two = Life::new("r2", program("feature"));
    for (number, event) in stormy().into_iter().enumerate() {
        let ready: Vec<Ready> =
            [&mut one, &mut two].map(|life| life.ready(event.clone(), Facts::default())).into();
        let entries: Vec<_> = ready.iter().map(Ready::entry).collect();
        book.ledger.append(&entries).unwrap();
        match number % 5 {
            // Nobody has them at hand any more.
            3 => book.ledger.follow().unwrap(),
            4 => {}
            _ => {
                let states = [(&one.run, &one.state), (&two.run, &two.state)];
                let at_hand = |run: &_| {
                    let known = states.iter().find(|(known, _)| *known == run);
                    known.map(|(_, state)| (program("feature"), *state))
                };
                book.ledger.show(&entries, at_hand).unwrap();
                assert_eq!(book.ledger.behind(), 0);
            }
        }
    }
    sound(&book);
}

// CORE-04
#[test]
fn snapshots_are_taken_where_they_belong_however_late_the_tables_follow() {
    let mut book = Book::new();
    let mut life = Life::new("r1", program("feature"));
    let events = happy("feature", 40);
    assert!(i64::try_from(events.len()).unwrap() > SNAPSHOT_EVERY, "{}", events.len());
    for event in events {
        let ready = life.ready(event, Facts::default());
        book.ledger.append(&[ready.entry()]).unwrap();
    }
    book.ledger.follow().unwrap();
    let reader = book.reader();
    let kept = reader.snapshot(&life.run).unwrap().expect("a snapshot");
    assert_eq!(i64::try_from(kept.seq).unwrap() % SNAPSHOT_EVERY, 0);
    let resumed = replay(&reader, &life.run, ReplayFrom::Snapshot).unwrap();
    assert_eq!(resumed.state, life.state);
    sound(&book);
}

// CORE-08
#[test]
fn an_event_that_does_not_continue_the_chain_is_never_shown() {
    let mut book = Book::new();
    book.live("r1", program("quick"), &happy("quick", 1));
    let raw = book.raw();
    raw.execute(
        "INSERT INTO events SELECT 1 + max(id), 'intruder', 1, at, kind, body, facts, rulings, commands, zeroblob(32)
        FROM events WHERE id = (SELECT max(id) FROM events)",
        [],
    )
    .unwrap();
    let refused = book.reader().runs().expect_err("somebody else wrote it");
    assert!(refused.to_string().contains("does not follow from the event before it"), "{refused}");
    assert!(refused.hint().contains("remand audit"), "{}", refused.hint());
    assert!(Ledger::open(&book.path()).is_err());
    let found: i64 =
        raw.query_row("SELECT count(*) FROM runs WHERE run = 'intruder'", [], |row| row.get(0)).unwrap();
    assert_eq!(found, 0);
    assert!(!audit(&book.reader(), None, |_| {}).unwrap().is_sound());
}
