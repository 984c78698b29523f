//! `quick`: everyday changes with two roles.

use crate::support::{Setup, finding, minor, quick, security_blocker};

// BY-01
#[test]
fn small_work_takes_two_dispatches_to_its_commit() {
    let mut run = Setup::of(quick()).run();
    run.finish();
    assert_eq!(run.status(), "done");
    assert_eq!(run.dispatches(), 2);
    assert!(run.rulings().contains("commit: committed → done"));
}

// BY-01
#[test]
fn after_two_rounds_the_work_is_left_for_the_user() {
    let mut run = Setup::of(quick()).run();
    run.until("review").says("review", "needs-revision").until("review").says("review", "needs-revision");
    assert_eq!(run.last(), "review: needs-revision → next (hand-over), with blockers: confidence low");
    run.finish();
    assert!(!run.rulings().contains("commit:"), "{}", run.rulings());
}

// BY-01
#[test]
fn red_checks_go_back_twice_and_then_to_the_user() {
    let mut run = Setup::of(quick()).run();
    for _ in 0..3 {
        run.until("verify").says("verify", "failed");
    }
    assert_eq!(run.last(), "verify: failed → to hand-over, with blockers: confidence low");
}

// CORE-23
#[test]
fn minor_findings_become_follow_ups_and_not_rounds() {
    let mut run = Setup::of(quick()).run();
    run.until("review").finds(
        "review",
        "needs-revision",
        vec![minor(finding("F1", "a comment is out of date"))],
    );
    assert_eq!(run.last(), "review: approve → next (commit)");
    assert!(run.why().contains("follow-ups"), "{}", run.why());
}

// EP-09
#[test]
fn a_security_blocker_ends_the_run_whatever_the_verdict() {
    let mut run = Setup::of(quick()).run();
    run.until("review").finds(
        "review",
        "approve",
        vec![security_blocker(finding("F1", "the token is logged"))],
    );
    assert_eq!(run.status(), "failed at review: security-blocker");
}
