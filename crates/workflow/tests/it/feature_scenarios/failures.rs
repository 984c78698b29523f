//! Failures of dispatches, replay, and the content of rulings.

use super::{commands_like, ends, ids, rejects, with_tasks};
use crate::support::{Run, Setup, feature, finding, task};
use remand_kernel::event::Outcome;
use remand_kernel::signal::Failure;
use remand_kernel::view::RuleView;
use remand_kernel::{State, step};

// EP-25, CORE-24
#[test]
fn a_dispatch_is_repeated_once_whatever_the_fault() {
    for failure in ["malformed", "transient", "violation", "timeout", "crashed"] {
        let mut run = with_tasks(1);
        run.until("design").says("design", failure);
        assert_eq!(run.last(), format!("design: no-result → retry after {failure}: attempt 2"));
        assert_eq!(run.commands(), "dispatch designer for design");
        run.says("design", failure);
        assert_eq!(run.status(), "failed at design: no-result");
        assert_eq!(commands_like(&run, "dispatch designer").len(), 2);
    }
}

// EP-25, CORE-24
#[test]
fn a_dispatch_that_would_fail_the_same_way_is_not_repeated() {
    for failure in ["denied", "cancelled"] {
        let mut run = with_tasks(1);
        run.until("spec").says("spec", failure);
        assert_eq!(run.status(), "failed at spec: no-result");
        assert_eq!(commands_like(&run, "dispatch spec").len(), 1);
    }
}

// EP-25
#[test]
fn all_causes_share_the_one_retry() {
    let mut run = with_tasks(1);
    run.until("design").says("design", "timeout").says("design", "malformed");
    assert_eq!(run.status(), "failed at design: no-result");
    assert_eq!(run.why(), "the result violates its contract");
}

// EP-25
#[test]
fn a_retry_spends_no_budget_and_no_confidence() {
    let mut run = with_tasks(1);
    run.until("design");
    let before = run.walker.state.left.clone();
    run.says("design", "transient").says("design", "done");
    assert_eq!(run.walker.state.left, before);
    assert_eq!(run.confidence(), "high");
}

// EP-25
#[test]
fn each_dispatch_has_its_own_retry() {
    let mut run = with_tasks(1);
    run.until("spec").says("spec", "timeout").says("spec", "done");
    run.says("design", "timeout").says("design", "done");
    assert_eq!(run.status(), "waiting for design-review");
}

// CORE-10, EP-25
#[test]
fn an_environment_failure_is_repeated_without_a_charge() {
    let mut run = with_tasks(1);
    run.until("design");
    for attempt in 1..=2 {
        environment_fails(&mut run, attempt);
        assert!(run.last().contains("retry after environment"), "{}", run.last());
    }
    run.says("design", "timeout");
    assert_eq!(run.last(), "design: no-result → retry after timeout: attempt 4");
}

// CORE-10
#[test]
fn after_three_environment_failures_in_a_row_a_human_is_asked() {
    let mut run = with_tasks(1);
    run.until("design");
    environment_fails(&mut run, 3);
    assert_eq!(run.last(), "design: no-result → hold and ask a human");
    assert_eq!(run.commands(), "ask whether to continue: not logged in: go-on, stop");
    run.says("hold", "go-on");
    assert_eq!(run.commands(), "dispatch designer for design");
    assert_eq!(run.confidence(), "high");
}

// CORE-10, CORE-11
#[test]
fn stopping_at_a_hold_stops_the_run_and_names_the_cause() {
    let mut run = with_tasks(1);
    run.until("design");
    environment_fails(&mut run, 3);
    run.says("hold", "stop");
    assert_eq!(run.status(), "stopped: environment: not logged in");
}

// EP-25
#[test]
fn a_phase_that_fails_after_its_retries_fails_the_run() {
    for phase in ["spec", "design", "plan"] {
        let mut run = with_tasks(1);
        run.until(phase).says(phase, "denied");
        assert_eq!(run.status(), format!("failed at {phase}: no-result"));
    }
}

// EP-28, CORE-01
#[test]
fn replaying_the_events_of_a_run_gives_the_same_rulings_and_commands() {
    let mut run = Setup::of(feature()).tasks(vec![task("t1", &[]), task("t2", &["t1"])]).run();
    rejects(&mut run, "design-review", vec![finding("D1", "the cache has no owner")]);
    run.until("design").says("design", "timeout");
    run.until("cascade").finds("cascade", "failed", vec![finding("K1", "the build is red")]);
    run.until("code-review").say("code-review", &["approve", "needs-revision", "approve"]);
    run.finish();
    let mut state = State::new(run.walker.program);
    let mut rulings = Vec::new();
    for taken in &run.walker.records {
        let step = step(run.walker.program, &mut state, &taken.event).expect("taken");
        let lines =
            step.rulings.iter().map(|ruling| remand_kernel::view::ruling(run.walker.program, &state, ruling));
        assert_eq!(lines.collect::<Vec<_>>(), taken.rulings);
        let commands =
            step.commands.iter().map(|command| remand_kernel::view::command(run.walker.program, command));
        assert_eq!(commands.collect::<Vec<_>>(), taken.commands);
        rulings.extend(step.rulings);
    }
    assert!(rulings.len() > 25, "{}", rulings.len());
    assert_eq!(state, run.walker.state);
}

// CORE-03
#[test]
fn a_ruling_records_the_phase_the_line_and_the_budgets() {
    let mut run = with_tasks(1);
    rejects(&mut run, "design-review", vec![finding("D1", "the cache has no owner")]);
    let ruling = run.walker.records.last().expect("taken").rulings.last().expect("ruled").clone();
    assert_eq!((ruling.phase.as_str(), ruling.signal.as_str()), ("design-review", "needs-revision"));
    let RuleView::Route { line } = ruling.rule else { panic!("{:?}", ruling.rule) };
    let workflow = include_str!("../../../../../workflows/feature.yaml");
    let written = workflow.lines().nth(line as usize - 1).expect("written").trim();
    assert_eq!(written, "needs-revision: remand design spending design-revision");
    let charge = &ruling.budgets[0];
    assert_eq!((charge.budget.as_str(), charge.before, charge.after), ("design-revision", 1, 0));
    assert_eq!(ruling.why, "security: needs-revision, architecture: needs-revision, correctness: approve");
}

// CORE-17
#[test]
fn a_cancelled_run_kills_every_task_under_way() {
    let mut run = with_tasks(3);
    run.until("implement");
    let by = "Ann".to_string();
    run.walker.feed(remand_kernel::event::Event::Cancelled { by }, "cancel".to_string()).expect("taken");
    assert_eq!(run.status(), "cancelled by Ann");
    let expected = ["cancel implement", "cancel implement", "cancel implement", "finish: cancelled by Ann"];
    assert_eq!(run.commands(), expected.join("\n"));
}

/// The environment fails at `design`; it is failure number `in_a_row` in a row.
fn environment_fails(run: &mut Run, in_a_row: u16) {
    let id = ids(run, "design")[0];
    let detail = "not logged in".to_string();
    ends(run, id, Outcome::Failed { failure: Failure::Environment, detail, in_a_row }).expect("taken");
}
