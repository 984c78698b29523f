//! Sanity, plan, plan review, split, split review, and filing the rest.

use super::{commands_like, end_failure_operations, ends, ids, mark, one_task, open, since, three_tasks};
use crate::support::{Run, finding, happening, minor, security_blocker};
use remand_kernel::command::Command;
use remand_kernel::event::Report;
use remand_kernel::finding::Finding;
use remand_workflow::walk::WalkStep;

// OT-01
#[test]
fn a_refusal_by_sanity_stops_before_any_dispatch() {
    let mut run = one_task();
    run.says("sanity", "refused");
    assert_eq!(run.status(), "stopped: refused");
    assert_eq!((run.dispatches(), run.commands().as_str()), (0, "finish: stopped: refused"));
}

// OT-03
#[test]
fn an_issue_that_is_not_found_stops_before_any_dispatch() {
    let mut run = one_task();
    run.says("sanity", "clean").says("start", "not-found");
    assert_eq!(run.status(), "stopped: not-found");
    assert_eq!(run.dispatches(), 0);
}

// OT-03
#[test]
fn an_issue_is_started_before_it_is_planned() {
    let mut run = one_task();
    run.says("sanity", "clean");
    assert_eq!(run.commands(), "do start-issue");
    run.says("start", "started");
    assert_eq!(run.commands(), "do baseline");
    run.says("baseline", "recorded");
    assert_eq!(run.commands(), "dispatch plan for plan");
}

// OT-06
#[test]
fn an_acceptable_plan_is_split() {
    let mut run = one_task();
    run.until("plan-review").says("plan-review", "acceptable");
    assert_eq!(run.last(), "plan-review: acceptable → next (split)");
    assert_eq!(run.commands(), "dispatch plan/split for split");
}

// OT-06
#[test]
fn a_plan_that_needs_work_goes_back_with_the_finding() {
    let mut run = one_task();
    run.until("plan-review").finds("plan-review", "needs-work", vec![finding("P1", "no word on errors")]);
    assert_eq!(run.last(), "plan-review: needs-work → remand plan, plan-review.round 2 → 1");
    assert!(run.commands().ends_with("dispatch plan for plan with 1 finding"), "{}", run.commands());
}

// OT-06
#[test]
fn a_blocked_plan_goes_back_with_the_finding() {
    let mut run = one_task();
    run.until("plan-review").finds("plan-review", "block", vec![finding("P1", "no word on errors")]);
    assert_eq!(run.last(), "plan-review: block → remand plan, plan-review.round 2 → 1");
    assert!(run.commands().ends_with("dispatch plan for plan with 1 finding"), "{}", run.commands());
}

// OT-06, OT-10
#[test]
fn plan_review_spends_no_plan_rework() {
    let mut run = one_task();
    run.until("plan-review").finds("plan-review", "block", vec![finding("P1", "no word on errors")]);
    assert_eq!(run.left("plan-rework"), 1);
}

// OT-06
#[test]
fn a_changed_plan_is_reviewed_by_both_again() {
    let mut run = one_task();
    run.until("plan-review").finds("plan-review", "needs-work", vec![finding("P1", "no word on errors")]);
    run.says("plan", "done");
    assert_eq!(
        run.commands(),
        "dispatch check for plan-review\ndispatch simplify for plan-review as advisor"
    );
}

// OT-06
#[test]
fn after_three_rounds_the_plan_continues_with_its_blockers() {
    let mut run = one_task();
    for claim in ["no word on errors", "the cache has no owner", "the file is never closed"] {
        run.until("plan-review").finds("plan-review", "needs-work", vec![finding("P1", claim)]);
    }
    assert_eq!(run.last(), "plan-review: needs-work → next (split), with blockers: confidence low");
    assert_eq!(known_count(&run, "split"), 1);
    assert_eq!(commands_like(&run, "dispatch check for plan-review").len(), 3);
}

// OT-06, CORE-12
#[test]
fn the_same_finding_twice_ends_the_plan_review() {
    let mut run = one_task();
    for id in ["P1", "P2"] {
        run.until("plan-review").finds(
            "plan-review",
            "needs-work",
            vec![finding(id, "there is no word on errors")],
        );
    }
    assert_eq!(run.last(), "plan-review: repeated → next (split), with blockers: confidence low");
    assert!(run.why().starts_with("finding P2 was reported for the second time"), "{}", run.why());
    assert_eq!(run.left("plan-review.round"), 1);
}

// OT-06, CORE-12
#[test]
fn another_finding_is_not_a_repetition() {
    let mut run = one_task();
    run.until("plan-review").finds(
        "plan-review",
        "needs-work",
        vec![finding("P1", "there is no word on errors")],
    );
    run.until("plan-review").finds(
        "plan-review",
        "needs-work",
        vec![finding("P1", "the cache has no owner")],
    );
    assert_eq!(run.last(), "plan-review: needs-work → remand plan, plan-review.round 1 → 0");
}

// OT-06, CORE-12
#[test]
fn a_finding_that_was_disputed_without_a_change_is_not_a_repetition() {
    let mut run = one_task();
    let found = || vec![finding("P1", "there is no word on errors")];
    run.until("plan-review").finds("plan-review", "needs-work", found());
    run.happens(WalkStep { unchanged: true, disputes: true, ..happening("plan", "done") });
    run.until("plan-review").finds("plan-review", "needs-work", found());
    assert_eq!(run.last(), "plan-review: needs-work → remand plan, plan-review.round 1 → 0");
}

// CORE-23, OT-06
#[test]
fn a_plan_with_minor_findings_only_is_acceptable() {
    let mut run = one_task();
    run.until("plan-review").finds(
        "plan-review",
        "needs-work",
        vec![minor(finding("P1", "a name is misspelt"))],
    );
    assert_eq!(run.last(), "plan-review: acceptable → next (split)");
}

// OT-06
#[test]
fn a_security_blocker_in_the_plan_goes_back_and_is_never_passed_on() {
    let mut run = one_task();
    let blocker = || vec![security_blocker(finding("P9", "the token is kept in clear text"))];
    run.until("plan-review").finds("plan-review", "acceptable", blocker());
    assert_eq!(run.last(), "plan-review: security-blocker → remand plan, plan-review.round 2 → 1");
    for _ in 0..2 {
        run.until("plan-review").finds("plan-review", "needs-work", blocker());
    }
    assert_eq!(run.last(), "plan-review: security-blocker → fail");
}

// OT-05, OT-06
#[test]
fn advice_on_the_plan_never_forces_another_round() {
    let mut run = one_task();
    run.until("plan-review");
    advise(&mut run, "plan-review", vec![finding("S1", "the whole second half can go")]);
    run.says("plan-review", "acceptable");
    assert_eq!(run.last(), "plan-review: acceptable → next (split)");
    assert_eq!(run.walker.state.findings[0].status, remand_kernel::state::FiledStatus::Advice);
    assert_eq!((known_count(&run, "split"), run.confidence()), (0, "high"));
}

// OT-05
#[test]
fn advice_is_not_sent_back_with_the_findings_that_count() {
    let mut run = one_task();
    run.until("plan-review");
    advise(&mut run, "plan-review", vec![finding("S1", "the whole second half can go")]);
    run.finds("plan-review", "needs-work", vec![finding("P1", "no word on errors")]);
    assert!(run.commands().ends_with("dispatch plan for plan with 1 finding"), "{}", run.commands());
}

// OT-05
#[test]
fn an_advisor_that_fails_is_only_noted() {
    let mut run = one_task();
    run.until("plan-review");
    let [check, simplify] = ids(&run, "plan-review")[..] else { panic!("two seats") };
    let denied = remand_kernel::signal::Failure::Denied;
    let outcome =
        remand_kernel::event::Outcome::Failed { failure: denied, detail: String::new(), in_a_row: 0 };
    let ended = remand_kernel::event::Event::Ended { id: simplify, outcome, usage: Default::default() };
    run.walker.feed(ended, "simplify fails".to_string()).expect("taken");
    ends(&mut run, check, Report::saying("acceptable")).expect("taken");
    assert_eq!(run.last(), "plan-review: acceptable → next (split)");
    assert_eq!(run.confidence(), "high");
}

// OT-08
#[test]
fn one_task_is_not_reviewed() {
    let mut run = one_task();
    run.until("split").says("split", "done");
    assert_eq!(run.last(), "split: done → next (file-rest)");
    run.finish();
    assert_eq!(run.dispatches(), 8);
}

// OT-11, EP-31
#[test]
fn a_split_is_reviewed_and_filed_before_any_test_is_written() {
    let mut run = three_tasks();
    run.until("split-review").says("split-review", "acceptable");
    assert_eq!(run.last(), "split-review: acceptable → next (file-rest)");
    assert_eq!(run.commands(), "do file-sub-issues");
    run.says("file-rest", "filed");
    assert_eq!(run.commands(), "dispatch test for test");
}

// OT-11
#[test]
fn only_the_first_task_continues() {
    let mut run = three_tasks();
    run.finish();
    assert_eq!(run.status(), "done");
    assert_eq!(commands_like(&run, "dispatch test for test").len(), 1);
    assert_eq!(commands_like(&run, "dispatch make for make").len(), 1);
    assert_eq!(run.dispatches(), 9);
}

// OT-08
#[test]
fn simplify_is_not_an_advisor_of_the_split_review() {
    let mut run = three_tasks();
    run.until("split-review");
    assert_eq!(run.commands(), "dispatch check/split for split-review");
}

// OT-08
#[test]
fn a_split_that_needs_work_goes_back_to_the_split() {
    let mut run = three_tasks();
    run.until("split-review").finds("split-review", "needs-work", vec![finding("S1", "t2 and t3 overlap")]);
    assert_eq!(run.last(), "split-review: needs-work → remand split, split-review.round 1 → 0");
    assert_eq!(run.commands(), "dispatch plan/split for split with 1 finding");
    assert_eq!(run.left("plan-rework"), 1);
}

// OT-08, OT-10
#[test]
fn a_split_that_needs_work_twice_counts_as_blocked() {
    let mut run = three_tasks();
    run.until("split-review").finds("split-review", "needs-work", vec![finding("S1", "t2 and t3 overlap")]);
    run.until("split-review").finds(
        "split-review",
        "needs-work",
        vec![finding("S2", "no test is named for t1")],
    );
    assert_eq!(run.last(), "split-review: needs-work → remand plan, plan-rework 1 → 0");
    let ruling = run.walker.records.last().expect("taken").rulings.last().expect("ruled").clone();
    assert_eq!(ruling.exhausted, ["split-review.round"]);
}

// OT-08, CORE-12
#[test]
fn the_same_finding_twice_counts_as_a_blocked_split() {
    let mut run = three_tasks();
    for id in ["S1", "S2"] {
        run.until("split-review").finds(
            "split-review",
            "needs-work",
            vec![finding(id, "tasks two and three overlap")],
        );
    }
    assert_eq!(run.last(), "split-review: repeated → remand plan, plan-rework 1 → 0");
}

// OT-09, OT-10
#[test]
fn a_blocked_split_becomes_an_edit_of_the_plan() {
    let mut run = three_tasks();
    block_split(&mut run);
    assert_eq!(run.last(), "split-review: block → remand plan, plan-rework 1 → 0");
    assert!(run.commands().ends_with("dispatch plan for plan with 1 finding"), "{}", run.commands());
}

// OT-09
#[test]
fn the_changed_plan_goes_to_the_plan_review() {
    let mut run = three_tasks();
    block_split(&mut run);
    run.says("plan", "done");
    assert_eq!(run.last(), "plan: done → next (plan-review)");
    assert_eq!(
        run.commands(),
        "dispatch check for plan-review\ndispatch simplify for plan-review as advisor"
    );
}

// OT-09
#[test]
fn an_unchanged_plan_is_refused() {
    let mut run = three_tasks();
    block_split(&mut run);
    run.happens(WalkStep { unchanged: true, ..happening("plan", "done") });
    assert_eq!(run.last(), "plan: no-result → retry after unchanged: attempt 2");
    assert_eq!(run.commands(), "dispatch plan for plan with 1 finding");
    run.happens(WalkStep { unchanged: true, ..happening("plan", "done") });
    assert_eq!(run.last(), "plan: no-result → fail");
    assert_eq!(
        run.why(),
        "it changed nothing: it received findings, but neither changed anything nor disputed one"
    );
}

// OT-09
#[test]
fn a_blocked_split_never_leaves_the_plan_unchanged() {
    let mut run = three_tasks();
    run.until("split-review").says("split-review", "block");
    assert_eq!(run.status(), "waiting for plan");
}

// OT-10
#[test]
fn a_second_block_of_the_split_ends_the_run_and_says_so() {
    let mut run = three_tasks();
    block_split(&mut run);
    run.until("split-review").finds("split-review", "block", vec![finding("S2", "no test is named for t1")]);
    assert_eq!(run.last(), "split-review: block → fail");
    end_failure_operations(&mut run);
    assert_eq!(run.status(), "failed at split-review: block, with plan-rework exhausted");
}

// OT-10
#[test]
fn a_plan_rework_refills_the_rounds_of_the_reviews() {
    let mut run = three_tasks();
    run.until("plan-review").finds("plan-review", "needs-work", vec![finding("P1", "no word on errors")]);
    run.until("split-review").finds("split-review", "needs-work", vec![finding("S1", "t2 and t3 overlap")]);
    assert_eq!((run.left("plan-review.round"), run.left("split-review.round")), (1, 0));
    block_split(&mut run);
    assert_eq!((run.left("plan-review.round"), run.left("split-review.round")), (2, 1));
}

// OT-08
#[test]
fn a_security_blocker_in_the_split_counts_as_blocked() {
    let mut run = three_tasks();
    let blocker = vec![security_blocker(finding("S9", "the token is kept in clear text"))];
    run.until("split-review").finds("split-review", "acceptable", blocker);
    assert_eq!(run.last(), "split-review: security-blocker → remand plan, plan-rework 1 → 0");
}

// OT-11
#[test]
fn a_reworked_plan_files_its_tasks_again() {
    let mut run = three_tasks();
    run.until("final-review").finds("final-review", "block", vec![plan_level("F1", "the API cannot work")]);
    let from = mark(&run);
    run.until("test");
    assert!(since(&run, from).contains(&"do file-sub-issues".to_string()), "{}", run.trace());
}

// OT-11
#[test]
fn a_rework_to_one_task_withdraws_the_filed_sub_issues() {
    let mut run = three_tasks();
    run.until("final-review").finds("final-review", "block", vec![plan_level("F1", "the API cannot work")]);
    run.until("split");
    let lists = vec![("tasks".to_string(), vec![crate::support::task("t1", &[])])];
    run.happens(WalkStep { lists, ..happening("split", "done") });
    assert_eq!(run.commands(), "do file-sub-issues");
}

fn block_split(run: &mut Run) {
    run.until("split-review").finds(
        "split-review",
        "block",
        vec![finding("S1", "the plan does not decompose")],
    );
}

fn plan_level(id: &str, claim: &str) -> Finding {
    super::finding_of_kind(remand_kernel::finding::FindingKind::Plan, id, claim)
}

/// The advisor `simplify` asks for a change.
fn advise(run: &mut Run, phase: &str, findings: Vec<Finding>) {
    let seat = open(run, phase).into_iter().find_map(|command| match command {
        Command::Dispatch(dispatch) if dispatch.advisory => Some(dispatch.id),
        _ => None,
    });
    let report = Report { findings, ..Report::saying("needs-work") };
    ends(run, seat.expect("an advisor"), report).expect("taken");
}

/// The number of open findings that the dispatch of a phase gets.
fn known_count(run: &Run, phase: &str) -> usize {
    match &open(run, phase)[..] {
        [Command::Dispatch(dispatch)] => dispatch.known.len(),
        other => panic!("{other:?}"),
    }
}
