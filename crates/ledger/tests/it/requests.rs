//! Requests: what other processes ask of the one that drives a run.

use crate::support::{Book, Life, interactive, program, walk};
use remand_kernel::event::Event;
use remand_ledger::query::RequestFate;
use remand_ledger::{Facts, Ledger, LedgerError, Millis};

/// A run that waits at its first gate.
fn waiting(book: &mut Book) -> Life {
    let events = walk(program("feature"), interactive(), 1, |walker| {
        walker.until("approve-research").expect("reached");
    });
    book.live("r1", program("feature"), &events)
}

// CORE-14
#[test]
fn an_answer_is_consumed_in_the_commit_that_starts_what_it_allowed() {
    let mut book = Book::new();
    let mut life = waiting(&mut book);
    let mut face = Ledger::open(&book.path()).unwrap();
    let answer = life.answers("proceed");
    let id = face.request(&life.run, Millis(5), &answer).unwrap();
    let reader = book.reader();
    let waiting = reader.requests(&life.run).unwrap();
    assert_eq!((waiting.len(), waiting[0].id, &waiting[0].event), (1, id, &answer));
    assert_eq!(reader.all_requests().unwrap().len(), 1);
    assert_eq!(reader.fate(id).unwrap(), RequestFate::Waiting);
    assert_eq!(reader.open_gates().unwrap().len(), 1, "asking alone answers nothing");

    let mut ready = life.ready(answer, Facts::default());
    ready.request = Some(id);
    let before = reader.data_version().unwrap();
    book.ledger.append(&[ready.entry()]).unwrap();
    assert_ne!(reader.data_version().unwrap(), before);
    assert!(reader.requests(&life.run).unwrap().is_empty());
    assert_eq!(reader.fate(id).unwrap(), RequestFate::Taken);
    assert!(reader.open_gates().unwrap().is_empty());
    assert!(reader.dispatches(&life.run).unwrap().iter().any(|row| row.phase == "spec"));
}

// CORE-14
#[test]
fn an_answer_that_is_gone_starts_nothing() {
    let mut book = Book::new();
    let mut life = waiting(&mut book);
    let answer = life.answers("proceed");
    let id = book.ledger.request(&life.run, Millis(5), &answer).unwrap();
    let mut other = Ledger::open(&book.path()).unwrap();
    other.refuse(id, "the gate is closed").unwrap();
    let mut ready = life.ready(answer, Facts::default());
    ready.request = Some(id);
    let head = book.reader().head().unwrap();
    let refused = book.ledger.append(&[ready.entry()]);
    assert!(matches!(refused, Err(LedgerError::RequestGone { id: gone }) if gone == id));
    assert_eq!(book.reader().head().unwrap(), head);
    assert_eq!(book.reader().open_gates().unwrap().len(), 1);
}

#[test]
fn who_asked_can_read_why_it_was_refused() {
    let mut book = Book::new();
    let life = waiting(&mut book);
    let cancel = Event::Cancelled { by: "ada".to_string() };
    let id = book.ledger.request(&life.run, Millis(5), &cancel).unwrap();
    book.ledger.refuse(id, "the run is over").unwrap();
    let reader = book.reader();
    assert_eq!(reader.fate(id).unwrap(), RequestFate::Refused("the run is over".to_string()));
    assert!(reader.requests(&life.run).unwrap().is_empty());
    let twice = book.ledger.refuse(id, "again");
    assert!(matches!(twice, Err(LedgerError::RequestGone { .. })));
}

// CORE-14
#[test]
fn a_request_for_one_run_is_not_consumed_by_another() {
    let mut book = Book::new();
    let life = waiting(&mut book);
    let pause = Event::Paused { by: "ada".to_string() };
    let id = book.ledger.request(&life.run, Millis(5), &pause).unwrap();
    let mut other = Life::new("r2", program("quick"));
    other.start(&mut book.ledger, Default::default());
    let mut ready = other.ready(pause, Facts::default());
    ready.request = Some(id);
    assert!(matches!(book.ledger.append(&[ready.entry()]), Err(LedgerError::RequestGone { .. })));
    assert_eq!(book.reader().fate(id).unwrap(), RequestFate::Waiting);
}
