//! Approval gates and the verdicts of roles.

use super::{ids, interactive, rejects, reports, ruled, with_tasks};
use crate::support::{finding, happening};
use remand_kernel::event::{Event, Report};
use remand_workflow::walk::WalkStep;

// EP-12
#[test]
fn an_autonomous_run_takes_and_records_the_default_of_both_gates() {
    let mut run = with_tasks(1);
    run.until("spec");
    ruled(&run, "approve-research: proceed → next (spec)");
    run.until("baseline");
    ruled(&run, "approve-plan: approve → next (baseline)");
    let ruling = run.walker.records.last().expect("taken").rulings.last().expect("ruling").clone();
    assert_eq!(
        (ruling.rule.source("feature").as_str(), ruling.phase.as_str()),
        ("default answer", "approve-plan")
    );
}

// EP-12
#[test]
fn research_is_approved_by_a_human() {
    let mut run = interactive();
    run.until("approve-research");
    assert_eq!(run.commands(), "ask approve-research: proceed, expand, abort");
    run.says("approve-research", "proceed");
    assert_eq!(run.last(), "approve-research: proceed → next (spec)");
}

// EP-12
#[test]
fn expanding_the_research_leads_to_the_areas_that_the_human_named() {
    let mut run = interactive();
    run.until("approve-research").says("approve-research", "expand");
    assert_eq!(run.last(), "approve-research: expand → remand focus, expand 3 → 2");
    assert_eq!(run.commands(), "do focus-areas");
    run.says("focus", "none");
    assert_eq!(
        (run.dispatches(), run.commands()),
        (4, "ask approve-research: proceed, expand, abort".to_string())
    );
}

// EP-12
#[test]
fn research_can_be_aborted() {
    let mut run = interactive();
    run.until("approve-research").says("approve-research", "abort");
    assert_eq!(run.status(), "stopped: aborted");
}

// EP-12, CORE-02
#[test]
fn research_is_expanded_three_times_at_most() {
    let mut run = interactive();
    for _ in 0..3 {
        run.until("approve-research").says("approve-research", "expand");
    }
    run.until("approve-research");
    assert_eq!(
        run.commands(),
        "ask approve-research: proceed, abort; not offered: expand (expand is used up)"
    );
}

// EP-12
#[test]
fn a_plan_is_approved_by_a_human() {
    let mut run = interactive();
    run.until("approve-plan");
    assert_eq!(run.commands(), "ask approve-plan: approve, revise, abort");
    run.says("approve-plan", "approve");
    assert_eq!(run.last(), "approve-plan: approve → next (baseline)");
}

// EP-12
#[test]
fn revising_the_plan_dispatches_the_planner_again() {
    let mut run = interactive();
    run.until("approve-plan").says("approve-plan", "revise");
    assert_eq!(run.last(), "approve-plan: revise → remand plan, revise 3 → 2");
    assert_eq!(run.commands(), "dispatch planner for plan");
}

// EP-12
#[test]
fn a_plan_can_be_aborted() {
    let mut run = interactive();
    run.until("approve-plan").says("approve-plan", "abort");
    assert_eq!(run.status(), "stopped: aborted");
}

// EP-12, CORE-02
#[test]
fn a_plan_is_revised_three_times_at_most() {
    let mut run = interactive();
    for _ in 0..3 {
        run.until("approve-plan").says("approve-plan", "revise");
    }
    run.until("approve-plan");
    assert_eq!(run.commands(), "ask approve-plan: approve, abort; not offered: revise (revise is used up)");
    assert_eq!(run.left("expand"), 3);
}

// EP-12
#[test]
fn an_option_that_is_not_offered_is_refused_and_the_question_stays_open() {
    let mut run = interactive();
    run.until("approve-plan");
    let before = run.walker.state.clone();
    let refused = run.walker.happen(&happening("approve-plan", "proceed")).expect_err("refused");
    let message = "the kernel refuses this: `proceed` is not offered; the options are approve, revise, abort";
    assert_eq!(refused.to_string(), message);
    assert_eq!(run.walker.state, before);
}

// EP-12
#[test]
fn the_ruling_records_who_answered_and_the_note() {
    let mut run = interactive();
    let answer = happening("approve-plan", "approve");
    run.until("approve-plan").happens(WalkStep { by: "Ann".into(), note: "t2 first".into(), ..answer });
    assert_eq!(run.why(), "Ann decided: t2 first");
}

// EP-12
#[test]
fn the_same_question_is_open_after_a_pause() {
    let mut run = interactive();
    run.until("approve-research");
    let asked = ids(&run, "approve-research");
    let by = || "Ann".to_string();
    run.walker.feed(Event::Paused { by: by() }, "pause".to_string()).expect("taken");
    run.walker.feed(Event::Resumed { by: by() }, "resume".to_string()).expect("taken");
    assert_eq!(run.status(), "waiting for approve-research");
    assert_eq!(ids(&run, "approve-research"), asked);
    run.says("approve-research", "proceed");
    assert_eq!(run.last(), "approve-research: proceed → next (spec)");
}

// EP-05
#[test]
fn a_design_finding_of_the_planner_spends_the_design_revision() {
    let mut run = with_tasks(1);
    run.until("plan").finds(
        "plan",
        "needs-revision",
        vec![finding("P1", "the design has two owners of the cache")],
    );
    assert_eq!(run.last(), "plan: needs-revision → remand design, design-revision 1 → 0");
    assert_eq!(run.commands(), "dispatch designer for design with 1 finding");
}

// EP-05
#[test]
fn a_second_design_finding_of_the_planner_is_an_error() {
    let mut run = with_tasks(1);
    for claim in ["the design has two owners of the cache", "the eviction order is not stated anywhere"] {
        run.until("plan").finds("plan", "needs-revision", vec![finding("P1", claim)]);
    }
    assert_eq!(run.status(), "failed at plan: needs-revision, with design-revision exhausted");
}

// EP-05
#[test]
fn the_planner_cannot_send_a_design_back_that_its_review_sent_back_already() {
    let mut run = with_tasks(1);
    rejects(&mut run, "design-review", vec![finding("D1", "no owner of the cache")]);
    run.until("plan").finds(
        "plan",
        "needs-revision",
        vec![finding("P1", "the eviction order is not stated")],
    );
    assert_eq!(run.status(), "failed at plan: needs-revision, with design-revision exhausted");
}

// EP-05
#[test]
fn an_objection_of_the_planner_always_reaches_the_designer() {
    let mut run = with_tasks(1);
    run.until("plan").says("plan", "needs-revision");
    assert_eq!(run.last(), "plan: needs-revision → remand design, design-revision 1 → 0");
    assert_eq!(run.commands(), "dispatch designer for design");
}

// EP-05, CORE-09
#[test]
fn a_role_cannot_return_a_verdict_outside_its_contract() {
    let mut run = with_tasks(1);
    run.until("design");
    let before = run.walker.state.clone();
    let refused = reports(&mut run, "design", Report::saying("needs-revision")).expect_err("refused");
    let message =
        "the kernel refuses this: `needs-revision` is not a possible result here; possible are done";
    assert_eq!(refused.to_string(), message);
    assert_eq!(run.walker.state, before);
}
