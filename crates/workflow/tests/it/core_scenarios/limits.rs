//! Limits of a run, unknown costs, and failures of the environment.

use crate::support::{Run, Setup, feature, quick, task};
use remand_kernel::change::Digest;
use remand_kernel::command::{Command, QuestionKind};
use remand_kernel::event::{Event, Grants, Limits, Outcome, Report, Usage};
use remand_kernel::ids::CommandId;
use remand_kernel::signal::Failure;
use remand_kernel::state::State;
use remand_kernel::step::Receipt;
use remand_kernel::{Refusal, step};

// CORE-07
#[test]
fn a_limit_on_dispatches_holds_the_next_one() {
    let mut run = limited(Limits { dispatches: Some(1), ..Limits::default() });
    implements(&mut run, Usage::default());
    run.says("verify", "passed");
    assert_eq!(run.commands(), "ask whether to continue: dispatches: go-on, stop");
    assert_eq!(run.why(), "the limit on dispatches is reached");
}

// CORE-07
#[test]
fn a_limit_on_tokens_holds_the_next_dispatch() {
    let mut run = limited(Limits { tokens: Some(1000), ..Limits::default() });
    implements(&mut run, Usage { tokens: Some(1000), ..Usage::default() });
    run.says("verify", "passed");
    assert_eq!(run.commands(), "ask whether to continue: tokens: go-on, stop");
}

// CORE-07
#[test]
fn a_limit_on_time_holds_the_next_dispatch() {
    let mut run = limited(Limits { time: Some(60_000), ..Limits::default() });
    implements(&mut run, Usage { time: 60_000, ..Usage::default() });
    run.says("verify", "passed");
    assert_eq!(run.commands(), "ask whether to continue: time: go-on, stop");
}

// CORE-07
#[test]
fn parallel_agents_count_the_time_of_their_run_once() {
    let mut run = Setup::of(feature()).start(|start| start.limits.time = Some(100_000)).run();
    run.until("research");
    for wall in [60_000, 2_000, 1_000] {
        ends(&mut run, "done", Usage { time: 60_000, wall: Some(wall), ..Usage::default() });
    }
    let state = &run.walker.state;
    assert_eq!((state.used.time, state.time_left()), (63_000, Some(37_000)));
}

// CORE-07, EP-28
#[test]
fn in_journals_without_the_time_of_the_run_the_time_of_each_command_counts() {
    let old = serde_json::from_str::<Usage>(r#"{"money":5,"tokens":7,"time":3}"#).expect("usage");
    let new = serde_json::from_str::<Usage>(r#"{"money":5,"tokens":7,"time":3,"wall":1}"#).expect("usage");
    assert_eq!((old.run_time(), new.run_time()), (3, 1));
    assert_eq!(serde_json::to_string(&old).expect("text"), r#"{"money":5,"tokens":7,"time":3}"#);
}

// CORE-07
#[test]
fn a_dispatch_stopped_at_the_time_limit_asks_about_that_limit_and_does_not_count_as_a_failure() {
    let mut run = limited(Limits { time: Some(60_000), ..Limits::default() });
    let id = run.walker.open.first().and_then(Command::id).expect("open");
    let stopped =
        Outcome::Failed { failure: Failure::OverBudget, detail: Limits::TIME.to_string(), in_a_row: 0 };
    let usage = Usage { time: 60_000, wall: Some(60_000), ..Usage::default() };
    run.walker.feed(Event::Ended { id, outcome: stopped, usage }, "stopped".to_string()).expect("taken");
    assert_eq!(run.commands(), "ask whether to continue: time: go-on, stop");
    run.says("hold", "go-on");
    assert_eq!(run.commands(), "dispatch implementer for implement");
    assert_eq!(run.walker.state.main.seats[0].retries, 0);
    assert_eq!(run.walker.state.time_left(), Some(60_000), "as much again");
}

// CORE-11, CORE-17
#[test]
fn cancelled_work_is_charged_when_its_end_arrives() {
    let late = |wall| {
        let mut run = limited(Limits::default());
        let id = run.walker.open.first().and_then(Command::id).expect("open");
        run.walker.feed(Event::Cancelled { by: "ada".to_string() }, "cancel".to_string()).expect("taken");
        let outcome = Outcome::Failed { failure: Failure::Cancelled, detail: String::new(), in_a_row: 0 };
        let usage = Usage { money: Some(70), tokens: None, time: 9, wall };
        run.walker.feed(Event::Ended { id, outcome, usage }, "its end".to_string()).expect("taken");
        let used = run.walker.state.used;
        (used.money, used.unmetered, used.time)
    };
    assert_eq!(late(Some(4)), (70, 1, 4));
    assert_eq!(late(None), (0, 0, 0), "as journals of earlier versions have it");
}

// CORE-07
#[test]
fn a_limit_on_money_holds_the_next_dispatch() {
    let mut run = limited(Limits { money: Some(500), ..Limits::default() });
    implements(&mut run, Usage { money: Some(501), ..Usage::default() });
    run.says("verify", "passed");
    assert_eq!(run.commands(), "ask whether to continue: money: go-on, stop");
}

// CORE-07
#[test]
fn below_the_limit_nothing_is_asked() {
    let mut run =
        limited(Limits { money: Some(500), tokens: Some(1000), time: Some(60_000), dispatches: Some(2) });
    let usage = Usage { money: Some(499), tokens: Some(999), time: 59_999, ..Usage::default() };
    implements(&mut run, usage);
    run.says("verify", "passed");
    assert_eq!(run.commands(), "dispatch reviewer for review");
}

// CORE-07
#[test]
fn a_limit_never_holds_back_checks_and_commits() {
    let mut run = limited(Limits { dispatches: Some(2), ..Limits::default() });
    run.finish();
    assert_eq!(run.status(), "done");
}

// CORE-07
#[test]
fn go_on_grants_as_much_again() {
    let mut run = limited(Limits { dispatches: Some(1), ..Limits::default() });
    implements(&mut run, Usage::default());
    run.says("verify", "passed").says("hold", "go-on");
    assert_eq!(run.commands(), "dispatch reviewer for review");
    run.says("review", "needs-revision");
    assert_eq!(run.commands(), "ask whether to continue: dispatches: go-on, stop");
}

// CORE-07, CORE-11
#[test]
fn go_on_at_one_limit_does_not_extend_another() {
    let mut run = limited(Limits { money: Some(500), dispatches: Some(1), ..Limits::default() });
    implements(&mut run, Usage { money: Some(400), ..Usage::default() });
    run.says("verify", "passed");
    assert_eq!(run.commands(), "ask whether to continue: dispatches: go-on, stop");
    run.says("hold", "go-on");
    assert_eq!(run.commands(), "dispatch reviewer for review");
    ends(&mut run, "needs-revision", Usage { money: Some(200), ..Usage::default() });
    assert_eq!(run.commands(), "ask whether to continue: dispatches: go-on, stop");
    run.says("hold", "go-on");
    assert_eq!(run.commands(), "ask whether to continue: money: go-on, stop", "600 of 500 are used");
    run.says("hold", "go-on");
    assert_eq!(run.commands(), "dispatch implementer for implement");
    let granted = run.walker.state.granted;
    assert_eq!((granted.dispatches, granted.money, granted.tokens), (2, 600, 0));
}

// CORE-07, CORE-11
#[test]
fn go_on_past_unknown_costs_does_not_extend_the_limit_on_known_costs() {
    let mut run = limited(Limits { money: Some(500), ..Limits::default() });
    implements(&mut run, Usage { money: None, ..Usage::default() });
    run.says("verify", "passed").says("hold", "go-on");
    ends(&mut run, "needs-revision", Usage { money: Some(500), ..Usage::default() });
    assert_eq!(run.commands(), "ask whether to continue: money: go-on, stop");
}

// CORE-07
#[test]
fn go_on_past_an_agents_own_budget_extends_no_limit_of_the_run() {
    let mut run = limited(Limits { tokens: Some(1000), ..Limits::default() });
    let id = run.walker.open.first().and_then(Command::id).expect("open");
    let outcome = Outcome::Failed { failure: Failure::OverBudget, detail: String::new(), in_a_row: 0 };
    let usage = Usage { tokens: Some(600), ..Usage::default() };
    run.walker.feed(Event::Ended { id, outcome, usage }, "over budget".to_string()).expect("taken");
    assert_eq!(run.commands(), "ask whether to continue: an agent's own budget: go-on, stop");
    run.says("hold", "go-on");
    implements(&mut run, Usage { tokens: Some(400), ..Usage::default() });
    run.says("verify", "passed");
    assert_eq!(run.commands(), "ask whether to continue: tokens: go-on, stop");
}

// CORE-07, EP-28
#[test]
fn in_journals_without_recorded_grants_go_on_extends_every_limit() {
    let mut run = limited(Limits { money: Some(500), dispatches: Some(1), ..Limits::default() });
    implements(&mut run, Usage { money: Some(400), ..Usage::default() });
    run.says("verify", "passed");
    let id = run.walker.state.hold.as_ref().expect("a hold").id;
    let old =
        serde_json::json!({"answered": {"id": id, "option": "go-on", "by": "ada", "note": "", "flags": []}});
    let event: Event = serde_json::from_value(old).expect("an event");
    assert!(matches!(event, Event::Answered { grants: Grants::Everything, .. }), "{event:?}");
    run.walker.feed(event, "ada goes on".to_string()).expect("taken");
    assert_eq!(run.walker.state.granted.money, 400);
    ends(&mut run, "needs-revision", Usage { money: Some(200), ..Usage::default() });
    run.says("hold", "go-on");
    assert_eq!(run.commands(), "dispatch implementer for implement");
}

// CORE-07
#[test]
fn go_on_continues_even_if_one_dispatch_used_many_times_the_limit() {
    let mut run = limited(Limits { tokens: Some(1000), ..Limits::default() });
    implements(&mut run, Usage { tokens: Some(10_000), ..Usage::default() });
    run.says("verify", "passed").says("hold", "go-on");
    assert_eq!(run.commands(), "dispatch reviewer for review");
}

// CORE-07, CORE-11
#[test]
fn stop_at_a_limit_ends_the_run_and_names_the_limit() {
    let mut run = limited(Limits { tokens: Some(10), ..Limits::default() });
    implements(&mut run, Usage { tokens: Some(10), ..Usage::default() });
    run.says("verify", "passed").says("hold", "stop");
    assert_eq!(run.status(), "stopped: limit reached: tokens");
}

// CORE-07
#[test]
fn of_parallel_dispatches_only_those_within_the_limit_start_and_one_question_is_asked() {
    let mut run = Setup::of(feature()).start(|start| start.limits.dispatches = Some(3)).run();
    run.until("research");
    assert_eq!(
        run.commands(),
        "dispatch researcher for research (architecture)\n\
         dispatch researcher for research (impact)\n\
         dispatch researcher for research (dependencies)\n\
         ask whether to continue: dispatches: go-on, stop"
    );
    run.says("hold", "go-on");
    assert_eq!(run.commands(), "dispatch researcher for research (patterns)");
}

// CORE-07
#[test]
fn a_hold_accepts_only_go_on_and_stop() {
    let mut run = limited(Limits { dispatches: Some(1), ..Limits::default() });
    implements(&mut run, Usage::default());
    run.says("verify", "passed");
    let refused = run.walker.happen(&crate::support::happening("hold", "approve"));
    assert_eq!(
        refused.unwrap_err().to_string(),
        "the kernel refuses this: `approve` is not offered; the options are go-on, stop"
    );
}

// CORE-11
#[test]
fn with_unknown_costs_a_money_limit_alone_holds_the_run_and_says_why() {
    let mut run = limited(Limits { money: Some(1_000_000), ..Limits::default() });
    implements(&mut run, Usage { money: None, ..Usage::default() });
    run.says("verify", "passed");
    assert_eq!(
        run.commands(),
        "ask whether to continue: money (it cannot be kept: costs are unknown, and neither tokens nor dispatches are limited): go-on, stop"
    );
}

// CORE-11
#[test]
fn with_unknown_costs_a_money_limit_falls_back_to_the_limit_on_tokens() {
    let mut run = limited(Limits { money: Some(1_000_000), tokens: Some(100), ..Limits::default() });
    implements(&mut run, Usage { tokens: Some(100), ..Usage::default() });
    run.says("verify", "passed");
    assert_eq!(run.commands(), "ask whether to continue: tokens: go-on, stop");
}

// CORE-07, CORE-11
#[test]
fn with_unknown_tokens_a_token_limit_alone_holds_the_run_and_says_why() {
    let mut run = limited(Limits { tokens: Some(1000), ..Limits::default() });
    implements(&mut run, Usage { money: Some(5), ..Usage::default() });
    run.says("verify", "passed");
    assert_eq!(
        run.commands(),
        "ask whether to continue: tokens (it cannot be kept: some are unknown, and dispatches are not limited): go-on, stop"
    );
    run.says("hold", "go-on");
    assert_eq!(run.commands(), "dispatch reviewer for review");
}

// CORE-11
#[test]
fn a_token_limit_with_unknown_tokens_is_not_a_fallback_for_a_money_limit() {
    let mut run = limited(Limits { money: Some(1_000_000), tokens: Some(100), ..Limits::default() });
    implements(&mut run, Usage::default());
    run.says("verify", "passed").says("hold", "stop");
    assert_eq!(
        run.status(),
        "stopped: limit reached: tokens (it cannot be kept: some are unknown, and dispatches are not limited)"
    );
}

// CORE-11
#[test]
fn with_unknown_costs_and_tokens_the_limit_on_dispatches_is_the_one_that_holds() {
    let limits =
        Limits { money: Some(1_000_000), tokens: Some(100), dispatches: Some(2), ..Limits::default() };
    let mut run = limited(limits);
    implements(&mut run, Usage::default());
    run.says("verify", "passed");
    assert_eq!(run.commands(), "dispatch reviewer for review");
    run.says("review", "needs-revision");
    assert_eq!(run.commands(), "ask whether to continue: dispatches: go-on, stop");
}

// CORE-11
#[test]
fn tokens_that_a_journal_records_are_known_and_tokens_that_it_omits_are_unknown() {
    let read = |text: &str| serde_json::from_str::<Usage>(text).expect("usage").tokens;
    assert_eq!(read(r#"{"money":null,"tokens":0,"time":3}"#), Some(0));
    assert_eq!(read(r#"{"money":null,"tokens":null,"time":3}"#), None);
    assert_eq!(read(r#"{"time":3}"#), None);
}

// CORE-11
#[test]
fn dispatches_of_unknown_cost_are_counted_separately() {
    let mut run = limited(Limits::default());
    implements(&mut run, Usage { money: None, ..Usage::default() });
    run.says("verify", "passed");
    let used = run.walker.state.used;
    assert_eq!((used.unpriced, used.money, used.unmetered, used.tokens), (1, 0, 1, 0));
}

// CORE-11
#[test]
fn a_failed_dispatch_is_charged_too() {
    let mut run = limited(Limits::default());
    fails(&mut run, Failure::Crashed, 0, Usage { money: Some(70), tokens: Some(7), time: 1, wall: None });
    let used = run.walker.state.used;
    assert_eq!((used.money, used.tokens, used.time), (70, 7, 1));
}

// CORE-11
#[test]
fn an_interrupted_dispatch_is_charged_and_its_command_stays_open() {
    let mut run = limited(Limits::default());
    let (id, before) = (run.walker.open[0].id().expect("an id"), run.walker.state.clone());
    let usage = Usage { money: Some(70), tokens: None, time: 9, wall: Some(4) };
    let interrupted = Event::Interrupted { id, began: true, usage };
    let step = step(quick(), &mut run.walker.state, &interrupted).expect("taken");
    assert_eq!((step.rulings.len(), step.commands.len()), (0, 0));
    let used = run.walker.state.used;
    assert_eq!((used.dispatches, used.money, used.unmetered, used.time), (2, 70, 1, 4));
    assert_eq!(State { used: before.used, ..run.walker.state.clone() }, before, "nothing else has changed");
    implements(&mut run, Usage { money: Some(30), tokens: Some(1), time: 9, wall: Some(5) });
    let used = run.walker.state.used;
    assert_eq!((used.dispatches, used.money, used.unmetered, used.time), (2, 100, 1, 9));
}

// CORE-11
#[test]
fn a_command_interrupted_before_its_agent_started_does_not_count_as_another_dispatch() {
    let mut run = limited(Limits::default());
    let id = run.walker.open[0].id().expect("an id");
    let usage = Usage { money: Some(0), tokens: Some(0), time: 0, wall: Some(4) };
    step(quick(), &mut run.walker.state, &Event::Interrupted { id, began: false, usage }).expect("taken");
    let used = run.walker.state.used;
    assert_eq!((used.dispatches, used.unpriced, used.unmetered, used.time), (1, 0, 0, 4));
}

// CORE-11, CORE-17
#[test]
fn an_interruption_after_the_run_gave_up_the_command_is_late_but_charged() {
    let mut run = limited(Limits::default());
    let id = run.walker.open[0].id().expect("an id");
    run.walker.feed(Event::Cancelled { by: "ada".to_string() }, "cancel".to_string()).expect("taken");
    let usage = Usage { money: Some(70), tokens: Some(7), time: 9, wall: Some(4) };
    let late = step(quick(), &mut run.walker.state, &Event::Interrupted { id, began: true, usage });
    assert_eq!(late.expect("taken").receipt, Receipt::Late);
    let used = run.walker.state.used;
    assert_eq!((used.dispatches, used.money, used.time), (1, 70, 4), "nobody begins again");
    let never = CommandId { seat: 9, ..id };
    let refused = step(quick(), &mut run.walker.state, &Event::Interrupted { id: never, began: true, usage });
    assert_eq!((refused, run.walker.state.used), (Err(Refusal::UnknownCommand(never)), used));
}

// CORE-11
#[test]
fn spending_by_earlier_runs_counts_only_for_budgets_per_subject() {
    let run = Setup::of(quick()).start(|start| start.spent = vec![("fixes".to_string(), 2)]).run();
    assert_eq!(run.left("fixes"), 2);
}

// CORE-11, CORE-09
#[test]
fn a_spent_budget_that_the_workflow_does_not_have_is_refused() {
    let start = remand_kernel::event::Start {
        spent: vec![("fixs".to_string(), 2)],
        ..remand_kernel::event::Start::default()
    };
    let refused = remand_workflow::walk::Walker::start(quick(), start, Vec::new());
    assert_eq!(
        refused.map(|_| ()).unwrap_err().to_string(),
        "the kernel refuses this: `fixs` is not a budget of the workflow"
    );
}

// CORE-11
#[test]
fn budgets_survive_in_the_state_through_pause_and_resume() {
    let mut run = limited(Limits::default());
    run.until("verify").says("verify", "failed");
    let left = run.walker.state.left.clone();
    for event in [Event::Paused { by: "ada".to_string() }, Event::Resumed { by: "ada".to_string() }] {
        run.walker.feed(event, "ada".to_string()).expect("taken");
    }
    assert_eq!(run.walker.state.left, left);
}

// CORE-10
#[test]
fn an_environment_failure_is_tried_again_without_a_charge() {
    let mut run = limited(Limits::default());
    let left = run.walker.state.left.clone();
    fails(&mut run, Failure::Environment, 1, Usage::default());
    assert_eq!(run.last(), "implement: no-result → retry after environment: attempt 2");
    assert_eq!(run.walker.state.left, left);
    assert_eq!(run.walker.state.main.seats[0].retries, 0);
}

// CORE-10
#[test]
fn a_dispatch_after_environment_failures_says_how_long_to_back_off() {
    let mut run = limited(Limits::default());
    fails(&mut run, Failure::Environment, 1, Usage::default());
    fails(&mut run, Failure::Environment, 2, Usage::default());
    let Some(Command::Dispatch(dispatch)) = run.walker.open.first() else {
        panic!("no dispatch is open");
    };
    assert_eq!(dispatch.failures, 2);
}

// CORE-10
#[test]
fn environment_failures_leave_the_retries_of_the_dispatch_alone() {
    let mut run = limited(Limits::default());
    fails(&mut run, Failure::Environment, 1, Usage::default());
    fails(&mut run, Failure::Environment, 2, Usage::default());
    fails(&mut run, Failure::Malformed, 0, Usage::default());
    assert_eq!(run.last(), "implement: no-result → retry after malformed: attempt 4");
}

// CORE-10
#[test]
fn the_third_environment_failure_in_a_row_asks_a_human_and_names_the_cause() {
    let mut run = limited(Limits::default());
    for in_a_row in 1..=3 {
        fails(&mut run, Failure::Environment, in_a_row, Usage::default());
    }
    assert_eq!(run.last(), "implement: no-result → hold and ask a human");
    assert_eq!(run.why(), "the environment failed: 401 from the model's service");
    let Some(Command::Ask(question)) = run.walker.open.first() else {
        panic!("no question is open");
    };
    assert_eq!(question.kind, QuestionKind::Hold("401 from the model's service".to_string()));
}

// CORE-10
#[test]
fn failures_of_other_runs_count_as_failures_in_a_row() {
    let mut run = limited(Limits::default());
    fails(&mut run, Failure::Environment, 3, Usage::default());
    assert_eq!(run.status(), "waiting for hold");
}

// CORE-10
#[test]
fn after_the_hold_the_same_seat_is_dispatched_again() {
    let mut run = limited(Limits::default());
    fails(&mut run, Failure::Environment, 3, Usage::default());
    run.says("hold", "go-on");
    assert_eq!(run.last(), "implement: go-on → continue");
    assert_eq!(run.commands(), "dispatch implementer for implement");
}

// CORE-10
#[test]
fn stop_after_an_environment_failure_names_the_cause() {
    let mut run = limited(Limits::default());
    fails(&mut run, Failure::Environment, 3, Usage::default());
    run.says("hold", "stop");
    assert_eq!(run.status(), "stopped: environment: 401 from the model's service");
}

// CORE-10
#[test]
fn an_environment_failure_of_the_checks_is_not_a_failed_check() {
    let mut run = limited(Limits::default());
    run.until("verify");
    fails(&mut run, Failure::Environment, 1, Usage::default());
    assert_eq!(run.commands(), "do checks");
    assert_eq!(run.left("fixes"), 2);
}

// CORE-10
#[test]
fn while_the_environment_is_held_no_other_task_is_dispatched_either() {
    let mut run = Setup::of(feature()).tasks(vec![task("t1", &[]), task("t2", &[])]).run();
    run.until("implement").says("t1/implement", "environment");
    let before = run.dispatches();
    run.says("t2/implement", "done").says("t2/cascade", "passed");
    assert_eq!(run.dispatches(), before, "{}", run.trace());
}

// CORE-10
#[test]
fn one_question_is_asked_however_many_seats_the_environment_fails() {
    let mut run = Setup::of(feature()).tasks(vec![task("t1", &[]), task("t2", &[])]).run();
    run.until("implement").says("t1/implement", "environment").says("t2/implement", "environment");
    assert_eq!(run.commands(), "");
    run.says("hold", "go-on");
    assert_eq!(
        run.commands(),
        "dispatch implementer for implement[t1]\ndispatch implementer for implement[t2]"
    );
}

// CORE-24, EP-25
#[test]
fn each_kind_of_failure_has_its_remedy() {
    let again = [
        Failure::Malformed,
        Failure::Transient,
        Failure::Environment,
        Failure::Violation,
        Failure::Timeout,
        Failure::Crashed,
        Failure::Conflict,
        Failure::Unchanged,
    ];
    for failure in Failure::ALL {
        let mut run = limited(Limits::default());
        fails(&mut run, failure, 1, Usage::default());
        let dispatched = run.commands() == "dispatch implementer for implement";
        assert_eq!(dispatched, again.contains(&failure), "{}", failure.name());
    }
}

// CORE-07
#[test]
fn a_dispatch_that_reached_its_own_limit_asks_a_human_and_does_not_fail_the_run() {
    let mut run = limited(Limits::default());
    fails(&mut run, Failure::OverBudget, 0, Usage::default());
    assert_eq!(run.last(), "implement: limit reached → hold and ask a human");
}

// EP-25
#[test]
fn a_dispatch_is_retried_once_whatever_the_cause() {
    let mut run = limited(Limits::default());
    fails(&mut run, Failure::Timeout, 0, Usage::default());
    fails(&mut run, Failure::Crashed, 0, Usage::default());
    assert_eq!(run.status(), "failed at implement: no-result");
}

/// A run of `quick` with these limits that waits for the implementer.
fn limited(limits: Limits) -> Run {
    let mut run = Setup::of(quick()).start(|start| start.limits = limits).run();
    run.until("implement");
    run
}

/// Ends the first open command with this signal and usage.
fn ends(run: &mut Run, says: &str, usage: Usage) {
    let id = run.walker.open.first().and_then(Command::id).expect("open");
    let outcome = Outcome::Said(Box::new(Report::saying(says)));
    run.walker.feed(Event::Ended { id, outcome, usage }, says.to_string()).expect("taken");
}

fn implements(run: &mut Run, usage: Usage) {
    let id = run.walker.open.first().and_then(Command::id).expect("open");
    let report = Report { wrote: vec![("code".to_string(), Digest(7))], ..Report::saying("done") };
    let event = Event::Ended { id, outcome: Outcome::Said(Box::new(report)), usage };
    run.walker.feed(event, "the implementer ends".to_string()).expect("taken");
}

fn fails(run: &mut Run, failure: Failure, in_a_row: u16, usage: Usage) {
    let id = run.walker.open.first().and_then(Command::id).expect("open");
    let outcome = Outcome::Failed { failure, detail: "401 from the model's service".to_string(), in_a_row };
    let event = Event::Ended { id, outcome, usage };
    run.walker.feed(event, failure.name().to_string()).expect("taken");
}
