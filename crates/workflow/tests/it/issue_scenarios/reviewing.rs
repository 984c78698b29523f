//! Final review, commit and close.

use super::{
    commands_like, end_failure_operations, ends, finding_of_kind, ids, mark, one_task, open, ruled, since,
};
use crate::support::{Run, finding, minor, security_blocker};
use remand_kernel::command::Command;
use remand_kernel::event::Report;
use remand_kernel::finding::{Finding, FindingKind, Severity};

// OT-17
#[test]
fn acceptable_code_is_committed_and_the_issue_closed() {
    let mut run = one_task();
    run.until("final-review").says("final-review", "acceptable");
    assert_eq!(run.last(), "final-review: acceptable → next (commit)");
    assert_eq!(run.commands(), "do commit");
}

// OT-19, OT-20
#[test]
fn the_issue_is_closed_after_the_commit() {
    let mut run = one_task();
    run.until("commit").says("commit", "committed");
    assert_eq!(run.commands(), "do close-issue");
    run.says("close", "closed");
    assert_eq!((run.last().as_str(), run.status().as_str()), ("close: closed → done", "done"));
}

// OT-19
#[test]
fn a_commit_that_a_hook_refuses_fails_the_run() {
    let mut run = one_task();
    run.until("commit").says("commit", "hook-refused");
    end_failure_operations(&mut run);
    assert_eq!(run.status(), "failed at commit: hook-refused");
    assert_eq!(commands_like(&run, "do close-issue"), Vec::<String>::new());
}

// OT-10, OT-17
#[test]
fn a_plan_level_finding_leads_to_a_plan_rework() {
    let mut run = one_task();
    run.until("final-review").finds(
        "final-review",
        "block",
        vec![finding_of_kind(FindingKind::Plan, "F1", "the API cannot work")],
    );
    assert_eq!(run.last(), "final-review: plan-finding → remand plan, plan-rework 1 → 0");
    assert_eq!(run.commands(), "discard code, tests\ndispatch plan for plan with 1 finding");
}

// OT-10, OT-17
#[test]
fn a_second_plan_level_finding_fails_the_run() {
    let mut run = one_task();
    for claim in ["the API cannot work", "the cache has no owner"] {
        let plan = vec![finding_of_kind(FindingKind::Plan, "F1", claim)];
        run.until("final-review").finds("final-review", "block", plan);
    }
    end_failure_operations(&mut run);
    assert_eq!(run.status(), "failed at final-review: plan-finding, with plan-rework exhausted");
}

// OT-17
#[test]
fn a_test_finding_is_diagnosed_first() {
    let mut run = one_task();
    run.until("final-review").finds(
        "final-review",
        "block",
        vec![finding_of_kind(FindingKind::Test, "F1", "asserts nothing")],
    );
    assert_eq!(run.last(), "final-review: test-finding → remand diagnosis, final-review.round 2 → 1");
    assert_eq!(run.commands(), "dispatch check/diagnosis for diagnosis with 1 finding");
}

// OT-16, OT-17
#[test]
fn test_findings_share_the_two_cycles_of_the_diagnosis() {
    let mut run = one_task();
    run.until("make").says("make", "incomplete").says("diagnosis", "production-logic");
    run.until("final-review").finds(
        "final-review",
        "block",
        vec![finding_of_kind(FindingKind::Test, "F1", "asserts nothing")],
    );
    run.says("diagnosis", "test-design");
    assert_eq!(run.last(), "diagnosis: test-design → remand test, cycles 1 → 0");
    assert_eq!(run.commands(), "discard code\ndispatch test for test with 1 finding");
}

// OT-17
#[test]
fn redesigned_tests_are_verified_before_the_next_round() {
    let mut run = one_task();
    run.until("final-review").finds(
        "final-review",
        "block",
        vec![finding_of_kind(FindingKind::Test, "F1", "asserts nothing")],
    );
    run.says("diagnosis", "test-design");
    let from = mark(&run);
    run.until("final-review");
    let expected = [
        "do verify-red",
        "do entry-check",
        "dispatch make for make",
        "do checks",
        "dispatch check/code for final-review",
        "dispatch simplify for final-review as advisor",
    ];
    assert_eq!(since(&run, from), expected);
}

// OT-04, OT-17
#[test]
fn production_findings_are_written_down_by_the_engine_first() {
    let mut run = one_task();
    production(&mut run, "F1", "the loop never ends");
    assert_eq!(run.last(), "final-review: production-finding → remand fix, final-review.round 2 → 1");
    assert_eq!(run.commands(), "do write-task-fix");
    assert_eq!(carried_count(&run, "fix"), 1);
}

// OT-17
#[test]
fn production_findings_go_to_make() {
    let mut run = one_task();
    production(&mut run, "F1", "the loop never ends");
    run.says("fix", "written");
    assert_eq!(run.last(), "fix: written → to make");
    assert_eq!(run.commands(), "dispatch make for make with 1 finding");
}

// OT-17
#[test]
fn a_fix_is_verified_before_the_next_round() {
    let mut run = one_task();
    production(&mut run, "F1", "the loop never ends");
    let from = mark(&run);
    run.until("final-review");
    let expected = [
        "dispatch make for make with 1 finding",
        "do checks",
        "dispatch check/code for final-review",
        "dispatch simplify for final-review as advisor",
    ];
    assert_eq!(since(&run, from), expected);
}

// OT-17
#[test]
fn needs_work_is_routed_like_blocked() {
    let mut run = one_task();
    let production = vec![finding_of_kind(FindingKind::Production, "F1", "the loop never ends")];
    run.until("final-review").finds("final-review", "needs-work", production);
    assert_eq!(run.last(), "final-review: production-finding → remand fix, final-review.round 2 → 1");
}

// OT-17
#[test]
fn a_finding_without_a_kind_counts_as_production_and_the_ruling_says_it_was_assumed() {
    let mut run = one_task();
    run.until("final-review").finds("final-review", "block", vec![finding("F1", "the loop never ends")]);
    assert_eq!(run.last(), "final-review: production-finding → remand fix, final-review.round 2 → 1");
    assert_eq!(run.why(), "`block`; no finding names its kind, so production is assumed");
}

// OT-17
#[test]
fn mixed_findings_route_to_the_earliest_kind() {
    let all = [FindingKind::Plan, FindingKind::Test, FindingKind::Production, FindingKind::Cosmetic];
    let routes = ["plan-finding", "test-finding", "production-finding", "cosmetic-finding"];
    for (first, route) in routes.iter().enumerate() {
        let mut findings: Vec<Finding> =
            all[first..].iter().map(|kind| finding_of_kind(*kind, "F1", "something is wrong")).collect();
        findings.reverse();
        let mut run = one_task();
        run.until("final-review").finds("final-review", "needs-work", findings);
        ruled_with(&run, &format!("final-review: {route} → "));
    }
}

// OT-17
#[test]
fn mixed_findings_are_all_carried_along() {
    let mut run = one_task();
    let both = vec![
        finding_of_kind(FindingKind::Production, "F1", "the loop never ends"),
        finding_of_kind(FindingKind::Test, "F2", "asserts nothing"),
    ];
    run.until("final-review").finds("final-review", "block", both);
    assert_eq!(run.commands(), "dispatch check/diagnosis for diagnosis with 2 findings");
}

// OT-17
#[test]
fn a_minor_plan_finding_next_to_a_production_finding_reworks_no_plan() {
    let mut run = one_task();
    let both = vec![
        minor(finding_of_kind(FindingKind::Plan, "F1", "a word is missing")),
        finding_of_kind(FindingKind::Production, "F2", "loops"),
    ];
    run.until("final-review").finds("final-review", "block", both);
    assert_eq!(run.last(), "final-review: production-finding → remand fix, final-review.round 2 → 1");
}

// OT-17
#[test]
fn a_cosmetic_patch_is_applied_by_the_engine_and_verified() {
    let mut run = one_task();
    cosmetic(&mut run);
    assert_eq!(run.last(), "final-review: cosmetic-finding → remand polish, final-review.round 2 → 1");
    assert_eq!(run.commands(), "do apply-cosmetic");
    assert_eq!(carried_count(&run, "polish"), 1);
    run.says("polish", "applied");
    assert_eq!(run.last(), "polish: applied → to green");
    assert_eq!(run.commands(), "do checks");
}

// OT-17
#[test]
fn a_patch_that_is_not_cosmetic_counts_as_production() {
    let mut run = one_task();
    cosmetic(&mut run);
    let id = ids(&run, "polish")[0];
    ends(&mut run, id, Report::saying("not-cosmetic")).expect("taken");
    assert_eq!(run.commands(), "dispatch make for make with 1 finding");
}

// CORE-23, OT-17
#[test]
fn code_with_minor_findings_only_is_acceptable() {
    let mut run = one_task();
    let small = vec![minor(finding_of_kind(FindingKind::Production, "F1", "a name is misspelt"))];
    run.until("final-review").finds("final-review", "needs-work", small);
    assert_eq!(run.last(), "final-review: acceptable → next (commit)");
    assert!(run.why().contains("they become follow-ups"), "{}", run.why());
}

// OT-17, CORE-12
#[test]
fn the_same_finding_twice_ends_the_final_review() {
    let mut run = one_task();
    for id in ["F1", "F2"] {
        let test = vec![finding_of_kind(FindingKind::Test, id, "the test of the parser asserts nothing")];
        run.until("final-review").finds("final-review", "block", test);
        if id == "F1" {
            run.says("diagnosis", "test-design");
        }
    }
    assert_eq!(run.last(), "final-review: repeated → next (commit), with blockers: confidence low");
    run.finish();
    assert_eq!(run.status(), "done");
}

// OT-17, CORE-12
#[test]
fn the_same_production_finding_twice_ends_the_final_review() {
    let mut run = one_task();
    for id in ["F1", "F2"] {
        production(&mut run, id, "the loop over the lines never ends");
    }
    assert_eq!(run.last(), "final-review: repeated → next (commit), with blockers: confidence low");
}

// OT-16, OT-17
#[test]
fn a_test_finding_that_is_diagnosed_as_production_logic_goes_to_make() {
    let mut run = one_task();
    run.until("final-review").finds(
        "final-review",
        "block",
        vec![finding_of_kind(FindingKind::Test, "F1", "asserts nothing")],
    );
    run.says("diagnosis", "production-logic");
    assert_eq!(run.last(), "diagnosis: production-logic → remand make, cycles 2 → 1");
    assert_eq!(run.commands(), "dispatch make for make with 1 finding");
}

// OT-16, OT-17
#[test]
fn a_diagnosis_does_not_refill_the_rounds_of_the_final_review() {
    let mut run = one_task();
    for (id, left) in [("F1", 1), ("F2", 0)] {
        let claim = format!("{id} asserts nothing of what it names");
        run.until("final-review").finds(
            "final-review",
            "block",
            vec![finding_of_kind(FindingKind::Test, id, &claim)],
        );
        run.says("diagnosis", "test-design");
        assert_eq!(run.left("final-review.round"), left);
    }
}

// OT-17
#[test]
fn after_three_rounds_the_code_is_committed_with_its_blockers() {
    let mut run = one_task();
    for claim in ["the loop never ends", "the cache has no owner", "the file stays open"] {
        production(&mut run, "F1", claim);
    }
    assert_eq!(run.last(), "final-review: production-finding → next (commit), with blockers: confidence low");
    assert_eq!(commands_like(&run, "dispatch check/code for final-review").len(), 3);
    assert_eq!(run.walker.state.known.len(), 1);
}

// OT-17
#[test]
fn every_round_of_the_final_review_is_spent_whatever_the_kind() {
    let mut run = one_task();
    cosmetic(&mut run);
    run.until("final-review").finds(
        "final-review",
        "block",
        vec![finding_of_kind(FindingKind::Test, "F2", "asserts nothing")],
    );
    assert_eq!(run.last(), "final-review: test-finding → remand diagnosis, final-review.round 1 → 0");
}

// EP-09, OT-17
#[test]
fn a_security_blocker_goes_to_a_fix_and_never_to_a_commit() {
    let mut run = one_task();
    let blocker =
        || vec![security_blocker(finding_of_kind(FindingKind::Production, "F9", "the token is logged"))];
    run.until("final-review").finds("final-review", "acceptable", blocker());
    assert_eq!(run.last(), "final-review: security-blocker → remand fix, final-review.round 2 → 1");
    for _ in 0..2 {
        run.until("final-review").finds("final-review", "block", blocker());
    }
    assert_eq!(run.last(), "final-review: security-blocker → fail");
    end_failure_operations(&mut run);
    assert_eq!(run.status(), "failed at final-review: security-blocker, with final-review.round exhausted");
}

// OT-17
#[test]
fn a_security_blocker_reported_twice_is_not_a_repetition() {
    let mut run = one_task();
    let blocker = || {
        vec![security_blocker(finding_of_kind(
            FindingKind::Production,
            "F9",
            "the token of the user is logged",
        ))]
    };
    for _ in 0..2 {
        run.until("final-review").finds("final-review", "block", blocker());
    }
    assert_eq!(run.last(), "final-review: security-blocker → remand fix, final-review.round 1 → 0");
}

// OT-05, OT-17
#[test]
fn advice_on_the_code_never_forces_another_round() {
    let mut run = one_task();
    run.until("final-review");
    let [check, simplify] = ids(&run, "final-review")[..] else { panic!("two seats") };
    let advice = Finding {
        severity: Severity::Critical,
        ..finding_of_kind(FindingKind::Plan, "S1", "half of it can go")
    };
    ends(&mut run, simplify, Report { findings: vec![advice], ..Report::saying("needs-work") })
        .expect("taken");
    ends(&mut run, check, Report::saying("acceptable")).expect("taken");
    assert_eq!(run.last(), "final-review: acceptable → next (commit)");
    assert_eq!((run.walker.state.known.len(), run.confidence()), (0, "high"));
}

// OT-05
#[test]
fn the_final_review_waits_for_its_advisor() {
    let mut run = one_task();
    run.until("final-review");
    let check = ids(&run, "final-review")[0];
    let step = ends(&mut run, check, Report::saying("acceptable")).expect("taken");
    assert_eq!((step.rulings.len(), step.commands.len()), (0, 0));
}

// OT-19
#[test]
fn a_run_without_blockers_ends_with_high_confidence() {
    let mut run = one_task();
    run.finish();
    assert_eq!((run.status().as_str(), run.confidence()), ("done", "high"));
    ruled(&run, "close: closed → done");
}

fn production(run: &mut Run, id: &str, claim: &str) {
    run.until("final-review").finds(
        "final-review",
        "block",
        vec![finding_of_kind(FindingKind::Production, id, claim)],
    );
}

/// A typo, with its patch.
fn cosmetic(run: &mut Run) {
    let patch = Some("-teh\n+the".to_string());
    let typo =
        minor(Finding { patch, ..finding_of_kind(FindingKind::Cosmetic, "F1", "a typo in a comment") });
    run.until("final-review").finds("final-review", "needs-work", vec![typo]);
}

/// Asserts that the last event led to a ruling that starts with this text.
fn ruled_with(run: &Run, start: &str) {
    let rulings = &run.walker.records.last().expect("an event").rulings;
    assert!(rulings.iter().any(|ruling| ruling.line().starts_with(start)), "no `{start}`\n{}", run.trace());
}

/// The number of findings that the operation of a phase gets.
fn carried_count(run: &Run, phase: &str) -> usize {
    match &open(run, phase)[..] {
        [Command::Operate { findings, .. }] => findings.len(),
        other => panic!("{other:?}"),
    }
}
