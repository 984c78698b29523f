//! Engineer and reviewer disagree: the user chooses one of the stated positions, and the decision is binding.

use super::rehearsed::{approved, engineer, gap, objected, one_gap, proposal, proposed, reviewer};
use super::{begin, board, document, inputs_of, place};
use crate::rehearsed::Script;
use remand_kernel::gaps::{GapStatus, IssueState};
use serde_json::{Value, json};

fn login(text: &str) -> Value {
    proposed(&[proposal("GAP-FLOW-001", "Login", text)])
}

/// The reviewer objects in round 1, the engineer disagrees in round 2.
pub fn disputed() -> Script {
    let mut second = login("Three tries, as I said.");
    second["answers"] = json!([{
        "issue": "ISSUE-R1-001", "stance": "disagree", "position": "Three are enough",
        "rationale": "a person mistypes twice", "alternative": "Let the operator say",
        "trade_off": "locks some out", "alternative_trade_off": "one more setting",
    }]);
    let mut objection = objected("GAP-FLOW-001", "high", "Five at least.");
    objection["reviews"][0]["issues"][0]["trade_off"] = json!("guessing gets easier");
    one_gap()
        .with(engineer("batch-1").round(1).says(login("Three tries.")))
        .with(reviewer().round(1).says(objection))
        .with(engineer("batch-1").round(2).says(second))
        .with(reviewer().round(2).says(objected("GAP-FLOW-001", "high", "I still want five.")))
        .with(engineer("batch-1").round(3).says(login("The operator says how many tries there are.")))
        .with(reviewer().round(3).says(approved(&["GAP-FLOW-001"])))
}

/// A run at the gate that shows the positions.
fn at_gate() -> super::Place {
    let place = place();
    assert_eq!(begin(&place, &disputed(), &["--interactive"]).code, 5);
    assert_eq!(place.remand(&["answer", "latest", "continue"]).code, 5);
    place
}

// SR-10
#[test]
fn the_gate_shows_every_position_and_the_choice_binds_the_next_engineer() {
    let place = at_gate();
    let gates = place.remand(&["gates"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "Engineer and reviewer disagree.",
        "round 2 of at most 10; open gaps: 0 critical, 1 high, 0 medium, 0 low",
        "ISSUE-R1-001 about GAP-FLOW-001: (1) the reviewer: Five at least. (trade-off: guessing gets easier)",
        "(2) the engineer: Three are enough: a person mistypes twice (trade-off: locks some out)",
        "(3) the engineer: Let the operator say (trade-off: one more setting)",
    ] {
        assert!(gates.contains(words), "{words} in {gates}");
    }
    let shown = place.remand(&[
        "answer",
        "latest",
        "decided",
        "--note",
        "ISSUE-R1-001: 3 because both can live with it",
    ]);
    assert_eq!(shown.code, 5, "the second round without progress is a question too: {shown:?}");
    assert_eq!(place.remand(&["answer", "latest", "accept-complexity"]).code, 0);
    let assignment = inputs_of(&place, "engineer", "assignment.md").pop().expect("an assignment");
    assert!(
        assignment.contains("A human decided on ISSUE-R1-001: see `decisions.md`. This binds you."),
        "{assignment}"
    );
    let decisions = document(&place, "decisions.md");
    for line in
        ["**Decision:** Let the operator say", "**Reason:** both can live with it", "**Decided by:** ada"]
    {
        assert!(decisions.contains(line), "{line} in {decisions}");
    }
    assert!(decisions.contains("| engineer | Let the operator say"), "{decisions}");
    assert!(decisions.contains("| one more setting "), "{decisions}");
    assert!(decisions.contains("## ISSUE-R1-001, round 2"), "the round that it was decided in: {decisions}");
}

// SR-10
#[test]
fn an_answer_that_decides_nothing_is_reported_and_the_question_stays() {
    let place = at_gate();
    let shown = place.remand(&["answer", "latest", "decided", "--note", "9"]);
    assert_eq!(shown.code, 5, "{shown:?}");
    assert!(board(&place).decisions().is_empty());
    let gates = place.remand(&["gates"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["waits for a decision", "(2) the engineer: Three are enough"] {
        assert!(gates.contains(words), "{words} in {gates}");
    }
    let notes = place.reader().notes(&place.latest().run).expect("notes");
    assert!(notes.iter().any(|note| note.text.starts_with("`9` decides nothing: ")), "{notes:?}");
}

// SR-10
#[test]
fn an_autonomous_run_blocks_the_gap_on_the_decision_and_continues_with_the_others() {
    let place = place();
    let shown = begin(&place, &disputed(), &[]);
    assert_eq!(shown.code, 5, "with nothing else to do it waits: {shown:?}");
    assert_eq!(board(&place).gaps().next().expect("a gap").status, GapStatus::Blocked);
    assert!(place.remand(&["gates"]).out.contains("(2) the engineer"), "the positions are shown");
}

// SR-10
#[test]
fn silence_on_a_grave_issue_must_be_answered_and_then_is_a_conflict() {
    let place = place();
    let script = one_gap()
        .with(engineer("batch-1").says(login("Three tries.")))
        .with(reviewer().round(1).says(objected("GAP-FLOW-001", "critical", "Five at least.")))
        .with(reviewer().round(2).says(objected("GAP-FLOW-001", "low", "A comma.")))
        .with(reviewer().round(3).says(objected("GAP-FLOW-001", "low", "A comma.")));
    assert_eq!(begin(&place, &script, &[]).code, 5);
    let assignments = inputs_of(&place, "engineer", "assignment.md");
    assert_eq!(assignments.len(), 3, "{assignments:?}");
    assert!(!assignments[1].contains("## Must be answered"), "{}", assignments[1]);
    assert!(assignments[2].contains("no answer yet: ISSUE-R1-001"), "{}", assignments[2]);
    let board = board(&place);
    let issue = board.issues().find(|issue| issue.id.to_string() == "ISSUE-R1-001").expect("an issue");
    assert!(matches!(issue.state, IssueState::Unanswered { silences: 2 }), "{issue:?}");
    assert_eq!(board.conflicts().count(), 1);
}

// SR-06, SR-10
#[test]
fn earlier_statements_about_a_gap_count_together_with_later_ones() {
    let place = place();
    let nothing = json!({
        "verdict": "nothing", "proposals": [], "new_gaps": [gap("TIME", "low", "Expiry")],
        "answers": [{
            "issue": "ISSUE-R1-001", "stance": "disagree", "position": "Three are enough",
            "rationale": "a person mistypes twice", "trade_off": "locks some out",
        }],
    });
    let script = one_gap()
        .with(engineer("batch-1").round(1).says(login("Three tries.")))
        .with(reviewer().round(1).says(objected("GAP-FLOW-001", "high", "Five at least.")))
        .with(engineer("batch-1").round(2).says(nothing))
        .with(engineer("batch-1").round(3).says(login("Three tries, as I said.")))
        .with(reviewer().round(2).says(objected("GAP-FLOW-001", "high", "I still want five.")))
        .with(engineer("batch-1").round(4).says(proposed(&[proposal("GAP-TIME-001", "Expiry", "An hour.")])))
        .with(reviewer().round(3).says(approved(&["GAP-TIME-001"])));
    let shown = begin(&place, &script, &[]);
    assert_eq!(shown.code, 5, "{shown:?}");
    let board = board(&place);
    let status = |id: &str| board.gap(&id.parse().expect("an id")).map(|gap| gap.status);
    assert_eq!(status("GAP-FLOW-001"), Some(GapStatus::Blocked));
    assert_eq!(status("GAP-TIME-001"), Some(GapStatus::Resolved));
    let conflicts: Vec<String> = board.conflicts().map(|conflict| conflict.issue.to_string()).collect();
    assert_eq!(conflicts, ["ISSUE-R1-001"]);
}

// SR-10
#[test]
fn many_disagreements_are_reported() {
    let place = at_gate();
    let summary = document_of_round_two(&place);
    assert!(summary.contains("the engineer disagreed with 1 of 1 issues"), "{summary}");
}

fn document_of_round_two(place: &super::Place) -> String {
    // The documents of a round are written before the next one starts, and are in the ledger immediately.
    let notes = place.reader().notes(&place.latest().run).expect("notes");
    notes.iter().map(|note| format!("{}\n", note.text)).collect()
}

// SR-07 SR-08 SR-10
#[test]
fn a_round_with_a_conflict_and_a_warning_asks_about_both() {
    for (option, note) in [("decided", "ISSUE-R1-001: 3"), ("later", "")] {
        // Two rounds without progress, and a conflict in the second one.
        let place = at_gate();
        assert_eq!(place.remand(&["gates"]).out.matches("Engineer and reviewer disagree").count(), 1);
        let shown = place.remand(&["answer", "latest", option, "--note", note]);
        assert_eq!(shown.code, 5, "{shown:?}");
        let gate = place.reader().open_gates().expect("gates").pop().expect("a gate");
        assert_eq!(gate.phase, "warned", "{option}");
        let shown = place.remand(&["answer", "latest", "accept-complexity"]);
        let expected = if option == "decided" { 0 } else { 5 };
        assert_eq!(shown.code, expected, "nobody is asked twice: {shown:?}");
    }
}
