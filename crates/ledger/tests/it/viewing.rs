//! The view of a run that all readers share, and facts that are stored in columns.

use crate::support::{
    TO_FORMAT_11, TestLedger, TestRun, check, interactive, program, rough_path, walk, with_checks,
};
use remand_kernel::event::{Event, Limits, Start};
use remand_kernel::evidence::RowPhase;
use remand_kernel::signal::Failure;
use remand_kernel::{State, step};
use remand_ledger::fact::{Delivery, MalformedCause, Note, NoteKind};
use remand_ledger::query::{RulingKind, RunStage};
use remand_ledger::view::{HoldReason, OpenKind, TaskState};
use remand_ledger::{Facts, LimitKind, ReplayFrom, RunDetail, RunPosition, audit, replay};

#[test]
fn the_view_equals_a_replay_after_every_event() {
    let mut test = TestLedger::new();
    let (mut test_run, reader) = (TestRun::new("r1", program("feature")), test.reader());
    for event in rough_path() {
        let seq = test_run.feed(&mut test.ledger, event, Facts::default()).unwrap();
        let view = reader.run_view(&test_run.run).unwrap();
        let replayed = replay(&reader, &test_run.run, ReplayFrom::Start).unwrap();
        assert_eq!(view.detail, Some(RunDetail::of(&replayed.program, &replayed.state)), "{seq}");
        assert_eq!((view.seq, view.lag), (seq, 0));
        let open: Vec<String> =
            replayed.open.iter().filter_map(|open| Some(open.id()?.to_string())).collect();
        let mut shown: Vec<String> = view.open.iter().map(|open| open.command.clone()).collect();
        shown.extend(view.gates.iter().map(|gate| gate.command.clone()));
        assert_eq!(shown, open, "{seq}");
        assert_eq!(view.row.place, view.detail.unwrap().position.to_string());
    }
    let view = reader.run_view(&test_run.run).unwrap();
    let detail = view.detail.unwrap();
    assert_eq!(detail.position, RunPosition::Ended);
    assert!(view.tasks.iter().all(|task| task.state == TaskState::Finished), "{:#?}", view.tasks);
}

#[test]
fn no_change_is_missing_between_a_view_and_the_changes_since_it() {
    let mut test = TestLedger::new();
    let (mut test_run, reader) = (TestRun::new("r1", program("feature")), test.reader());
    let mut open: Vec<String> = Vec::new();
    let mut seen = 0;
    for event in rough_path() {
        let prepared = test_run.prepare(event, Facts::default());
        let seq = test.ledger.append(&[prepared.entry()]).unwrap()[0];
        test.ledger.catch_up().unwrap();
        let changes = reader.changes_since(&test_run.run, seen).unwrap();
        let [change] = &changes[..] else { panic!("{changes:#?}") };
        let from_step =
            remand_ledger::RunChange::of(test_run.program, &test_run.state, seq, &prepared.entry());
        assert_eq!(
            *change, from_step,
            "the journal and the step that was just committed give the same change"
        );
        open.retain(|id| !change.closed.contains(id));
        open.extend(change.commands.iter().filter_map(|command| command.id.clone()));
        let view = reader.run_view(&test_run.run).unwrap();
        let mut shown: Vec<String> = view.open.into_iter().map(|open| open.command).collect();
        shown.extend(view.gates.into_iter().map(|gate| gate.command));
        assert_eq!(open, shown, "{seq}");
        seen = view.seq;
    }
    assert!(reader.changes_since(&test_run.run, seen).unwrap().is_empty());
}

#[test]
fn an_open_command_has_its_role_its_phase_and_its_start() {
    let mut test = TestLedger::new();
    let mut test_run = TestRun::new("r1", program("quick"));
    test_run.start(&mut test.ledger, Start::default());
    let view = test.reader().run_view(&test_run.run).unwrap();
    let [open] = &view.open[..] else { panic!("{:#?}", view.open) };
    assert_eq!((open.kind, open.attempt, open.retries), (OpenKind::Operation, 1, 0));
    assert_eq!(open.started_at.0, test_run.at);
    assert_eq!(open.to_string(), format!("do {}", open.name));
}

// CORE-07
#[test]
fn a_gate_at_a_limit_names_the_limit_in_a_column() {
    for (limits, expected, left) in [
        (Limits { dispatches: Some(2), ..Limits::default() }, LimitKind::Dispatches, Some(0)),
        // The agents of a walk do not report their tokens.
        (Limits { tokens: Some(100), ..Limits::default() }, LimitKind::UnknownTokens, None),
    ] {
        let mut test = TestLedger::new();
        let run = test.append_run("r1", program("feature"), &events_until_held(limits)).run;
        let view = test.reader().run_view(&run).unwrap();
        let [gate] = &view.gates[..] else { panic!("{:#?}", view.gates) };
        assert_eq!((gate.limit_kind, gate.limit()), (Some(expected), Some(expected.name())));
        let position = view.detail.clone().unwrap().position;
        let RunPosition::Phases { hold: Some(HoldReason::Limit { limit, .. }), .. } = position else {
            panic!("{position:#?}")
        };
        assert_eq!(limit, expected);
        let allowance = view.allowances().into_iter().find(|allowance| allowance.limit == expected);
        assert_eq!(allowance.and_then(|allowance| allowance.left()), left);
    }
}

/// The events of a run until one of these limits holds it.
fn events_until_held(limits: Limits) -> Vec<Event> {
    let program = program("feature");
    let start = Start { limits, ..Start::default() };
    let mut events = walk(program, start, 1, |walker| walker.finish().expect("finishes"));
    let mut state = State::new(program);
    let held = events.iter().position(|event| {
        step(program, &mut state, event).expect("accepted");
        state.hold.is_some()
    });
    events.truncate(held.expect("held") + 1);
    events
}

#[test]
fn a_gate_of_a_phase_has_no_limit() {
    let mut test = TestLedger::new();
    let events = walk(program("feature"), interactive(), 1, |walker| {
        walker.until("approve-research").expect("reached");
    });
    let test_run = test.append_run("r1", program("feature"), &events);
    assert_eq!(test.reader().run_view(&test_run.run).unwrap().gates[0].limit_kind, None);
}

/// An old journal has only the note. A new one has the fact, and the wording of the note does not matter.
#[test]
fn a_commit_is_known_from_its_fact_and_in_old_journals_from_its_note() {
    let committed = |file: Option<&str>| Delivery::Committed {
        commit: "0123abcd".to_string(),
        branch: "remand/r1".to_string(),
        file: file.map(str::to_string),
        changed: Vec::new(),
    };
    let note = |text: &str| Note::new(NoteKind::Decision, text.to_string());
    let old = Facts { notes: vec![note("committed 0123abcd on remand/r1")], ..Facts::default() };
    let new = Facts {
        notes: vec![note("anything")],
        delivery: Some(committed(Some("docs/spec.md"))),
        ..Facts::default()
    };
    for (facts, expected) in [(old, committed(None)), (new, committed(Some("docs/spec.md")))] {
        let mut test = TestLedger::new();
        let mut test_run = TestRun::new("r1", program("quick"));
        test_run.start(&mut test.ledger, Start::default());
        let event = test_run.fail_event(Failure::Transient, 0);
        test_run.feed(&mut test.ledger, event, facts).unwrap();
        let reader = test.reader();
        assert_eq!(reader.deliveries(&test_run.run).unwrap().len(), 1);
        assert_eq!(reader.run_view(&test_run.run).unwrap().delivery, Some(expected));
        assert!(audit(&reader, None, |_| {}).unwrap().is_sound());
    }
}

// UP-09
#[test]
fn an_outcome_has_one_word_and_its_reason() {
    let refused = |hook: Option<&str>| Delivery::Refused {
        reason: "a commit hook refused: long story".to_string(),
        hook: hook.map(str::to_string),
    };
    let handed_over = Delivery::HandedOver {
        reason: "a commit hook refused: long story".to_string(),
        take: "git merge --squash remand/r1".to_string(),
        discard: "git branch -D remand/r1".to_string(),
        hook: Some("E501 line too long".to_string()),
        changed: Vec::new(),
    };
    let committed = Delivery::Committed {
        commit: "0123abcd".to_string(),
        branch: "remand/r1".to_string(),
        file: None,
        changed: Vec::new(),
    };
    let hook = "left to you: the hook said: E501 line too long";
    let cases = [
        (vec![committed.clone()], "committed", "high"),
        (vec![refused(Some("E501 line too long")), handed_over], hook, "low"),
        (vec![refused(Some(""))], "left to you: the commit hook refused without a message", "low"),
        (vec![refused(None)], "left to you: a commit hook refused: long story", "low"),
        (vec![Delivery::Nothing], "left to you: the run changed nothing", "high"),
        (vec![refused(Some("x")), committed], "committed", "high"),
    ];
    for (deliveries, outcome, confidence) in cases {
        let mut test = TestLedger::new();
        let mut test_run = TestRun::new("r1", program("quick"));
        let mut events = crate::support::happy_path("quick", 1).into_iter();
        let last = events.len() - deliveries.len();
        for event in events.by_ref().take(last) {
            test_run.feed(&mut test.ledger, event, Facts::default()).unwrap();
        }
        for (event, delivery) in events.zip(deliveries) {
            let facts = Facts { delivery: Some(delivery), ..Facts::default() };
            test_run.feed(&mut test.ledger, event, facts).unwrap();
        }
        let reader = test.reader();
        let row = reader.run("r1").unwrap();
        assert_eq!((row.outcome().as_str(), row.confidence.as_str()), (outcome, confidence));
        assert!(audit(&reader, None, |_| {}).unwrap().is_sound());
    }
}

// UP-09
#[test]
fn a_run_that_nobody_drives_is_interrupted_and_one_that_waits_is_not() {
    let mut test = TestLedger::new();
    let mut test_run = TestRun::new("r1", program("quick"));
    test_run.start(&mut test.ledger, Start::default());
    assert_eq!(test.reader().run("r1").unwrap().stage, RunStage::Running);
    assert_eq!(test.reader().with_drivers(|_| true).run("r1").unwrap().stage, RunStage::Running);
    let undriven = test.reader().with_drivers(|_| false);
    assert_eq!(undriven.run("r1").unwrap().outcome(), "interrupted");
    assert_eq!(undriven.runs_under_way().unwrap()[0].stage, RunStage::Interrupted);
    assert_eq!(undriven.run_view(&test_run.run).unwrap().row.stage, RunStage::Interrupted);
    let events = walk(program("feature"), interactive(), 1, |walker| {
        walker.until("approve-research").expect("reached");
    });
    test.append_run("r2", program("feature"), &events);
    assert_eq!(test.reader().with_drivers(|_| false).run("r2").unwrap().stage, RunStage::Waiting);
}

// EP-19
#[test]
fn a_baseline_row_of_a_task_has_its_tree() {
    let mut test = TestLedger::new();
    let mut test_run = TestRun::new("r1", program("quick"));
    test_run.start(&mut test.ledger, Start::default());
    let mut old = check(Some("t1"), RowPhase::Baseline, "test", true);
    old.reason = "on tree 0123456789ab, which the task began on".to_string();
    let new = Facts {
        baseline_tree: Some("0123456789abcdef".to_string()),
        ..with_checks(vec![
            check(Some("t1"), RowPhase::Baseline, "lint", true),
            check(None, RowPhase::Baseline, "build", true),
        ])
    };
    for facts in [with_checks(vec![old]), new] {
        let event = test_run.fail_event(Failure::Environment, 1);
        test_run.feed(&mut test.ledger, event, facts).unwrap();
    }
    let rows = test.reader().checks(&test_run.run, Default::default()).unwrap();
    let trees: Vec<Option<&str>> = rows.iter().map(|row| row.tree.as_deref()).collect();
    assert_eq!(trees, [Some("0123456789ab"), Some("0123456789abcdef"), None]);
    assert!(rows[..2].iter().all(|row| row.is_baseline_on("0123456789abcdef")));
    assert!(!rows.iter().any(|row| row.is_baseline_on("9999456789abcdef")));
}

// SR-03
#[test]
fn the_cause_of_a_malformed_result_is_stored_in_a_column() {
    let mut test = TestLedger::new();
    let events = walk(program("feature"), Start::default(), 1, |walker| {
        walker.until("spec").expect("reached");
    });
    let mut test_run = test.append_run("r1", program("feature"), &events);
    let facts = Facts { malformed: Some(MalformedCause::TooShort), ..Facts::default() };
    for facts in [Facts::default(), facts] {
        let event = test_run.fail_event(Failure::Malformed, 0);
        test_run.feed(&mut test.ledger, event, facts).unwrap();
    }
    let rows = test.reader().dispatches(&test_run.run).unwrap();
    let causes: Vec<MalformedCause> = rows.iter().filter_map(|row| row.malformed).collect();
    assert_eq!(causes, [MalformedCause::WrongForm, MalformedCause::TooShort]);
}

#[test]
fn the_action_of_a_ruling_is_stored_in_a_column() {
    let mut test = TestLedger::new();
    let test_run = test.append_run("r1", program("feature"), &rough_path());
    let rulings = test.reader().rulings(&test_run.run, 0).unwrap();
    for row in &rulings {
        let is_remand = row.ruling.action.starts_with("remand ");
        assert_eq!(row.kind == Some(RulingKind::Remand), is_remand, "{}", row.ruling.action);
    }
    assert!(rulings.iter().any(|row| row.kind == Some(RulingKind::Remand)));
    assert!(rulings.iter().any(|row| row.kind == Some(RulingKind::Pause)));
}

// CORE-09
#[test]
fn an_upgrade_from_the_previous_format_fills_in_the_new_facts_of_all_runs() {
    let mut test = TestLedger::new();
    test.append_run("r1", program("feature"), &rough_path());
    test.append_run(
        "r2",
        program("feature"),
        &events_until_held(Limits { dispatches: Some(2), ..Limits::default() }),
    );
    let runs = ["r1", "r2"].map(|run| remand_ledger::RunId(run.to_string()));
    let views = |test: &TestLedger| runs.clone().map(|run| test.reader().run_view(&run).unwrap());
    let before = views(&test);
    let old = TestLedger::copy(&{
        test.raw().execute_batch(TO_FORMAT_11).unwrap();
        test.bytes_without_upgrade()
    });
    assert_eq!(views(&old), before);
    assert!(audit(&old.reader(), None, |_| {}).unwrap().is_sound());
}

#[test]
fn a_run_that_cannot_be_replayed_keeps_its_rows_when_its_ledger_is_upgraded() {
    let mut test = TestLedger::new();
    let test_run = test.append_run("r1", program("quick"), &crate::support::happy_path("quick", 1));
    let raw = test.raw();
    // This simulates an older version with other rulings. It also breaks the chain of the journal.
    raw.execute_batch("DROP TRIGGER events_are_not_changed").unwrap();
    raw.execute("UPDATE events SET rulings = '[]' WHERE seq = 2", []).unwrap();
    raw.execute_batch(TO_FORMAT_11).unwrap();
    let old = TestLedger::copy(&test.bytes_without_upgrade());
    let view = old.reader().run_view(&test_run.run).unwrap();
    assert_eq!((view.row.stage, view.lag), (RunStage::LeftToYou, 0));
    assert_eq!(view.detail, None);
}
