//! Stubs, tests and their review, the proof that new tests fail, and code without tests.

use super::{commands_like, end_failure_operations, mark, one_task, open, ruled, since};
use crate::support::{Run, Setup, finding, happening, issue};
use remand_kernel::command::Command;
use remand_workflow::walk::WalkStep;

// OT-14
#[test]
fn tests_that_are_ready_are_run_and_must_fail() {
    let mut run = one_task();
    run.until("test").says("test", "ready");
    assert_eq!(run.last(), "test: ready → next (red)");
    assert_eq!(run.commands(), "do verify-red");
}

// OT-14
#[test]
fn tests_that_their_author_doubts_get_a_light_review() {
    let mut run = one_task();
    run.until("test").says("test", "escalate");
    assert_eq!(run.last(), "test: escalate → to test-review");
    assert_eq!(run.commands(), "dispatch check/tests for test-review");
    run.says("test-review", "acceptable");
    assert_eq!(run.last(), "test-review: acceptable → next (red)");
}

// OT-14
#[test]
fn findings_of_the_light_review_are_fixed_by_the_test_role_and_the_run_continues() {
    for verdict in ["needs-work", "block"] {
        let mut run = one_task();
        run.until("test").says("test", "escalate");
        run.finds("test-review", verdict, vec![finding("T1", "the test asserts nothing")]);
        assert_eq!(run.last(), format!("test-review: {verdict} → remand test, test-review.round 1 → 0"));
        assert_eq!(run.commands(), "dispatch test for test with 1 finding");
        run.says("test", "ready");
        assert_eq!(run.last(), "test: ready → next (red)");
    }
}

// OT-14
#[test]
fn a_second_light_review_is_the_last() {
    let mut run = one_task();
    for _ in 0..2 {
        run.until("test").says("test", "escalate");
        run.finds("test-review", "needs-work", vec![finding("T1", "the test asserts nothing")]);
    }
    assert_eq!(run.last(), "test-review: needs-work → next (red), with degradation: confidence medium");
}

// OT-14
#[test]
fn code_that_cannot_be_tested_needs_a_sign_off() {
    let mut run = one_task();
    run.until("test").says("test", "not-testable");
    assert_eq!(run.last(), "test: not-testable → to sign-off");
    assert_eq!(run.commands(), "dispatch check/sign-off for sign-off");
    run.says("sign-off", "agreed");
    assert_eq!(run.last(), "sign-off: agreed → to manifest, with degradation: confidence medium");
    assert_eq!(run.commands(), "do write-manifest");
    run.says("manifest", "written");
    assert_eq!(run.last(), "manifest: written → to make");
    assert_eq!(run.commands(), "dispatch make for make");
}

// OT-14
#[test]
fn a_refused_sign_off_asks_for_tests_once_more() {
    let mut run = one_task();
    run.until("test").says("test", "not-testable").says("sign-off", "refused");
    assert_eq!(run.last(), "sign-off: refused → remand test, second-try 1 → 0");
    assert_eq!(run.commands(), "dispatch test for test");
}

// OT-14
#[test]
fn a_second_refused_sign_off_is_blocked() {
    let mut run = one_task();
    for _ in 0..2 {
        run.until("test").says("test", "not-testable").says("sign-off", "refused");
    }
    assert_eq!(run.last(), "sign-off: refused → to blocked");
    assert_eq!(run.commands(), "dispatch check/blocked for blocked");
}

// OT-18
#[test]
fn the_final_review_reads_the_manifest_of_untested_code() {
    let mut run = one_task();
    run.until("test")
        .says("test", "not-testable")
        .says("sign-off", "agreed")
        .says("manifest", "written")
        .until("final-review");
    let manifest = run.walker.program.artifact_named("manifest").expect("artifact");
    let signed = run.walker.state.versions[manifest.index()];
    assert!(reads(&run, "final-review").contains(&(manifest, signed)));
    assert_ne!(signed, remand_kernel::change::Digest::default());
}

// OT-18
#[test]
fn a_rejected_entry_of_the_manifest_routes_like_any_other_finding() {
    let mut run = one_task();
    run.until("test")
        .says("test", "not-testable")
        .says("sign-off", "agreed")
        .says("manifest", "written")
        .until("final-review");
    let rejected = super::finding_of_kind(
        remand_kernel::finding::FindingKind::Test,
        "F1",
        "this can be tested after all",
    );
    run.finds("final-review", "needs-work", vec![rejected]);
    assert_eq!(run.last(), "final-review: test-finding → remand diagnosis, final-review.round 2 → 1");
    run.says("diagnosis", "test-design");
    assert_eq!(run.commands(), "discard code\ndispatch test for test with 1 finding");
}

// OT-14, OT-18
#[test]
fn a_plan_rework_discards_the_manifest() {
    let mut run = one_task();
    run.until("test")
        .says("test", "not-testable")
        .says("sign-off", "agreed")
        .says("manifest", "written")
        .until("final-review");
    let plan = super::finding_of_kind(remand_kernel::finding::FindingKind::Plan, "F1", "the API cannot work");
    run.finds("final-review", "block", vec![plan]);
    let manifest = run.walker.program.artifact_named("manifest").expect("artifact");
    assert_eq!(run.walker.state.versions[manifest.index()], remand_kernel::change::Digest::default());
}

// OT-14
#[test]
fn a_missing_seam_is_added_by_make_and_the_tests_are_written_again() {
    let mut run = one_task();
    run.until("test").says("test", "missing-seam");
    assert_eq!(run.last(), "test: missing-seam → remand seam, seam 1 → 0");
    assert_eq!(run.commands(), "dispatch make/seam for seam");
    run.says("seam", "done");
    assert_eq!(run.last(), "seam: done → next (test)");
    assert_eq!(run.commands(), "dispatch test for test");
}

// OT-14
#[test]
fn a_second_missing_seam_counts_as_not_testable() {
    let mut run = one_task();
    run.until("test").says("test", "missing-seam").says("seam", "done").says("test", "missing-seam");
    assert_eq!(run.last(), "test: missing-seam → to sign-off");
    assert_eq!(run.commands(), "dispatch check/sign-off for sign-off");
}

// OT-14
#[test]
fn a_seam_that_cannot_be_added_counts_as_not_testable() {
    let mut run = one_task();
    run.until("test").says("test", "missing-seam").says("seam", "incomplete");
    assert_eq!(run.last(), "seam: incomplete → to sign-off");
}

// OT-14
#[test]
fn blocked_tests_are_diagnosed() {
    let mut run = one_task();
    run.until("test").says("test", "blocked");
    assert_eq!(run.last(), "test: blocked → to blocked");
    assert_eq!(run.commands(), "dispatch check/blocked for blocked");
}

// OT-14
#[test]
fn a_task_that_blocks_its_tests_is_edited_and_its_tests_are_written_again() {
    let mut run = one_task();
    run.until("test").says("test", "blocked").says("blocked", "task");
    assert_eq!(run.last(), "blocked: task → remand edit-task, task-edit 1 → 0");
    assert_eq!(run.commands(), "dispatch plan/task for edit-task");
    run.says("edit-task", "done");
    assert_eq!(run.commands(), "dispatch test for test");
}

// OT-10, OT-14
#[test]
fn a_task_that_still_blocks_its_tests_after_an_edit_leads_to_a_plan_rework() {
    let mut run = one_task();
    run.until("test").says("test", "blocked").says("blocked", "task").says("edit-task", "done");
    run.says("test", "blocked").says("blocked", "task");
    ruled(&run, "blocked: task → remand plan, plan-rework 1 → 0");
}

// OT-10, OT-14
#[test]
fn tests_blocked_by_the_plan_spend_a_plan_rework() {
    let mut run = one_task();
    run.until("test").says("test", "blocked").says("blocked", "plan");
    ruled(&run, "blocked: plan → remand plan, plan-rework 1 → 0");
}

// OT-10, OT-14
#[test]
fn tests_blocked_by_the_plan_lead_to_a_new_plan() {
    let mut run = one_task();
    run.until("test").says("test", "blocked").says("blocked", "plan");
    assert_eq!(run.status(), "waiting for plan");
}

// CORE-10, OT-14
#[test]
fn tests_blocked_by_the_environment_ask_a_human_and_spend_no_rework() {
    let mut run = one_task();
    run.until("test").says("test", "blocked").says("blocked", "environment");
    ruled(&run, "blocked: environment → to environment");
    assert_eq!(run.commands(), "ask environment: repaired, stop");
    run.says("environment", "repaired");
    assert_eq!(run.commands(), "dispatch test for test");
    assert_eq!((run.left("plan-rework"), run.left("repairs")), (1, 2));
}

// OT-14, OT-21
#[test]
fn an_environment_that_is_not_repaired_fails_the_run() {
    let mut run = one_task();
    run.until("test").says("test", "blocked").says("blocked", "environment").says("environment", "stop");
    end_failure_operations(&mut run);
    assert_eq!(run.status(), "failed at environment: stop");
}

// OT-12
#[test]
fn tests_that_fail_for_the_wrong_reason_are_rewritten() {
    for result in ["wrong-failure", "structural-only", "already-green"] {
        let mut run = one_task();
        run.until("red").finds("red", result, vec![finding("R1", "the test passes without the code")]);
        assert_eq!(run.last(), format!("red: {result} → remand test, red.round 2 → 1"));
        assert_eq!(run.commands(), "dispatch test for test with 1 finding");
    }
}

// OT-12, OT-13
#[test]
fn tests_that_were_not_red_are_never_run_again_unchanged() {
    let mut run = one_task();
    run.until("red").says("red", "structural-only");
    assert_eq!(run.status(), "waiting for test");
}

// OT-13
#[test]
fn after_two_rewrites_tests_that_are_not_red_are_blocked() {
    let mut run = one_task();
    for _ in 0..3 {
        run.until("red").finds(
            "red",
            "structural-only",
            vec![finding("R1", "the test passes without the code")],
        );
    }
    assert_eq!(run.last(), "red: structural-only → to blocked");
    assert_eq!(commands_like(&run, "dispatch test for test").len(), 3);
}

// OT-13
#[test]
fn new_symbols_get_stubs_before_tests() {
    let mut run = at_stubs();
    assert_eq!(run.commands(), "dispatch make/stubs for stubs");
    run.says("stubs", "done");
    assert_eq!(run.commands(), "do check-stubs");
    run.says("check-stubs", "sound");
    assert_eq!(run.last(), "check-stubs: sound → next (test)");
    assert_eq!(run.commands(), "dispatch test for test");
}

// OT-13
#[test]
fn without_new_symbols_there_are_no_stubs() {
    let mut run = one_task();
    run.until("split").says("split", "done").says("file-rest", "filed");
    assert_eq!(run.commands(), "dispatch test for test");
}

// OT-13
#[test]
fn unsound_stubs_are_written_again_once() {
    let mut run = at_stubs();
    run.says("stubs", "done").says("check-stubs", "unsound");
    assert_eq!(run.last(), "check-stubs: unsound → remand stubs, check-stubs.round 1 → 0");
    assert_eq!(run.commands(), "dispatch make/stubs for stubs");
    run.says("stubs", "done").says("check-stubs", "unsound");
    ruled(&run, "check-stubs: unsound → remand plan, plan-rework 1 → 0");
}

// OT-10, OT-13
#[test]
fn stubs_that_cannot_be_written_lead_to_a_plan_rework() {
    let mut run = at_stubs();
    run.says("stubs", "incomplete");
    ruled(&run, "stubs: incomplete → remand plan, plan-rework 1 → 0");
}

// OT-15
#[test]
fn red_tests_go_through_the_entry_check_and_are_then_made_green() {
    let mut run = one_task();
    run.until("red");
    let from = mark(&run);
    run.until("make");
    assert_eq!(since(&run, from), ["do entry-check", "dispatch make for make"]);
}

// OT-15, OT-16
#[test]
fn a_suite_that_is_unfit_counts_as_incomplete() {
    let mut run = one_task();
    run.until("entry").says("entry", "unfit");
    assert_eq!(run.last(), "entry: unfit → to diagnosis");
    assert_eq!(run.commands(), "dispatch check/diagnosis for diagnosis");
}

/// A run with a task that needs new symbols, at its stubs.
fn at_stubs() -> Run {
    let mut run = Setup::of(issue()).run();
    run.until("split");
    run.happens(WalkStep { flags: vec![("new-symbols".to_string(), true)], ..happening("split", "done") });
    run.says("file-rest", "filed");
    run
}

fn reads(run: &Run, phase: &str) -> Vec<(remand_kernel::ids::ArtifactId, remand_kernel::change::Digest)> {
    match open(run, phase).first() {
        Some(Command::Dispatch(dispatch)) => dispatch.reads.clone(),
        other => panic!("{other:?}"),
    }
}
