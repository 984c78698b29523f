//! The oscillation guard: an approach that failed does not come back.

use super::attempts::{at_implement, goes_in_a_circle};
use crate::support::{Run, Setup, approach, happening, ticket};
use remand_kernel::change::{Approach, Change, Digest, FileChange, Hunk};
use remand_kernel::event::Event;
use remand_workflow::walk::WalkStep;

const BLOCK: &str = "Solve all rows of a contact as one block with a direct inverse of the effective mass.";
const BLOCK_AGAIN: &str =
    "All rows of a contact are solved as one block, with the effective mass inverted directly.";
const SPLIT: &str = "Visit normal rows before friction rows and clamp the impulse that one sweep may add.";

// DR-12
#[test]
fn findings_that_propose_what_just_failed_are_requested_once_more() {
    let mut run = designed_as_block();
    finds_cause(&mut run, BLOCK_AGAIN);
    assert_eq!(run.last(), "findings: oscillation → remand findings, findings.round 1 → 0");
    assert_eq!(run.commands(), "dispatch findings for findings, by the agent of coder");
}

// DR-12
#[test]
fn the_ruling_says_which_approach_was_tried_before() {
    let mut run =
        failed_before(&["Use a penalty force instead of constraints at every contact point.", BLOCK]);
    finds_cause(&mut run, BLOCK_AGAIN);
    assert!(run.why().contains("repeats previous approach 2"), "{}", run.why());
}

// DR-12
#[test]
fn findings_that_oscillate_never_reach_the_gate() {
    let mut run = designed_as_block();
    finds_cause(&mut run, BLOCK_AGAIN);
    finds_cause(&mut run, BLOCK_AGAIN);
    assert!(!run.trace().contains("ask revision-gate"), "{}", run.trace());
}

// DR-12
#[test]
fn after_the_second_match_only_close_or_removal_is_left() {
    let mut run = designed_as_block();
    finds_cause(&mut run, BLOCK_AGAIN);
    finds_cause(&mut run, BLOCK_AGAIN);
    assert_eq!(run.last(), "findings: oscillation → to tried-before");
    assert_eq!(run.commands(), "ask tried-before: removed, close");
}

// DR-12
#[test]
fn the_guard_before_the_gate_spends_no_revision() {
    let mut run = designed_as_block();
    finds_cause(&mut run, BLOCK_AGAIN);
    finds_cause(&mut run, BLOCK_AGAIN);
    assert_eq!(run.left("revision"), 2);
}

// DR-12
#[test]
fn another_proposal_after_the_match_goes_to_the_gate() {
    let mut run = designed_as_block();
    finds_cause(&mut run, BLOCK_AGAIN);
    finds_cause(&mut run, SPLIT);
    assert_eq!(run.last(), "findings: done → to revision-gate");
}

// DR-12
#[test]
fn a_proposal_without_an_approach_that_failed_passes() {
    let mut run = at_implement();
    goes_in_a_circle(&mut run);
    finds_cause(&mut run, SPLIT);
    assert_eq!(run.last(), "findings: done → to revision-gate");
}

// DR-12
#[test]
fn approaches_of_earlier_runs_are_guarded_against_too() {
    let mut run = failed_before(&[BLOCK]);
    finds_cause(&mut run, BLOCK_AGAIN);
    assert_eq!(run.last(), "findings: oscillation → remand findings, findings.round 1 → 0");
}

// DR-12
#[test]
fn an_approach_that_a_human_removed_from_the_list_may_be_proposed() {
    let mut run = failed_before(&[BLOCK]);
    finds_cause(&mut run, BLOCK_AGAIN);
    finds_cause(&mut run, BLOCK_AGAIN);
    removes(&mut run, 0);
    assert_eq!(run.why(), "ada decided");
    run.says("tried-before", "removed");
    finds_cause(&mut run, BLOCK_AGAIN);
    assert_eq!(run.last(), "findings: done → to revision-gate");
}

// DR-12
#[test]
fn the_question_shows_the_approaches_that_failed() {
    let mut run = failed_before(&[BLOCK]);
    finds_cause(&mut run, BLOCK_AGAIN);
    finds_cause(&mut run, BLOCK_AGAIN);
    let Some(remand_kernel::Command::Ask(question)) = run.walker.open.first() else {
        panic!("no question is open");
    };
    assert_eq!(question.approaches, [approach(BLOCK)]);
}

// DR-12
#[test]
fn removal_of_an_approach_that_is_not_listed_is_refused() {
    let mut run = failed_before(&[BLOCK]);
    let event = Event::ApproachRemoved { at: 1, by: "ada".to_string() };
    let refused = run.walker.feed(event, "ada removes an approach".to_string());
    assert_eq!(refused.unwrap_err().to_string(), "the kernel refuses this: there is no approach number 1");
}

// DR-12
#[test]
fn without_guidance_left_only_close_remains() {
    let mut run = designed_as_block();
    for _ in 0..2 {
        finds_cause(&mut run, BLOCK_AGAIN);
        finds_cause(&mut run, BLOCK_AGAIN);
        run.says("tried-before", "removed");
    }
    finds_cause(&mut run, BLOCK_AGAIN);
    finds_cause(&mut run, BLOCK_AGAIN);
    assert_eq!(run.commands(), "ask tried-before: close; not offered: removed (guidance is used up)");
}

// DR-12
#[test]
fn a_revised_design_that_returns_to_a_failed_approach_is_blocked() {
    let mut run = designed_as_block();
    finds_cause(&mut run, SPLIT);
    run.says("revision-gate", "approve").says("record", "recorded");
    run.happens(stating("revise", BLOCK_AGAIN));
    assert_eq!(run.last(), "revise: oscillation → to findings");
    assert_eq!(run.commands(), "dispatch findings for findings, by the agent of coder");
}

// DR-12
#[test]
fn a_revised_design_that_the_guard_refuses_spends_no_further_revision() {
    let mut run = designed_as_block();
    finds_cause(&mut run, SPLIT);
    run.says("revision-gate", "approve").says("record", "recorded");
    let before = run.left("revision");
    run.happens(stating("revise", BLOCK_AGAIN));
    assert_eq!(run.left("revision"), before);
}

// DR-12
#[test]
fn a_revision_that_follows_the_findings_is_not_an_oscillation() {
    let mut run = designed_as_block();
    finds_cause(&mut run, SPLIT);
    run.says("revision-gate", "approve").says("record", "recorded");
    run.happens(stating("revise", SPLIT));
    assert_eq!(run.last(), "revise: done → next (design-review)");
}

// DR-12
#[test]
fn the_design_reviewer_may_say_that_a_revision_oscillates() {
    let mut run = designed_as_block();
    finds_cause(&mut run, SPLIT);
    run.says("revision-gate", "approve").until("design-review");
    let before = run.left("revision");
    run.says("design-review", "oscillates");
    assert_eq!(run.last(), "design-review: oscillates → to findings");
    assert_eq!(run.left("revision"), before);
}

// DR-12
#[test]
fn the_findings_or_the_architect_can_state_that_a_proposal_oscillates() {
    let program = ticket();
    for title in ["findings", "architect/revise"] {
        let contract = program.contracts.iter().find(|contract| contract.title() == title).expect("contract");
        let says: Vec<&str> = contract.says.iter().map(|signal| program.signal(*signal)).collect();
        assert!(says.contains(&"oscillates"), "{title} can say {says:?}");
    }
}

// DR-12
#[test]
fn a_revision_amended_after_its_review_does_not_return_to_a_failed_approach_either() {
    let mut run = designed_as_block();
    finds_cause(&mut run, SPLIT);
    run.says("revision-gate", "approve").says("record", "recorded");
    run.happens(stating("revise", SPLIT)).says("design-review", "needs-revision");
    run.happens(stating("amend", BLOCK_AGAIN));
    assert_eq!(run.last(), "amend: oscillation → to findings");
}

// DR-12
#[test]
fn a_reversal_that_the_phase_ignores_does_not_hide_an_approach_that_failed() {
    let mut run = failed_before(&[BLOCK]);
    let (rows, blocks) = ("let order = rows;", "let order = blocks;");
    for (tree, removed, added) in [(1, rows, blocks), (2, blocks, rows)] {
        let hunk = Hunk { removed: vec![removed.to_string()], added: vec![added.to_string()] };
        let file = FileChange { path: "src/solver.rs".to_string(), hunks: vec![hunk], generated: false };
        let change = Change { tree: Digest(tree), files: vec![file], ..Change::default() };
        run.happens(WalkStep { change: Some(change), ..stating("findings", BLOCK_AGAIN) });
    }
    assert_eq!(run.last(), "findings: oscillation → to tried-before");
}

// DR-12, DR-10
#[test]
fn a_design_that_the_guard_refused_is_not_put_on_the_list_as_tried() {
    let mut run = designed_as_block();
    finds_cause(&mut run, SPLIT);
    run.says("revision-gate", "approve").says("record", "recorded");
    run.happens(stating("revise", BLOCK_AGAIN));
    finds_cause(&mut run, "Damp every contact by a spring whose stiffness follows the step.");
    run.says("revision-gate", "approve").says("record", "recorded");
    assert_eq!(run.walker.state.approaches, [approach(BLOCK)]);
}

/// A run with a design that takes the block approach and an implementation that goes in a circle.
fn designed_as_block() -> Run {
    let mut run = Setup::of(ticket()).run();
    run.until("design").happens(stating("design", BLOCK)).until("implement");
    goes_in_a_circle(&mut run);
    run
}

/// A run after a circle, on a ticket with earlier runs that failed with these approaches.
fn failed_before(texts: &[&str]) -> Run {
    let approaches: Vec<Approach> = texts.iter().map(|text| approach(text)).collect();
    let mut run = Setup::of(ticket()).start(|start| start.approaches = approaches).run();
    run.until("implement");
    goes_in_a_circle(&mut run);
    run
}

fn finds_cause(run: &mut Run, proposal: &str) {
    run.happens(stating("findings", proposal));
}

fn stating(phase: &str, text: &str) -> WalkStep {
    WalkStep { approach: Some(approach(text)), ..happening(phase, "done") }
}

fn removes(run: &mut Run, at: u16) {
    let event = Event::ApproachRemoved { at, by: "ada".to_string() };
    let fed = run.walker.feed(event, "ada removes an approach".to_string());
    fed.expect("taken");
}
