//! Design review and code review: the disagreement table, the rounds, security.

use super::{
    ends, finding_about, ids, mark, open, rejects, reports, review, ruled, run_with, since, with_severity,
    with_tasks,
};
use crate::support::{Setup, feature, finding, happening, minor, security_blocker, task};
use remand_kernel::event::{Outcome, Report, Risk};
use remand_kernel::finding::Severity;
use remand_workflow::walk::{Says, WalkStep};

// EP-09
#[test]
fn a_design_that_all_three_approve_goes_to_the_planner() {
    let mut run = with_tasks(1);
    run.until("design-review").say("design-review", &["approve", "approve", "approve"]);
    assert_eq!(run.last(), "design-review: approved → next (plan)");
    assert_eq!(run.confidence(), "high");
}

// EP-09, EP-32
#[test]
fn a_design_approved_by_two_of_three_continues_with_the_dissent_as_a_known_issue() {
    let mut run = with_tasks(1);
    let dissent = vec![finding("D1", "the cache has no owner")];
    review(
        &mut run,
        "design-review",
        vec![("approve", vec![]), ("needs-revision", dissent), ("approve", vec![])],
    );
    assert_eq!(run.last(), "design-review: dissent → next (plan), with dissent: confidence medium");
    let planner = open(&run, "plan").remove(0);
    assert_eq!((planner.known.len(), planner.findings.len()), (1, 0));
}

// EP-09
#[test]
fn a_critical_finding_of_one_reviewer_is_a_known_issue_like_any_other_dissent() {
    let mut run = with_tasks(1);
    let dissent = vec![with_severity(Severity::Critical, finding("D1", "two writers race for the file"))];
    review(
        &mut run,
        "design-review",
        vec![("approve", vec![]), ("approve", vec![]), ("needs-revision", dissent)],
    );
    assert_eq!(run.last(), "design-review: dissent → next (plan), with dissent: confidence medium");
    assert_eq!(open(&run, "plan")[0].known.len(), 1);
}

// EP-09
#[test]
fn a_design_that_two_of_three_reject_goes_back_with_the_findings_of_both() {
    let mut run = with_tasks(1);
    let (first, second) =
        (vec![finding("D1", "the cache has no owner")], vec![finding("D1", "the file is never closed")]);
    review(
        &mut run,
        "design-review",
        vec![("approve", vec![]), ("needs-revision", first), ("needs-revision", second)],
    );
    assert_eq!(run.last(), "design-review: needs-revision → remand design, design-revision 1 → 0");
    assert_eq!(run.commands(), "dispatch designer for design with 2 findings");
}

// EP-09
#[test]
fn a_design_without_any_approval_is_sent_back() {
    let mut run = with_tasks(1);
    run.until("design-review").say("design-review", &["needs-revision", "needs-revision", "needs-revision"]);
    ruled(&run, "design-review: needs-revision → remand design, design-revision 1 → 0");
}

// EP-09
#[test]
fn a_revised_design_is_reviewed_by_all_three_again() {
    let mut run = with_tasks(1);
    rejects(&mut run, "design-review", vec![finding("D1", "the cache has no owner")]);
    run.says("design", "done");
    assert_eq!(open(&run, "design-review").len(), 3);
}

// EP-09, EP-32
#[test]
fn open_findings_after_the_one_design_revision_bind_the_planner() {
    let mut run = with_tasks(1);
    rejects(&mut run, "design-review", vec![finding("D1", "the cache has no owner")]);
    let open_still = |id: &str| vec![finding(id, "the eviction order is not stated anywhere")];
    let members =
        vec![("needs-revision", open_still("D2")), ("needs-revision", open_still("D3")), ("approve", vec![])];
    review(&mut run, "design-review", members);
    assert_eq!(
        run.last(),
        "design-review: needs-revision → next (plan), with constraints: confidence medium"
    );
    assert_eq!((open(&run, "plan")[0].findings.len(), open(&run, "plan")[0].known.len()), (2, 0));
    run.until("verify").finds("verify", "unmet", vec![finding("V1", "the second criterion is not met")]);
    assert_eq!(open(&run, "plan")[0].findings.len(), 3, "they bind every later plan too");
}

// EP-09, EP-24
#[test]
fn a_run_whose_design_review_was_exhausted_is_committed_only_if_the_plan_meets_its_findings() {
    for (verdict, end) in [("done", "commit: committed → done"), ("disputed", "hand-over: done → done")] {
        let mut run = with_tasks(1);
        for _ in 0..2 {
            rejects(&mut run, "design-review", vec![finding("D1", "the cache has no owner")]);
        }
        run.until("plan").says("plan", verdict);
        run.finish();
        assert_eq!(run.last(), end);
    }
}

// EP-09
#[test]
fn a_blocker_against_two_approvals_sends_the_design_back() {
    let mut run = with_tasks(1);
    let blocker = vec![with_severity(Severity::Blocker, finding("D1", "the data is lost on restart"))];
    review(&mut run, "design-review", vec![("approve", vec![]), ("approve", vec![]), ("blocker", blocker)]);
    assert_eq!(run.last(), "design-review: blocked → remand design, design-revision 1 → 0");
    assert_eq!(run.commands(), "dispatch designer for design with 1 finding");
}

// EP-09
#[test]
fn a_blocker_against_the_revised_design_is_an_error() {
    let mut run = with_tasks(1);
    rejects(&mut run, "design-review", vec![finding("D1", "the cache has no owner")]);
    run.until("design-review").say("design-review", &["approve", "approve", "blocker"]);
    assert_eq!(run.status(), "failed at design-review: blocked, with design-revision exhausted");
}

// EP-09
#[test]
fn a_security_blocker_in_the_design_ends_the_run_though_all_three_approve() {
    let mut run = with_tasks(1);
    let blocker = vec![security_blocker(finding("D7", "the token is kept in clear text"))];
    review(&mut run, "design-review", vec![("approve", blocker), ("approve", vec![]), ("approve", vec![])]);
    assert_eq!(run.status(), "failed at design-review: security-blocker");
    assert_eq!(run.why(), "finding D7 is a security blocker, which overrides the verdict");
}

// EP-09
#[test]
fn a_security_blocker_is_not_sent_back_though_a_revision_is_left() {
    let mut run = with_tasks(1);
    let blocker = vec![security_blocker(finding("D7", "the token is kept in clear text"))];
    let other = vec![finding("D1", "the cache has no owner")];
    review(
        &mut run,
        "design-review",
        vec![("needs-revision", other), ("blocker", blocker), ("approve", vec![])],
    );
    assert_eq!(run.last(), "design-review: security-blocker → fail");
    assert_eq!(run.left("design-revision"), 1);
}

// EP-09
#[test]
fn a_security_finding_below_blocker_is_dissent() {
    let mut run = with_tasks(1);
    let critical =
        with_severity(Severity::Critical, security_blocker(finding("D7", "the token is kept too long")));
    review(
        &mut run,
        "design-review",
        vec![("needs-revision", vec![critical]), ("approve", vec![]), ("approve", vec![])],
    );
    assert_eq!(run.last(), "design-review: dissent → next (plan), with dissent: confidence medium");
}

// EP-09, CORE-23
#[test]
fn minor_findings_alone_count_as_approval() {
    let mut run = with_tasks(1);
    let small = |id: &str| vec![minor(finding(id, "a name is misspelt"))];
    let members = vec![("needs-revision", small("D1")), ("needs-revision", small("D2")), ("approve", vec![])];
    review(&mut run, "design-review", members);
    assert_eq!(run.last(), "design-review: approved → next (plan)");
    assert_eq!(run.confidence(), "high");
    assert_eq!(open(&run, "plan")[0].known.len(), 0);
}

// EP-09
#[test]
fn one_major_finding_among_minor_ones_does_not_count_as_approval() {
    let mut run = with_tasks(1);
    let mixed = vec![minor(finding("D1", "a name is misspelt")), finding("D2", "the cache has no owner")];
    review(
        &mut run,
        "design-review",
        vec![("needs-revision", mixed), ("approve", vec![]), ("approve", vec![])],
    );
    assert_eq!(run.last(), "design-review: dissent → next (plan), with dissent: confidence medium");
    assert_eq!(open(&run, "plan")[0].known.len(), 1);
}

// EP-09
#[test]
fn nothing_is_ruled_before_all_three_have_ended() {
    let mut run = with_tasks(1);
    run.until("design-review");
    let seats = ids(&run, "design-review");
    for id in &seats[..2] {
        let blocker = vec![security_blocker(finding("D7", "the token is kept in clear text"))];
        let report = Report { findings: blocker, ..Report::saying("blocker") };
        let step = ends(&mut run, *id, Outcome::Said(Box::new(report))).expect("taken");
        assert_eq!((step.rulings.len(), step.commands.len()), (0, 0));
    }
    ends(&mut run, seats[2], Outcome::Said(Box::new(Report::saying("approve")))).expect("taken");
    assert_eq!(run.status(), "failed at design-review: security-blocker");
}

// EP-09, EP-25
#[test]
fn a_reviewer_without_a_valid_verdict_after_its_retry_is_an_error() {
    let mut run = with_tasks(1);
    run.until("design-review").say("design-review", &["approve", "approve", "malformed"]);
    assert_eq!(run.last(), "design-review: no-result → retry after malformed: attempt 2");
    run.says("design-review", "malformed");
    assert_eq!(run.status(), "failed at design-review: no-result");
    assert_eq!(run.why(), "one of three reviewers failed: the result violates its contract");
}

// EP-09, EP-25
#[test]
fn a_reviewer_that_answers_at_the_second_attempt_counts_in_full() {
    let mut run = with_tasks(1);
    run.until("design-review").say("design-review", &["approve", "approve", "malformed"]);
    run.says("design-review", "approve");
    assert_eq!(run.last(), "design-review: approved → next (plan)");
}

// EP-08
#[test]
fn three_focuses_review_the_design_and_the_code_whatever_the_risk() {
    for risk in [Risk::Green, Risk::Yellow, Risk::Red] {
        let mut run = with_tasks(1);
        run.until("plan");
        let lists = vec![("tasks".to_string(), vec![task("t1", &[])])];
        reports(&mut run, "plan", Report { risk: Some(risk), lists, ..Report::saying("done") })
            .expect("taken");
        run.until("code-review");
        let focuses: Vec<_> = open(&run, "code-review").into_iter().filter_map(|seat| seat.item).collect();
        assert_eq!(focuses, ["security", "architecture", "correctness"]);
    }
}

// EP-08, EP-27, EP-32
#[test]
fn one_model_for_two_focuses_is_a_recorded_degradation() {
    for phase in ["design-review", "code-review"] {
        let mut run = with_tasks(1);
        run.until(phase).happens(approved_by(phase, &["opus", "sonnet", "opus"]));
        assert!(run.last().ends_with(", with degradation: confidence medium"), "{}", run.last());
    }
}

// EP-08
#[test]
fn three_models_for_three_focuses_are_not_a_degradation() {
    let mut run = with_tasks(1);
    run.until("design-review").happens(approved_by("design-review", &["opus", "sonnet", "gpt"]));
    assert_eq!(run.last(), "design-review: approved → next (plan)");
    assert_eq!(run.confidence(), "high");
}

// EP-08, EP-09
#[test]
fn dissent_among_reviewers_of_one_model_is_still_a_known_issue() {
    let mut run = with_tasks(1);
    run.until("design-review");
    for (id, verdict) in ids(&run, "design-review").into_iter().zip(["approve", "needs-revision", "approve"])
    {
        let findings =
            if verdict == "approve" { Vec::new() } else { vec![finding("D1", "the cache has no owner")] };
        let report = Report { findings, model: Some("opus".to_string()), ..Report::saying(verdict) };
        ends(&mut run, id, Outcome::Said(Box::new(report))).expect("taken");
    }
    assert_eq!(run.confidence(), "medium");
    assert_eq!(open(&run, "plan")[0].known.len(), 1);
}

// EP-09, CORE-23
#[test]
fn settled_dissent_is_not_a_known_issue() {
    let mut run = with_tasks(1);
    let dissent = vec![finding("D1", "the eviction order is not stated")];
    review(
        &mut run,
        "design-review",
        vec![("approve", vec![]), ("needs-revision", dissent), ("approve", vec![])],
    );
    run.finds("plan", "needs-revision", vec![finding("P1", "the cache has no owner")]);
    run.says("design", "done").say("design-review", &["approve", "approve", "approve"]);
    assert_eq!(run.last(), "design-review: approved → next (plan)");
    assert_eq!(open(&run, "plan")[0].known.len(), 0);
}

// EP-09
#[test]
fn a_security_blocker_of_the_planner_ends_the_run() {
    let mut run = with_tasks(1);
    let blocker = vec![security_blocker(finding("P9", "the token is kept in clear text"))];
    run.until("plan").finds("plan", "needs-revision", blocker);
    assert_eq!(run.status(), "failed at plan: security-blocker");
}

// EP-09
#[test]
fn code_approved_by_all_three_continues() {
    let mut run = with_tasks(1);
    run.until("code-review").say("code-review", &["approve", "approve", "approve"]);
    assert_eq!(run.last(), "code-review: approved → next (knowledge)");
}

// EP-09, EP-24, EP-32
#[test]
fn code_that_two_of_three_approve_is_committed_with_the_dissent_as_a_known_issue() {
    let mut run = with_tasks(1);
    let dissent = vec![finding_about("t1", "C1", "the lock is held too long")];
    review(
        &mut run,
        "code-review",
        vec![("approve", vec![]), ("approve", vec![]), ("needs-revision", dissent)],
    );
    assert_eq!(run.last(), "code-review: dissent → next (knowledge), with dissent: confidence medium");
    assert_eq!(open(&run, "knowledge")[0].known.len(), 1);
    run.finish();
    assert_eq!(run.last(), "commit: committed → done");
}

// EP-09, EP-21
#[test]
fn rejected_code_is_fixed_verified_and_reviewed_again() {
    let mut run = with_tasks(1);
    run.until("code-review");
    let from = mark(&run);
    rejects(&mut run, "code-review", vec![finding_about("t1", "C1", "the lock is held too long")]);
    ruled(&run, "code-review: needs-revision → remand tasks, code-review.round 1 → 0");
    run.until("code-review");
    let expected = [
        "dispatch implementer for implement[t1] with 1 finding",
        "do checks[t1]",
        "dispatch verifier for verify[t1] with 1 finding",
        "do merge[t1]",
        "do integrate",
        "dispatch reviewer for code-review (security)",
        "dispatch reviewer for code-review (architecture)",
        "dispatch reviewer for code-review (correctness)",
    ];
    assert_eq!(since(&run, from), expected);
}

// EP-09, EP-24, EP-32
#[test]
fn code_rejected_in_its_second_round_continues_with_known_issues_and_low_confidence() {
    let mut run = with_tasks(1);
    rejects(&mut run, "code-review", vec![finding_about("t1", "C1", "the lock is held too long")]);
    rejects(&mut run, "code-review", vec![finding_about("t1", "C2", "the file stays open")]);
    assert_eq!(run.last(), "code-review: needs-revision → next (knowledge), with blockers: confidence low");
    assert_eq!(open(&run, "knowledge")[0].known.len(), 1);
    run.finish();
    assert!(!run.rulings().contains("commit:"), "{}", run.rulings());
}

// EP-32, EP-09
#[test]
fn an_open_finding_above_minor_is_a_known_issue_and_excludes_high_confidence() {
    let mut run = with_tasks(1);
    let open_still = vec![finding_about("t1", "C1", "the lock is held too long")];
    review(&mut run, "code-review", vec![("approve", open_still), ("approve", vec![]), ("approve", vec![])]);
    assert_eq!(open(&run, "knowledge")[0].known.len(), 1);
    assert_eq!(run.confidence(), "medium");
}

// EP-09
#[test]
fn a_blocker_in_the_code_goes_back_once() {
    let mut run = with_tasks(1);
    let blocker =
        vec![with_severity(Severity::Blocker, finding_about("t1", "C1", "the data is lost on restart"))];
    review(&mut run, "code-review", vec![("approve", vec![]), ("approve", vec![]), ("blocker", blocker)]);
    ruled(&run, "code-review: blocked → remand tasks, code-review.round 1 → 0");
    assert_eq!(run.commands(), "dispatch implementer for implement[t1] with 1 finding");
}

// EP-09
#[test]
fn a_blocker_in_the_second_round_is_an_error() {
    let mut run = with_tasks(1);
    rejects(&mut run, "code-review", vec![finding_about("t1", "C1", "the lock is held too long")]);
    run.until("code-review").say("code-review", &["approve", "blocker", "approve"]);
    assert_eq!(run.status(), "failed at code-review: blocked, with code-review.round exhausted");
}

// EP-09
#[test]
fn a_security_blocker_in_the_code_ends_the_run_though_all_three_approve() {
    let mut run = with_tasks(1);
    let blocker = vec![security_blocker(finding_about("t1", "C9", "the token is logged"))];
    review(&mut run, "code-review", vec![("approve", vec![]), ("approve", vec![]), ("approve", blocker)]);
    assert_eq!(run.status(), "failed at code-review: security-blocker");
    assert_eq!(run.last(), "code-review: security-blocker → fail");
}

// EP-09
#[test]
fn a_security_blocker_in_the_second_round_is_not_a_known_issue() {
    let mut run = with_tasks(1);
    rejects(&mut run, "code-review", vec![finding_about("t1", "C1", "the lock is held too long")]);
    let blocker = vec![security_blocker(finding_about("t1", "C9", "the token is logged"))];
    review(
        &mut run,
        "code-review",
        vec![("needs-revision", blocker), ("approve", vec![]), ("approve", vec![])],
    );
    assert_eq!(run.status(), "failed at code-review: security-blocker");
}

// EP-09, EP-25
#[test]
fn a_code_reviewer_without_a_valid_verdict_is_an_error() {
    let mut run = with_tasks(1);
    run.until("code-review").say("code-review", &["approve", "denied", "approve"]);
    assert_eq!(run.status(), "failed at code-review: no-result");
}

// EP-21, PF-03
#[test]
fn findings_of_the_code_review_go_to_the_tasks_whose_files_they_name() {
    let mut run = with_tasks(3);
    run.until("code-review");
    let members = vec![
        ("needs-revision", vec![finding_about("t1", "C1", "the lock is held too long")]),
        (
            "needs-revision",
            vec![
                finding_about("t3", "C1", "the file stays open"),
                finding_about("t3", "C2", "an error is swallowed"),
            ],
        ),
        ("approve", vec![]),
    ];
    review(&mut run, "code-review", members);
    let expected = [
        "dispatch implementer for implement[t1] with 1 finding",
        "dispatch implementer for implement[t3] with 2 findings",
    ];
    assert_eq!(run.commands(), expected.join("\n"));
}

// EP-21
#[test]
fn a_finding_that_names_its_task_goes_to_it_whatever_the_file() {
    let mut run = with_tasks(2);
    let mut named = finding_about("t2", "C1", "the lock is held too long");
    named.task = Some("t1".to_string());
    rejects(&mut run, "code-review", vec![named]);
    assert_eq!(run.commands(), "dispatch implementer for implement[t1] with 1 finding");
}

// EP-14, EP-21
#[test]
fn a_finding_about_no_task_in_particular_goes_to_the_last_one() {
    let mut run = with_tasks(2);
    rejects(&mut run, "code-review", vec![finding("C1", "the lock is held too long")]);
    assert_eq!(run.commands(), "dispatch implementer for implement[t2] with 1 finding");
}

// EP-21
#[test]
fn a_finding_that_the_last_task_already_has_is_not_given_to_it_twice() {
    let mut run = with_tasks(2);
    run.until("code-review");
    // The first finding of the run has the index 0.
    run.walker.state.task_inbox.insert("t2".to_string(), vec![0]);
    rejects(&mut run, "code-review", vec![finding("C1", "the lock is held too long")]);
    assert_eq!(run.commands(), "dispatch implementer for implement[t2] with 1 finding");
}

// EP-21
#[test]
fn a_finding_that_names_an_unknown_task_is_routed_by_its_file() {
    let mut run = with_tasks(2);
    let mut named = finding_about("t1", "C1", "the lock is held too long");
    named.task = Some("t9".to_string());
    rejects(&mut run, "code-review", vec![named]);
    assert_eq!(run.commands(), "dispatch implementer for implement[t1] with 1 finding");
}

// EP-21
#[test]
fn rejected_code_is_never_reviewed_again_unchanged() {
    let mut run = with_tasks(1);
    run.until("code-review").say("code-review", &["approve", "needs-revision", "needs-revision"]);
    assert_eq!(run.commands(), "dispatch implementer for implement[t1]");
}

// EP-21
#[test]
fn verification_after_a_code_review_uses_the_remaining_iterations() {
    let mut run = with_tasks(1);
    run.until("verify").finds(
        "verify",
        "unmet",
        vec![finding_about("t1", "V1", "the second criterion is not met")],
    );
    rejects(&mut run, "code-review", vec![finding_about("t1", "C1", "the lock is held too long")]);
    run.until("verify").finds(
        "verify",
        "unmet",
        vec![finding_about("t1", "V2", "the third criterion is not met")],
    );
    ruled(&run, "tasks: unverified → remand plan, replan 1 → 0");
}

// EP-09, EP-20
#[test]
fn a_replan_does_not_give_the_code_review_more_rounds() {
    let mut run = with_tasks(1);
    rejects(&mut run, "code-review", vec![finding_about("t1", "C1", "the lock is held too long")]);
    run.until("verify").finds(
        "verify",
        "unmet",
        vec![finding_about("t1", "V1", "the second criterion is not met")],
    );
    rejects(&mut run, "code-review", vec![finding_about("t1", "C2", "the file stays open")]);
    assert_eq!(run.last(), "code-review: needs-revision → next (knowledge), with blockers: confidence low");
}

// EP-09
#[test]
fn which_seat_dissents_does_not_matter() {
    for at in 0..3 {
        let mut verdicts = ["approve"; 3];
        verdicts[at] = "needs-revision";
        let mut run = Setup::of(feature()).run();
        run.until("design-review").say("design-review", &verdicts);
        assert_eq!(run.last(), "design-review: dissent → next (plan), with dissent: confidence medium");
    }
}

// CORE-03
#[test]
fn the_ruling_of_a_review_names_each_members_verdict() {
    let mut run = run_with(vec![task("t1", &[])]);
    run.until("code-review").say("code-review", &["needs-revision", "approve", "approve"]);
    assert_eq!(run.why(), "security: needs-revision, architecture: approve, correctness: approve");
}

/// All three reviewers approve, with these models.
fn approved_by(phase: &str, models: &[&str]) -> WalkStep {
    let says = Says::Members(vec!["approve".to_string(); 3]);
    let models = models.iter().map(|model| (*model).to_string()).collect();
    WalkStep { says, models, ..happening(phase, "") }
}
