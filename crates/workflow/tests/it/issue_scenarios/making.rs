//! Make, green, diagnosis, plan rework, and the failure handler.

use super::{commands_like, end_failure_operations, mark, one_task, ruled, since};
use crate::support::{Run, finding};
use remand_kernel::change::Digest;
use remand_kernel::event::Event;

// OT-15
#[test]
fn complete_code_is_verified_by_the_engine() {
    let mut run = one_task();
    run.until("make").says("make", "done");
    assert_eq!(run.last(), "make: done → next (green)");
    assert_eq!(run.commands(), "do checks");
    run.says("green", "passed");
    assert_eq!(run.last(), "green: passed → next (final-review)");
}

// OT-15
#[test]
fn complete_code_that_is_not_green_goes_back_to_make_twice() {
    let mut run = one_task();
    run.until("green").finds("green", "failed", vec![finding("G1", "a test is red")]);
    assert_eq!(run.last(), "green: failed → remand make, green.round 2 → 1");
    assert_eq!(run.commands(), "dispatch make for make with 1 finding");
    run.until("green").finds("green", "failed", vec![finding("G1", "a test is red")]);
    assert_eq!(run.last(), "green: failed → remand make, green.round 1 → 0");
}

// OT-15, OT-16
#[test]
fn code_that_is_not_green_after_three_attempts_is_diagnosed() {
    let mut run = one_task();
    three_red(&mut run);
    assert_eq!(run.last(), "green: failed → to diagnosis");
    assert!(run.commands().starts_with("dispatch check/diagnosis for diagnosis"), "{}", run.commands());
    assert_eq!(commands_like(&run, "dispatch make for make").len(), 3);
}

// OT-15
#[test]
fn a_red_tree_is_never_checked_again_unchanged() {
    let mut run = one_task();
    run.until("green").says("green", "failed");
    assert_eq!(run.status(), "waiting for make");
}

// OT-16
#[test]
fn incomplete_code_is_diagnosed() {
    for signal in ["incomplete", "circle", "reversal"] {
        let mut run = one_task();
        run.until("make").says("make", signal);
        assert_eq!(run.last(), format!("make: {signal} → to diagnosis"));
        assert_eq!(run.commands(), "dispatch check/diagnosis for diagnosis");
    }
}

// OT-16
#[test]
fn a_circle_of_test_results_is_diagnosed() {
    let mut run = one_task();
    run.until("green").says("green", "circle");
    assert_eq!(run.last(), "green: circle → to diagnosis");
}

// OT-16
#[test]
fn a_diagnosis_of_test_design_has_the_tests_redesigned_and_made_green_again() {
    let mut run = one_task();
    run.until("make").says("make", "incomplete");
    let from = mark(&run);
    run.finds("diagnosis", "test-design", vec![finding("N1", "the test wants two things at once")]);
    assert_eq!(run.last(), "diagnosis: test-design → remand test, cycles 2 → 1");
    run.until("green");
    let expected = [
        "discard code",
        "dispatch test for test with 1 finding",
        "do verify-red",
        "do entry-check",
        "dispatch make for make",
        "do checks",
    ];
    assert_eq!(since(&run, from), expected);
}

// OT-16
#[test]
fn a_diagnosis_of_test_design_always_reaches_the_test_role() {
    let mut run = one_task();
    run.until("make").says("make", "incomplete").says("diagnosis", "test-design");
    assert_eq!(run.status(), "waiting for test");
}

// OT-16
#[test]
fn a_diagnosis_of_production_logic_dispatches_make_again_with_its_findings() {
    let mut run = one_task();
    run.until("make").says("make", "incomplete");
    run.finds("diagnosis", "production-logic", vec![finding("N1", "the loop never ends")]);
    assert_eq!(run.last(), "diagnosis: production-logic → remand make, cycles 2 → 1");
    assert_eq!(run.commands(), "dispatch make for make with 1 finding");
}

// OT-16
#[test]
fn a_diagnosis_after_red_checks_passes_their_findings_to_make() {
    let mut run = one_task();
    three_red(&mut run);
    run.says("diagnosis", "production-logic");
    assert_eq!(run.commands(), "dispatch make for make with 1 finding");
}

// OT-16
#[test]
fn make_has_three_attempts_again_after_a_diagnosis() {
    let mut run = one_task();
    three_red(&mut run);
    run.says("diagnosis", "production-logic").until("green");
    assert_eq!(run.left("green.round"), 2);
}

// OT-16, OT-21
#[test]
fn a_split_that_is_needed_fails_the_run() {
    let mut run = one_task();
    run.until("make").says("make", "incomplete").says("diagnosis", "split-needed");
    assert_eq!(run.last(), "diagnosis: split-needed → fail");
    end_failure_operations(&mut run);
    assert_eq!(run.status(), "failed at diagnosis: split-needed");
}

// OT-10, OT-16
#[test]
fn after_two_cycles_the_plan_is_reworked() {
    let mut run = one_task();
    exhaust_cycles(&mut run);
    assert_eq!(run.left("cycles"), 0);
    run.until("make").says("make", "incomplete");
    run.finds("diagnosis", "test-design", vec![finding("N3", "no test can see it")]);
    ruled(&run, "diagnosis: test-design → remand plan, plan-rework 1 → 0");
    assert!(run.commands().ends_with("dispatch plan for plan with 1 finding"), "{}", run.commands());
}

// OT-10, OT-16
#[test]
fn the_count_of_cycles_restarts_for_the_new_plan() {
    let mut run = one_task();
    rework(&mut run);
    assert_eq!((run.left("cycles"), run.left("plan-rework")), (2, 0));
}

// OT-10
#[test]
fn the_end_names_the_signal_that_needed_a_second_rework() {
    let mut run = one_task();
    rework(&mut run);
    exhaust_cycles(&mut run);
    run.until("make").says("make", "incomplete").says("diagnosis", "production-logic");
    end_failure_operations(&mut run);
    assert_eq!(run.status(), "failed at diagnosis: production-logic, with plan-rework exhausted");
}

// OT-10, CORE-03
#[test]
fn the_ruling_names_each_empty_budget() {
    let mut run = one_task();
    rework(&mut run);
    exhaust_cycles(&mut run);
    run.until("make").says("make", "incomplete").says("diagnosis", "test-design");
    let ruling = run.walker.records.last().expect("taken").rulings.last().expect("ruled").clone();
    assert_eq!(ruling.exhausted, ["cycles", "plan-rework"]);
    assert_eq!(ruling.action, "fail");
}

// OT-10
#[test]
fn a_plan_rework_discards_code_and_tests() {
    let mut run = one_task();
    exhaust_cycles(&mut run);
    run.until("make").says("make", "incomplete");
    run.finds("diagnosis", "test-design", vec![finding("N3", "no test can see it")]);
    assert!(run.commands().starts_with("discard code, tests\n"), "{}", run.commands());
    for artifact in ["code", "tests"] {
        let id = run.walker.program.artifact_named(artifact).expect("artifact");
        assert_eq!(run.walker.state.versions[id.index()], Digest::default());
    }
}

// OT-10, BY-04
#[test]
fn after_a_plan_rework_no_result_for_the_old_plan_is_reused() {
    let mut run = one_task();
    rework(&mut run);
    let from = mark(&run);
    run.until("final-review");
    let expected = [
        "dispatch plan/split for split",
        "do file-sub-issues",
        "dispatch test for test",
        "do verify-red",
        "do entry-check",
        "dispatch make for make",
        "do checks",
        "dispatch check/code for final-review",
        "dispatch simplify for final-review as advisor",
    ];
    assert_eq!(since(&run, from), expected);
}

// OT-16
#[test]
fn a_diagnosis_without_notes_still_dispatches_make() {
    let mut run = one_task();
    for _ in 0..3 {
        run.until("green").says("green", "failed");
    }
    run.says("diagnosis", "production-logic");
    assert_eq!(run.commands(), "dispatch make for make");
}

// OT-21
#[test]
fn when_a_run_fails_the_failure_operations_run_in_order() {
    let mut run = one_task();
    run.until("make").says("make", "incomplete");
    let from = mark(&run);
    run.says("diagnosis", "split-needed");
    end_failure_operations(&mut run);
    let expected = [
        "do comment-issue",
        "do back-to-todo",
        "do discard-work-tree",
        "finish: failed at diagnosis: split-needed",
    ];
    assert_eq!(since(&run, from), expected);
}

// OT-21, CORE-17
#[test]
fn when_a_run_is_cancelled_the_failure_operations_run_in_order() {
    let mut run = one_task();
    run.until("make");
    let from = mark(&run);
    run.walker.feed(Event::Cancelled { by: "Ann".to_string() }, "cancel".to_string()).expect("taken");
    end_failure_operations(&mut run);
    let expected = [
        "cancel make",
        "do comment-issue",
        "do back-to-todo",
        "do discard-work-tree",
        "finish: cancelled by Ann",
    ];
    assert_eq!(since(&run, from), expected);
}

// OT-21
#[test]
fn a_failure_operation_that_fails_does_not_stop_the_next_one() {
    let mut run = one_task();
    run.until("make").says("make", "incomplete").says("diagnosis", "split-needed");
    run.says("comment-issue", "crashed");
    assert_eq!(run.commands(), "do back-to-todo");
    run.says("back-to-todo", "timeout");
    assert_eq!(run.commands(), "do discard-work-tree");
    run.says("discard-work-tree", "done");
    assert_eq!(run.status(), "failed at diagnosis: split-needed");
}

// OT-21
#[test]
fn a_walk_finishes_through_the_failure_operations() {
    let mut run = one_task();
    run.until("make").says("make", "incomplete").says("diagnosis", "split-needed").finish();
    assert_eq!(run.status(), "failed at diagnosis: split-needed");
}

// OT-21, CORE-10
#[test]
fn stopping_at_a_hold_runs_the_failure_operations() {
    let mut run = one_task();
    run.until("make").says("make", "environment").says("hold", "stop");
    assert_eq!(run.commands(), "do comment-issue");
}

// OT-21
#[test]
fn a_run_that_is_stopped_before_it_starts_has_nothing_to_undo() {
    let mut run = one_task();
    run.says("sanity", "refused");
    assert_eq!(commands_like(&run, "do comment-issue"), Vec::<String>::new());
}

// EP-25, OT-21
#[test]
fn a_role_without_a_result_after_its_retry_fails_the_run() {
    for phase in ["plan", "plan-review", "split", "test", "make", "final-review"] {
        let mut run = one_task();
        run.until(phase).says(phase, "timeout").says(phase, "timeout");
        end_failure_operations(&mut run);
        assert_eq!(run.status(), format!("failed at {phase}: no-result"));
    }
}

fn three_red(run: &mut Run) {
    for _ in 0..3 {
        run.until("green").finds("green", "failed", vec![finding("G1", "a test is red")]);
    }
}

fn exhaust_cycles(run: &mut Run) {
    for id in ["N1", "N2"] {
        run.until("make").says("make", "incomplete");
        run.finds("diagnosis", "production-logic", vec![finding(id, "the loop never ends")]);
    }
}

/// Exhausts two cycles, so the plan is reworked and changes.
fn rework(run: &mut Run) {
    exhaust_cycles(run);
    run.until("make").says("make", "incomplete");
    run.finds("diagnosis", "test-design", vec![finding("N3", "no test can see it")]);
    run.says("plan", "done");
}
