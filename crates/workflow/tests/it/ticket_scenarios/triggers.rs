//! The four triggers of a revision, all observed by the engine.

use super::attempts::{
    ADDS_ENERGY, at_implement, change, checks_fail, dispatched, goes_in_a_circle, implements,
    leaves_incomplete, on_solver, results, tried,
};
use crate::support::{Run, Setup, finding, happening, ticket};
use remand_kernel::change::Change;
use remand_kernel::change::TestEnd::{Failed, Flaky, Passed};
use remand_kernel::finding::Finding;
use remand_workflow::walk::WalkStep;

// DR-04
#[test]
fn one_file_rewritten_three_times_in_the_same_way_is_a_circle() {
    let mut run = at_implement();
    let [first, second, third] = three_like_edits();
    leaves_incomplete(&mut run, first);
    leaves_incomplete(&mut run, second);
    leaves_incomplete(&mut run, third);
    assert_eq!(run.last(), "implement: circle → to findings");
    assert!(
        run.why().starts_with("Attempts 1, 2 and 3 edited the same lines of src/block_pgs.cpp"),
        "{}",
        run.why()
    );
}

// DR-04
#[test]
fn a_circle_counts_even_when_the_implementer_says_done() {
    let mut run = at_implement();
    let [first, second, third] = three_like_edits();
    leaves_incomplete(&mut run, first);
    leaves_incomplete(&mut run, second);
    implements(&mut run, third);
    assert_eq!(run.last(), "implement: circle → to findings");
}

// DR-04
#[test]
fn test_results_that_oscillate_are_a_circle() {
    let mut run = at_implement();
    implements(&mut run, change(1, "src/a.cpp", &[], &["clamp_normal(row);"]));
    checks_fail(&mut run, &[("stack_rests", Failed), ("energy_stays", Passed)]);
    implements(&mut run, change(2, "src/b.cpp", &[], &["scale_bias(row);"]));
    checks_fail(&mut run, &[("stack_rests", Passed), ("energy_stays", Failed)]);
    implements(&mut run, change(3, "src/c.cpp", &[], &["relax_friction(row);"]));
    checks_fail(&mut run, &[("stack_rests", Failed), ("energy_stays", Passed)]);
    assert_eq!(run.last(), "quality-gate: circle → to findings");
    assert_eq!(
        run.why(),
        "The test stack_rests changed its result after attempts 2 and 3, each of which changed code, and now fails."
    );
}

// DR-04 TE-07
#[test]
fn a_hypothesis_that_failed_before_is_a_circle_on_the_lines_that_failed() {
    let claims = [
        "The bias velocity enters the block twice, once by the row and once by the body.",
        "The inverse of the effective mass is stale after the bodies moved.",
        "Bias velocity enters the block twice: once by the row and once by the body.",
    ];
    let (bias, mass) = (&["row.add(bias);"][..], &["mass.invert();"][..]);
    let attempt = |at: usize, path: &str, removed, added| {
        let hypothesis = Some(claims[at].to_string());
        Change { hypothesis, ..change(at as u64 + 1, path, removed, added) }
    };
    let after = |last: Change| {
        let mut run = at_implement();
        implements(&mut run, attempt(0, "src/bias.cpp", &[], bias));
        checks_fail(&mut run, &[("energy_stays", Failed)]);
        implements(&mut run, attempt(1, "src/mass.cpp", &[], mass));
        checks_fail(&mut run, &[("energy_stays", Failed)]);
        implements(&mut run, last);
        run
    };
    let circle = after(attempt(2, "src/bias.cpp", bias, &["body.add(once);"]));
    assert_eq!(circle.last(), "implement: circle → to findings");
    assert!(circle.why().contains("reworks the lines of attempt 1, which failed"), "{}", circle.why());
    let elsewhere = after(attempt(2, "src/other.cpp", &[], &["body.add(once);"]));
    assert_eq!(elsewhere.last(), "implement: done → next (write-tests)");
}

// DR-04
#[test]
fn a_tree_that_occurred_before_is_a_circle() {
    let mut run = at_implement();
    let limit = |tree, from: &str, to: &str| {
        let line = |value: &str| format!("constexpr int kSweeps = {value};");
        change(tree, "src/block_pgs.cpp", &[line(from).as_str()], &[line(to).as_str()])
    };
    leaves_incomplete(&mut run, limit(1, "1", "2"));
    leaves_incomplete(&mut run, limit(2, "2", "3"));
    leaves_incomplete(&mut run, limit(3, "3", "4"));
    leaves_incomplete(&mut run, limit(1, "4", "2"));
    assert_eq!(run.last(), "implement: circle → to findings");
    assert_eq!(run.why(), "Attempt 4 produced exactly the same files as attempt 1.");
}

// DR-04
#[test]
fn the_agent_closest_to_the_circle_states_the_findings() {
    let mut run = at_implement();
    goes_in_a_circle(&mut run);
    assert_eq!(run.commands(), "dispatch findings for findings, by the agent of coder");
}

// DR-04
#[test]
fn after_a_circle_no_implementation_is_dispatched_before_the_design_changed() {
    let mut run = at_implement();
    goes_in_a_circle(&mut run);
    let before = dispatched(&run, "implement");
    run.says("findings", "done").says("revision-gate", "approve").until("revise");
    assert_eq!(dispatched(&run, "implement"), before);
    run.says("revise", "done").until("implement");
    assert_eq!(dispatched(&run, "implement"), before + 1);
}

// DR-04
#[test]
fn a_revision_that_leaves_the_design_as_it_is_does_not_reopen_implementation() {
    let mut run = at_implement();
    goes_in_a_circle(&mut run);
    let before = dispatched(&run, "implement");
    run.says("findings", "done").says("revision-gate", "approve").until("revise");
    run.happens(WalkStep { unchanged: true, ..happening("revise", "done") });
    assert_eq!(run.last(), "revise: no-result → retry after unchanged: attempt 2");
    assert_eq!(dispatched(&run, "implement"), before);
}

// DR-04
#[test]
fn oscillating_tests_are_seen_although_the_test_writer_changes_files_too() {
    let mut run = at_implement();
    let ends = [(Failed, Passed), (Passed, Failed), (Failed, Passed)];
    for (at, (rests, leaks)) in (1..).zip(ends) {
        let path = format!("src/{at}.cpp");
        implements(&mut run, change(at, &path, &[], &["one_more_correction(row);"]));
        let test = format!("TEST(Energy, case_{at})");
        run.happens(WalkStep {
            change: Some(change(100 + at, "tests/energy.cpp", &[], &[test.as_str()])),
            ..happening("write-tests", "done")
        });
        checks_fail(&mut run, &[("stack_rests", rests), ("no_leaks", leaks)]);
    }
    assert_eq!(run.last(), "quality-gate: circle → to findings");
}

// DR-04, CORE-22
#[test]
fn one_change_made_and_undone_again_and_again_is_a_circle() {
    let mut run = at_implement();
    let (old, new) = (&["double bias = row.bias;", "row.apply(bias);"], &["double bias = 0;", "row.skip();"]);
    leaves_incomplete(&mut run, change(1, "src/block_pgs.cpp", old, new));
    leaves_incomplete(&mut run, change(2, "src/block_pgs.cpp", new, old));
    leaves_incomplete(&mut run, change(1, "src/block_pgs.cpp", old, new));
    assert_eq!(run.last(), "implement: circle → to findings");
}

// DR-04
#[test]
fn edits_that_make_progress_are_not_a_circle() {
    let mut run = at_implement();
    leaves_incomplete(&mut run, change(1, "src/block_pgs.cpp", &[], &["Matrix inverse = invert(block);"]));
    leaves_incomplete(
        &mut run,
        change(2, "src/block_pgs.cpp", &[], &["Vector bias = restitution(contact);"]),
    );
    implements(&mut run, change(3, "src/block_pgs.cpp", &[], &["for (Row& row : rows) project(row);"]));
    assert_eq!(run.last(), "implement: done → next (write-tests)");
}

// DR-04, CORE-21
#[test]
fn a_flaky_test_is_not_an_oscillation() {
    let mut run = at_implement();
    for (at, end) in (1..).zip([Failed, Flaky]) {
        let path = format!("src/{at}.cpp");
        implements(&mut run, change(at, &path, &[], &["one_more_correction(row);"]));
        checks_fail(&mut run, &[("timing", end), ("stack_rests", Failed)]);
    }
    implements(&mut run, change(3, "src/3.cpp", &[], &["one_more_correction(row);"]));
    run.until("quality-gate").happens(WalkStep {
        tests: results(&[("timing", Flaky), ("stack_rests", Passed)]),
        ..happening("quality-gate", "passed")
    });
    assert_eq!(run.last(), "quality-gate: passed → next (impl-review)");
}

// DR-04, DR-21
#[test]
fn a_hypothesis_may_be_tried_again_on_a_new_design() {
    let mut run = at_implement();
    goes_in_a_circle(&mut run);
    run.until("implement");
    let reason = "The warm start carries impulses of contacts that no longer exist into the next frame.";
    implements(&mut run, tried(77, reason));
    assert_eq!(run.last(), "implement: done → next (write-tests)");
}

// DR-05
#[test]
fn the_third_failure_of_the_quality_gate_in_a_row_asks_for_findings() {
    let mut run = at_implement();
    for _ in 0..3 {
        checks_fail(&mut run, &[]);
    }
    assert_eq!(run.last(), "quality-gate: failed → to findings");
    assert_eq!(run.commands(), "dispatch findings for findings with 1 finding");
}

// DR-05
#[test]
fn two_failures_of_the_quality_gate_go_back_to_implementation() {
    let mut run = at_implement();
    checks_fail(&mut run, &[]);
    assert_eq!(
        run.last(),
        "quality-gate: failed → remand implement, quality-gate.round 2 → 1, attempts 9 → 8"
    );
    checks_fail(&mut run, &[]);
    assert_eq!(
        run.last(),
        "quality-gate: failed → remand implement, quality-gate.round 1 → 0, attempts 8 → 7"
    );
    assert_eq!(run.commands(), "dispatch coder for implement with 1 finding");
}

// DR-05, DR-21
#[test]
fn a_pass_between_failures_resets_their_count() {
    let mut run = at_implement();
    checks_fail(&mut run, &[]);
    checks_fail(&mut run, &[]);
    asks_for(&mut run, "changes-requested", on_solver("F1", ADDS_ENERGY));
    checks_fail(&mut run, &[]);
    assert_eq!(
        run.last(),
        "quality-gate: failed → remand implement, quality-gate.round 2 → 1, attempts 6 → 5"
    );
}

// DR-05, DR-21
#[test]
fn red_checks_without_findings_still_dispatch_the_implementer() {
    let mut run = at_implement();
    run.until("quality-gate").says("quality-gate", "failed");
    assert_eq!(run.commands(), "dispatch coder for implement");
}

// DR-06
#[test]
fn the_same_finding_three_times_that_is_not_within_the_design_asks_for_findings() {
    let mut run = at_implement();
    asks_for(&mut run, "changes-requested", on_solver("F1", ADDS_ENERGY));
    asks_for(&mut run, "changes-requested", on_solver("F2", ADDS_ENERGY));
    asks_for(&mut run, "not-within-design", on_solver("F3", ADDS_ENERGY));
    assert_eq!(run.last(), "impl-review: repeated not-within-design → to findings");
    assert_eq!(
        run.commands(),
        "dispatch findings for findings, by the agent of impl-reviewer with 1 finding"
    );
}

// DR-06
#[test]
fn the_same_finding_three_times_within_the_design_asks_a_human() {
    let mut run = at_implement();
    for id in ["F1", "F2", "F3"] {
        asks_for(&mut run, "changes-requested", on_solver(id, ADDS_ENERGY));
    }
    assert_eq!(run.last(), "impl-review: repeated changes-requested → to stuck");
    assert_eq!(run.commands(), "ask stuck: another-round, revise, close");
}

// DR-06
#[test]
fn a_first_finding_that_is_not_within_the_design_goes_back_to_implementation() {
    let mut run = at_implement();
    asks_for(&mut run, "not-within-design", on_solver("F1", ADDS_ENERGY));
    assert_eq!(
        run.last(),
        "impl-review: not-within-design → remand implement, impl-review.round 6 → 5, attempts 9 → 8"
    );
}

// DR-06, CORE-12
#[test]
fn three_different_findings_are_not_a_repetition() {
    let mut run = at_implement();
    asks_for(&mut run, "changes-requested", on_solver("F1", ADDS_ENERGY));
    asks_for(
        &mut run,
        "changes-requested",
        finding("F2", "the public header lacks the unit of the time step"),
    );
    asks_for(
        &mut run,
        "not-within-design",
        finding("F3", "friction rows are never visited in the last sweep"),
    );
    assert_eq!(
        run.last(),
        "impl-review: not-within-design → remand implement, impl-review.round 4 → 3, attempts 7 → 6"
    );
}

// DR-06, CORE-12
#[test]
fn a_reviewer_may_name_the_finding_that_it_repeats() {
    let mut run = at_implement();
    let again = |id: &str, claim: &str, repeats: &str| Finding {
        repeats: Some(repeats.to_string()),
        ..finding(id, claim)
    };
    asks_for(&mut run, "changes-requested", on_solver("F1", ADDS_ENERGY));
    asks_for(&mut run, "changes-requested", again("F2", "stacks of five boxes jump", "F1"));
    asks_for(&mut run, "not-within-design", again("F3", "the total drifts upwards in every frame", "F2"));
    assert_eq!(run.last(), "impl-review: repeated not-within-design → to findings");
    assert!(run.why().contains("The reviewer says that"), "{}", run.why());
}

// DR-06
#[test]
fn a_human_may_ask_for_one_more_round_twice() {
    let mut run = at_implement();
    for id in ["F1", "F2", "F3"] {
        asks_for(&mut run, "changes-requested", on_solver(id, ADDS_ENERGY));
    }
    run.says("stuck", "another-round");
    assert_eq!(run.last(), "stuck: another-round → remand implement, guidance 2 → 1");
    assert_eq!(run.commands(), "dispatch coder for implement with 1 finding");
    asks_for(&mut run, "changes-requested", on_solver("F4", ADDS_ENERGY));
    run.says("stuck", "another-round");
    asks_for(&mut run, "changes-requested", on_solver("F5", ADDS_ENERGY));
    assert_eq!(run.commands(), "ask stuck: revise, close; not offered: another-round (guidance is used up)");
}

// DR-06
#[test]
fn a_human_may_choose_the_revision_instead_of_one_more_round() {
    let mut run = at_implement();
    for id in ["F1", "F2", "F3"] {
        asks_for(&mut run, "changes-requested", on_solver(id, ADDS_ENERGY));
    }
    run.says("stuck", "revise");
    assert_eq!(run.last(), "stuck: revise → to findings");
    assert_eq!(
        run.commands(),
        "dispatch findings for findings, by the agent of impl-reviewer with 1 finding"
    );
}

// DR-16
#[test]
fn a_negative_prototype_is_a_trigger_with_findings_by_the_prototyper() {
    let mut run = run_requesting_a_prototype();
    run.until("prototype").says("prototype", "negative");
    assert_eq!(run.last(), "prototype: negative → to findings");
    assert_eq!(run.commands(), "dispatch findings for findings, by the agent of prototyper");
    run.says("findings", "done");
    assert_eq!(run.commands(), "ask revision-gate: approve, close");
}

// DR-08
#[test]
fn a_trigger_moves_the_ticket_to_implementation_blocked() {
    let mut run = at_implement();
    goes_in_a_circle(&mut run);
    let phase = run.walker.program.phase(run.walker.state.main.phase);
    assert_eq!(phase.status, "Implementation Blocked — Design Revision Needed");
}

// DR-08
#[test]
fn without_valid_findings_a_human_is_asked_for_guidance() {
    let mut run = at_implement();
    goes_in_a_circle(&mut run);
    run.says("findings", "malformed").says("findings", "malformed");
    assert_eq!(run.last(), "findings: no-result → to no-findings");
    assert_eq!(run.commands(), "ask no-findings: retry, close");
}

// DR-08
#[test]
fn with_guidance_the_findings_are_asked_for_once_more() {
    let mut run = at_implement();
    goes_in_a_circle(&mut run);
    run.says("findings", "malformed").says("findings", "malformed").says("no-findings", "retry");
    assert_eq!(run.last(), "no-findings: retry → remand findings, guidance 2 → 1");
    assert_eq!(run.commands(), "dispatch findings for findings, by the agent of coder");
}

// DR-08
#[test]
fn without_findings_the_ticket_can_be_closed() {
    let mut run = at_implement();
    goes_in_a_circle(&mut run);
    run.says("findings", "malformed").says("findings", "malformed").says("no-findings", "close");
    assert_eq!(run.status(), "stopped: closed");
}

/// The implementation reviewer asks for this change.
fn asks_for(run: &mut Run, signal: &str, finding: Finding) {
    run.until("impl-review").finds("impl-review", signal, vec![finding]);
}

fn run_requesting_a_prototype() -> Run {
    Setup::of(ticket()).start(|start| start.flags = vec![("prototype-wanted".to_string(), true)]).run()
}

/// One function rewritten three times, with lines that are added and removed.
fn three_like_edits() -> [Change; 3] {
    let first = ["block.lambda += delta;", "return max(block.lambda, block.floor);"];
    let second = ["block.lambda += 2 * delta;", "return min(block.lambda, block.floor);"];
    let third = ["block.lambda += delta;", "return max(block.lambda, block.limit);"];
    let file = "src/block_pgs.cpp";
    [
        change(1, file, &["return block.lambda;"], &first),
        change(2, file, &first, &second),
        change(3, file, &second, &third),
    ]
}
