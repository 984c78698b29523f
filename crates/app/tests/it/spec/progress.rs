//! Rounds that make no progress, the user's choices, and the ways in which a refinement ends.

use super::rehearsed::{approved, engineer, gap, inventory, objected, one_gap, proposal, proposed, reviewer};
use super::{SPEC, begin, board, committed, document, json, place};
use crate::rehearsed::Script;
use remand_kernel::gaps::{Actor, GapStatus, RoundState};
use serde_json::json;

/// The reviewer objects in every round.
fn stalling() -> Script {
    Script::of([
        inventory(&[gap("FLOW", "high", "Login"), gap("UX", "low", "Expiry")]),
        engineer("batch-1").says(proposed(&[proposal("GAP-FLOW-001", "Login", "Three tries.")])),
        engineer("batch-2").says(proposed(&[proposal("GAP-UX-001", "Expiry", "An hour.")])),
        reviewer().says(objected("GAP-FLOW-001", "low", "A comma.")),
    ])
}

// SR-07, SR-09, SR-17
#[test]
fn an_autonomous_run_accepts_the_complexity_and_stops_at_the_last_round_with_a_draft() {
    let place = place();
    let shown = begin(&place, &stalling(), &[]);
    assert_eq!(shown.code, 4, "{shown:?}");
    let board = board(&place);
    let states: Vec<RoundState> = board.rows().iter().map(|row| row.state).collect();
    assert_eq!(states.len(), 10, "ten rounds and no more");
    assert_eq!(
        states[..4],
        [RoundState::Stalled(1), RoundState::Warning(2), RoundState::Stalled(1), RoundState::Warning(2)]
    );
    assert_eq!(committed(&place, "specs/sessions_draft.md"), SPEC, "nothing was accepted");
    let summary = document(&place, "summary.md");
    assert!(
        summary.contains("**Status:** draft, out of rounds") && summary.contains("GAP-FLOW-001, high"),
        "{summary}"
    );
    let reported = place.remand(&["rounds"]).out;
    assert!(reported.contains("stalled (2), warning") && reported.contains("start  ████"), "{reported}");
}

/// An interactive run at the gate about two stalled rounds.
fn at_stall_gate() -> super::Place {
    let place = place();
    assert_eq!(begin(&place, &stalling(), &["--interactive"]).code, 5);
    assert_eq!(place.remand(&["answer", "latest", "continue"]).code, 5);
    let gates = place.remand(&["gates"]).out;
    assert!(gates.contains("no net progress"), "{gates}");
    place
}

// SR-08
#[test]
fn narrowing_defers_low_gaps_that_block_nothing() {
    let place = at_stall_gate();
    place.remand(&["answer", "latest", "narrow", "--note", "later"]);
    let board = board(&place);
    let low = board.gaps().find(|gap| gap.id.to_string() == "GAP-UX-001").expect("a gap");
    assert_eq!(low.status, GapStatus::Deferred);
    let moved = board.transitions().iter().find(|moved| moved.to == GapStatus::Deferred).expect("a move");
    assert_eq!((moved.actor, moved.why.as_str()), (Actor::User, "later"));
    assert_eq!(board.rows().last().map(|row| row.state), Some(RoundState::Stalled(1)), "the count restarts");
}

// SR-08, SR-09
#[test]
fn a_forced_completion_asks_twice_and_names_the_gaps_that_stay_open() {
    let place = at_stall_gate();
    assert_eq!(place.remand(&["answer", "latest", "force-complete"]).code, 5);
    let shown = place.remand(&["answer", "latest", "confirm"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let summary = document(&place, "summary.md");
    assert!(summary.contains("**Status:** user-approved with known gaps"), "{summary}");
    assert!(summary.contains("- GAP-FLOW-001, high"), "{summary}");
    assert_eq!(place.latest().confidence, "low");
}

// SR-09
#[test]
fn high_gaps_are_named_one_by_one_before_a_user_accepts() {
    let place = place();
    assert_eq!(begin(&place, &stalling(), &["--interactive"]).code, 5);
    let gates = place.remand(&["gates"]).out;
    assert!(gates.contains("open, with high severity: GAP-FLOW-001"), "{gates}");
    let shown = place.remand(&["answer", "latest", "accept"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert_eq!(committed(&place, "specs/sessions_v1.0.md"), SPEC);
}

// SR-09
#[test]
fn accepting_without_a_clean_final_review_is_not_complete() {
    let place = place();
    let mut review = approved(&["GAP-FLOW-001"]);
    review["verdict"] = json!("reviewed");
    review["reviews"][0] = json!({
        "gap": "GAP-FLOW-001", "judgement": "approved-with-note", "note": "A comma.",
        "issues": [{"severity": "low", "concern": "A comma."}],
    });
    let script = one_gap().with(reviewer().says(review));
    assert_eq!(begin(&place, &script, &["--interactive"]).code, 5);
    let shown = place.remand(&["answer", "latest", "accept"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let summary = document(&place, "summary.md");
    assert!(summary.contains("**Status:** user-approved without a clean final review"), "{summary}");
    let message = place.git(&["log", "-1", "--format=%s", &place.latest().branch]);
    assert!(message.contains("without a clean final review"), "{message}");
}

// SR-09
#[test]
fn while_a_critical_gap_is_open_accepting_is_not_offered() {
    let place = place();
    let script = stalling().with(inventory(&[gap("FLOW", "critical", "Login")]));
    assert_eq!(begin(&place, &script, &["--interactive"]).code, 5);
    let shown = place.remand(&["answer", "latest", "accept"]);
    assert!(shown.code == 1 && shown.err.contains("does not offer `accept`"), "{shown:?}");
}

// SR-09, SR-12
#[test]
fn a_paused_run_continues_where_it_stopped_and_an_abandoned_run_is_kept() {
    let place = place();
    assert_eq!(begin(&place, &stalling(), &["--interactive"]).code, 5);
    let before = board(&place);
    assert_eq!(place.remand(&["answer", "latest", "pause"]).code, 5);
    assert_eq!(place.remand(&["answer", "latest", "go-on"]).code, 5);
    assert_eq!(board(&place), before, "a pause changes nothing");
    let shown = place.remand(&["answer", "latest", "abandon"]);
    assert_eq!(shown.code, 4, "{shown:?}");
    assert!(document(&place, "summary.md").contains("**Status:** abandoned"));
    assert!(document(&place, "round_001/engineer.md").contains("Three tries."));
}

// SR-07
#[test]
fn a_round_that_opens_many_gaps_diverges_immediately() {
    let place = place();
    let more: Vec<_> = (0..4).map(|_| gap("NEW", "low", "Expiry")).collect();
    let mut review = objected("GAP-FLOW-001", "low", "A comma.");
    review["new_gaps"] = json!(more);
    let script = one_gap().with(reviewer().round(1).says(review));
    assert_eq!(begin(&place, &script, &["--interactive"]).code, 5);
    let reported = json(&place, &["rounds", "--json"]);
    assert_eq!(
        (&reported["rounds"][0]["state"], &reported["rounds"][0]["net"]),
        (&json!("diverging"), &json!(-4))
    );
    let asked = place.remand(&["gates"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "no net progress",
        "round 1 of at most 10; open gaps: 0 critical, 1 high, 0 medium, 4 low",
        "round 1: 1 gap at the start, 0 resolved, 4 new, 5 at the end; net -4, weighted net -4",
    ] {
        assert!(asked.contains(expected), "{expected}: {asked}");
    }
}

// SR-07 SR-08
#[test]
fn the_question_about_a_stall_shows_the_numbers_of_both_rounds() {
    let asked = at_stall_gate().remand(&["gates"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(asked.contains("round 2 of at most 10; open gaps: "), "{asked}");
    for round in ["round 1: ", "round 2: "] {
        let numbers = asked.split(round).nth(1).unwrap_or_else(|| panic!("{round} in {asked}"));
        assert!(numbers.contains("at the start") && numbers.contains("weighted net"), "{asked}");
    }
}
