//! The end of a run: knowledge, confidence, commit or hand-over, and the number of dispatches.

use super::{commands_like, finding_about, rejects, ruled, with_tasks};
use crate::support::finding;

// EP-22, EP-27
#[test]
fn knowledge_that_fails_blocks_nothing_and_is_recorded() {
    let mut run = with_tasks(1);
    run.until("knowledge").says("knowledge", "malformed").says("knowledge", "malformed");
    assert_eq!(run.last(), "knowledge: no-result → next (proposals), with degradation: confidence medium");
    run.finish();
    assert_eq!(run.last(), "commit: committed → done");
}

// EP-24
#[test]
fn a_run_of_high_confidence_is_committed() {
    let mut run = with_tasks(1);
    run.finish();
    assert_eq!((run.status().as_str(), run.confidence()), ("done", "high"));
    assert_eq!(run.last(), "commit: committed → done");
}

// EP-24
#[test]
fn a_run_of_medium_confidence_is_committed() {
    let mut run = with_tasks(1);
    run.until("research").say("research", &["done", "done", "done", "denied"]).finish();
    assert_eq!(run.confidence(), "medium");
    assert_eq!(run.last(), "commit: committed → done");
}

// EP-24
#[test]
fn a_run_of_low_confidence_is_left_to_the_user() {
    let mut run = low_confidence();
    run.finish();
    assert_eq!(run.last(), "hand-over: done → done");
    assert_eq!(commands_like(&run, "do commit"), Vec::<String>::new());
    assert_eq!(run.status(), "done");
}

// EP-23, EP-24
#[test]
fn the_bundle_is_written_whatever_the_confidence() {
    let mut run = low_confidence();
    run.finish();
    assert_eq!(commands_like(&run, "do bundle"), ["do bundle"]);
}

// EP-24
#[test]
fn a_commit_that_a_hook_refuses_is_left_to_the_user() {
    let mut run = with_tasks(1);
    run.until("commit").says("commit", "hook-refused");
    assert_eq!(run.last(), "commit: hook-refused → next (hand-over)");
    assert_eq!(run.commands(), "do hand-over");
}

// EP-32
#[test]
fn confidence_never_rises() {
    let mut run = low_confidence();
    assert_eq!(run.confidence(), "low");
    run.until("code-review").say("code-review", &["approve", "approve", "needs-revision"]);
    assert_eq!(run.last(), "code-review: dissent → next (knowledge), with dissent: confidence low");
    run.finish();
    assert_eq!(run.confidence(), "low");
}

// EP-32
#[test]
fn rework_that_succeeds_costs_no_confidence() {
    let mut run = with_tasks(1);
    rejects(&mut run, "design-review", vec![finding("D1", "the cache has no owner")]);
    run.until("verify").finds("verify", "unmet", vec![finding("V1", "the second criterion is not met")]);
    rejects(&mut run, "code-review", vec![finding("C1", "the lock is held too long")]);
    run.finish();
    assert_eq!((run.confidence(), run.status().as_str()), ("high", "done"));
    assert_eq!((run.left("design-revision"), run.left("replan")), (0, 1));
}

// EP-27, EP-32
#[test]
fn each_degradation_is_in_its_ruling() {
    let mut run = with_tasks(1);
    run.until("research").say("research", &["done", "done", "denied", "denied"]);
    ruled(&run, "research: thin → next (approve-research), with degradation: confidence medium");
    run.until("knowledge").says("knowledge", "denied");
    ruled(&run, "knowledge: no-result → next (proposals), with degradation: confidence medium");
}

// EP-31
#[test]
fn the_happy_path_takes_fourteen_dispatches_and_two_for_each_task() {
    for (tasks, dispatches) in [(1, 16), (6, 26), (20, 54)] {
        let mut run = with_tasks(tasks);
        run.finish();
        assert_eq!(run.dispatches(), dispatches);
        assert_eq!((run.status().as_str(), run.confidence()), ("done", "high"));
    }
}

// EP-31
#[test]
fn the_worst_path_stays_below_the_stated_bound() {
    let mut run = with_tasks(2);
    rejects(&mut run, "design-review", vec![finding("D1", "the cache has no owner")]);
    for _ in 0..3 {
        for _ in 0..2 {
            run.until("merge").says("merge", "conflict");
        }
        run.until("integrate").finds(
            "integrate",
            "failed",
            vec![finding_about("t2", "I1", "the build is red")],
        );
    }
    rejects(&mut run, "code-review", vec![finding("C1", "the lock is held too long")]);
    run.finish();
    assert!(run.dispatches() <= 42 + 48 * 2, "{}", run.dispatches());
}

/// A run with low confidence: its design review was exhausted, and the plan does not meet every finding.
fn low_confidence() -> crate::support::Run {
    let mut run = with_tasks(1);
    for _ in 0..2 {
        rejects(&mut run, "design-review", vec![finding("D1", "the cache has no owner")]);
    }
    run.until("plan").says("plan", "disputed");
    run
}
