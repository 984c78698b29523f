//! Gates: asked, answered, withdrawn, and defaults that were taken without asking.

use crate::support::{Book, Life, happy, interactive, program, walk};
use remand_kernel::event::{Event, Start};
use remand_kernel::signal::Failure;
use remand_ledger::fact::Telemetry;
use remand_ledger::query::{GateKind, RunStage};
use remand_ledger::{Facts, Reader};

// EP-12
#[test]
fn a_gate_waits_with_its_question_and_is_recorded_with_its_answer() {
    let mut book = Book::new();
    let events = walk(program("feature"), interactive(), 1, |walker| {
        walker.until("approve-research").expect("reached");
    });
    let mut life = book.live("r1", program("feature"), &events);
    let reader = book.reader();
    let open = reader.open_gates().unwrap();
    let [gate] = &open[..] else { panic!("{open:#?}") };
    assert_eq!(gate.question, "Is this the right direction?");
    let options: Vec<(&str, Option<&str>)> =
        gate.options.iter().map(|option| (option.name.as_str(), option.action.as_deref())).collect();
    assert_eq!(
        options,
        [("proceed", Some("next")), ("expand", Some("remand research")), ("abort", Some("stop aborted"))]
    );
    assert_eq!(gate.default.as_deref(), Some("proceed"));
    assert_eq!((gate.kind, gate.mandatory, gate.auto), (GateKind::Phase, false, false));
    assert_eq!(gate.mode, "interactive");
    assert_eq!(gate.opened_at.0, life.at);
    let run = reader.run("r1").unwrap();
    assert_eq!((run.stage, run.place.as_str()), (RunStage::Waiting, "approve-research"));

    let answer = life.answers("expand");
    life.feed(&mut book.ledger, answer, Facts::default()).unwrap();
    assert!(reader.open_gates().unwrap().is_empty());
    let gates = reader.gates(&life.run).unwrap();
    let answered = (&gates[0].option, &gates[0].by, &gates[0].note, gates[0].answered_at);
    assert_eq!(answered.0.as_deref(), Some("expand"));
    assert_eq!(answered.1.as_deref(), Some("ada"));
    assert_eq!(answered.2.as_deref(), Some("looks right"));
    assert_eq!(answered.3.map(|at| at.0), Some(life.at));
    assert_eq!(reader.run("r1").unwrap().stage, RunStage::Running);
}

// EP-12
#[test]
fn a_default_that_nobody_was_asked_about_is_a_gate_too() {
    let mut book = Book::new();
    let life = book.live("r1", program("feature"), &happy("feature", 1));
    let gates = book.reader().gates(&life.run).unwrap();
    let taken: Vec<(&str, Option<&str>, bool)> =
        gates.iter().map(|gate| (gate.phase.as_str(), gate.option.as_deref(), gate.auto)).collect();
    assert_eq!(taken, [("approve-research", Some("proceed"), true), ("approve-plan", Some("approve"), true)]);
    assert!(gates.iter().all(|gate| gate.mode == "autonomous" && !gate.is_open()));
    assert!(gates.iter().all(|gate| gate.answered_at.is_some() && gate.by.as_deref() == Some("default")));
}

#[test]
fn a_used_up_option_is_withheld_with_its_budget() {
    let mut book = Book::new();
    let events = walk(program("feature"), interactive(), 1, |walker| {
        for _ in 0..3 {
            walker.until("approve-research").expect("reached");
            let expand = remand_workflow::walk::Happening::new("approve-research", "expand");
            walker.happen(&expand).expect("answered");
        }
        walker.until("approve-research").expect("reached");
    });
    book.live("r1", program("feature"), &events);
    let open = book.reader().open_gates().unwrap();
    let withheld: Vec<(&str, Option<&str>)> =
        open[0].withheld.iter().map(|option| (option.name.as_str(), option.exhausted.as_deref())).collect();
    assert_eq!(withheld, [("expand", Some("expand"))]);
}

#[test]
fn a_gate_of_a_cancelled_run_is_withdrawn() {
    let mut book = Book::new();
    let events = walk(program("feature"), interactive(), 1, |walker| {
        walker.until("approve-research").expect("reached");
    });
    let mut life = book.live("r1", program("feature"), &events);
    life.feed(&mut book.ledger, Event::Cancelled { by: "ada".to_string() }, Facts::default()).unwrap();
    let reader = book.reader();
    assert!(reader.open_gates().unwrap().is_empty());
    let gate = &reader.gates(&life.run).unwrap()[0];
    assert_eq!(gate.withdrawn_at.map(|at| at.0), Some(life.at));
    let run = reader.run("r1").unwrap();
    assert_eq!(run.stage, RunStage::Cancelled);
    assert_eq!(run.ended.as_deref(), Some("cancelled by ada"));
}

fn of(driver: &str) -> Facts {
    let telemetry = Telemetry { driver: driver.to_string(), ..Telemetry::default() };
    Facts { telemetry: Some(telemetry), ..Facts::default() }
}

/// Runs that are about to dispatch for their specification.
fn dispatching(book: &mut Book, names: &[&str]) -> Vec<Life> {
    let begin = |name: &&str| {
        let events = walk(program("feature"), Start::default(), 1, |walker| {
            walker.until("spec").expect("reached");
        });
        book.live(name, program("feature"), &events)
    };
    names.iter().map(begin).collect()
}

/// As the host counts them before the next command of a run.
fn in_a_row(reader: &Reader, driver: &str, life: &Life) -> u16 {
    let id = life.open[0].id().expect("an id");
    reader.environment_failures_in_a_row(driver, &life.run, id).unwrap()
}

// CORE-10
#[test]
fn environment_failures_are_counted_across_runs_until_one_that_is_none() {
    let mut book = Book::new();
    let mut lives = dispatching(&mut book, &["r1", "r2", "r3"]);
    let reader = book.reader();
    assert_eq!(in_a_row(&reader, "codex", &lives[2]), 0);
    for (turn, expected) in [(0, 1), (1, 2), (0, 3)] {
        let event = lives[turn].fails(Failure::Environment, in_a_row(&reader, "codex", &lives[turn]) + 1);
        lives[turn].feed(&mut book.ledger, event, of("codex")).unwrap();
        assert_eq!(in_a_row(&reader, "codex", &lives[2]), expected);
    }
    let open = reader.open_gates().unwrap();
    assert_eq!((open.len(), open[0].kind), (1, GateKind::Hold));
    assert_eq!(open[0].question, "The environment failed: no network. Go on?");
    assert!(open[0].mandatory);
    let held = reader.run("r1").unwrap();
    assert_eq!((held.stage, held.place.as_str()), (RunStage::Waiting, "hold: no network, spec"));

    let event = lives[1].says("done");
    lives[1].feed(&mut book.ledger, event, of("codex")).unwrap();
    assert_eq!(in_a_row(&reader, "codex", &lives[2]), 0);
}

// CORE-10
#[test]
fn environment_failures_are_counted_for_each_driver() {
    let mut book = Book::new();
    let mut lives = dispatching(&mut book, &["r1", "r2", "r3"]);
    let reader = book.reader();
    for turn in [0, 1] {
        let event = lives[turn].fails(Failure::Environment, 1);
        lives[turn].feed(&mut book.ledger, event, of("codex")).unwrap();
    }
    assert_eq!(in_a_row(&reader, "claude", &lives[2]), 0, "failures of another");
    let event = lives[2].says("done");
    lives[2].feed(&mut book.ledger, event, of("claude")).unwrap();
    assert_eq!(in_a_row(&reader, "codex", &lives[2]), 2, "a success of another");
}

// CORE-10
#[test]
fn environment_failures_of_a_seat_count_though_its_driver_does_well_elsewhere() {
    let mut book = Book::new();
    let mut lives = dispatching(&mut book, &["r1", "r2"]);
    let reader = book.reader();
    for failure in [Failure::Environment, Failure::Malformed, Failure::Environment, Failure::Environment] {
        let event = lives[0].fails(failure, 1);
        lives[0].feed(&mut book.ledger, event, of("opencode")).unwrap();
    }
    let event = lives[1].says("done");
    lives[1].feed(&mut book.ledger, event, of("opencode")).unwrap();
    assert_eq!((in_a_row(&reader, "opencode", &lives[0]), in_a_row(&reader, "opencode", &lives[1])), (2, 0));
}

#[test]
fn a_paused_run_says_so() {
    let mut book = Book::new();
    let mut life = Life::new("r1", program("quick"));
    life.start(&mut book.ledger, Start::default());
    life.feed(&mut book.ledger, Event::Paused { by: "ada".to_string() }, Facts::default()).unwrap();
    assert_eq!(book.reader().run("r1").unwrap().stage, RunStage::Paused);
}
