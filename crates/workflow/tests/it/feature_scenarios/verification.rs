//! Verification: the cascade, the criteria, the iterations, and the revert.

use super::{
    advance_task, commands_like, ends, fail_checks, finding_about, ids, mark, open, rejects, ruled, run_with,
    since, with_tasks,
};
use crate::support::{Run, finding, security_blocker, task};
use remand_kernel::event::{Outcome, Report};

// EP-33
#[test]
fn a_criterion_that_is_not_met_fails_the_task_though_all_checks_passed() {
    let mut run = with_tasks(1);
    run.until("verify").finds(
        "verify",
        "unmet",
        vec![finding_about("t1", "V1", "the second criterion is not met")],
    );
    ruled(&run, "verify[t1]: unmet → raise unverified");
    assert_eq!(run.commands(), "dispatch planner for plan with 1 finding");
}

// EP-33, CORE-06
#[test]
fn a_verifier_is_not_asked_about_a_task_whose_checks_failed() {
    let mut run = with_tasks(1);
    run.until("cascade");
    fail_checks(&mut run, "t1", Vec::new());
    ruled(&run, "cascade[t1]: failed → raise unverified");
    assert_eq!(commands_like(&run, "dispatch verifier"), Vec::<String>::new());
}

// EP-05, EP-33
#[test]
fn a_verifier_in_error_after_its_retry_fails_the_task() {
    let mut run = with_tasks(1);
    run.until("verify").says("verify", "malformed").says("verify", "malformed");
    ruled(&run, "verify[t1]: no-result → raise unverified");
}

// EP-09
#[test]
fn a_security_blocker_is_unsafe_even_if_all_criteria_are_met() {
    let mut run = with_tasks(1);
    let blocker = vec![security_blocker(finding_about("t1", "V9", "the token is logged"))];
    run.until("verify").finds("verify", "met", blocker);
    ruled(&run, "verify[t1]: security-blocker → raise unsafe");
    assert_eq!(run.status(), "failed at tasks: unsafe");
}

// EP-20, CORE-20
#[test]
fn failed_verification_goes_to_the_planner_with_its_findings() {
    let mut run = with_tasks(2);
    run.until("implement");
    advance_task(&mut run, "t1", "cascade");
    fail_checks(&mut run, "t1", vec![finding_about("t1", "K1", "the build is red")]);
    advance_task(&mut run, "t2", "verify");
    run.finds("t2/verify", "unmet", vec![finding_about("t2", "V1", "the second criterion is not met")]);
    ruled(&run, "tasks: unverified → remand plan, replan 2 → 1");
    assert_eq!(run.commands(), "dispatch planner for plan with 2 findings");
}

// EP-20
#[test]
fn after_a_replan_each_failing_task_gets_its_findings() {
    let mut run = with_tasks(2);
    run.until("implement");
    advance_task(&mut run, "t1", "cascade");
    let findings =
        vec![finding_about("t1", "K1", "the build is red"), finding_about("t1", "K2", "a test is red")];
    fail_checks(&mut run, "t1", findings);
    advance_task(&mut run, "t2", "verify");
    run.finds("t2/verify", "unmet", vec![finding("V1", "the second criterion is not met")]);
    run.until("implement");
    let expected = [
        "dispatch implementer for implement[t1] with 2 findings",
        "dispatch implementer for implement[t2] with 1 finding",
    ];
    assert_eq!(run.commands(), expected.join("\n"));
}

// EP-20, BY-04
#[test]
fn only_failing_tasks_are_implemented_again() {
    let mut run = with_tasks(3);
    run.until("implement");
    advance_task(&mut run, "t1", "");
    advance_task(&mut run, "t3", "");
    advance_task(&mut run, "t2", "cascade");
    fail_checks(&mut run, "t2", vec![finding_about("t2", "K1", "the build is red")]);
    let from = mark(&run);
    run.until("integrate");
    let expected = [
        "dispatch implementer for implement[t2] with 1 finding",
        "do checks[t2]",
        "dispatch verifier for verify[t2]",
        "do merge[t2]",
        "do integrate",
    ];
    assert_eq!(since(&run, from), expected);
}

// EP-20
#[test]
fn a_task_that_got_stuck_is_planned_again() {
    let mut run = with_tasks(1);
    run.until("implement").says("implement", "stuck");
    ruled(&run, "tasks: unverified → remand plan, replan 2 → 1");
    assert_eq!(run.commands(), "dispatch planner for plan");
}

// EP-20
#[test]
fn after_three_failed_verifications_the_work_is_reverted() {
    let mut run = with_tasks(1);
    fail(&mut run, "t1");
    ruled(&run, "tasks: unverified → remand plan, replan 2 → 1");
    fail(&mut run, "t1");
    ruled(&run, "tasks: unverified → remand plan, replan 1 → 0");
    fail(&mut run, "t1");
    assert_eq!(run.last(), "tasks: unverified → to take-back");
    assert_eq!(run.commands(), "do take-back");
    assert_eq!(commands_like(&run, "dispatch implementer").len(), 3);
}

// EP-20, CORE-03
#[test]
fn the_ruling_that_reverts_work_names_the_empty_budget() {
    let mut run = about_to_revert();
    let ruling = run.walker.records.last().expect("taken").rulings.last().expect("ruled").clone();
    assert_eq!(ruling.exhausted, ["replan"]);
    assert_eq!(ruling.target.as_deref(), Some("take-back"));
    run.says("take-back", "reverted");
}

// EP-20, EP-32
#[test]
fn reverted_work_leaves_known_issues_and_low_confidence() {
    let mut run = about_to_revert();
    run.says("take-back", "reverted");
    let ruling = run.walker.records.last().expect("taken").rulings.first().expect("ruled").line();
    assert!(ruling.ends_with("with blockers: confidence low"), "{ruling}");
    run.until("code-review");
    assert_eq!(open(&run, "code-review")[0].known.len(), 1);
}

// EP-20, EP-24
#[test]
fn a_run_whose_work_was_reverted_is_handed_over_to_the_user() {
    let mut run = about_to_revert();
    run.finish();
    assert_eq!(run.last(), "hand-over: done → done");
    assert!(!run.rulings().contains("commit:"), "{}", run.rulings());
}

// EP-14, EP-20
#[test]
fn the_tree_without_the_reverted_work_passes_all_checks_before_its_review() {
    let mut run = about_to_revert();
    run.says("take-back", "reverted");
    assert_eq!(run.commands(), "do integrate");
}

// EP-20, EP-21
#[test]
fn reverted_work_is_not_tried_a_fourth_time() {
    let mut run = with_tasks(2);
    run.until("implement");
    advance_task(&mut run, "t2", "");
    for _ in 0..3 {
        fail(&mut run, "t1");
    }
    run.says("take-back", "reverted");
    rejects(&mut run, "code-review", vec![finding_about("t2", "C1", "the lock is held too long")]);
    assert_eq!(run.commands(), "dispatch implementer for implement[t2] with 1 finding");
}

// EP-14
#[test]
fn a_failure_of_the_merged_tree_goes_to_the_task_whose_file_it_names() {
    let mut run = with_tasks(3);
    run.until("integrate").finds(
        "integrate",
        "failed",
        vec![finding_about("t2", "I1", "a test of another task is red")],
    );
    assert_eq!(run.last(), "integrate: failed → remand plan, replan 2 → 1");
    assert_eq!(run.commands(), "dispatch planner for plan with 1 finding");
    run.until("implement");
    assert_eq!(run.commands(), "dispatch implementer for implement[t2] with 1 finding");
}

// EP-14
#[test]
fn a_failure_of_the_merged_tree_goes_to_the_later_task() {
    let mut run = with_tasks(2);
    run.until("integrate").finds("integrate", "failed", vec![finding("I1", "the build is red")]);
    run.says("plan", "done").until("implement");
    assert_eq!(run.commands(), "dispatch implementer for implement[t2] with 1 finding");
}

// EP-14, EP-20
#[test]
fn a_merged_tree_that_failed_is_never_checked_again_unchanged() {
    let mut run = with_tasks(2);
    run.until("integrate").says("integrate", "failed");
    assert_eq!(run.status(), "waiting for plan");
}

// EP-14, EP-20
#[test]
fn a_merged_tree_that_fails_three_times_is_reverted() {
    let mut run = with_tasks(2);
    for _ in 0..3 {
        run.until("integrate").finds("integrate", "failed", vec![finding_about("t2", "I1", "a test is red")]);
    }
    assert_eq!(run.last(), "integrate: failed → to take-back");
    assert_eq!(run.left("replan"), 0);
}

// EP-14, EP-20
#[test]
fn nobody_reviews_a_tree_of_which_everything_was_reverted() {
    let mut run = with_tasks(2);
    for _ in 0..3 {
        run.until("integrate").finds("integrate", "failed", vec![finding_about("t2", "I1", "a test is red")]);
    }
    run.says("take-back", "nothing-left");
    assert_eq!(run.last(), "take-back: nothing-left → to bundle, with blockers: confidence low");
    run.says("bundle", "done");
    assert_eq!(run.commands(), "do hand-over");
}

// EP-20, BY-04
#[test]
fn the_result_of_a_reverted_task_is_not_reused() {
    let mut run = with_tasks(2);
    for _ in 0..3 {
        run.until("integrate").finds("integrate", "failed", vec![finding_about("t2", "I1", "a test is red")]);
    }
    run.says("take-back", "reverted");
    assert!(!run.walker.state.finished.contains_key("t2"), "{}", run.trace());
}

// EP-20
#[test]
fn iterations_are_counted_per_run_and_not_per_task() {
    let mut run = with_tasks(2);
    run.until("implement");
    advance_task(&mut run, "t2", "");
    fail(&mut run, "t1");
    run.until("integrate").finds("integrate", "failed", vec![finding_about("t2", "I1", "a test is red")]);
    assert_eq!(run.last(), "integrate: failed → remand plan, replan 1 → 0");
}

// EP-20, EP-28
#[test]
fn findings_of_a_task_that_has_passed_since_are_settled() {
    let mut run = with_tasks(1);
    fail(&mut run, "t1");
    run.until("code-review");
    let status = run.walker.state.findings[0].status;
    assert_eq!(status, remand_kernel::state::FiledStatus::Settled);
}

// EP-14, BY-04
#[test]
fn findings_that_are_settled_are_not_sent_again() {
    let mut run = with_tasks(1);
    run.until("cascade").finds("cascade", "failed", vec![finding_about("t1", "Q1", "a lint fails")]);
    run.until("verify").finds("verify", "unmet", vec![finding_about("t1", "V1", "a criterion is not met")]);
    run.says("plan", "done").until("implement");
    assert_eq!(run.commands(), "dispatch implementer for implement[t1] with 1 finding");
}

// EP-20
#[test]
fn a_task_that_depends_on_a_failed_one_is_implemented_after_it() {
    let mut run = run_with(vec![task("t1", &[]), task("t2", &["t1"])]);
    run.until("verify").finds(
        "verify",
        "unmet",
        vec![finding_about("t1", "V1", "the second criterion is not met")],
    );
    run.until("implement");
    assert_eq!(run.status(), "waiting for t1/implement");
    advance_task(&mut run, "t1", "");
    assert_eq!(run.commands(), "dispatch implementer for implement[t2]");
}

// OT-09, EP-20
#[test]
fn an_implementer_that_changes_nothing_about_its_findings_is_dispatched_again() {
    let mut run = with_tasks(1);
    rejects(&mut run, "code-review", vec![finding_about("t1", "C1", "the lock is held too long")]);
    let finished = run.walker.state.finished["t1"].patch;
    let id = ids(&run, "implement")[0];
    let report = Report { wrote: vec![("code".to_string(), finished)], ..Report::saying("done") };
    ends(&mut run, id, Outcome::Said(Box::new(report))).expect("taken");
    assert_eq!(run.last(), "implement[t1]: no-result → retry after unchanged: attempt 2");
}

// OT-09, EP-20
#[test]
fn an_implementer_that_repeats_the_change_that_failed_is_dispatched_again() {
    let mut run = with_tasks(1);
    let same = || Report {
        wrote: vec![("code".to_string(), remand_kernel::change::Digest(77))],
        ..Report::saying("done")
    };
    run.until("implement");
    let id = ids(&run, "implement")[0];
    ends(&mut run, id, Outcome::Said(Box::new(same()))).expect("taken");
    run.until("cascade").finds("cascade", "failed", vec![finding_about("t1", "K1", "the build is red")]);
    run.until("implement");
    let id = ids(&run, "implement")[0];
    ends(&mut run, id, Outcome::Said(Box::new(same()))).expect("taken");
    assert_eq!(run.last(), "implement[t1]: no-result → retry after unchanged: attempt 2");
}

/// The task is implemented and does not meet its criteria; the others are done.
fn fail(run: &mut Run, task: &str) {
    run.until("implement");
    advance_task(run, task, "verify");
    run.finds(
        &format!("{task}/verify"),
        "unmet",
        vec![finding_about(task, "V1", "the second criterion is not met")],
    );
}

/// A run with one task that failed three times and is about to be reverted.
fn about_to_revert() -> Run {
    let mut run = with_tasks(1);
    for _ in 0..3 {
        fail(&mut run, "t1");
    }
    run
}
