//! Answers, cancel, pause, and events that are duplicate, late or unexpected.

use crate::support::{Run, Setup, feature, issue, quick, spec, task, ticket};
use remand_kernel::command::Command;
use remand_kernel::event::{Event, Grants, Outcome, Report, Usage};
use remand_kernel::ids::{CommandId, Lane, PhaseId};
use remand_kernel::state::State;
use remand_kernel::step::Receipt;
use remand_kernel::{Refusal, Step};

// CORE-14
#[test]
fn an_answer_starts_the_work_that_it_allows_in_the_same_step() {
    let mut run = Setup::of(ticket()).interactive().run();
    run.until("design-gate").says("design-gate", "approve");
    assert_eq!(run.commands(), "dispatch coder for implement");
}

// CORE-14
#[test]
fn an_answer_is_consumed_once() {
    let mut run = Setup::of(ticket()).interactive().run();
    run.until("design-gate");
    let id = open_ids(&run)[0];
    run.says("design-gate", "approve");
    let step = answer(&mut run, id, "approve").expect("taken");
    assert_eq!((step.receipt, step.commands.len(), step.rulings.len()), (Receipt::Late, 0, 0));
}

// CORE-14
#[test]
fn an_answer_to_a_command_that_is_not_a_question_is_refused() {
    let mut run = Setup::of(quick()).run();
    run.until("implement");
    let id = open_ids(&run)[0];
    assert_eq!(answer(&mut run, id, "approve"), Err(Refusal::NotAQuestion(id)));
}

// CORE-05, CORE-14
#[test]
fn a_result_cannot_answer_a_gate() {
    let mut run = Setup::of(ticket()).interactive().run();
    run.until("design-gate");
    let id = open_ids(&run)[0];
    assert_eq!(end(&mut run, id, "approve"), Err(Refusal::NotADispatch(id)));
}

// CORE-17
#[test]
fn a_run_that_has_not_started_can_be_cancelled() {
    let mut state = State::new(quick());
    let step = cancel_state(quick(), &mut state);
    assert_eq!(step.commands.len(), 1);
    assert!(matches!(step.commands[0], Command::Finish { .. }));
}

// CORE-17
#[test]
fn cancel_kills_every_parallel_dispatch() {
    let mut run = Setup::of(feature()).run();
    run.until("research");
    cancel(&mut run);
    assert_eq!(
        run.commands(),
        "cancel research\ncancel research\ncancel research\ncancel research\nfinish: cancelled by ada"
    );
    nothing_follows(&mut run, "done");
}

// CORE-17
#[test]
fn cancel_kills_every_task_of_a_sub_flow() {
    let mut run =
        Setup::of(feature()).tasks(vec![task("t1", &[]), task("t2", &[]), task("t3", &["t1"])]).run();
    run.until("implement").says("t2/implement", "done");
    cancel(&mut run);
    assert_eq!(run.commands(), "cancel implement\ncancel cascade\nfinish: cancelled by ada");
    nothing_follows(&mut run, "done");
}

// CORE-17
#[test]
fn cancel_at_a_gate_withdraws_the_question() {
    let mut run = Setup::of(ticket()).interactive().run();
    run.until("design-gate");
    cancel(&mut run);
    assert_eq!(run.commands(), "cancel design-gate\nfinish: cancelled by ada");
    nothing_follows(&mut run, "approve");
}

// CORE-17
#[test]
fn cancel_in_a_hold_ends_the_run() {
    let mut run = Setup::of(quick()).run();
    run.until("implement").says("implement", "environment");
    let hold = open_ids(&run)[0];
    cancel(&mut run);
    assert_eq!(run.status(), "cancelled by ada");
    let step = answer(&mut run, hold, "go-on").expect("taken");
    assert_eq!((step.receipt, step.commands), (Receipt::Late, Vec::new()));
}

// CORE-17
#[test]
fn cancel_in_a_hold_withdraws_the_question_of_the_hold() {
    let mut run = Setup::of(issue()).run();
    run.until("plan").says("plan", "environment");
    let hold = open_ids(&run)[0];
    cancel(&mut run);
    assert!(!open_ids(&run).contains(&hold), "{}", run.status());
}

// CORE-17
#[test]
fn cancel_in_a_pause_starts_no_work_that_was_held_back() {
    let mut run = Setup::of(quick()).run();
    run.until("implement");
    pause(&mut run);
    run.says("implement", "done");
    cancel(&mut run);
    assert_eq!(run.commands(), "finish: cancelled by ada");
}

// CORE-17
#[test]
fn cancel_leaves_budgets_spent() {
    let mut run = Setup::of(quick()).run();
    run.until("verify").says("verify", "failed");
    cancel(&mut run);
    assert_eq!(run.left("fixes"), 1);
}

// CORE-17, OT-21
#[test]
fn cancel_runs_the_failure_operations_one_after_the_other() {
    let mut run = Setup::of(issue()).run();
    run.until("plan");
    cancel(&mut run);
    assert_eq!(run.commands(), "cancel plan\ndo comment-issue");
    run.says("comment-issue", "done");
    assert_eq!(run.commands(), "do back-to-todo");
    run.says("back-to-todo", "crashed");
    assert_eq!(run.commands(), "do discard-work-tree");
    run.says("discard-work-tree", "done");
    assert_eq!(run.commands(), "finish: cancelled by ada");
}

// CORE-17
#[test]
fn a_late_result_while_the_failure_operations_run_is_ignored() {
    let mut run = Setup::of(issue()).run();
    run.until("plan");
    let id = open_ids(&run)[0];
    cancel(&mut run);
    let step = end(&mut run, id, "done").expect("taken");
    assert_eq!((step.receipt, step.commands), (Receipt::Late, Vec::new()));
}

// CORE-17
#[test]
fn a_late_interruption_of_a_failure_operation_is_ignored() {
    let mut run = Setup::of(issue()).run();
    run.until("plan");
    cancel(&mut run);
    let id = open_ids(&run)[0];
    run.says("comment-issue", "done");
    let usage = Usage::default();
    let late = step(&mut run, Event::Interrupted { id, began: false, usage }).expect("taken");
    assert_eq!((late.receipt, late.commands), (Receipt::Late, Vec::new()));
    let later = CommandId { seat: 2, ..id };
    let early = step(&mut run, Event::Interrupted { id: later, began: false, usage });
    assert_eq!(early, Err(Refusal::UnknownCommand(later)));
}

// CORE-17
#[test]
fn a_second_cancel_is_harmless() {
    let mut run = Setup::of(quick()).run();
    run.until("implement");
    cancel(&mut run);
    let before = run.walker.state.clone();
    cancel(&mut run);
    assert_eq!(run.commands(), "");
    assert_eq!(run.walker.state, before);
}

// CORE-17
#[test]
fn a_cancelled_run_cannot_be_resumed() {
    let mut run = Setup::of(quick()).run();
    run.until("implement");
    pause(&mut run);
    cancel(&mut run);
    let by = "ada".to_string();
    assert_eq!(step(&mut run, Event::Resumed { by }), Err(Refusal::WrongStage("finished")));
}

// CORE-17
#[test]
fn a_late_answer_does_not_change_how_a_cancelled_run_ended() {
    let mut run = Setup::of(spec()).interactive().run();
    run.until("close-round").says("close-round", "converging");
    let id = open_ids(&run)[0];
    cancel(&mut run);
    answer(&mut run, id, "continue").expect("taken");
    assert_eq!(run.status(), "cancelled by ada");
}

// SR-12
#[test]
fn during_a_pause_running_work_may_end_but_nothing_new_starts() {
    let mut run = Setup::of(quick()).run();
    run.until("implement");
    pause(&mut run);
    run.says("implement", "done");
    assert_eq!(run.last(), "implement: done → next (verify)");
    assert_eq!(run.commands(), "");
    resume(&mut run);
    assert_eq!(run.commands(), "do checks");
}

// SR-12
#[test]
fn in_a_pause_a_retry_waits_too() {
    let mut run = Setup::of(quick()).run();
    run.until("implement");
    pause(&mut run);
    run.says("implement", "timeout");
    assert_eq!(run.commands(), "");
    resume(&mut run);
    assert_eq!(run.commands(), "dispatch implementer for implement");
}

// SR-12
#[test]
fn in_a_pause_tasks_that_could_start_wait() {
    let mut run = Setup::of(feature()).tasks(vec![task("t1", &[]), task("t2", &["t1"])]).run();
    run.until("merge");
    pause(&mut run);
    run.says("t1/merge", "merged");
    assert_eq!(run.commands(), "");
    resume(&mut run);
    assert_eq!(run.commands(), "dispatch implementer for implement[t2]");
}

// SR-12
#[test]
fn an_answer_during_a_pause_is_accepted_and_the_work_it_allows_waits() {
    let mut run = Setup::of(ticket()).interactive().run();
    run.until("design-gate");
    pause(&mut run);
    run.says("design-gate", "approve");
    assert_eq!(run.commands(), "");
    resume(&mut run);
    assert_eq!(run.commands(), "dispatch coder for implement");
}

// SR-12
#[test]
fn pausing_twice_and_resuming_twice_is_harmless() {
    let mut run = Setup::of(quick()).run();
    run.until("implement");
    let by = || "ada".to_string();
    let notes: Vec<Receipt> = [
        Event::Paused { by: by() },
        Event::Paused { by: by() },
        Event::Resumed { by: by() },
        Event::Resumed { by: by() },
    ]
    .into_iter()
    .map(|event| step(&mut run, event).expect("taken").receipt)
    .collect();
    assert_eq!(notes, [Receipt::Accepted, Receipt::Late, Receipt::Accepted, Receipt::Late]);
}

// CORE-04
#[test]
fn a_duplicate_result_counts_once() {
    let mut run = Setup::of(quick()).run();
    run.until("verify");
    let id = open_ids(&run)[0];
    run.says("verify", "failed");
    let left = run.left("fixes");
    let step = end(&mut run, id, "failed").expect("taken");
    assert_eq!((step.receipt, step.rulings.len(), step.commands.len()), (Receipt::Late, 0, 0));
    assert_eq!(run.left("fixes"), left);
}

// CORE-04
#[test]
fn the_result_of_an_attempt_that_was_given_up_is_ignored() {
    let mut run = Setup::of(quick()).run();
    run.until("implement");
    let first = open_ids(&run)[0];
    run.says("implement", "timeout");
    let step = end(&mut run, first, "done").expect("taken");
    assert_eq!(step.receipt, Receipt::Late);
    assert_eq!(run.status(), "waiting for implement");
}

// CORE-04
#[test]
fn a_run_starts_once() {
    let mut run = Setup::of(quick()).run();
    let again = Event::Started(remand_kernel::event::Start::default());
    assert_eq!(step(&mut run, again), Err(Refusal::AlreadyStarted));
}

// CORE-09
#[test]
fn before_the_start_only_cancel_is_accepted() {
    let by = || "ada".to_string();
    let id = position(0, 1, 0, 1);
    let events = [
        Event::Paused { by: by() },
        Event::Resumed { by: by() },
        Event::Ended { id, outcome: Outcome::Said(Box::default()), usage: Usage::default() },
        Event::Answered {
            id,
            option: "approve".to_string(),
            by: by(),
            note: String::new(),
            flags: Vec::new(),
            grants: Grants::AskedFor,
        },
        Event::ApproachRemoved { at: 0, by: by() },
    ];
    for event in events {
        let mut state = State::new(ticket());
        assert_eq!(remand_kernel::step(ticket(), &mut state, &event), Err(Refusal::NotStarted));
        assert_eq!(state, State::new(ticket()));
    }
}

// CORE-09
#[test]
fn a_command_that_was_never_issued_is_refused() {
    let mut run = Setup::of(quick()).run();
    run.until("implement");
    let implement = run.walker.state.main.phase.0;
    for id in [position(999, 1, 0, 1), position(implement, 2, 0, 1), position(implement + 1, 1, 0, 1)] {
        assert_eq!(end(&mut run, id, "done"), Err(Refusal::UnknownCommand(id)));
        assert_eq!(answer(&mut run, id, "approve"), Err(Refusal::UnknownCommand(id)));
    }
}

// CORE-09
#[test]
fn a_seat_or_an_attempt_that_never_existed_is_refused() {
    let mut run = Setup::of(quick()).run();
    run.until("implement");
    let implement = run.walker.state.main.phase.0;
    for id in [
        position(implement, 1, 7, 1),
        position(implement, 1, 0, 2),
        position(implement, 0, 0, 1),
        position(implement, 1, u16::MAX, 1),
        CommandId { lane: Lane::Task { batch: 1, index: 0 }, ..position(implement, 1, 0, 1) },
    ] {
        assert_eq!(end(&mut run, id, "done"), Err(Refusal::UnknownCommand(id)), "{id}");
    }
}

// CORE-09
#[test]
fn a_refused_event_leaves_the_state_as_it_was() {
    let mut run = Setup::of(ticket()).interactive().run();
    run.until("design-gate");
    let before = run.walker.state.clone();
    let id = open_ids(&run)[0];
    answer(&mut run, id, "maybe").unwrap_err();
    end(&mut run, id, "approve").unwrap_err();
    assert_eq!(run.walker.state, before);
}

// CORE-09
#[test]
fn an_answer_may_set_only_the_flags_of_its_question() {
    let mut run = Setup::of(ticket()).interactive().run();
    run.until("design-gate");
    let refused = step(
        &mut run,
        Event::Answered {
            id: position(run_phase(ticket(), "design-gate"), 1, 0, 1),
            option: "approve".to_string(),
            by: "ada".to_string(),
            note: String::new(),
            flags: vec![("prototype-wanted".to_string(), true)],
            grants: Grants::AskedFor,
        },
    );
    assert!(matches!(refused, Err(Refusal::UnknownName { what: "a flag of this question", .. })));
}

// CORE-05, CORE-09
#[test]
fn a_result_may_write_only_what_its_phase_writes() {
    let mut run = Setup::of(quick()).run();
    run.until("review");
    let id = open_ids(&run)[0];
    let report = Report {
        wrote: vec![("code".to_string(), remand_kernel::change::Digest(99))],
        ..Report::saying("approve")
    };
    let outcome = Outcome::Said(Box::new(report));
    let taken = step(&mut run, Event::Ended { id, outcome, usage: Usage::default() });
    assert!(taken.is_err(), "a reviewer changed the code");
}

fn open_ids(run: &Run) -> Vec<CommandId> {
    run.walker.open.iter().filter_map(Command::id).collect()
}

fn position(phase: u16, visit: u16, seat: u16, attempt: u16) -> CommandId {
    CommandId { phase: PhaseId(phase), lane: Lane::Main, visit, seat, attempt }
}

fn run_phase(program: &remand_kernel::Program, name: &str) -> u16 {
    program.phase_named(name).expect("phase").0
}

/// Gives an event directly to the kernel, without the walker.
fn step(run: &mut Run, event: Event) -> Result<Step, Refusal> {
    remand_kernel::step(run.walker.program, &mut run.walker.state, &event)
}

fn end(run: &mut Run, id: CommandId, says: &str) -> Result<Step, Refusal> {
    let outcome = Outcome::Said(Box::new(Report::saying(says)));
    let usage = Usage::default();
    step(run, Event::Ended { id, outcome, usage })
}

fn answer(run: &mut Run, id: CommandId, option: &str) -> Result<Step, Refusal> {
    let event = Event::Answered {
        id,
        option: option.to_string(),
        by: "ada".to_string(),
        note: String::new(),
        flags: Vec::new(),
        grants: Grants::AskedFor,
    };
    step(run, event)
}

fn cancel(run: &mut Run) {
    let event = Event::Cancelled { by: "ada".to_string() };
    run.walker.feed(event, "ada cancels".to_string()).expect("taken");
}

fn cancel_state(program: &remand_kernel::Program, state: &mut State) -> Step {
    let event = Event::Cancelled { by: "ada".to_string() };
    remand_kernel::step(program, state, &event).expect("taken")
}

fn pause(run: &mut Run) {
    let event = Event::Paused { by: "ada".to_string() };
    run.walker.feed(event, "ada pauses".to_string()).expect("taken");
}

fn resume(run: &mut Run) {
    let event = Event::Resumed { by: "ada".to_string() };
    run.walker.feed(event, "ada goes on".to_string()).expect("taken");
}

/// Ends every command that was ever issued, and asserts that nothing follows.
fn nothing_follows(run: &mut Run, says: &str) {
    let program = run.walker.program;
    let visited: Vec<(u16, u16)> =
        (0..).zip(run.walker.state.visits.iter().copied()).filter(|(_, visits)| *visits > 0).collect();
    // A sub-flow has no seats, and its phases are on the lanes of tasks.
    let on_the_main_line = |phase: &remand_kernel::program::Phase| {
        phase.owner.is_none() && !matches!(phase.work, remand_kernel::program::Work::Flow { .. })
    };
    let before = run.walker.state.clone();
    for (phase, visits) in visited {
        if !on_the_main_line(&program.phases[phase as usize]) {
            continue;
        }
        for visit in 1..=visits {
            let id = position(phase, visit, 0, 1);
            let late = end(run, id, says).unwrap_or_else(|refusal| panic!("{refusal}"));
            assert_eq!(
                (late.receipt, late.commands),
                (Receipt::Late, Vec::new()),
                "{}",
                program.phases[phase as usize].name
            );
        }
    }
    assert_eq!(run.walker.state, before);
}
