//! Requests from other processes to the process that drives a run.

use crate::support::{TestLedger, TestRun, interactive, program, walk};
use remand_kernel::event::Event;
use remand_ledger::query::RequestFate;
use remand_ledger::{Facts, Ledger, LedgerError, Millis};

/// A run that waits at its first gate.
fn waiting_run(test: &mut TestLedger) -> TestRun {
    let events = walk(program("feature"), interactive(), 1, |walker| {
        walker.until("approve-research").expect("reached");
    });
    test.append_run("r1", program("feature"), &events)
}

// CORE-14
#[test]
fn an_answer_is_consumed_in_the_commit_of_its_event() {
    let mut test = TestLedger::new();
    let mut test_run = waiting_run(&mut test);
    let mut other_process = Ledger::open(&test.path()).unwrap();
    let answer = test_run.answer_event("proceed");
    let id = other_process.request(&test_run.run, Millis(5), &answer).unwrap();
    let reader = test.reader();
    let waiting = reader.requests(&test_run.run).unwrap();
    assert_eq!((waiting.len(), waiting[0].id, &waiting[0].event), (1, id, &answer));
    assert_eq!(reader.all_requests().unwrap().len(), 1);
    assert_eq!(reader.fate(id).unwrap(), RequestFate::Waiting);
    assert_eq!(reader.open_gates().unwrap().len(), 1, "a request alone does not answer the gate");

    let mut prepared = test_run.prepare(answer, Facts::default());
    prepared.request = Some(id);
    let before = reader.data_version().unwrap();
    test.ledger.append(&[prepared.entry()]).unwrap();
    assert_ne!(reader.data_version().unwrap(), before);
    assert!(reader.requests(&test_run.run).unwrap().is_empty());
    assert_eq!(reader.fate(id).unwrap(), RequestFate::Accepted);
    assert!(reader.open_gates().unwrap().is_empty());
    assert!(reader.dispatches(&test_run.run).unwrap().iter().any(|row| row.phase == "spec"));
}

// CORE-14
#[test]
fn an_answer_that_another_process_refused_is_not_appended() {
    let mut test = TestLedger::new();
    let mut test_run = waiting_run(&mut test);
    let answer = test_run.answer_event("proceed");
    let id = test.ledger.request(&test_run.run, Millis(5), &answer).unwrap();
    let mut other = Ledger::open(&test.path()).unwrap();
    other.refuse(id, "the gate is closed").unwrap();
    let mut prepared = test_run.prepare(answer, Facts::default());
    prepared.request = Some(id);
    let head = test.reader().head().unwrap();
    let refused = test.ledger.append(&[prepared.entry()]);
    assert!(matches!(refused, Err(LedgerError::RequestGone { id: gone }) if gone == id));
    assert_eq!(test.reader().head().unwrap(), head);
    assert_eq!(test.reader().open_gates().unwrap().len(), 1);
}

#[test]
fn the_requesting_process_can_read_why_it_was_refused() {
    let mut test = TestLedger::new();
    let test_run = waiting_run(&mut test);
    let cancel = Event::Cancelled { by: "ada".to_string() };
    let id = test.ledger.request(&test_run.run, Millis(5), &cancel).unwrap();
    test.ledger.refuse(id, "the run is over").unwrap();
    let reader = test.reader();
    assert_eq!(reader.fate(id).unwrap(), RequestFate::Refused("the run is over".to_string()));
    assert!(reader.requests(&test_run.run).unwrap().is_empty());
    let second = test.ledger.refuse(id, "again");
    assert!(matches!(second, Err(LedgerError::RequestGone { .. })));
}

// CORE-14
#[test]
fn a_request_for_one_run_is_not_consumed_by_another() {
    let mut test = TestLedger::new();
    let test_run = waiting_run(&mut test);
    let pause = Event::Paused { by: "ada".to_string() };
    let id = test.ledger.request(&test_run.run, Millis(5), &pause).unwrap();
    let mut other = TestRun::new("r2", program("quick"));
    other.start(&mut test.ledger, Default::default());
    let mut prepared = other.prepare(pause, Facts::default());
    prepared.request = Some(id);
    assert!(matches!(test.ledger.append(&[prepared.entry()]), Err(LedgerError::RequestGone { .. })));
    assert_eq!(test.reader().fate(id).unwrap(), RequestFate::Waiting);
}
