//! A human's retry of a run that has ended.

use crate::support::{Run, Setup, feature, finding, issue, quick, security_blocker, task, ticket};
use remand_kernel::event::Event;
use remand_kernel::state::MAX_RETRIES;
use remand_kernel::{Refusal, Step};
use remand_workflow::walk::WalkError;

// UP-08
#[test]
fn a_retry_issues_the_failed_dispatch_again_and_keeps_results_and_budgets() {
    let mut run = Setup::of(quick()).run();
    run.until("verify").says("verify", "failed");
    run.until("review").says("review", "crashed").says("review", "crashed");
    assert_eq!(run.status(), "failed at review: no-result");
    let (dispatches, fixes) = (run.dispatches(), run.left("fixes"));
    retry(&mut run).expect("accepted");
    assert_eq!(run.last(), "review: no-result → retry");
    assert_eq!(run.commands(), "dispatch reviewer for review");
    assert_eq!((run.dispatches(), run.left("fixes")), (dispatches + 1, fixes));
    run.finish();
    assert_eq!(run.status(), "done");
}

// UP-08
#[test]
fn a_retried_dispatch_has_its_retries_again() {
    let mut run = failed_review();
    retry(&mut run).expect("accepted");
    run.says("review", "crashed");
    assert_eq!(run.last(), "review: no-result → retry after crashed: attempt 4");
    run.finish();
    assert_eq!(run.status(), "done");
}

// UP-08
#[test]
fn a_retry_of_a_panel_dispatches_only_the_member_that_failed() {
    let mut run = Setup::of(feature()).run();
    run.until("design-review").say("design-review", &["approve", "denied", "approve"]);
    assert_eq!(run.status(), "failed at design-review: no-result");
    assert_eq!(run.why(), "one of three reviewers failed: it was permanently refused");
    retry(&mut run).expect("accepted");
    assert_eq!(run.commands(), "dispatch reviewer/design for design-review (architecture)");
    run.say("design-review", &["approve"]);
    assert_eq!(run.last(), "design-review: approved → next (plan)");
    run.finish();
    assert_eq!((run.status().as_str(), run.confidence()), ("done", "high"));
}

// UP-08
#[test]
fn a_retry_in_a_sub_flow_continues_every_task_where_it_was() {
    let tasks = vec![task("t1", &[]), task("t2", &[]), task("t3", &["t1"])];
    let mut run = Setup::of(feature()).tasks(tasks).run();
    run.until("implement").says("t1/implement", "done");
    let before = run.walker.state.tasks.clone();
    let phases: Vec<_> = before.iter().map(|task| task.lane_state.phase).collect();
    run.says("t1/cascade", "denied");
    assert_eq!(run.status(), "failed at cascade: no-result");
    retry(&mut run).expect("accepted");
    let now: Vec<_> = run.walker.state.tasks.iter().map(|task| task.lane_state.phase).collect();
    assert_eq!(now, phases);
    run.finish();
    assert_eq!(run.status(), "done");
}

// UP-10
#[test]
fn a_retry_after_a_hook_refused_only_commits() {
    let mut run = Setup::of(quick()).run();
    run.until("commit").says("commit", "hook-refused").says("hand-over", "done");
    let dispatches = run.dispatches();
    retry(&mut run).expect("accepted");
    assert_eq!(run.last(), "commit: hook-refused → retry");
    assert_eq!(run.commands(), "do commit");
    run.finish();
    assert_eq!((run.last().as_str(), run.dispatches()), ("commit: committed → done", dispatches));
    assert!(matches!(retry(&mut run), Err(Refusal::NotRetriable(_))));
}

// UP-10
#[test]
fn a_refused_commit_that_fails_the_run_can_be_retried() {
    let mut run = Setup::of(issue()).run();
    run.until("commit").says("commit", "hook-refused");
    for operation in ["comment-issue", "back-to-todo", "discard-work-tree"] {
        run.says(operation, "done");
    }
    retry(&mut run).expect("accepted");
    assert_eq!(run.commands(), "do commit");
    run.says("commit", "hook-refused");
    assert_eq!(run.commands(), "do comment-issue", "a second failure has its failure operations again");
    for operation in ["comment-issue", "back-to-todo", "discard-work-tree"] {
        run.says(operation, "done");
    }
    assert_eq!(run.status(), "failed at commit: hook-refused");
}

// UP-08 CORE-02
#[test]
fn a_run_can_be_retried_a_limited_number_of_times() {
    let mut run = failed_review();
    for _ in 0..MAX_RETRIES {
        retry(&mut run).expect("accepted");
        run.says("review", "denied");
    }
    assert!(!run.walker.state.can_be_retried());
    let state = run.walker.state.clone();
    assert_eq!(retry(&mut run), Err(Refusal::NoRetryLeft(MAX_RETRIES)));
    assert_eq!(run.walker.state, state, "a refusal changes nothing");
}

// UP-08
#[test]
fn only_an_end_by_a_failed_agent_or_hook_can_be_retried() {
    let mut done = Setup::of(quick()).run();
    done.finish();
    assert_eq!(retry(&mut done), Err(Refusal::NotRetriable("done".to_string())));

    let mut cancelled = Setup::of(quick()).run();
    cancelled.until("review");
    feed(&mut cancelled, Event::Cancelled { by: "ada".to_string() }).expect("accepted");
    assert_eq!(retry(&mut cancelled), Err(Refusal::NotRetriable("cancelled by ada".to_string())));

    let mut unsafe_run = Setup::of(quick()).run();
    let blocker = security_blocker(finding("R1", "the key is printed"));
    unsafe_run.until("review").finds("review", "blocker", vec![blocker]);
    let ended = "failed at review: security-blocker".to_string();
    assert_eq!(retry(&mut unsafe_run), Err(Refusal::NotRetriable(ended)));

    let mut stopped = Setup::of(quick()).run();
    stopped.says("setup", "refused");
    assert_eq!(retry(&mut stopped), Err(Refusal::NotRetriable("stopped: refused".to_string())));

    let mut running = Setup::of(ticket()).run();
    assert_eq!(retry(&mut running), Err(Refusal::WrongStage("not finished")));
}

fn failed_review() -> Run {
    let mut run = Setup::of(quick()).run();
    run.until("review").says("review", "crashed").says("review", "crashed");
    run
}

fn retry(run: &mut Run) -> Result<Step, Refusal> {
    feed(run, Event::Retried { by: "ada".to_string() })
}

fn feed(run: &mut Run, event: Event) -> Result<Step, Refusal> {
    match run.walker.feed(event, "a human acts".to_string()) {
        Ok(step) => Ok(step),
        Err(WalkError::Refused(refusal)) => Err(refusal),
        Err(other) => panic!("{other}"),
    }
}
