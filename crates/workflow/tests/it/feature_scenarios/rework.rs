//! Incremental rework: unchanged work is not repeated (BY-04).

use super::{advance_task, ends, finding_about, ids, mark, review, ruled, run_with, since, with_tasks};
use crate::support::{Run, finding, happening, task};
use remand_kernel::change::Digest;
use remand_kernel::event::{Item, Outcome, Report};
use remand_workflow::walk::WalkStep;

// BY-04
#[test]
fn a_task_with_a_new_specification_is_implemented_again() {
    let mut run =
        replanned(vec![with_spec("t1", 1), with_spec("t2", 1)], vec![with_spec("t1", 2), with_spec("t2", 1)]);
    let expected = ["implement[t1]", "implement[t2] with 1 finding"];
    assert_eq!(
        run.until("implement").commands(),
        expected.map(|at| format!("dispatch implementer for {at}")).join("\n")
    );
}

// BY-04
#[test]
fn the_result_of_a_task_with_the_same_specification_is_reused() {
    let same = || vec![with_spec("t1", 1), with_spec("t2", 1)];
    let mut run = replanned(same(), same());
    assert_eq!(run.until("implement").commands(), "dispatch implementer for implement[t2] with 1 finding");
}

// BY-04
#[test]
fn a_task_that_is_new_in_the_plan_is_implemented() {
    let mut run =
        replanned(vec![with_spec("t1", 1), with_spec("t2", 1)], vec![with_spec("t1", 1), with_spec("t3", 1)]);
    assert_eq!(run.until("implement").commands(), "dispatch implementer for implement[t3]");
}

// BY-04
#[test]
fn the_change_of_a_task_that_a_new_plan_dropped_is_left_out() {
    let mut run = replanned(vec![with_spec("t1", 1), with_spec("t2", 1)], vec![with_spec("t3", 1)]);
    run.until("integrate");
    let finished: Vec<&String> = run.walker.state.finished.keys().collect();
    assert_eq!(finished, ["t3"]);
}

// BY-04
#[test]
fn the_baseline_is_reused_after_a_replan() {
    let same = || vec![with_spec("t1", 1), with_spec("t2", 1)];
    let mut run = replanned(same(), same());
    run.until("implement");
    let taken = run.walker.records.last().expect("taken");
    let baseline = taken.rulings.iter().find(|ruling| ruling.phase == "baseline").expect("ruled");
    assert_eq!(baseline.rule.source("feature"), "stands");
    assert_eq!(baseline.why, "its inputs are unchanged, and it has no findings to deal with");
    assert!(!run.commands().contains("baseline"), "{}", run.commands());
}

// BY-04
#[test]
fn a_task_that_needs_a_changed_one_is_implemented_again() {
    let mut run = reviewed(&["t1"]);
    rewrite(&mut run, "t1", Digest(7), false);
    passes_checks_and_merge(&mut run, "t1");
    assert_eq!(run.commands(), "dispatch implementer for implement[t2]");
}

// BY-04
#[test]
fn the_result_of_a_task_that_needs_an_unchanged_one_is_reused() {
    let mut run = reviewed(&["t1"]);
    let same = run.walker.state.finished["t1"].patch;
    rewrite(&mut run, "t1", same, true);
    passes_checks_and_merge(&mut run, "t1");
    ruled(&run, "tasks: verified → next (integrate)");
}

// BY-04
#[test]
fn an_unchanged_tree_is_not_checked_again() {
    let mut run = reviewed(&["t1"]);
    let same = run.walker.state.finished["t1"].patch;
    rewrite(&mut run, "t1", same, true);
    passes_checks_and_merge(&mut run, "t1");
    let integrate = run.walker.records.last().expect("taken").rulings.last().expect("ruled").clone();
    assert_eq!(
        (integrate.phase.as_str(), integrate.rule.source("feature").as_str()),
        ("integrate", "stands")
    );
    assert_eq!(run.status(), "waiting for code-review");
}

// BY-04
#[test]
fn a_tree_that_changed_is_checked_again() {
    let mut run = reviewed(&["t2"]);
    rewrite(&mut run, "t2", Digest(7), false);
    passes_checks_and_merge(&mut run, "t2");
    assert_eq!(run.commands(), "do integrate");
}

// BY-04
#[test]
fn a_task_that_a_changed_one_needs_is_not_implemented_again() {
    let mut run = reviewed(&["t2"]);
    assert_eq!(run.commands(), "dispatch implementer for implement[t2] with 1 finding");
    rewrite(&mut run, "t2", Digest(7), false);
    let from = mark(&run);
    run.until("code-review");
    assert!(since(&run, from).iter().all(|command| !command.contains("[t1]")), "{}", run.trace());
}

// BY-04
#[test]
fn a_design_that_answers_its_findings_without_a_change_is_not_reviewed_again() {
    let mut run = with_tasks(1);
    run.until("plan").finds("plan", "needs-revision", vec![finding("P1", "the cache has no owner")]);
    run.happens(WalkStep { unchanged: true, disputes: true, ..happening("design", "done") });
    ruled(&run, "design-review: approved → next (plan)");
    let review = run.walker.records.last().expect("taken").rulings.last().expect("ruled").clone();
    assert_eq!((review.phase.as_str(), review.rule.source("feature").as_str()), ("design-review", "stands"));
}

// BY-04
#[test]
fn a_design_that_changed_is_reviewed_again() {
    let mut run = with_tasks(1);
    run.until("plan").finds("plan", "needs-revision", vec![finding("P1", "the cache has no owner")]);
    run.says("design", "done");
    assert_eq!(run.commands().lines().count(), 3);
    assert_eq!(run.status(), "waiting for design-review");
}

// BY-04
#[test]
fn a_dissent_whose_result_is_reused_is_followed_as_before() {
    let mut run = with_tasks(1);
    let dissent = vec![finding("D1", "the eviction order is not stated")];
    review(
        &mut run,
        "design-review",
        vec![("approve", vec![]), ("needs-revision", dissent), ("approve", vec![])],
    );
    run.finds("plan", "needs-revision", vec![finding("P1", "the cache has no owner")]);
    run.happens(WalkStep { unchanged: true, disputes: true, ..happening("design", "done") });
    ruled(&run, "design-review: dissent → next (plan), with dissent: confidence medium");
}

// BY-04, OT-09
#[test]
fn a_design_that_neither_changes_nor_disputes_is_asked_for_again() {
    let mut run = with_tasks(1);
    run.until("plan").finds("plan", "needs-revision", vec![finding("P1", "the cache has no owner")]);
    run.happens(WalkStep { unchanged: true, ..happening("design", "done") });
    assert_eq!(run.last(), "design: no-result → retry after unchanged: attempt 2");
    run.happens(WalkStep { unchanged: true, ..happening("design", "done") });
    assert_eq!(run.status(), "failed at design: no-result");
}

fn with_spec(id: &str, spec: u64) -> Item {
    Item { spec: Digest(spec), ..task(id, &[]) }
}

/// The first task passes, the second fails, and the planner then produces the tasks `second`.
fn replanned(first: Vec<Item>, second: Vec<Item>) -> Run {
    let mut run = run_with(first);
    run.until("implement");
    advance_task(&mut run, "t1", "");
    advance_task(&mut run, "t2", "verify");
    run.finds("t2/verify", "unmet", vec![finding_about("t2", "V1", "the second criterion is not met")]);
    run.happens(WalkStep { lists: vec![("tasks".to_string(), second)], ..happening("plan", "done") });
    run
}

/// t2 needs t1; both passed, and the code review has a finding about each of these tasks.
fn reviewed(tasks: &[&str]) -> Run {
    let mut run = run_with(vec![task("t1", &[]), task("t2", &["t1"])]);
    let findings = tasks.iter().map(|task| finding_about(task, "C1", "the lock is held too long")).collect();
    let blocker = ("blocker", findings);
    review(&mut run, "code-review", vec![blocker, ("approve", vec![]), ("approve", vec![])]);
    run
}

/// The implementer of the task ends with this change.
fn rewrite(run: &mut Run, task: &str, patch: Digest, disputes: bool) {
    let at = format!("implement[{task}]");
    assert!(run.commands().contains(&at), "{}", run.commands());
    let id = ids(run, "implement")[0];
    let report = Report { wrote: vec![("code".to_string(), patch)], disputes, ..Report::saying("done") };
    ends(run, id, Outcome::Said(Box::new(report))).expect("taken");
}

fn passes_checks_and_merge(run: &mut Run, task: &str) {
    for (phase, signal) in [("cascade", "passed"), ("verify", "met"), ("merge", "merged")] {
        run.says(&format!("{task}/{phase}"), signal);
    }
}
