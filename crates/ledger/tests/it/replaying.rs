//! Replaying: the same state and the same open commands, from the start and from a snapshot; projections made again.

use crate::support::{Book, Life, SHIPPED, happy, interactive, program, stormy, walk};
use remand_kernel::command::Command;
use remand_kernel::event::Event;
use remand_ledger::{Facts, LedgerError, ReplayError, ReplayFrom, RunId, audit, replay};

// CORE-04, EP-28, EP-29
#[test]
fn a_replay_leads_to_the_same_state_and_the_same_open_commands_at_every_event() {
    let mut book = Book::new();
    let mut life = Life::new("r1", program("feature"));
    for event in stormy() {
        life.feed(&mut book.ledger, event, Facts::default()).unwrap();
        let replayed = replay(&book.reader(), &life.run, ReplayFrom::Snapshot).unwrap();
        assert_eq!(replayed.state, life.state);
        assert_eq!(replayed.open, life.open);
        assert_eq!(&*replayed.program, program("feature"));
        assert_eq!(replayed.at.0, life.at);
    }
    let replayed = replay(&book.reader(), &life.run, ReplayFrom::Snapshot).unwrap();
    assert!(matches!(replayed.unanswered[..], [Command::Finish { .. }]), "{:?}", replayed.unanswered);
}

#[test]
fn a_long_run_resumes_from_its_latest_snapshot() {
    let mut book = Book::new();
    let events = happy("feature", 60);
    assert!(events.len() > 300, "{}", events.len());
    let mut life = Life::new("r1", program("feature"));
    for event in &events[..300] {
        life.feed(&mut book.ledger, event.clone(), Facts::default()).unwrap();
    }
    let reader = book.reader();
    let snapshot = reader.snapshot(&life.run).unwrap().expect("kept");
    assert_eq!(snapshot.seq, 256);
    let kept: i64 = book.raw().query_row("SELECT count(*) FROM snapshots", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, 2);
    for from in [ReplayFrom::Snapshot, ReplayFrom::Start] {
        let replayed = replay(&reader, &life.run, from).unwrap();
        assert_eq!(replayed.seq, 300);
        assert_eq!(replayed.state, life.state);
        assert_eq!(replayed.open, life.open, "{from:?}");
    }
    for event in &events[300..] {
        life.feed(&mut book.ledger, event.clone(), Facts::default()).unwrap();
    }
    let kept: i64 = book.raw().query_row("SELECT count(*) FROM snapshots", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, 2, "only the latest two are kept");
}

#[test]
fn a_snapshot_keeps_the_commands_that_are_open_at_its_event() {
    let mut book = Book::new();
    let events = happy("feature", 60);
    let mut life = Life::new("r1", program("feature"));
    for event in &events[..256] {
        life.feed(&mut book.ledger, event.clone(), Facts::default()).unwrap();
    }
    let snapshot = book.reader().snapshot(&life.run).unwrap().expect("kept");
    assert!(!life.open.is_empty());
    assert_eq!((snapshot.seq, snapshot.open, snapshot.state), (256, life.open, life.state));
}

// EP-28
#[test]
fn a_ruling_that_is_not_what_the_kernel_says_now_is_shown_with_both() {
    let mut book = Book::new();
    let life = book.live("r1", program("feature"), &stormy());
    let raw = book.raw();
    raw.execute_batch("DROP TRIGGER events_are_not_changed").unwrap();
    let changed = raw.execute(
        "UPDATE events SET rulings = replace(rulings, '\"confidence\":\"high\"', '\"confidence\":\"low\"')
        WHERE seq = 7",
        [],
    );
    assert_eq!(changed, Ok(1));
    for from in [ReplayFrom::Snapshot, ReplayFrom::Start] {
        let error = replay(&book.reader(), &life.run, from).expect_err("differs");
        let ReplayError::Mismatch { seq, recorded, now, .. } = error else { panic!("{error}") };
        assert_eq!(seq, 7);
        assert!(recorded.contains("\"confidence\":\"low\"") && now.contains("\"confidence\":\"high\""));
    }
}

// EP-28, CORE-04
#[test]
fn a_run_of_thousands_of_events_is_replayed_in_their_order_and_what_is_wrong_far_behind_is_named() {
    let mut book = Book::new();
    let mut life = Life::new("r1", program("feature"));
    let mut events = happy("feature", 60);
    let rest = events.split_off(2);
    // Somebody who cannot decide makes it long.
    let by = || "ada".to_string();
    events.extend((0..2_500).flat_map(|_| [Event::Paused { by: by() }, Event::Resumed { by: by() }]));
    events.extend(rest);
    let ready: Vec<_> = events.into_iter().map(|event| life.ready(event, Facts::default())).collect();
    let entries: Vec<_> = ready.iter().map(|ready| ready.entry()).collect();
    book.ledger.append(&entries).unwrap();
    book.ledger.follow().unwrap();
    let replayed = replay(&book.reader(), &life.run, ReplayFrom::Start).unwrap();
    assert_eq!((replayed.seq, replayed.state), (entries.len() as u64, life.state));

    let raw = book.raw();
    raw.execute_batch("DROP TRIGGER events_are_not_changed").unwrap();
    raw.execute("UPDATE events SET body = '{\"started\":' WHERE seq = 4900", []).unwrap();
    let error = replay(&book.reader(), &life.run, ReplayFrom::Start).expect_err("undecodable");
    let ReplayError::Ledger(LedgerError::Undecodable { what, .. }) = &error else { panic!("{error:?}") };
    assert_eq!(what, "event 4900 of run r1");
    raw.execute("UPDATE events SET rulings = '[]' WHERE seq = 2000", []).unwrap();
    let error = replay(&book.reader(), &life.run, ReplayFrom::Start).expect_err("differs");
    assert!(matches!(error, ReplayError::Mismatch { seq: 2000, .. }), "{error:?}");
}

#[test]
fn an_event_that_the_kernel_refuses_now_is_named() {
    let mut book = Book::new();
    let life = book.live("r1", program("quick"), &happy("quick", 1));
    let raw = book.raw();
    raw.execute_batch("DROP TRIGGER events_are_not_changed").unwrap();
    raw.execute("UPDATE events SET body = '{\"resumed\":{\"by\":\"eve\"}}' WHERE seq = 1", []).unwrap();
    let error = replay(&book.reader(), &life.run, ReplayFrom::Start).expect_err("refused");
    assert!(matches!(error, ReplayError::Refused { seq: 1, .. }), "{error:?}");
    raw.execute("UPDATE events SET body = '{\"started\":' WHERE seq = 1", []).unwrap();
    let error = replay(&book.reader(), &life.run, ReplayFrom::Start).expect_err("undecodable");
    let ReplayError::Ledger(LedgerError::Undecodable { what, .. }) = &error else { panic!("{error:?}") };
    assert_eq!(what, "event 1 of run r1");
}

// CORE-18
#[test]
fn a_run_goes_on_with_the_program_that_was_pinned() {
    let mut book = Book::new();
    let mut changed = program("quick").clone();
    changed.phases[0].name = "renamed".to_string();
    let changed: &'static remand_kernel::Program = Box::leak(Box::new(changed));
    let life = book.live("r1", changed, &happy("quick", 1)[..2]);
    let replayed = replay(&book.reader(), &life.run, ReplayFrom::Start).unwrap();
    assert_eq!(&*replayed.program, changed);
    assert_ne!(&*replayed.program, program("quick"));

    let raw = book.raw();
    raw.execute_batch("DROP TRIGGER blobs_are_not_changed").unwrap();
    raw.execute(
        "UPDATE blobs SET body = CAST(replace(CAST(body AS TEXT), 'renamed', 'setups!') AS BLOB)",
        [],
    )
    .unwrap();
    let error = replay(&book.reader(), &life.run, ReplayFrom::Start).expect_err("changed");
    assert!(matches!(error, ReplayError::NoProgram { .. }), "{error:?}");
}

#[test]
fn a_run_that_is_not_there_cannot_be_replayed() {
    let book = Book::new();
    let error = replay(&book.reader(), &RunId("r9".to_string()), ReplayFrom::Snapshot).expect_err("absent");
    assert!(matches!(error, ReplayError::Ledger(LedgerError::NoSuchRun { .. })));
}

/// Runs of all shipped workflows beside each other: happy, stormy, waiting, cancelled.
fn many(book: &mut Book) -> usize {
    let mut lives: Vec<(String, &'static str, Vec<Event>)> =
        SHIPPED.iter().map(|name| (format!("happy-{name}"), *name, happy(name, 3))).collect();
    lives.push(("stormy".to_string(), "feature", stormy()));
    for name in ["feature", "ticket", "spec"] {
        let events = walk(program(name), interactive(), 2, |walker| {
            walker.finish().expect("finishes");
        });
        lives.push((format!("asked-{name}"), name, events));
    }
    let mut cancelled = happy("issue", 2);
    cancelled.truncate(9);
    cancelled.push(Event::Cancelled { by: "ada".to_string() });
    lives.push(("cancelled".to_string(), "issue", cancelled));
    let longest = lives.iter().map(|(_, _, events)| events.len()).max().unwrap_or(0);
    let mut states: Vec<Life> = lives.iter().map(|(run, name, _)| Life::new(run, program(name))).collect();
    let mut count = 0;
    for at in 0..longest {
        for ((_, _, events), life) in lives.iter().zip(&mut states) {
            if let Some(event) = events.get(at) {
                life.feed(&mut book.ledger, event.clone(), Facts::default()).unwrap();
                count += 1;
            }
        }
    }
    count
}

/// All rows of all projections, as text.
fn dump(book: &Book) -> Vec<String> {
    let raw = book.raw();
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
    ];
    let mut lines = Vec::new();
    for table in tables {
        let mut statement = raw.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2, 3, 4")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values: Vec<String> =
                (0..columns).map(|at| format!("{:?}", row.get_ref(at).unwrap())).collect();
            lines.push(format!("{table}: {}", values.join(", ")));
        }
    }
    lines
}

// CORE-08
#[test]
fn projections_made_again_are_the_same_to_the_byte() {
    let mut book = Book::new();
    let count = many(&mut book);
    let before = dump(&book);
    let raw = book.raw();
    raw.execute_batch(
        "DELETE FROM runs; DELETE FROM findings; UPDATE commands SET status = 'DONE', tokens = 1;
        DELETE FROM gates WHERE id % 2 = 0; UPDATE tasks SET listed = 0;",
    )
    .unwrap();
    assert_ne!(dump(&book), before);
    assert_eq!(book.ledger.rebuild().unwrap(), count as u64);
    assert_eq!(dump(&book), before);
    let report = audit(&book.reader(), None, |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.problems);
}

#[test]
fn a_run_goes_on_after_its_projections_were_made_again() {
    let mut book = Book::new();
    let events = stormy();
    let mut life = Life::new("r1", program("feature"));
    for (at, event) in events.iter().enumerate() {
        if at % 10 == 9 {
            book.ledger.rebuild().unwrap();
        }
        life.feed(&mut book.ledger, event.clone(), Facts::default()).unwrap();
    }
    let report = audit(&book.reader(), None, |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.problems);
}
