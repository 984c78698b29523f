//! How a refinement ends, and the pauses on the way.

use crate::support::{Run, Setup, happening, spec};
use remand_workflow::walk::WalkStep;

// SR-09
#[test]
fn a_complete_spec_is_written_after_a_clean_final_review() {
    let mut run = in_round_one();
    run.until("close-round").says("close-round", "complete");
    assert_eq!(run.commands(), "dispatch spec-reviewer/final for final-review");
    run.says("final-review", "clean").says("write-up", "committed");
    assert_eq!(run.status(), "done");
    assert_eq!(run.confidence(), "high");
}

// SR-09
#[test]
fn gaps_found_in_the_final_review_take_another_round() {
    let mut run = in_round_one();
    run.until("close-round").says("close-round", "complete").says("final-review", "gaps-found");
    assert_eq!(run.commands(), "do add-gaps");
    run.says("add-gaps", "added");
    assert_eq!(run.last(), "add-gaps: added → remand assign, rounds 9 → 8");
    assert!(!run.trace().contains("do write-spec"), "{}", run.trace());
}

// SR-09
#[test]
fn while_a_critical_gap_is_open_the_user_cannot_accept() {
    let mut run = interactive_in_round_one();
    run.until("close-round").says("close-round", "converging");
    assert_eq!(run.commands(), "ask round-end: continue, redo, pause, abandon; not offered: accept");
}

// SR-09
#[test]
fn an_acceptable_spec_may_be_accepted_with_dissent() {
    let mut run = interactive_in_round_one();
    ends_acceptably(&mut run);
    run.says("round-end", "accept");
    assert_eq!(run.last(), "round-end: accept → to write-up, with dissent: confidence medium");
    run.says("write-up", "committed");
    assert_eq!(run.status(), "done");
}

// SR-09
#[test]
fn accepting_is_no_longer_offered_when_a_later_round_finds_a_critical_gap() {
    let mut run = interactive_in_round_one();
    ends_acceptably(&mut run);
    run.says("round-end", "continue").until("close-round").happens(WalkStep {
        flags: vec![("acceptable".to_string(), false)],
        ..happening("close-round", "stalled")
    });
    assert_eq!(run.commands(), "ask round-end: continue, redo, pause, abandon; not offered: accept");
}

// SR-09
#[test]
fn abandon_ends_the_run() {
    let mut run = interactive_in_round_one();
    run.until("close-round").says("close-round", "converging").says("round-end", "abandon");
    assert_eq!(run.status(), "stopped: abandoned");
}

// SR-09
#[test]
fn a_small_spec_has_ten_rounds() {
    let mut run = Setup::of(spec()).gaps(3).run();
    assert_eq!(rounds_until_the_end(&mut run), 10);
}

// SR-09
#[test]
fn a_large_spec_has_as_many_rounds_as_half_its_gaps() {
    let mut run = Setup::of(spec()).gaps(31).run();
    assert_eq!(rounds_until_the_end(&mut run), 16);
}

// SR-09
#[test]
fn the_budget_of_rounds_is_fixed_by_the_first_inventory() {
    let mut run = Setup::of(spec()).gaps(40).run();
    run.until("engineer");
    assert_eq!(run.left("rounds"), 19);
    run.walker.lists.retain(|(list, _)| list != "gaps");
    run.until("close-round").says("close-round", "converging");
    assert_eq!(run.left("rounds"), 18);
}

// SR-09
#[test]
fn autonomously_the_run_stops_when_its_rounds_are_used_up() {
    let mut run = Setup::of(spec()).run();
    rounds_until_the_end(&mut run);
    assert!(run.rulings().contains("round-end: continue → to out-of-rounds"), "{}", run.rulings());
    assert!(run.rulings().contains("out-of-rounds: stop-here → to write-draft"), "{}", run.rulings());
    assert_eq!(run.status(), "stopped: max-rounds");
    assert!(run.trace().contains("! do write-draft") && !run.trace().contains("! do write-spec"));
}

// SR-09
#[test]
fn interactively_the_user_is_asked_when_the_rounds_are_used_up() {
    let mut run = out_of_rounds();
    assert_eq!(
        run.commands(),
        "ask out-of-rounds: more, force-complete, stop-here, abandon; not offered: accept"
    );
    run.says("out-of-rounds", "stop-here").says("write-draft", "committed");
    assert_eq!(run.status(), "stopped: max-rounds");
}

// SR-09
#[test]
fn a_human_may_add_three_rounds_one_at_a_time() {
    let mut run = out_of_rounds();
    for left in [2, 1, 0] {
        run.says("out-of-rounds", "more");
        assert_eq!(run.left("extra"), left);
        run.until("close-round").says("close-round", "converging").says("round-end", "continue");
    }
    assert_eq!(
        run.commands(),
        "ask out-of-rounds: force-complete, stop-here, abandon; not offered: more (extra is used up), accept"
    );
}

// SR-09
#[test]
fn only_confirm_completes_a_spec_with_critical_gaps() {
    let mut run = out_of_rounds();
    run.says("out-of-rounds", "force-complete");
    assert_eq!(run.commands(), "ask confirm: confirm, back");
    run.says("confirm", "back");
    assert_eq!(run.last(), "confirm: back → remand assign, guidance 3 → 2");
}

// SR-09
#[test]
fn gaps_found_in_the_final_review_withdraw_the_offer_to_accept() {
    let mut run = out_of_rounds();
    run.says("out-of-rounds", "more").until("close-round").happens(WalkStep {
        flags: vec![("acceptable".to_string(), true)],
        ..happening("close-round", "complete")
    });
    run.says("final-review", "gaps-found").says("add-gaps", "added");
    assert_eq!(
        run.commands(),
        "ask out-of-rounds: more, force-complete, stop-here, abandon; not offered: accept"
    );
}

// SR-08, SR-09
#[test]
fn a_pause_holds_and_go_on_asks_again() {
    let mut run = interactive_in_round_one();
    run.until("close-round").says("close-round", "converging").says("round-end", "pause");
    assert_eq!(run.status(), "waiting for hold");
    run.says("hold", "go-on");
    assert_eq!(run.commands(), "ask round-end: continue, redo, pause, abandon; not offered: accept");
}

// SR-09
#[test]
fn a_paused_run_can_be_stopped() {
    let mut run = interactive_in_round_one();
    run.until("close-round")
        .says("close-round", "converging")
        .says("round-end", "pause")
        .says("hold", "stop");
    assert_eq!(run.status(), "stopped: stopped by a human");
}

// SR-09
#[test]
fn pauses_spend_nothing() {
    let mut run = interactive_in_round_one();
    run.until("close-round").says("close-round", "converging");
    let before = run.walker.state.left.clone();
    for _ in 0..5 {
        run.says("round-end", "pause").says("hold", "go-on");
    }
    assert_eq!(run.walker.state.left, before);
}

fn in_round_one() -> Run {
    let mut run = Setup::of(spec()).run();
    run.until("engineer");
    run
}

fn interactive_in_round_one() -> Run {
    let mut run = Setup::of(spec()).interactive().run();
    run.until("engineer");
    run
}

fn ends_acceptably(run: &mut Run) {
    run.until("close-round").happens(WalkStep {
        flags: vec![("acceptable".to_string(), true)],
        ..happening("close-round", "converging")
    });
}

/// Runs rounds that converge but never end until the run is over, and returns their number.
fn rounds_until_the_end(run: &mut Run) -> usize {
    while run.walker.until("close-round").is_ok() {
        run.says("close-round", "converging");
    }
    let rounds = run.trace().matches("! do close-round").count();
    run.finish();
    rounds
}

/// An interactive run that has used up its rounds.
fn out_of_rounds() -> Run {
    let mut run = interactive_in_round_one();
    while run.status() != "waiting for out-of-rounds" {
        run.until("close-round").says("close-round", "converging").says("round-end", "continue");
    }
    run
}
