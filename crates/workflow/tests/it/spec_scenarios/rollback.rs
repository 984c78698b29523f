//! Rounds that are rolled back: by an answer, or by a human's command.

use crate::support::{Run, Setup, spec};
use remand_kernel::command::Command;
use remand_kernel::event::Event;
use remand_kernel::gaps::RetryMode;
use remand_workflow::walk::WalkError;

// SR-11
#[test]
fn redo_restores_the_artifacts_of_the_round_and_assigns_again() {
    let mut run = at_end_of_round(1);
    run.says("round-end", "redo");
    assert!(
        run.rulings().contains("round-end: redo → restore assign, redo-round 2 → 1, redo 5 → 4"),
        "{}",
        run.rulings()
    );
    assert!(run.commands().starts_with("restore the start of round 1"), "{}", run.commands());
}

// SR-11
#[test]
fn redo_restores_the_gaps_from_the_start_of_the_round() {
    let mut run = Setup::of(spec()).interactive().run();
    run.until("assign");
    let before = run.walker.state.versions.clone();
    run.until("close-round").says("close-round", "diverging");
    assert_ne!(run.walker.state.versions, before);
    run.says("warned", "redo");
    assert_eq!(run.walker.state.versions, before);
}

// SR-11
#[test]
fn redo_dispatches_the_engineer_again_without_the_old_proposals() {
    let mut run = at_end_of_round(1);
    run.says("round-end", "redo").until("engineer");
    assert_eq!(run.walker.state.visits[phase(&run, "engineer")], 2);
    assert_eq!(run.status(), "waiting for engineer");
}

// SR-11
#[test]
fn redo_of_a_later_round_restores_only_its_own_start() {
    let mut run = at_end_of_round(3);
    run.says("round-end", "redo");
    assert!(run.commands().starts_with("restore the start of round 3"), "{}", run.commands());
}

// SR-11
#[test]
fn a_round_is_redone_at_most_twice_and_then_the_best_is_kept() {
    let mut run = at_end_of_round(1);
    for _ in 0..2 {
        run.says("round-end", "redo");
        ends_round(&mut run);
    }
    run.says("round-end", "redo");
    assert_eq!(run.last(), "round-end: redo → to keep-best");
    assert_eq!(run.commands(), "do keep-best");
    run.says("keep-best", "kept");
    assert_eq!(run.last(), "keep-best: kept → remand assign, rounds 9 → 8");
}

// SR-11
#[test]
fn a_run_redoes_at_most_five_rounds_in_all() {
    let mut run = at_end_of_round(1);
    for redos in [2, 2, 1] {
        for _ in 0..redos {
            run.says("round-end", "redo");
            ends_round(&mut run);
        }
        run.says("round-end", "continue");
        ends_round(&mut run);
    }
    assert_eq!((run.left("redo"), run.left("redo-round")), (0, 2));
    run.says("round-end", "redo");
    assert_eq!(run.last(), "round-end: redo → to keep-best");
}

// SR-11
#[test]
fn the_next_round_may_be_redone_twice_again() {
    let mut run = at_end_of_round(1);
    run.says("round-end", "redo");
    ends_round(&mut run);
    run.says("round-end", "continue");
    ends_round(&mut run);
    assert_eq!((run.left("redo-round"), run.left("redo")), (2, 4));
}

// SR-11
#[test]
fn redo_neither_refunds_nor_spends_a_round() {
    let mut run = at_end_of_round(2);
    let before = run.left("rounds");
    run.says("round-end", "redo");
    ends_round(&mut run);
    assert_eq!(run.left("rounds"), before);
}

// SR-11
#[test]
fn rollback_is_offered_on_divergence() {
    let mut run = Setup::of(spec()).interactive().run();
    run.until("close-round").says("close-round", "diverging").says("warned", "redo");
    assert!(
        run.rulings().contains("warned: redo → restore assign, redo-round 2 → 1, redo 5 → 4"),
        "{}",
        run.rulings()
    );
}

// SR-11
#[test]
fn rollback_is_never_automatic() {
    let mut run = Setup::of(spec()).run();
    for _ in 0..8 {
        run.until("close-round").says("close-round", "diverging");
    }
    assert!(!run.trace().contains("restore"), "{}", run.trace());
}

// SR-11
#[test]
fn at_a_gate_a_human_may_go_back_to_an_earlier_round() {
    let mut run = at_end_of_round(3);
    rolls_back(&mut run, 2).expect("taken");
    assert!(
        run.rulings().contains(
            "round-end: roll-back → roll back to the start of round 2, redo-round 2 → 1, redo 5 → 4"
        ),
        "{}",
        run.rulings()
    );
    assert!(run.commands().contains("restore the start of round 2"), "{}", run.commands());
}

// SR-11
#[test]
fn the_question_at_the_gate_is_withdrawn_by_a_rollback() {
    let mut run = at_end_of_round(2);
    rolls_back(&mut run, 1).expect("taken");
    assert!(run.commands().starts_with("cancel round-end"), "{}", run.commands());
    assert!(!run.status().contains("round-end"), "{}", run.status());
}

// SR-11
#[test]
fn a_rollback_also_rolls_back_all_later_rounds() {
    let mut run = at_end_of_round(4);
    rolls_back(&mut run, 2).expect("taken");
    let rounds: Vec<u16> = run.walker.state.checkpoints.iter().map(|point| point.round).collect();
    assert_eq!(rounds, [1, 2]);
}

// SR-11
#[test]
fn a_rollback_resets_the_round_number_but_no_budget() {
    let mut run = at_end_of_round(4);
    let (rounds, used) = (run.left("rounds"), run.dispatches());
    rolls_back(&mut run, 1).expect("taken");
    assert_eq!(run.walker.state.checkpoints.len(), 1);
    assert_eq!(run.left("rounds"), rounds);
    assert!(run.dispatches() >= used);
}

// SR-11
#[test]
fn a_rollback_restores_the_artifacts_from_the_start_of_the_round() {
    let mut run = Setup::of(spec()).interactive().run();
    ends_round(&mut run);
    run.says("round-end", "continue");
    let before = run.walker.state.versions.clone();
    ends_round(&mut run);
    run.says("round-end", "continue");
    ends_round(&mut run);
    rolls_back(&mut run, 2).expect("taken");
    assert_eq!(run.walker.state.versions, before);
}

// SR-11
#[test]
fn in_a_pause_a_human_may_roll_back() {
    let mut run = at_end_of_round(1);
    run.says("round-end", "continue").until("engineer");
    pauses(&mut run);
    rolls_back(&mut run, 1).expect("taken");
    assert!(run.commands().contains("cancel engineer"), "{}", run.commands());
    assert_eq!(run.walker.state.checkpoints.len(), 1);
}

// SR-11
#[test]
fn a_rollback_in_a_pause_starts_nothing_before_the_run_is_resumed() {
    let mut run = at_end_of_round(1);
    run.says("round-end", "continue").until("engineer");
    pauses(&mut run);
    rolls_back(&mut run, 1).expect("taken");
    assert!(!run.commands().contains("dispatch") && !run.commands().contains("do "), "{}", run.commands());
    let resumed = Event::Resumed { by: "ada".to_string() };
    let step = run.walker.feed(resumed, "ada goes on".to_string()).expect("taken");
    assert_eq!(step.commands.len(), 1);
}

// SR-11
#[test]
fn in_the_middle_of_a_round_a_rollback_is_refused() {
    let mut run = at_end_of_round(1);
    run.says("round-end", "continue").until("engineer");
    let refused = rolls_back(&mut run, 1).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the kernel refuses this: a run can be rolled back only at a gate or while it is paused"
    );
}

// SR-11
#[test]
fn a_run_cannot_be_rolled_back_to_a_round_that_never_existed() {
    let mut run = at_end_of_round(2);
    for round in [0, 3] {
        let refused = rolls_back(&mut run, round).unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!("the kernel refuses this: there is no round {round} to roll back to")
        );
    }
}

// SR-11
#[test]
fn a_workflow_without_rounds_cannot_be_rolled_back() {
    let mut run = Setup::of(crate::support::ticket()).interactive().run();
    run.until("design-gate");
    let refused = rolls_back(&mut run, 1).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the kernel refuses this: the workflow has no rounds that can be rolled back"
    );
}

// SR-11
#[test]
fn a_round_that_was_restored_twice_from_later_ones_is_not_redone_a_third_time() {
    let mut run = at_end_of_round(2);
    for _ in 0..2 {
        rolls_back(&mut run, 1).expect("taken");
        ends_round(&mut run);
        run.says("round-end", "continue");
        ends_round(&mut run);
    }
    let refused = rolls_back(&mut run, 1).unwrap_err();
    assert!(refused.to_string().ends_with("budget `redo-round` is empty"), "{refused}");
    rolls_back(&mut run, 2).expect("round 2 was never rolled back");

    let mut run = at_end_of_round(2);
    rolls_back(&mut run, 1).expect("taken");
    ends_round(&mut run);
    run.says("round-end", "continue");
    ends_round(&mut run);
    rolls_back(&mut run, 1).expect("taken");
    ends_round(&mut run);
    run.says("round-end", "redo");
    assert_eq!(run.last(), "round-end: redo → to keep-best");
}

// SR-11
#[test]
fn a_round_can_be_restored_although_another_one_was_redone_twice() {
    let mut run = at_end_of_round(3);
    for _ in 0..2 {
        run.says("round-end", "redo");
        ends_round(&mut run);
    }
    assert_eq!(run.left("redo-round"), 0);
    rolls_back(&mut run, 1).expect("taken");
    assert!(run.rulings().contains("start of round 1, redo-round 2 → 1, redo 3 → 2"), "{}", run.rulings());
    assert_eq!(run.left("redo-round"), 1);
}

// SR-11
#[test]
fn a_third_rollback_of_one_round_is_refused_and_names_the_budget() {
    let mut run = at_end_of_round(1);
    for _ in 0..2 {
        rolls_back(&mut run, 1).expect("taken");
        ends_round(&mut run);
    }
    let refused = rolls_back(&mut run, 1).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the kernel refuses this: no rollback is left: budget `redo-round` is empty"
    );
}

// SR-11
#[test]
fn the_reason_of_a_rollback_is_recorded() {
    let mut run = at_end_of_round(1);
    rolls_back(&mut run, 1).expect("taken");
    let views = run.walker.records.last().expect("taken").rulings.clone();
    assert_eq!(views[0].why, "ada decided: the engineer misread section 3");
}

// SR-11, CORE-17
#[test]
fn a_rollback_in_a_hold_withdraws_the_question_of_the_hold() {
    let mut run = at_end_of_round(2);
    run.says("round-end", "pause");
    rolls_back(&mut run, 1).expect("taken");
    assert!(!run.status().contains("hold"), "{}", run.status());
}

// SR-11
#[test]
fn a_rollback_reopens_the_round_like_redo() {
    let mut run = Setup::of(spec()).interactive().run();
    run.until("engineer").says("engineer", "nothing").says("engineer", "denied");
    ends_round(&mut run);
    rolls_back(&mut run, 1).expect("taken");
    assert_eq!((run.left("by-name"), run.left("engineer.round")), (1, 1));
}

// SR-11, SR-10
#[test]
fn decisions_are_restored_with_the_round() {
    let mut run = Setup::of(spec()).interactive().run();
    let decisions = spec().artifact_named("decisions").expect("artifact");
    run.until("close-round");
    let before = run.walker.state.digest(decisions);
    run.says("close-round", "conflict").says("decide", "decided").says("record-decision", "recorded");
    assert_ne!(run.walker.state.digest(decisions), before);
    ends_round(&mut run);
    rolls_back(&mut run, 1).expect("taken");
    assert_eq!(run.walker.state.digest(decisions), before);
}

// SR-11
#[test]
fn nothing_is_deleted_and_the_host_learns_which_versions_to_restore() {
    let mut run = at_end_of_round(2);
    let step = run.walker.feed(rolled_back(1), "ada rolls back".to_string()).expect("taken");
    let restored = step.commands.iter().find_map(|command| match command {
        Command::Restore { round, versions } => Some((*round, versions.len())),
        _ => None,
    });
    assert_eq!(restored, Some((1, 4)), "gaps, text, proposals and reviews go back");
}

/// An interactive run at the gate at the end of this round.
fn at_end_of_round(round: usize) -> Run {
    let mut run = Setup::of(spec()).interactive().run();
    ends_round(&mut run);
    for _ in 1..round {
        run.says("round-end", "continue");
        ends_round(&mut run);
    }
    assert_eq!(run.status(), "waiting for round-end");
    run
}

fn ends_round(run: &mut Run) {
    run.until("close-round").says("close-round", "converging");
}

fn rolls_back(run: &mut Run, to: u16) -> Result<(), WalkError> {
    run.walker.feed(rolled_back(to), "ada rolls back".to_string()).map(|_| ())
}

fn rolled_back(to: u16) -> Event {
    Event::RolledBack {
        to,
        by: "ada".to_string(),
        reason: "the engineer misread section 3".to_string(),
        mode: RetryMode::default(),
        context: String::new(),
    }
}

fn pauses(run: &mut Run) {
    let event = Event::Paused { by: "ada".to_string() };
    run.walker.feed(event, "ada pauses".to_string()).expect("taken");
}

fn phase(run: &Run, name: &str) -> usize {
    run.walker.program.phase_named(name).expect("phase").index()
}
