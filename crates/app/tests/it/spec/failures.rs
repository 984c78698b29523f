//! Invalid results: retries with other instructions, rounds that do not count, gaps without a proposal.

use super::rehearsed::{
    approved, engineer, final_review, gap, inventory, one_gap, proposal, proposed, reviewer,
};
use super::{begin, board, document, inputs_of, json, place, prompts};
use crate::rehearsed::Script;
use remand_kernel::gaps::{BlockedOn, GapStatus, RoundState};
use serde_json::json;

// SR-03
#[test]
fn a_retry_gets_advice_about_the_failure_before_it() {
    let place = place();
    let script = one_gap()
        .with(engineer("batch-1").attempt(1).does(json!({"print": "nothing to see"})))
        .with(engineer("batch-1").attempt(2).does(json!({"result-text": "verdict: proposed"})));
    let shown = begin(&place, &script, &[]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let prompts = prompts(&place, "engineer");
    assert_eq!(prompts.len(), 3);
    assert!(!prompts[0].contains("previous attempt failed"), "{}", prompts[0]);
    assert!(prompts[1].contains("Submit it with the tool, or write it to `"), "{}", prompts[1]);
    assert!(prompts[2].contains("Answer even if you are uncertain"), "{}", prompts[2]);
    let status = document(&place, "status.md");
    let errors = status.split("## Errors and retries").nth(1).expect("errors are in the status");
    assert_eq!(errors.matches("engineer (batch-1): malformed").count(), 2, "{status}");
    assert_eq!(errors.matches("tried again").count(), 2, "{status}");
}

// SR-03
#[test]
fn a_result_about_an_unknown_gap_is_requested_again_with_the_list_of_gaps() {
    let place = place();
    let other = proposed(&[proposal("GAP-OTHER-009", "Login", "Three tries.")]);
    let form = json!({"verdict": "proposed", "proposals": [{"gap": "GAP-FLOW-001"}]});
    let script = one_gap()
        .with(engineer("batch-1").attempt(1).says(other))
        .with(engineer("batch-1").attempt(2).says(form));
    let shown = begin(&place, &script, &[]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let prompts = prompts(&place, "engineer");
    assert!(prompts[1].contains("at least one of these gaps:\n\n- GAP-FLOW-001"), "{}", prompts[1]);
    assert!(prompts[2].contains("a complete, valid result"), "{}", prompts[2]);
}

// SR-03
#[test]
fn the_minimum_length_of_a_result_is_a_setting() {
    let place = super::place_with(&[("remand.toml", "[rounds]\nleast = 100000\n")]);
    let shown = begin(&place, &one_gap(), &[]);
    assert_eq!(shown.code, 4, "{shown:?}");
    assert!(shown.err.contains("at least 100000 characters"), "{}", shown.err);
}

// SR-04 SR-15
#[test]
fn two_failed_rounds_in_a_row_ask_the_user_and_neither_counts() {
    let place = place();
    let script = one_gap().with(engineer("batch-1").does(json!({"print": "nothing"})));
    let shown = begin(&place, &script, &[]);
    assert_eq!(shown.code, 5, "an autonomous run pauses: {shown:?}");
    let reported = json(&place, &["rounds", "--json"]);
    let states: Vec<&str> = reported["rounds"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["state"].as_str().expect("a state"))
        .collect();
    assert_eq!(states, ["failed", "failed"]);
    let rows = place.reader().dispatches(&place.latest().run).expect("dispatches");
    assert!(rows.iter().all(|row| row.role != "spec-reviewer"), "there is nothing to review");
    let status = document(&place, "status.md");
    let failed = status.lines().filter(|line| line.starts_with('|') && line.contains("failed")).count();
    assert!(failed >= 2, "both rounds are in the table: {status}");
    let errors = status.split("## Errors").nth(1).unwrap_or_else(|| panic!("no errors in {status}"));
    let attempts = rows.iter().filter(|row| row.role == "engineer").count();
    assert_eq!(errors.matches("engineer").count(), attempts, "every failed attempt: {status}");
    assert!(document(&place, "round_002/summary.md").contains("**End:** failed"));
}

// SR-04
#[test]
fn a_failed_round_is_recorded_and_the_next_one_works_on_the_same_gaps() {
    let place = place();
    let script = one_gap().with(engineer("batch-1").round(1).does(json!({"print": "nothing"})));
    assert_eq!(begin(&place, &script, &[]).code, 0);
    let rows = board(&place).rows().to_vec();
    assert_eq!(
        rows.iter().map(|row| row.state).collect::<Vec<_>>(),
        [RoundState::Failed, RoundState::Converging]
    );
    assert!(document(&place, "round_001/summary.md").contains("**End:** failed"));
    assert!(document(&place, "round_002/engineer.md").contains("Three tries."));
}

// SR-04
#[test]
fn unreviewed_proposals_are_reviewed_first_in_the_next_round() {
    let place = place();
    let script = one_gap().with(reviewer().round(1).does(json!({"print": "nothing"})));
    let shown = begin(&place, &script, &[]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let engineers = inputs_of(&place, "engineer", "assignment.md").len();
    assert_eq!(engineers, 1, "it is proposed once and reviewed twice");
    let shown = inputs_of(&place, "spec-reviewer", "proposals.md");
    let last = shown.last().expect("a review");
    assert!(last.contains("GAP-FLOW-001 (not reviewed yet)") && last.contains("Three tries."), "{last}");
    assert!(document(&place, "round_001/reviewer.md").contains("The proposals are unreviewed."));
    assert!(board(&place).rows().iter().all(|row| row.state.counts()), "a round without review counts");
}

// SR-05
#[test]
fn silence_is_not_a_review() {
    let place = place();
    let silent = json!({"verdict": "no-issues", "reviews": [{"gap": "GAP-FLOW-001", "judgement": "approved"}], "checks": []});
    let script = one_gap().with(reviewer().attempt(1).says(silent));
    assert_eq!(begin(&place, &script, &[]).code, 0);
    let prompts = prompts(&place, "spec-reviewer");
    assert!(prompts[1].contains("payload.checks"), "{}", prompts[1]);
}

// SR-06
#[test]
fn an_engineer_without_proposals_gets_one_gap_by_name_which_then_waits_for_something_external() {
    let place = place();
    let script = one_gap().with(engineer("batch-1").says(json!({"verdict": "nothing", "proposals": []})));
    let shown = begin(&place, &script, &[]);
    assert_eq!(shown.code, 5, "the user is asked: {shown:?}");
    let assignments = inputs_of(&place, "engineer", "assignment.md");
    assert!(!assignments[0].contains("Address GAP-FLOW-001 now"), "{}", assignments[0]);
    assert!(assignments[1].contains("Address GAP-FLOW-001 now"), "{}", assignments[1]);
    let board = board(&place);
    let gap = board.gaps().next().expect("a gap");
    assert_eq!(gap.status, GapStatus::Blocked);
    assert!(matches!(gap.waits_for, Some(BlockedOn::External(_))), "{gap:?}");
    let gates = place.remand(&["gates"]);
    assert!(gates.out.contains("waits for something external"), "{}", gates.out);
}

// SR-06
#[test]
fn only_the_gap_assigned_by_name_waits_and_the_others_get_their_turn() {
    let place = place();
    let nothing = || json!({"verdict": "nothing", "proposals": []});
    let script = Script::of([
        inventory(&[gap("FLOW", "high", "Login"), gap("DATA", "low", "Login"), gap("TIME", "low", "Expiry")]),
        engineer("batch-1").says(nothing()),
        engineer("batch-2").says(nothing()),
        engineer("batch-1").round(3).says(proposed(&[proposal("GAP-DATA-001", "Login", "Three tries.")])),
        reviewer().says(approved(&["GAP-DATA-001"])),
        final_review(),
    ]);
    let shown = begin(&place, &script, &[]);
    assert_eq!(shown.code, 5, "{shown:?}");
    let assignments = inputs_of(&place, "engineer", "assignment.md");
    let named: Vec<bool> = ["FLOW", "TIME"]
        .iter()
        .map(|gap| assignments[2].contains(&format!("Address GAP-{gap}-001 now")))
        .collect();
    assert_eq!(named, [true, false], "{}", assignments[2]);
    assert!(assignments[3].contains("Address GAP-TIME-001 now"), "{}", assignments[3]);
    let board = board(&place);
    let status = |id: &str| board.gap(&id.parse().expect("an id")).expect("a gap").status;
    assert_eq!(status("GAP-FLOW-001"), GapStatus::Blocked);
    assert_eq!(status("GAP-TIME-001"), GapStatus::Blocked);
    assert_eq!(status("GAP-DATA-001"), GapStatus::Resolved);
}

// SR-06
#[test]
fn a_decision_of_the_user_lifts_the_block_and_is_binding() {
    let place = place();
    let script =
        one_gap().with(engineer("batch-1").round(1).says(json!({"verdict": "nothing", "proposals": []})));
    let script =
        script.with(engineer("batch-1").round(2).says(json!({"verdict": "nothing", "proposals": []})));
    assert_eq!(begin(&place, &script, &[]).code, 5);
    let note = "GAP-FLOW-001: The board wants three tries because of the audit";
    let shown = place.remand(&["answer", "latest", "decided", "--note", note]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let last = inputs_of(&place, "engineer", "assignment.md").pop().expect("an assignment");
    assert!(last.contains("A human decided on GAP-FLOW-001: see `decisions.md`. This binds you."), "{last}");
    let given = inputs_of(&place, "engineer", "decisions.md").pop().expect("the decisions");
    assert!(given.contains("**Decision:** The board wants three tries"), "{given}");
    assert!(given.contains("**Reason:** of the audit"), "{given}");
    // HO-09: nothing is given twice.
    let briefed = prompts(&place, "engineer").pop().expect("a prompt");
    assert_eq!(briefed.matches("The board wants three tries").count(), 1, "{briefed}");
}

// SR-13
#[test]
fn when_two_proposals_change_one_section_one_is_merged_and_the_other_goes_back() {
    let place = place();
    let script = Script::of([
        inventory(&[gap("FLOW", "high", "Login"), gap("DATA", "low", "Storage")]),
        engineer("batch-1").round(1).says(proposed(&[proposal("GAP-FLOW-001", "Login", "Three tries.")])),
        engineer("batch-2").round(1).says(proposed(&[proposal("GAP-DATA-001", "login", "In a database.")])),
        reviewer().round(1).says(approved(&["GAP-FLOW-001", "GAP-DATA-001"])),
        engineer("batch-1").round(2).says(proposed(&[proposal("GAP-DATA-001", "Storage", "In a database.")])),
        reviewer().round(2).says(approved(&["GAP-DATA-001"])),
        final_review(),
    ]);
    let shown = begin(&place, &script, &[]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let rows = place.reader().dispatches(&place.latest().run).expect("dispatches");
    let first: Vec<u64> =
        rows.iter().filter(|row| row.role == "engineer" && row.visit == 1).map(|row| row.seq).collect();
    assert!(first.len() == 2 && first[0] == first[1], "both engineers start in parallel: {first:?}");
    let summary = document(&place, "round_001/summary.md");
    assert!(summary.contains("GAP-FLOW-001 and GAP-DATA-001 both write section `login`"), "{summary}");
    let text = super::committed(&place, "specs/sessions_v1.0.md");
    assert_eq!((text.matches("Three tries.").count(), text.matches("In a database.").count()), (1, 1));
}

// SR-16
#[test]
fn a_round_gets_at_most_the_configured_number_of_gaps_the_worst_first() {
    let place = super::place_with(&[("remand.toml", "[rounds]\ngaps = 1\n")]);
    let script = Script::of([
        inventory(&[gap("FLOW", "low", "Login"), gap("DATA", "critical", "Storage")]),
        engineer("batch-1").round(1).says(proposed(&[proposal("GAP-DATA-001", "Storage", "In a database.")])),
        reviewer().round(1).says(approved(&["GAP-DATA-001"])),
        engineer("batch-1").round(2).says(proposed(&[proposal("GAP-FLOW-001", "Login", "Three tries.")])),
        reviewer().round(2).says(approved(&["GAP-FLOW-001"])),
        final_review(),
    ]);
    assert_eq!(begin(&place, &script, &[]).code, 0);
    let given = inputs_of(&place, "engineer", "assignment.md");
    assert!(given[0].contains("GAP-DATA-001") && !given[0].contains("GAP-FLOW-001"), "{}", given[0]);
}
