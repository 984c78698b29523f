//! The path without a revision: its phases, numbers and interactive gates.

use super::attempts::{
    ADDS_ENERGY, at_implement, change, checks_fail, dispatched, goes_in_a_circle, on_solver, revise,
};
use crate::support::{Run, Setup, finding, happening, minor, ticket};
use remand_kernel::finding::Finding;
use remand_workflow::walk::WalkStep;

// DR-03, EP-31
#[test]
fn a_ticket_goes_through_its_phases_in_order() {
    let mut run = Setup::of(ticket()).run();
    run.finish();
    let commands: Vec<&str> =
        run.walker.records.iter().flat_map(|taken| &taken.commands).map(String::as_str).collect();
    assert_eq!(
        commands,
        [
            "do baseline",
            "do look-back",
            "dispatch architect for design",
            "dispatch design-reviewer for design-review",
            "dispatch coder for implement",
            "dispatch test-writer for write-tests",
            "do checks",
            "dispatch impl-reviewer for impl-review",
            "dispatch documenter for document",
            "do commit",
            "finish: done",
        ]
    );
}

// DR-03
#[test]
fn the_design_review_sends_back_once_without_a_human() {
    let mut run = Setup::of(ticket()).run();
    run.until("design-review").says("design-review", "needs-revision");
    assert_eq!(run.last(), "design-review: needs-revision → remand amend, design-review.round 1 → 0");
    run.says("amend", "done").says("design-review", "needs-revision");
    assert_eq!(run.commands(), "ask design-dispute: approve, changes, close");
}

// DR-03, OT-09
#[test]
fn an_amended_design_that_did_not_change_is_asked_for_again() {
    let mut run = Setup::of(ticket()).run();
    let flaw = finding("F1", "the design does not say how friction is bounded");
    run.until("design-review").finds("design-review", "needs-revision", vec![flaw]);
    run.happens(WalkStep { unchanged: true, ..happening("amend", "done") });
    assert_eq!(run.last(), "amend: no-result → retry after unchanged: attempt 2");
}

// DR-03
#[test]
fn a_design_review_with_minor_findings_only_passes() {
    let mut run = Setup::of(ticket()).run();
    let wording = minor(finding("F1", "the name of the section is unclear"));
    run.until("design-review").finds("design-review", "needs-revision", vec![wording]);
    assert!(run.rulings().contains("design-review: approved → next (design-gate)"), "{}", run.rulings());
    assert_eq!(run.commands(), "dispatch coder for implement");
}

// DR-03
#[test]
fn a_prototype_is_made_only_when_the_ticket_asks_for_one() {
    let mut plain = Setup::of(ticket()).run();
    let mut wanted =
        Setup::of(ticket()).start(|start| start.flags = vec![("prototype-wanted".to_string(), true)]).run();
    plain.finish();
    wanted.finish();
    assert_eq!((dispatched(&plain, "prototype"), dispatched(&wanted, "prototype")), (0, 1));
}

// DR-21
#[test]
fn ten_implementations_per_design_and_then_a_human() {
    let mut run = at_implement();
    for _ in 0..9 {
        run.says("implement", "incomplete");
    }
    assert_eq!(run.last(), "implement: incomplete → remand implement, attempts 1 → 0");
    assert_eq!(dispatched(&run, "implement"), 10);
    run.says("implement", "incomplete");
    assert_eq!(run.last(), "implement: incomplete → to stuck");
    assert_eq!(run.commands(), "ask stuck: another-round, revise, close");
}

// DR-21
#[test]
fn six_requests_for_different_changes_and_then_a_human() {
    let mut run = at_implement();
    for claim in DIFFERENT {
        asks_for_change(&mut run, finding(claim, claim));
    }
    assert_eq!(
        run.last(),
        "impl-review: changes-requested → remand implement, impl-review.round 1 → 0, attempts 4 → 3"
    );
    asks_for_change(&mut run, on_solver("F7", ADDS_ENERGY));
    assert_eq!(run.last(), "impl-review: changes-requested → to stuck");
}

// DR-21
#[test]
fn attempts_and_rounds_restart_after_a_revision() {
    let mut run = at_implement();
    checks_fail(&mut run, &[]);
    asks_for_change(&mut run, on_solver("F1", ADDS_ENERGY));
    goes_in_a_circle(&mut run);
    assert!(run.left("attempts") < 9);
    run.says("findings", "done");
    revise(&mut run);
    let left = ["attempts", "quality-gate.round", "impl-review.round", "design-review.round"];
    assert_eq!(left.map(|budget| run.left(budget)), [9, 2, 6, 1]);
}

// DR-21, DR-06
#[test]
fn the_count_of_one_finding_restarts_after_a_revision() {
    let mut run = at_implement();
    asks_for_change(&mut run, on_solver("F1", ADDS_ENERGY));
    asks_for_change(&mut run, on_solver("F2", ADDS_ENERGY));
    run.until("impl-review").finds("impl-review", "not-within-design", vec![on_solver("F3", ADDS_ENERGY)]);
    run.says("findings", "done");
    revise(&mut run);
    asks_for_change(&mut run, on_solver("F4", ADDS_ENERGY));
    assert_eq!(
        run.last(),
        "impl-review: changes-requested → remand implement, impl-review.round 6 → 5, attempts 9 → 8"
    );
}

// DR-21
#[test]
fn a_revision_does_not_refill_the_changes_that_a_human_may_request() {
    let mut run = Setup::of(ticket()).interactive().run();
    run.until("design-gate").says("design-gate", "changes").until("implement");
    goes_in_a_circle(&mut run);
    run.says("findings", "done");
    revise(&mut run);
    assert_eq!(run.left("changes"), 1);
}

// DR-22
#[test]
fn interactively_the_design_waits_for_a_human() {
    let mut run = Setup::of(ticket()).interactive().run();
    run.until("design-gate");
    assert_eq!(run.commands(), "ask design-gate: approve, changes, close");
}

// DR-22
#[test]
fn autonomously_a_positive_design_review_passes_and_is_recorded() {
    let mut run = Setup::of(ticket()).run();
    run.until("implement");
    assert_eq!(run.last(), "design-gate: approve → next (implement)");
    assert_eq!(run.why(), "the run is autonomous, so the default answer applies");
}

// DR-22
#[test]
fn changes_at_the_design_gate_go_to_the_architect_and_through_review_again() {
    let mut run = Setup::of(ticket()).interactive().run();
    run.until("design-gate").says("design-gate", "changes");
    assert_eq!(run.last(), "design-gate: changes → remand amend, changes 2 → 1");
    run.says("amend", "done");
    assert_eq!(run.commands(), "dispatch design-reviewer for design-review");
    run.says("design-review", "approved");
    assert_eq!(run.commands(), "ask design-gate: approve, changes, close");
}

// DR-22
#[test]
fn the_third_change_at_the_design_gate_is_not_offered() {
    let mut run = Setup::of(ticket()).interactive().run();
    for _ in 0..2 {
        run.until("design-gate").says("design-gate", "changes");
    }
    run.until("design-gate");
    assert_eq!(run.commands(), "ask design-gate: approve, close; not offered: changes (changes is used up)");
}

// DR-22
#[test]
fn close_at_the_design_gate_ends_the_run() {
    let mut run = Setup::of(ticket()).interactive().run();
    run.until("design-gate").says("design-gate", "close");
    assert_eq!(run.status(), "stopped: closed");
}

// DR-22
#[test]
fn interactively_the_prototype_waits_for_a_human_too() {
    let mut run = Setup::of(ticket())
        .interactive()
        .start(|start| start.flags = vec![("prototype-wanted".to_string(), true)])
        .run();
    run.until("prototype-gate");
    assert_eq!(run.commands(), "ask prototype-gate: approve, changes, close");
    run.says("prototype-gate", "changes");
    assert_eq!(run.last(), "prototype-gate: changes → remand prototype, changes 2 → 1");
    assert_eq!(run.commands(), "dispatch prototyper for prototype");
}

// DR-22
#[test]
fn the_quality_gate_is_left_by_the_implementation_review() {
    let mut run = at_implement();
    run.until("impl-review");
    let phase = run.walker.program.phase(run.walker.state.main.phase);
    assert_eq!(phase.status, "Quality Gate Passed — Awaiting Review");
    run.says("impl-review", "approved").until("commit");
    let phase = run.walker.program.phase(run.walker.state.main.phase);
    assert_eq!(phase.status, "Approved — Ready to Merge");
}

// CORE-22
#[test]
fn a_change_that_undoes_the_previous_one_is_sent_back_with_its_own_signal() {
    let mut run = at_implement();
    let old = &["double bias = row.bias;", "row.apply(bias);"];
    let new = &["double bias = 0;", "row.skip();"];
    for (tree, removed, added) in [(1, old, new), (2, new, old)] {
        run.happens(WalkStep {
            change: Some(change(tree, "src/block_pgs.cpp", removed, added)),
            ..happening("implement", "incomplete")
        });
    }
    assert_eq!(run.last(), "implement: reversal → remand implement, attempts 8 → 7");
    assert_eq!(
        run.why(),
        "This change undoes 4 of the 4 lines (100 %) that the previous one changed in src/block_pgs.cpp."
    );
}

const DIFFERENT: [&str; 6] = [
    "the header lacks the unit of the time step",
    "friction rows are skipped in the last sweep",
    "a body without mass divides by zero",
    "contacts are freed while the solver still holds them",
    "the sweep order depends on addresses",
    "warm starting survives a teleport of the body",
];

fn asks_for_change(run: &mut Run, finding: Finding) {
    run.until("impl-review").finds("impl-review", "changes-requested", vec![finding]);
}
