//! `tsp`: each defect goes back to the phase that injected it.

use crate::support::{Run, Setup, finding, happening, injected_by, minor, security_blocker, tsp};
use remand_kernel::Event;
use remand_kernel::command::Command;
use remand_kernel::finding::Finding;
use remand_kernel::step::Step;
use remand_workflow::walk::{WalkError, WalkStep};

// PF-01, EP-31
#[test]
fn seven_roles_work_in_order() {
    let mut run = Setup::of(tsp()).run();
    run.finish();
    let commands: Vec<&str> =
        run.walker.records.iter().flat_map(|taken| &taken.commands).map(String::as_str).collect();
    assert_eq!(
        commands,
        [
            "do prepare",
            "do baseline",
            "dispatch tsp-planner for planning",
            "dispatch tsp-designer for design",
            "dispatch tsp-design-reviewer for design-review",
            "dispatch tsp-coder for code",
            "do checks",
            "dispatch tsp-code-reviewer for code-review",
            "dispatch tsp-tester for test",
            "do checks",
            "do commit",
            "do log-defects",
            "dispatch tsp-analyst for postmortem",
            "finish: done",
        ]
    );
}

// PF-02
#[test]
fn a_finding_that_names_a_later_phase_is_malformed() {
    let mut run = run_at("design-review");
    run.finds("design-review", "fail", vec![injected(&["code"], "F1")]);
    assert_eq!(run.last(), "design-review: no-result → retry after malformed: attempt 2");
    assert_eq!(
        run.why(),
        "the result violates its contract: finding F1: `code` comes later than the phase that found it"
    );
}

// PF-02
#[test]
fn a_finding_that_names_a_phase_that_does_not_inject_is_malformed() {
    let mut run = run_at("code-review");
    run.finds("code-review", "fail", vec![injected(&["design-review"], "F1")]);
    assert_eq!(
        run.why(),
        "the result violates its contract: finding F1: `design-review` is not a phase that injects defects"
    );
}

// PF-02
#[test]
fn one_bad_name_among_good_ones_makes_the_report_malformed() {
    let mut run = run_at("code-review");
    run.finds("code-review", "fail", vec![injected(&["design"], "F1"), injected(&["code", "test"], "F2")]);
    assert_eq!(run.last(), "code-review: no-result → retry after malformed: attempt 2");
}

// PF-02
#[test]
fn a_report_that_stays_malformed_ends_the_run_and_spends_no_remand() {
    let mut run = run_at("design-review");
    for _ in 0..2 {
        run.finds("design-review", "fail", vec![injected(&["test"], "F1")]);
    }
    assert_eq!(run.status(), "failed at design-review: no-result");
    assert_eq!((run.left("by-design-review"), run.left("corrections")), (3, 10));
}

// PF-02
#[test]
fn a_phase_may_name_itself() {
    let mut run = run_at("test");
    run.finds("test", "fail", vec![injected(&["test"], "F1")]);
    assert_eq!(run.last(), "test: fail → remand injector, by-test 2 → 1, corrections 10 → 9");
    assert_eq!(run.commands(), "dispatch tsp-tester for test with 1 finding");
}

// PF-03
#[test]
fn a_defect_goes_to_the_phase_that_injected_it() {
    for (named, dispatched) in [
        ("planning", "dispatch tsp-planner for planning with 1 finding"),
        ("design", "dispatch tsp-designer for design with 1 finding"),
        ("code", "dispatch tsp-coder for code with 1 finding"),
    ] {
        let mut run = run_at("code-review");
        run.finds("code-review", "fail", vec![injected(&[named], "F1")]);
        assert_eq!(run.commands(), dispatched);
    }
}

// PF-03
#[test]
fn of_several_findings_the_one_for_the_earliest_phase_goes_first() {
    let mut run = run_at("code-review");
    run.finds(
        "code-review",
        "fail",
        vec![injected(&["code"], "F1"), injected(&["planning"], "F2"), injected(&["design"], "F3")],
    );
    assert_eq!(run.commands(), "dispatch tsp-planner for planning with 1 finding");
    assert_eq!(
        run.why(),
        "the findings were injected by planning, design, code; work resumes at the earliest"
    );
}

// PF-03
#[test]
fn a_finding_for_several_phases_is_given_to_each_on_the_way() {
    let mut run = run_at("code-review");
    run.finds("code-review", "fail", vec![injected(&["planning", "code"], "F1")]);
    assert_eq!(run.commands(), "dispatch tsp-planner for planning with 1 finding");
    run.says("planning", "done");
    assert_eq!(run.commands(), "dispatch tsp-designer for design");
    run.until("code");
    assert_eq!(run.commands(), "dispatch tsp-coder for code with 1 finding");
}

// PF-03
#[test]
fn each_phase_on_the_way_gets_its_own_findings() {
    let mut run = run_at("code-review");
    run.finds(
        "code-review",
        "fail",
        vec![injected(&["design"], "F1"), injected(&["code"], "F2"), injected(&["code"], "F3")],
    );
    assert_eq!(given_findings(&run), ["F1"]);
    run.until("code");
    assert_eq!(given_findings(&run), ["F2", "F3"]);
}

// PF-03
#[test]
fn only_the_route_that_is_followed_is_charged() {
    let mut run = run_at("code-review");
    run.finds("code-review", "fail", vec![injected(&["planning"], "F1"), injected(&["code"], "F2")]);
    run.until("code-review");
    let left = ["by-design-review", "by-code-review", "by-test", "corrections"];
    assert_eq!(left.map(|budget| run.left(budget)), [3, 2, 2, 9]);
}

// PF-03
#[test]
fn findings_without_an_origin_go_to_the_previous_work_and_the_ruling_says_so() {
    for (phase, dispatched, assumed) in [
        ("design-review", "dispatch tsp-designer for design with 1 finding", "design"),
        ("code-review", "dispatch tsp-coder for code with 1 finding", "code"),
    ] {
        let mut run = run_at(phase);
        run.finds(phase, "fail", vec![finding("F1", "the retry loop never ends")]);
        assert_eq!(run.commands(), dispatched);
        assert_eq!(
            run.why(),
            format!("no finding names its origin, so the most recent phase is assumed: {assumed}")
        );
    }
}

// PF-03
#[test]
fn a_failed_test_without_an_origin_goes_to_the_code_that_it_tested() {
    let mut run = run_at("test");
    run.finds("test", "fail", vec![finding("F1", "the retry loop never ends")]);
    assert_eq!(run.commands(), "dispatch tsp-coder for code with 1 finding");
}

// PF-03, PF-06
#[test]
fn an_upstream_finding_without_an_origin_goes_to_the_previous_phase() {
    let mut run = run_at("code");
    run.finds("code", "finding", vec![finding("F1", "two units contradict each other")]);
    assert_eq!(run.commands(), "dispatch tsp-designer for design with 1 finding");
}

// PF-03
#[test]
fn a_finding_is_not_lost_when_its_phase_sends_another_one_upstream_first() {
    let mut run = run_at("code-review");
    run.finds("code-review", "fail", vec![injected(&["design", "code"], "F1")]);
    run.until("code").finds("code", "finding", vec![injected(&["planning"], "F2")]);
    run.until("code");
    assert_eq!(given_findings(&run), ["F1"]);
}

// PF-04
#[test]
fn everything_downstream_of_a_change_runs_again() {
    let mut run = run_at("code-review");
    run.finds("code-review", "fail", vec![injected(&["planning"], "F1")]);
    let before = run.dispatches();
    run.until("test");
    assert_eq!(run.dispatches() - before, 5, "design, both reviews, code, and test itself");
}

// PF-04
#[test]
fn unchanged_work_is_not_repeated() {
    let mut run = run_at("test");
    run.finds("test", "fail", vec![injected(&["code"], "F1")]);
    run.says("code", "done");
    assert_eq!(run.commands(), "do checks");
    run.says("first-checks", "passed");
    assert_eq!(run.commands(), "dispatch tsp-code-reviewer for code-review");
}

// PF-04
#[test]
fn if_planning_disputes_its_finding_design_and_its_review_are_reused() {
    let mut run = run_at("code-review");
    run.finds("code-review", "fail", vec![injected(&["planning"], "F1")]);
    run.happens(WalkStep { unchanged: true, disputes: true, ..happening("planning", "done") });
    assert_eq!(run.commands(), "dispatch tsp-code-reviewer for code-review");
    let rulings = run.rulings();
    assert!(rulings.ends_with(
        "planning: done → next (design)\ndesign: done → next (design-review)\n\
         design-review: pass → next (code)\ncode: done → next (first-checks)\n\
         first-checks: passed → next (code-review)"
    ));
}

// PF-04
#[test]
fn an_unchanged_design_leaves_the_code_as_it_is() {
    let mut run = run_at("code-review");
    run.finds("code-review", "fail", vec![injected(&["design"], "F1")]);
    run.happens(WalkStep { unchanged: true, disputes: true, ..happening("design", "done") });
    assert_eq!(run.commands(), "dispatch tsp-code-reviewer for code-review");
}

// PF-04, OT-09
#[test]
fn a_phase_that_ignores_its_findings_is_asked_again() {
    let mut run = run_at("code-review");
    run.finds("code-review", "fail", vec![injected(&["design"], "F1")]);
    run.happens(WalkStep { unchanged: true, ..happening("design", "done") });
    assert_eq!(run.last(), "design: no-result → retry after unchanged: attempt 2");
}

// PF-04
#[test]
fn red_checks_send_the_coder_to_work_even_without_findings() {
    let mut run = run_at("verify");
    run.says("verify", "failed");
    assert_eq!(run.commands(), "dispatch tsp-coder for code");
}

// PF-05
#[test]
fn the_design_review_sends_back_three_times_and_then_a_human_decides() {
    limit_of("design-review", "design", 3);
}

// PF-05
#[test]
fn the_code_review_sends_back_three_times_and_then_a_human_decides() {
    limit_of("code-review", "code", 3);
}

// PF-05
#[test]
fn the_test_sends_back_twice_and_then_a_human_decides() {
    limit_of("test", "code", 2);
}

// PF-05
#[test]
fn ten_corrections_in_all_and_then_a_human_decides() {
    let mut run = run_at("code");
    for at in 0..10 {
        run.until("code").finds("code", "finding", vec![injected(&["design"], &format!("F{at}"))]);
    }
    assert_eq!(run.last(), "code: finding → remand injector, corrections 1 → 0");
    run.until("code").finds("code", "finding", vec![injected(&["design"], "F10")]);
    assert_eq!(run.last(), "code: finding → to decide");
    assert_eq!(run.commands(), "ask decide: override, try-again, stop");
}

// PF-05
#[test]
fn a_first_pass_through_all_phases_spends_no_budget() {
    let mut run = Setup::of(tsp()).run();
    run.finish();
    let left = ["by-design-review", "by-code-review", "by-test", "corrections", "guided"];
    assert_eq!(left.map(|budget| run.left(budget)), [3, 3, 2, 10, 3]);
}

// PF-05
#[test]
fn a_human_decides_in_every_mode() {
    for setup in [Setup::of(tsp()), Setup::of(tsp()).interactive()] {
        let mut run = setup.run();
        exhaust(&mut run, "design-review", "design", 3);
        assert_eq!(run.commands(), "ask decide: override, try-again, stop");
    }
}

// PF-05
#[test]
fn override_continues_after_the_review_with_known_issues() {
    let mut run = run_at("design-review");
    exhaust(&mut run, "design-review", "design", 3);
    run.says("decide", "override");
    assert_eq!(run.last(), "decide: override → return, with blockers: confidence low");
    assert_eq!(run.commands(), "dispatch tsp-coder for code");
    let Some(Command::Dispatch(dispatch)) = run.walker.open.first() else {
        panic!("no dispatch is open");
    };
    assert_eq!(dispatch.known.len(), 1);
}

// PF-05
#[test]
fn one_more_try_goes_to_the_injector_and_costs_guidance() {
    let mut run = run_at("design-review");
    exhaust(&mut run, "design-review", "planning", 3);
    run.says("decide", "try-again");
    assert_eq!(run.last(), "decide: try-again → remand injector, guided 3 → 2");
    assert_eq!(run.commands(), "dispatch tsp-planner for planning with 1 finding");
}

// PF-05
#[test]
fn a_human_can_order_three_more_tries_but_no_fourth() {
    let mut run = run_at("design-review");
    exhaust(&mut run, "design-review", "design", 3);
    for at in 0..3 {
        run.says("decide", "try-again").until("design-review");
        run.finds("design-review", "fail", vec![injected(&["design"], &format!("G{at}"))]);
    }
    assert_eq!(run.commands(), "ask decide: override, stop; not offered: try-again (guided is used up)");
}

// PF-05
#[test]
fn stop_ends_the_run() {
    let mut run = run_at("design-review");
    exhaust(&mut run, "design-review", "design", 3);
    run.says("decide", "stop");
    assert_eq!(run.status(), "stopped");
}

// PF-05
#[test]
fn red_checks_share_the_limit_of_the_test_and_cannot_be_overridden() {
    let mut run = run_at("verify");
    for _ in 0..2 {
        run.until("verify").finds("verify", "failed", vec![finding("C1", "two tests are red")]);
    }
    assert_eq!(run.last(), "verify: failed → remand code, by-test 1 → 0, corrections 9 → 8");
    run.until("verify").finds("verify", "failed", vec![finding("C2", "two tests are red")]);
    assert_eq!(run.last(), "verify: failed → to red");
    assert_eq!(run.commands(), "ask red: try-again, stop");
}

// PF-05, EP-09
#[test]
fn a_security_blocker_cannot_be_overridden() {
    let mut run = run_at("code-review");
    exhaust(&mut run, "code-review", "code", 2);
    run.until("code-review");
    let blocker = security_blocker(injected(&["code"], "F9"));
    run.finds("code-review", "pass", vec![blocker]);
    assert_eq!(run.status(), "failed at code-review: security-blocker, with by-code-review exhausted");
}

// PF-06
#[test]
fn code_can_ask_for_replanning() {
    let mut run = run_at("code");
    run.finds("code", "finding", vec![injected(&["planning"], "F1")]);
    assert_eq!(run.last(), "code: finding → remand injector, corrections 10 → 9");
    assert_eq!(run.commands(), "dispatch tsp-planner for planning with 1 finding");
}

// PF-06
#[test]
fn design_can_ask_for_replanning() {
    let mut run = run_at("design");
    run.finds("design", "finding", vec![injected(&["planning"], "F1")]);
    assert_eq!(run.commands(), "dispatch tsp-planner for planning with 1 finding");
}

// PF-08
#[test]
fn several_findings_for_one_phase_are_one_dispatch() {
    let mut run = run_at("code-review");
    let before = run.dispatches();
    run.finds(
        "code-review",
        "fail",
        vec![injected(&["code"], "F1"), injected(&["code"], "F2"), injected(&["code"], "F3")],
    );
    assert_eq!(run.commands(), "dispatch tsp-coder for code with 3 findings");
    assert_eq!(run.dispatches(), before + 1);
}

// PF-13
#[test]
fn pass_proceeds() {
    let mut run = run_at("design-review");
    run.says("design-review", "pass");
    assert_eq!(run.last(), "design-review: pass → next (code)");
}

// PF-13, CORE-23
#[test]
fn needs_improvement_with_minor_findings_only_proceeds() {
    let mut run = run_at("design-review");
    run.finds("design-review", "needs-improvement", vec![minor(injected(&["planning"], "F1"))]);
    assert_eq!(run.last(), "design-review: pass → next (code)");
    assert_eq!(run.confidence(), "high");
}

// PF-13
#[test]
fn needs_improvement_with_one_finding_above_minor_is_routed() {
    let mut run = run_at("code-review");
    let findings = vec![minor(injected(&["planning"], "F1")), injected(&["design"], "F2")];
    run.finds("code-review", "needs-improvement", findings);
    assert_eq!(
        run.last(),
        "code-review: needs-improvement → remand injector, by-code-review 3 → 2, corrections 10 → 9"
    );
    assert_eq!(given_findings(&run), ["F2"]);
}

// PF-13
#[test]
fn fail_is_routed() {
    let mut run = run_at("test");
    run.finds("test", "fail", vec![injected(&["design"], "F1")]);
    assert_eq!(run.commands(), "dispatch tsp-designer for design with 1 finding");
}

// PF-13, PF-03
#[test]
fn fail_with_minor_findings_only_still_goes_to_the_phase_they_name() {
    let mut run = run_at("code-review");
    run.finds("code-review", "fail", vec![minor(injected(&["planning"], "F1"))]);
    assert_eq!(run.commands(), "dispatch tsp-planner for planning with 1 finding");
}

// PF-12
#[test]
fn a_finding_that_a_human_reattributes_goes_to_the_new_phase_with_the_next_ruling() {
    let mut run = run_at("code-review");
    exhaust(&mut run, "code-review", "code", 3);
    let last = position(&run, "F3");
    attribute(&mut run, last, &["code"], &["planning"]).expect("taken");
    assert_eq!(run.last(), "decide: reattribute → attribute F3 to planning instead of code");
    assert_eq!(run.why(), "ada decided: it was never planned");
    run.says("decide", "try-again");
    assert_eq!(run.commands(), "dispatch tsp-planner for planning with 1 finding");
    assert_eq!(given_findings(&run), ["F3"]);
}

// PF-12
#[test]
fn a_finding_on_its_way_is_moved_to_the_new_phase_if_that_is_ahead() {
    let mut run = run_at("code-review");
    run.finds("code-review", "fail", vec![injected(&["planning"], "F1"), injected(&["code"], "F2")]);
    attribute(&mut run, 1, &["code"], &["design"]).expect("taken");
    run.until("design");
    assert_eq!(given_findings(&run), ["F2"]);
    run.until("code");
    assert_eq!(given_findings(&run), Vec::<&str>::new());
}

// PF-12
#[test]
fn a_later_report_of_the_same_finding_does_not_overrule_the_human() {
    let mut run = run_at("code-review");
    run.finds("code-review", "fail", vec![injected(&["code"], "F1")]);
    attribute(&mut run, 0, &["code"], &["design"]).expect("taken");
    run.until("code-review");
    run.finds("code-review", "fail", vec![injected(&["code"], "F1")]);
    assert_eq!(run.commands(), "dispatch tsp-designer for design with 1 finding");
}

// PF-12
#[test]
fn a_settled_finding_changes_reports_only_also_after_the_end() {
    let mut run = run_at("code-review");
    run.finds("code-review", "fail", vec![injected(&["code"], "F1")]);
    run.finish();
    let over = run.status();
    let step = attribute(&mut run, 0, &["code"], &["design"]).expect("taken");
    assert!(step.commands.is_empty() && step.rulings.len() == 1, "{step:?}");
    assert_eq!(run.walker.state.findings[0].finding.injected_by, ["design"]);
    assert_eq!(run.status(), over);
}

// PF-12
#[test]
fn an_impossible_attribution_is_refused_and_changes_nothing() {
    let mut run = run_at("design-review");
    run.finds("design-review", "fail", vec![injected(&["design"], "F1")]);
    let before = run.walker.state.clone();
    let refused = |run: &mut Run, at, from: &[&str], to: &[&str]| {
        attribute(run, at, from, to).expect_err("refused").to_string()
    };
    assert_eq!(
        refused(&mut run, 0, &["design"], &["code"]),
        "the kernel refuses this: `code` cannot have injected this defect; possible origins are planning, design"
    );
    assert_eq!(
        refused(&mut run, 0, &["planning"], &["design"]),
        "the kernel refuses this: the finding was attributed in the meantime to design"
    );
    assert_eq!(
        refused(&mut run, 7, &[], &["design"]),
        "the kernel refuses this: the run has no finding number 7"
    );
    assert_eq!(
        refused(&mut run, 0, &["design"], &[]),
        "the kernel refuses this: name at least one phase that injected the defect"
    );
    assert_eq!(run.walker.state, before);
}

fn position(run: &Run, id: &str) -> u32 {
    let at = run.walker.state.findings.iter().rposition(|filed| filed.finding.id == id);
    u32::try_from(at.expect("a finding")).expect("few")
}

fn attribute(run: &mut Run, at: u32, from: &[&str], to: &[&str]) -> Result<Step, WalkError> {
    let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    let (by, note) = ("ada".to_string(), "it was never planned".to_string());
    let event = Event::Reattributed { at, from: owned(from), to: owned(to), by, note };
    run.walker.feed(event, "a human attributes a finding anew".to_string())
}

/// A run that waits for this phase.
fn run_at(phase: &str) -> Run {
    let mut run = Setup::of(tsp()).run();
    run.until(phase);
    run
}

/// A major finding that names its origin.
fn injected(phases: &[&str], id: &str) -> Finding {
    let claim = format!("requirement {id} is not covered by any unit");
    injected_by(phases, finding(id, &claim))
}

/// Lets a review send back up to its limit, and once more.
fn exhaust(run: &mut Run, phase: &str, injector: &str, limit: usize) {
    for at in 0..=limit {
        run.until(phase);
        run.finds(phase, "fail", vec![injected(&[injector], &format!("F{at}"))]);
    }
}

fn limit_of(phase: &str, injector: &str, limit: usize) {
    let mut run = run_at(phase);
    exhaust(&mut run, phase, injector, limit);
    let remands = run.rulings().matches(&format!("{phase}: fail → remand injector")).count();
    assert_eq!(remands, limit);
    assert_eq!(run.last(), format!("{phase}: fail → to decide"));
    assert_eq!(run.commands(), "ask decide: override, try-again, stop");
}

/// The ids of the findings that the open dispatch gets.
fn given_findings(run: &Run) -> Vec<&str> {
    let Some(Command::Dispatch(dispatch)) = run.walker.open.first() else {
        panic!("no dispatch is open");
    };
    let filed = dispatch.findings.iter().map(|at| &run.walker.state.findings[*at as usize]);
    filed.map(|filed| filed.finding.id.as_str()).collect()
}
