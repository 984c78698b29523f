//! Implementation: waves, dependencies, self-fixes, merging, and the one ruling for all tasks.

use super::{
    advance_task, commands_like, ends, finding_about, ids, mark, open, ruled, run_with, since, times_ruled,
    with_tasks,
};
use crate::support::{Run, happening, task};
use remand_kernel::change::{Change, Digest, FileChange, Hunk};
use remand_kernel::event::{Outcome, Report};
use remand_workflow::walk::WalkStep;

// EP-14
#[test]
fn at_most_four_tasks_run_in_parallel() {
    let mut run = with_tasks(6);
    run.until("implement");
    assert_eq!(open(&run, "implement").len(), 4);
    assert_eq!(run.status(), "waiting for t1/implement, t2/implement, t3/implement, t4/implement");
}

// EP-14
#[test]
fn the_next_task_starts_when_one_has_been_merged() {
    let mut run = with_tasks(6);
    run.until("implement");
    advance_task(&mut run, "t3", "merge");
    assert_eq!(open(&run, "implement").len(), 3);
    run.says("t3/merge", "merged");
    assert_eq!(run.commands(), "dispatch implementer for implement[t5]");
}

// EP-14
#[test]
fn a_task_that_fails_makes_room_for_the_next_one() {
    let mut run = with_tasks(5);
    run.until("implement").says("t2/implement", "stuck");
    ruled(&run, "implement[t2]: stuck → raise unverified");
    assert_eq!(run.commands(), "dispatch implementer for implement[t5]");
}

// EP-14
#[test]
fn a_task_starts_when_all_that_it_needs_is_merged() {
    let mut run = run_with(vec![task("t1", &[]), task("t2", &[]), task("t3", &["t1", "t2"])]);
    run.until("implement");
    assert_eq!(run.status(), "waiting for t1/implement, t2/implement");
    advance_task(&mut run, "t1", "");
    assert_eq!(run.commands(), "");
    advance_task(&mut run, "t2", "");
    assert_eq!(run.commands(), "dispatch implementer for implement[t3]");
}

// EP-14
#[test]
fn dependency_order_wins_over_the_order_of_the_plan() {
    let mut run = run_with(vec![task("t1", &["t2"]), task("t2", &["t3"]), task("t3", &[])]);
    run.finish();
    let order = ["implement[t3]", "implement[t2]", "implement[t1]"];
    let expected = order.map(|at| format!("dispatch implementer for {at}"));
    assert_eq!(commands_like(&run, "dispatch implementer"), expected);
}

// EP-10, CORE-09
#[test]
fn a_plan_whose_tasks_need_each_other_is_refused() {
    let mut run = run_with(vec![task("t1", &["t2"]), task("t2", &["t1"])]);
    let refused = run.walker.until("baseline").expect_err("refused").to_string();
    let message = "the kernel refuses this: the list `tasks` cannot be processed: \
                   the dependencies of `t1` form a cycle";
    assert_eq!(refused, message);
}

// EP-14 UP-07
#[test]
fn failed_checks_go_back_to_the_implementer_twice() {
    let mut run = with_tasks(1);
    run.until("cascade").finds("cascade", "failed", vec![finding_about("t1", "Q1", "a lint fails")]);
    assert_eq!(run.last(), "cascade[t1]: failed → remand implement, cascade.round 2 → 1");
    assert_eq!(run.commands(), "dispatch implementer for implement[t1] with 1 finding");
    run.until("cascade").finds("cascade", "failed", vec![finding_about("t1", "Q2", "another lint fails")]);
    assert_eq!(run.last(), "cascade[t1]: failed → remand implement, cascade.round 1 → 0");
}

// EP-14 UP-07
#[test]
fn checks_that_fail_a_third_time_count_as_failed_verification() {
    let mut run = with_tasks(1);
    for _ in 0..3 {
        run.until("cascade").says("cascade", "failed");
    }
    ruled(&run, "cascade[t1]: failed → raise unverified");
    ruled(&run, "tasks: unverified → remand plan, replan 2 → 1");
}

// EP-14
#[test]
fn self_fixes_are_counted_per_task() {
    let mut run = with_tasks(2);
    run.until("implement");
    for _ in 0..2 {
        run.says("t1/implement", "done").says("t1/cascade", "failed");
    }
    run.says("t2/implement", "done").says("t2/cascade", "failed");
    assert_eq!(run.last(), "cascade[t2]: failed → remand implement, cascade.round 2 → 1");
}

// EP-14, EP-20
#[test]
fn self_fixes_spend_no_iteration() {
    let mut run = with_tasks(1);
    for _ in 0..2 {
        run.until("cascade").says("cascade", "failed");
    }
    run.finish();
    assert_eq!((run.left("replan"), run.confidence()), (2, "high"));
}

// EP-14, CORE-24
#[test]
fn a_conflict_sends_the_task_back_to_its_implementer() {
    let mut run = with_tasks(2);
    run.until("implement");
    advance_task(&mut run, "t1", "");
    advance_task(&mut run, "t2", "merge");
    run.says("t2/merge", "conflict");
    assert_eq!(run.last(), "merge[t2]: conflict → remand implement, merge.round 2 → 1");
    assert_eq!(run.commands(), "dispatch implementer for implement[t2]");
}

// EP-14
#[test]
fn a_task_that_conflicted_is_checked_and_verified_again_before_it_is_merged() {
    let mut run = with_tasks(1);
    run.until("merge");
    let from = mark(&run);
    run.says("merge", "conflict").until("merge");
    let expected = [
        "dispatch implementer for implement[t1]",
        "do checks[t1]",
        "dispatch verifier for verify[t1]",
        "do merge[t1]",
    ];
    assert_eq!(since(&run, from), expected);
}

// EP-14
#[test]
fn a_third_conflict_counts_as_failed_verification() {
    let mut run = with_tasks(1);
    for _ in 0..2 {
        run.until("merge").says("merge", "conflict");
    }
    assert_eq!(run.last(), "merge[t1]: conflict → remand implement, merge.round 1 → 0");
    run.until("merge");
    assert_eq!(commands_like(&run, "dispatch implementer for implement[t1]").len(), 3);
    run.says("merge", "conflict");
    ruled(&run, "merge[t1]: conflict → raise unverified");
}

// EP-14
#[test]
fn a_conflict_refills_self_fixes_but_not_conflicts() {
    let mut run = with_tasks(1);
    run.until("cascade").says("cascade", "failed");
    run.until("merge").says("merge", "conflict");
    run.until("cascade").says("cascade", "failed");
    assert_eq!(run.last(), "cascade[t1]: failed → remand implement, cascade.round 2 → 1");
    run.until("merge").says("merge", "conflict");
    assert_eq!(run.last(), "merge[t1]: conflict → remand implement, merge.round 1 → 0");
}

// EP-14, EP-25
#[test]
fn a_task_in_error_after_its_retry_counts_as_failed_verification() {
    let mut run = with_tasks(1);
    run.until("implement").says("implement", "timeout");
    assert_eq!(run.last(), "implement[t1]: no-result → retry after timeout: attempt 2");
    run.says("implement", "crashed");
    ruled(&run, "implement[t1]: no-result → raise unverified");
    ruled(&run, "tasks: unverified → remand plan, replan 2 → 1");
}

// EP-14, CORE-22, CORE-24
#[test]
fn an_implementer_that_goes_in_circles_or_reverses_a_change_counts_as_failed_verification() {
    for signal in ["stuck", "circle", "reversal", "no-result"] {
        let mut run = with_tasks(1);
        run.until("implement").says("implement", signal);
        ruled(&run, &format!("implement[t1]: {signal} → raise unverified"));
        ruled(&run, "tasks: unverified → remand plan, replan 2 → 1");
    }
}

// CORE-22
#[test]
fn a_change_that_undoes_the_previous_one_is_a_reversal() {
    let mut run = with_tasks(1);
    let (old, new) = ("let limit = read_limit(&config)?;", "let limit = DEFAULT_LIMIT;");
    run.until("implement").happens(changing(1, old, new));
    run.finds("cascade", "failed", vec![finding_about("t1", "Q1", "a lint fails")]);
    run.happens(changing(2, new, old));
    ruled(&run, "implement[t1]: reversal → raise unverified");
}

// CORE-22
#[test]
fn a_change_that_builds_on_the_previous_one_is_not_a_reversal() {
    let mut run = with_tasks(1);
    run.until("implement").happens(changing(
        1,
        "let limit = read_limit(&config)?;",
        "let limit = DEFAULT_LIMIT;",
    ));
    run.finds("cascade", "failed", vec![finding_about("t1", "Q1", "a lint fails")]);
    run.happens(changing(2, "fn parse(text: &str) -> u8 {", "fn parse(text: &str) -> Result<u8, Error> {"));
    assert_eq!(run.last(), "implement[t1]: done → next (cascade)");
}

// CORE-24, DR-04
#[test]
fn a_tree_that_occurred_before_is_a_circle() {
    let mut run = with_tasks(1);
    for (tree, line) in [(1, "let first = 1;"), (2, "let second = compute(first);")] {
        run.until("implement").happens(changing(tree, "todo!()", line));
        run.finds("cascade", "failed", vec![finding_about("t1", "Q1", "a lint fails")]);
    }
    run.happens(changing(1, "todo!()", "return None;"));
    ruled(&run, "implement[t1]: circle → raise unverified");
}

// EP-14
#[test]
fn when_a_task_fails_the_others_are_finished_first() {
    let mut run = with_tasks(3);
    run.until("implement").says("t1/implement", "stuck");
    assert_eq!(run.status(), "waiting for t2/implement, t3/implement");
    advance_task(&mut run, "t3", "");
    assert_eq!(run.last(), "merge[t3]: merged → next");
    advance_task(&mut run, "t2", "");
    ruled(&run, "tasks: unverified → remand plan, replan 2 → 1");
}

// EP-14
#[test]
fn a_task_that_needs_a_failed_one_is_not_started() {
    let mut run = run_with(vec![task("t1", &[]), task("t2", &["t1"]), task("t3", &["t2"]), task("t4", &[])]);
    run.until("implement").says("t1/implement", "stuck");
    advance_task(&mut run, "t4", "merge");
    let from = mark(&run);
    run.says("t4/merge", "merged");
    let ruling =
        run.walker.records[from].rulings.iter().find(|ruling| ruling.phase == "tasks").expect("ruled");
    assert_eq!(ruling.why, "t1: unverified, t2: not started, t3: not started, t4: completed");
    assert_eq!(commands_like(&run, "dispatch implementer for implement[t2]").len(), 0);
}

// EP-14, EP-28
#[test]
fn the_ruling_does_not_depend_on_which_task_finished_first() {
    let orders = [["t1", "t2", "t3"], ["t3", "t2", "t1"], ["t2", "t3", "t1"]];
    let [first, second, third] = orders.map(|order| {
        let mut run = with_tasks(3);
        run.until("implement");
        for task in order {
            finish_task(&mut run, task);
        }
        run
    });
    for other in [&second, &third] {
        assert_eq!(rulings_after_first(&first), rulings_after_first(other));
        assert_eq!(first.commands(), other.commands());
        assert_eq!(first.walker.state.left, other.walker.state.left);
        assert_eq!(first.walker.state.versions, other.walker.state.versions);
        assert_eq!(first.walker.state.finished, other.walker.state.finished);
    }
    let ruling =
        "tasks: unverified → remand plan, replan 2 → 1 t1: unverified, t2: completed, t3: unverified";
    assert_eq!(rulings_after_first(&first), [ruling]);
    assert_eq!(first.commands(), "dispatch planner for plan with 2 findings");
}

// EP-14, EP-28
#[test]
fn the_planner_gets_the_findings_in_the_order_of_the_tasks() {
    for order in [["t1", "t2", "t3"], ["t3", "t2", "t1"]] {
        let mut run = with_tasks(3);
        run.until("implement");
        for task in order {
            finish_task(&mut run, task);
        }
        let findings = &open(&run, "plan")[0].findings;
        let claims: Vec<&str> =
            findings.iter().map(|at| run.walker.state.findings[*at as usize].finding.id.as_str()).collect();
        assert_eq!(claims, ["V-t1", "V-t3"]);
    }
}

// EP-09, EP-14
#[test]
fn a_security_blocker_of_a_verifier_ends_the_run_once_the_others_have_ended() {
    let mut run = with_tasks(2);
    run.until("implement");
    advance_task(&mut run, "t1", "verify");
    run.says("t1/verify", "security-blocker");
    assert_eq!(run.last(), "verify[t1]: security-blocker → raise unsafe");
    advance_task(&mut run, "t2", "");
    assert_eq!(run.status(), "failed at tasks: unsafe");
    assert_eq!(run.left("replan"), 2);
}

// EP-09
#[test]
fn an_unsafe_task_outweighs_an_unverified_one() {
    let mut run = with_tasks(2);
    run.until("implement").says("t1/implement", "stuck");
    advance_task(&mut run, "t2", "verify");
    run.says("t2/verify", "security-blocker");
    assert_eq!(run.status(), "failed at tasks: unsafe");
}

// EP-14
#[test]
fn a_duplicate_result_changes_nothing() {
    let mut run = with_tasks(2);
    run.until("implement").says("t1/implement", "done");
    let event = run.walker.records.last().expect("taken").event.clone();
    let before = run.walker.state.clone();
    let step = run.walker.feed(event, "again".to_string()).expect("taken");
    assert_eq!(step.receipt, remand_kernel::step::Receipt::Late);
    assert_eq!(run.walker.state, before);
    assert_eq!(times_ruled(&run, "implement[t1]: done → next (cascade)"), 1);
    assert_eq!(ids(&run, "cascade").len(), 1);
}

/// An implementer that leaves this tree, with one line changed.
fn changing(tree: u64, removed: &str, added: &str) -> WalkStep {
    let hunk = Hunk { removed: vec![removed.to_string()], added: vec![added.to_string()] };
    let file = FileChange { path: "src/t1.rs".to_string(), hunks: vec![hunk], generated: false };
    let change = Change { tree: Digest(tree), files: vec![file], ..Change::default() };
    WalkStep { change: Some(change), ..happening("implement", "done") }
}

/// t1 and t3 do not meet their criteria; t2 passes. Each task always writes the same change.
fn finish_task(run: &mut Run, task: &str) {
    let dispatch =
        open(run, "implement").into_iter().find(|open| open.task.as_deref() == Some(task)).expect("open");
    let patch = Digest(task.bytes().map(u64::from).sum());
    let report = Report { wrote: vec![("code".to_string(), patch)], ..Report::saying("done") };
    ends(run, dispatch.id, Outcome::Said(Box::new(report))).expect("taken");
    run.says(&format!("{task}/cascade"), "passed");
    if task == "t2" {
        run.says("t2/verify", "met").says("t2/merge", "merged");
        return;
    }
    let unmet = vec![finding_about(task, &format!("V-{task}"), "the second criterion is not met")];
    run.finds(&format!("{task}/verify"), "unmet", unmet);
}

/// The ruling on the batch and the one that follows, with their reasons.
fn rulings_after_first(run: &Run) -> Vec<String> {
    let rulings = &run.walker.records.last().expect("an event").rulings;
    rulings.iter().skip(1).map(|ruling| format!("{} {}", ruling.line(), ruling.why)).collect()
}
