//! Gates: opened, answered, withdrawn, and defaults chosen without asking.

use crate::support::{TestLedger, TestRun, happy_path, interactive, program, walk};
use remand_kernel::event::{Event, Start};
use remand_kernel::signal::Failure;
use remand_ledger::fact::Telemetry;
use remand_ledger::query::{GateKind, RunStage};
use remand_ledger::{Facts, Reader};

// EP-12
#[test]
fn a_gate_waits_with_its_question_and_is_recorded_with_its_answer() {
    let mut test = TestLedger::new();
    let events = walk(program("feature"), interactive(), 1, |walker| {
        walker.until("approve-research").expect("reached");
    });
    let mut test_run = test.append_run("r1", program("feature"), &events);
    let reader = test.reader();
    let open = reader.open_gates().unwrap();
    let [gate] = &open[..] else { panic!("{open:#?}") };
    assert_eq!(
        gate.question,
        "Is this the right direction? To expand it, name areas in your note, separated by commas."
    );
    let options: Vec<(&str, Option<&str>)> =
        gate.options.iter().map(|option| (option.name.as_str(), option.action.as_deref())).collect();
    assert_eq!(
        options,
        [("proceed", Some("next")), ("expand", Some("remand focus")), ("abort", Some("stop aborted"))]
    );
    assert_eq!(gate.default.as_deref(), Some("proceed"));
    assert_eq!((gate.kind, gate.mandatory, gate.auto), (GateKind::Phase, false, false));
    assert_eq!(gate.mode, "interactive");
    assert_eq!(gate.opened_at.0, test_run.at);
    let run = reader.run("r1").unwrap();
    assert_eq!((run.stage, run.place.as_str()), (RunStage::Waiting, "approve-research"));

    let answer = test_run.answer_event("expand");
    test_run.feed(&mut test.ledger, answer, Facts::default()).unwrap();
    assert!(reader.open_gates().unwrap().is_empty());
    let gates = reader.gates(&test_run.run).unwrap();
    let answered = (&gates[0].option, &gates[0].by, &gates[0].note, gates[0].answered_at);
    assert_eq!(answered.0.as_deref(), Some("expand"));
    assert_eq!(answered.1.as_deref(), Some("ada"));
    assert_eq!(answered.2.as_deref(), Some("looks right"));
    assert_eq!(answered.3.map(|at| at.0), Some(test_run.at));
    assert_eq!(reader.run("r1").unwrap().stage, RunStage::Running);
}

// EP-12
#[test]
fn a_default_chosen_without_asking_is_a_gate_too() {
    let mut test = TestLedger::new();
    let test_run = test.append_run("r1", program("feature"), &happy_path("feature", 1));
    let gates = test.reader().gates(&test_run.run).unwrap();
    let chosen: Vec<(&str, Option<&str>, bool)> =
        gates.iter().map(|gate| (gate.phase.as_str(), gate.option.as_deref(), gate.auto)).collect();
    assert_eq!(
        chosen,
        [("approve-research", Some("proceed"), true), ("approve-plan", Some("approve"), true)]
    );
    assert!(gates.iter().all(|gate| gate.mode == "autonomous" && !gate.is_open()));
    assert!(gates.iter().all(|gate| gate.answered_at.is_some() && gate.by.as_deref() == Some("default")));
}

#[test]
fn an_option_with_an_empty_budget_is_withheld() {
    let mut test = TestLedger::new();
    let events = walk(program("feature"), interactive(), 1, |walker| {
        for _ in 0..3 {
            walker.until("approve-research").expect("reached");
            let expand = remand_workflow::walk::WalkStep::new("approve-research", "expand");
            walker.happen(&expand).expect("answered");
        }
        walker.until("approve-research").expect("reached");
    });
    test.append_run("r1", program("feature"), &events);
    let open = test.reader().open_gates().unwrap();
    let withheld: Vec<(&str, Option<&str>)> =
        open[0].withheld.iter().map(|option| (option.name.as_str(), option.exhausted.as_deref())).collect();
    assert_eq!(withheld, [("expand", Some("expand"))]);
}

#[test]
fn a_gate_of_a_cancelled_run_is_withdrawn() {
    let mut test = TestLedger::new();
    let events = walk(program("feature"), interactive(), 1, |walker| {
        walker.until("approve-research").expect("reached");
    });
    let mut test_run = test.append_run("r1", program("feature"), &events);
    test_run.feed(&mut test.ledger, Event::Cancelled { by: "ada".to_string() }, Facts::default()).unwrap();
    let reader = test.reader();
    assert!(reader.open_gates().unwrap().is_empty());
    let gate = &reader.gates(&test_run.run).unwrap()[0];
    assert_eq!(gate.withdrawn_at.map(|at| at.0), Some(test_run.at));
    let run = reader.run("r1").unwrap();
    assert_eq!(run.stage, RunStage::Stopped);
    assert_eq!(run.outcome(), "stopped: cancelled by ada");
}

fn telemetry_of(driver: &str) -> Facts {
    let telemetry = Telemetry { driver: driver.to_string(), ..Telemetry::default() };
    Facts { telemetry: Some(telemetry), ..Facts::default() }
}

/// Runs whose next command is the dispatch for the phase `spec`.
fn runs_before_spec(test: &mut TestLedger, names: &[&str]) -> Vec<TestRun> {
    let start_run = |name: &&str| {
        let events = walk(program("feature"), Start::default(), 1, |walker| {
            walker.until("spec").expect("reached");
        });
        test.append_run(name, program("feature"), &events)
    };
    names.iter().map(start_run).collect()
}

/// The count of environment failures for the next command of a run.
fn consecutive_failures(reader: &Reader, driver: &str, test_run: &TestRun) -> u16 {
    let id = test_run.open[0].id().expect("an id");
    reader.environment_failures_in_a_row(driver, &test_run.run, id).unwrap()
}

// CORE-10
#[test]
fn environment_failures_are_counted_across_runs_until_a_dispatch_succeeds() {
    let mut test = TestLedger::new();
    let mut test_runs = runs_before_spec(&mut test, &["r1", "r2", "r3"]);
    let reader = test.reader();
    assert_eq!(consecutive_failures(&reader, "codex", &test_runs[2]), 0);
    for (index, expected) in [(0, 1), (1, 2), (0, 3)] {
        let event = test_runs[index]
            .fail_event(Failure::Environment, consecutive_failures(&reader, "codex", &test_runs[index]) + 1);
        test_runs[index].feed(&mut test.ledger, event, telemetry_of("codex")).unwrap();
        assert_eq!(consecutive_failures(&reader, "codex", &test_runs[2]), expected);
    }
    let open = reader.open_gates().unwrap();
    assert_eq!((open.len(), open[0].kind), (1, GateKind::Hold));
    assert_eq!(open[0].question, "The environment failed: no network. Go on?");
    assert!(open[0].mandatory);
    let held = reader.run("r1").unwrap();
    assert_eq!((held.stage, held.place.as_str()), (RunStage::Waiting, "hold: no network, spec"));

    let event = test_runs[1].end_event("done");
    test_runs[1].feed(&mut test.ledger, event, telemetry_of("codex")).unwrap();
    assert_eq!(consecutive_failures(&reader, "codex", &test_runs[2]), 0);
}

// CORE-10
#[test]
fn environment_failures_are_counted_for_each_driver() {
    let mut test = TestLedger::new();
    let mut test_runs = runs_before_spec(&mut test, &["r1", "r2", "r3"]);
    let reader = test.reader();
    for index in [0, 1] {
        let event = test_runs[index].fail_event(Failure::Environment, 1);
        test_runs[index].feed(&mut test.ledger, event, telemetry_of("codex")).unwrap();
    }
    assert_eq!(consecutive_failures(&reader, "claude", &test_runs[2]), 0, "failures of another driver");
    let event = test_runs[2].end_event("done");
    test_runs[2].feed(&mut test.ledger, event, telemetry_of("claude")).unwrap();
    assert_eq!(consecutive_failures(&reader, "codex", &test_runs[2]), 2, "a success of another driver");
}

// CORE-10
#[test]
fn environment_failures_of_a_seat_count_even_if_its_driver_works_elsewhere() {
    let mut test = TestLedger::new();
    let mut test_runs = runs_before_spec(&mut test, &["r1", "r2"]);
    let reader = test.reader();
    for failure in [Failure::Environment, Failure::Malformed, Failure::Environment, Failure::Environment] {
        let event = test_runs[0].fail_event(failure, 1);
        test_runs[0].feed(&mut test.ledger, event, telemetry_of("opencode")).unwrap();
    }
    let event = test_runs[1].end_event("done");
    test_runs[1].feed(&mut test.ledger, event, telemetry_of("opencode")).unwrap();
    assert_eq!(
        (
            consecutive_failures(&reader, "opencode", &test_runs[0]),
            consecutive_failures(&reader, "opencode", &test_runs[1])
        ),
        (2, 0)
    );
}

#[test]
fn a_paused_run_has_the_stage_paused() {
    let mut test = TestLedger::new();
    let mut test_run = TestRun::new("r1", program("quick"));
    test_run.start(&mut test.ledger, Start::default());
    test_run.feed(&mut test.ledger, Event::Paused { by: "ada".to_string() }, Facts::default()).unwrap();
    assert_eq!(test.reader().run("r1").unwrap().stage, RunStage::Paused);
}
