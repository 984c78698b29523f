//! One round: assignment, proposals, review, convergence, conflict.

use crate::support::{Run, Setup, happening, spec, task};
use remand_kernel::command::Command;
use remand_kernel::event::{Event, Outcome, Report, Usage};
use remand_workflow::walk::{WalkStep, Walker};

// SR-02
#[test]
fn a_spec_without_given_gaps_is_searched_for_them() {
    let mut run = Setup::of(spec()).run();
    run.says("board", "empty");
    assert_eq!(run.commands(), "dispatch spec-reviewer/inventory for inventory");
}

// SR-02
#[test]
fn gaps_that_come_with_the_spec_are_worked_on_without_a_search() {
    let mut run = Setup::of(spec()).run();
    run.says("board", "given");
    assert_eq!(run.last(), "board: given → to assign");
    assert_eq!(run.commands(), "do assign-gaps");
}

// SR-02
#[test]
fn a_spec_without_gaps_goes_to_its_final_review() {
    let mut run = Setup::of(spec()).run();
    run.says("board", "empty").says("inventory", "none");
    assert_eq!(run.commands(), "dispatch spec-reviewer/final for final-review");
}

// SR-02
#[test]
fn only_the_engine_changes_the_state_of_gaps() {
    let program = spec();
    let gaps = program.artifact_named("gaps").expect("artifact");
    let by_agents: Vec<&str> = program
        .phases
        .iter()
        .filter(|phase| phase.writes.contains(&gaps) && !phase.contracts().is_empty())
        .map(|phase| phase.name.as_str())
        .collect();
    assert_eq!(by_agents, ["inventory"]);
}

// SR-16
#[test]
fn each_round_begins_with_an_assignment_by_the_engine() {
    let mut run = in_round_one();
    assert_eq!(run.commands(), "dispatch engineer for engineer (batch-1)");
    run.until("close-round").says("close-round", "converging");
    assert_eq!(run.commands(), "do assign-gaps");
}

// SR-16
#[test]
fn with_nothing_left_to_assign_the_final_review_begins() {
    let mut run = Setup::of(spec()).run();
    run.until("assign").says("assign", "none-open");
    assert_eq!(run.commands(), "dispatch spec-reviewer/final for final-review");
}

// SR-13
#[test]
fn independent_batches_are_worked_on_at_the_same_time() {
    let run = with_batches(3);
    assert_eq!(
        run.commands(),
        "dispatch engineer for engineer (batch-1)\n\
         dispatch engineer for engineer (batch-2)\n\
         dispatch engineer for engineer (batch-3)"
    );
}

// SR-13
#[test]
fn at_most_three_batches_run_in_parallel() {
    let run = with_batches(5);
    assert_eq!(run.walker.open.len(), 3);
}

// SR-13
#[test]
fn the_reviewer_waits_for_all_batches() {
    let mut run = with_batches(3);
    let ids: Vec<_> = run.walker.open.iter().filter_map(Command::id).collect();
    for (at, id) in ids.into_iter().enumerate() {
        let outcome = Outcome::Said(Box::new(Report::saying("proposed")));
        let event = Event::Ended { id, outcome, usage: Usage::default() };
        run.walker.feed(event, "an engineer ends".to_string()).expect("taken");
        let reviewing = run.commands() == "dispatch spec-reviewer for reviewer";
        assert_eq!(reviewing, at == 2);
    }
}

// SR-13
#[test]
fn one_proposal_among_batches_is_enough_for_a_review() {
    let mut run = with_batches(3);
    run.say("engineer", &["nothing", "proposed", "nothing"]);
    assert_eq!(run.last(), "engineer: proposed → next (reviewer)");
    assert_eq!(run.why(), "batch-1: nothing, batch-2: proposed, batch-3: nothing");
}

// SR-04, SR-13
#[test]
fn a_batch_that_fails_does_not_fail_the_round() {
    let mut run = with_batches(2);
    run.say("engineer", &["denied", "proposed"]);
    assert_eq!(run.last(), "engineer: proposed → next (reviewer)");
    assert_eq!(run.why(), "batch-1: no result, batch-2: proposed");
}

// SR-06, SR-13
#[test]
fn if_one_batch_fails_and_the_others_propose_nothing_there_is_nothing_to_review() {
    let mut run = with_batches(3);
    run.say("engineer", &["nothing", "denied", "nothing"]);
    assert_eq!(run.last(), "engineer: nothing → remand engineer, by-name 1 → 0");
}

// SR-04
#[test]
fn a_failed_engineer_does_not_count_as_a_round_and_skips_the_reviewer() {
    let mut run = in_round_one();
    run.says("engineer", "denied");
    assert_eq!(run.last(), "engineer: no-result → remand engineer, engineer.round 1 → 0");
    assert_eq!(run.left("rounds"), 9);
    assert_eq!(run.commands(), "dispatch engineer for engineer (batch-1)");
}

// SR-03, SR-04
#[test]
fn an_engineer_is_asked_three_times_before_its_round_has_failed() {
    let mut run = in_round_one();
    run.says("engineer", "malformed").says("engineer", "malformed");
    assert_eq!(run.last(), "engineer: no-result → retry after malformed: attempt 3");
    run.says("engineer", "malformed");
    assert_eq!(run.last(), "engineer: no-result → remand engineer, engineer.round 1 → 0");
}

// SR-04
#[test]
fn two_failed_rounds_in_a_row_ask_the_user() {
    let mut run = interactive_in_round_one();
    run.says("engineer", "denied").says("engineer", "denied");
    assert_eq!(run.last(), "engineer: no-result → to failed-twice");
    assert_eq!(run.commands(), "ask failed-twice: retry, redo, pause, abandon");
}

// SR-04
#[test]
fn after_two_failed_rounds_the_user_may_retry_three_times() {
    let mut run = interactive_in_round_one();
    for left in [2, 1, 0] {
        run.says("engineer", "denied").says("engineer", "denied").says("failed-twice", "retry");
        assert_eq!(run.left("guidance"), left);
    }
    run.says("engineer", "denied").says("engineer", "denied");
    assert_eq!(
        run.commands(),
        "ask failed-twice: redo, pause, abandon; not offered: retry (guidance is used up)"
    );
}

// SR-04
#[test]
fn autonomously_two_failed_rounds_pause_the_run() {
    let mut run = in_round_one();
    run.says("engineer", "denied").says("engineer", "denied");
    assert!(run.rulings().contains("failed-twice: pause → hold"), "{}", run.rulings());
    assert_eq!(run.commands(), "ask whether to continue: paused by the workflow: go-on, stop");
}

// SR-04, SR-08
#[test]
fn a_paused_autonomous_run_continues_when_a_human_says_so() {
    let mut run = in_round_one();
    run.says("engineer", "denied").says("engineer", "denied").says("hold", "go-on");
    assert_ne!(run.commands(), "ask whether to continue: paused by the workflow: go-on, stop");
}

// SR-04
#[test]
fn a_success_between_failures_resets_their_count() {
    let mut run = in_round_one();
    run.says("engineer", "denied").says("engineer", "proposed");
    run.until("close-round").says("close-round", "converging").until("engineer");
    run.says("engineer", "denied");
    assert_eq!(run.last(), "engineer: no-result → remand engineer, engineer.round 1 → 0");
}

// SR-04
#[test]
fn a_failed_reviewer_leaves_the_proposals_unreviewed_and_the_round_counts() {
    let mut run = in_round_one();
    run.says("engineer", "proposed").says("reviewer", "denied");
    assert_eq!(run.last(), "reviewer: no-result → next (close-round), with degradation: confidence medium");
    assert_eq!(run.commands(), "do close-round");
    run.says("close-round", "converging");
    assert_eq!(run.left("rounds"), 8);
}

// SR-05
#[test]
fn no_issues_found_is_a_separate_result() {
    let mut run = in_round_one();
    run.says("engineer", "proposed").says("reviewer", "no-issues");
    assert_eq!(run.last(), "reviewer: no-issues → next (close-round)");
    assert_eq!(run.confidence(), "high");
}

// SR-06
#[test]
fn when_all_open_gaps_are_blocked_the_decisions_are_asked_for() {
    let mut run = Setup::of(spec()).run();
    run.until("assign").says("assign", "all-blocked");
    assert_eq!(run.last(), "assign: all-blocked → to waiting");
    assert_eq!(run.commands(), "ask waiting: decided, pause, abandon");
}

// SR-06
#[test]
fn after_the_decision_gaps_are_assigned_again() {
    let mut run = Setup::of(spec()).run();
    run.until("assign").says("assign", "all-blocked").says("waiting", "decided");
    assert_eq!(run.commands(), "do record-decision");
    run.says("record-decision", "recorded").says("progress", "steady");
    assert_eq!(run.commands(), "do assign-gaps");
}

// SR-06
#[test]
fn an_engineer_with_nothing_to_propose_is_asked_once_more_about_an_assigned_gap() {
    let mut run = in_round_one();
    run.says("engineer", "nothing");
    assert_eq!(run.last(), "engineer: nothing → remand engineer, by-name 1 → 0");
    assert_eq!(run.commands(), "dispatch engineer for engineer (batch-1)");
}

// SR-06
#[test]
fn if_nothing_is_proposed_again_the_gaps_are_marked_as_blocked_externally() {
    let mut run = in_round_one();
    run.says("engineer", "nothing").says("engineer", "nothing");
    assert_eq!(run.last(), "engineer: nothing → to outside");
    assert_eq!(run.commands(), "do block-external");
    run.says("outside", "marked");
    assert_eq!(run.commands(), "do close-round");
}

// SR-06
#[test]
fn an_engineer_gets_one_second_try_with_an_assigned_gap_in_each_round() {
    let mut run = in_round_one();
    run.says("engineer", "nothing").says("engineer", "proposed");
    run.until("close-round").says("close-round", "converging").until("engineer");
    assert_eq!(run.left("by-name"), 1);
}

// SR-06
#[test]
fn open_gaps_without_a_proposal_ask_for_input() {
    let mut run = in_round_one();
    run.until("close-round").says("close-round", "empty");
    assert_eq!(run.commands(), "ask stuck: give-input, abandon");
    run.says("stuck", "give-input");
    assert_eq!(run.last(), "stuck: give-input → remand assign, guidance 3 → 2");
}

// SR-06
#[test]
fn gaps_that_all_wait_at_the_end_of_a_round_ask_for_decisions() {
    let mut run = in_round_one();
    run.until("close-round").says("close-round", "waiting");
    assert_eq!(run.commands(), "ask waiting: decided, pause, abandon");
}

// SR-07
#[test]
fn one_stalled_round_does_not_warn() {
    let mut run = in_round_one();
    run.until("close-round").says("close-round", "stalled");
    assert!(run.rulings().contains("close-round: stalled → next (round-end)"), "{}", run.rulings());
    assert_eq!(run.last(), "round-end: continue → remand assign, rounds 9 → 8");
}

// SR-07, SR-08
#[test]
fn a_warning_lets_the_user_choose() {
    for signal in ["warning", "diverging"] {
        let mut run = interactive_in_round_one();
        run.until("close-round").says("close-round", signal);
        assert_eq!(run.commands(), "ask warned: narrow, accept-complexity, redo, pause, force-complete");
    }
}

// SR-08
#[test]
fn autonomously_a_warning_accepts_the_complexity_and_records_it() {
    let mut run = in_round_one();
    run.until("close-round").says("close-round", "warning");
    assert_eq!(run.last(), "warned: accept-complexity → to accept-complexity");
    assert_eq!(run.why(), "the run is autonomous, so the default answer applies");
    assert_eq!(run.commands(), "do accept-complexity");
}

// SR-08
#[test]
fn narrowing_defers_gaps_and_begins_a_new_round() {
    let mut run = interactive_in_round_one();
    run.until("close-round").says("close-round", "warning").says("warned", "narrow");
    assert_eq!(run.commands(), "do narrow-gaps");
    run.says("narrow", "narrowed");
    assert_eq!(run.last(), "narrow: narrowed → remand assign, rounds 9 → 8");
}

// SR-08
#[test]
fn force_complete_needs_a_second_confirmation() {
    let mut run = interactive_in_round_one();
    run.until("close-round").says("close-round", "warning").says("warned", "force-complete");
    assert_eq!(run.commands(), "ask confirm: confirm, back");
    run.says("confirm", "confirm");
    assert_eq!(run.last(), "confirm: confirm → to write-up, with blockers: confidence low");
    run.says("write-up", "committed");
    assert_eq!(run.status(), "done");
}

// SR-08
#[test]
fn a_pause_at_a_warning_returns_to_the_same_question() {
    let mut run = interactive_in_round_one();
    run.until("close-round").says("close-round", "warning").says("warned", "pause");
    assert_eq!(run.status(), "waiting for hold");
    run.says("hold", "go-on");
    assert_eq!(run.commands(), "ask warned: narrow, accept-complexity, redo, pause, force-complete");
}

// SR-10
#[test]
fn a_conflict_is_put_to_the_user() {
    let mut run = interactive_in_round_one();
    run.until("close-round").says("close-round", "conflict");
    assert_eq!(run.commands(), "ask decide: decided, later");
    run.says("decide", "decided");
    assert_eq!(run.commands(), "do record-decision");
    run.says("record-decision", "recorded").says("progress", "steady");
    assert_eq!(run.last(), "progress: steady → remand assign, rounds 9 → 8");
}

// SR-10
#[test]
fn in_autonomous_mode_a_conflict_waits_and_the_other_gaps_continue() {
    let mut run = in_round_one();
    run.until("close-round").says("close-round", "conflict");
    assert_eq!(run.last(), "decide: later → to progress");
    run.says("progress", "steady");
    assert_eq!(run.commands(), "do assign-gaps");
}

// CORE-01, SR-09
#[test]
fn an_engineer_cannot_say_that_the_spec_is_acceptable() {
    let mut run = interactive_in_round_one();
    let claimed =
        WalkStep { flags: vec![("acceptable".to_string(), true)], ..happening("engineer", "proposed") };
    assert!(run.walker.happen(&claimed).is_err());
}

// SR-09
#[test]
fn acceptable_is_computed_by_the_engine_at_the_end_of_the_round() {
    let mut run = interactive_in_round_one();
    run.until("close-round").happens(WalkStep {
        flags: vec![("acceptable".to_string(), true)],
        ..happening("close-round", "converging")
    });
    assert_eq!(run.commands(), "ask round-end: continue, accept, redo, pause, abandon");
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

/// A run with this number of independent batches in its first round.
fn with_batches(count: usize) -> Run {
    let batches = (1..=count).map(|at| task(&format!("batch-{at}"), &[])).collect();
    let gaps = (1..=count).map(|at| task(&format!("GAP-FLOW-{at:03}"), &[])).collect();
    let lists = vec![("gaps".to_string(), gaps), ("batches".to_string(), batches)];
    let walker = Walker::start(spec(), remand_kernel::event::Start::default(), lists).expect("starts");
    let mut run = Run { walker };
    run.until("engineer");
    run
}
