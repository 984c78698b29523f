//! Rounds that a human rolls back: archived, never deleted, within limits; after that the best attempt is kept.

use super::rehearsed::{
    approved, engineer, final_review, gap, inventory, objected, one_gap, proposal, proposed, reviewer,
};
use super::{Place, SPEC, begin, board, committed, document, has_document, inputs_of, json, place};
use crate::rehearsed::Script;
use remand_kernel::gaps::GapStatus;
use remand_ledger::{ReplayFrom, replay};
use serde_json::json;

/// Each round resolves one of three gaps.
fn three_gaps() -> Script {
    Script::of([
        inventory(&[gap("A", "critical", "Login"), gap("B", "high", "Storage"), gap("C", "low", "Expiry")]),
        engineer("batch-1").says(proposed(&[proposal("GAP-A-001", "Login", "Alpha.")])),
        engineer("batch-2").says(proposed(&[proposal("GAP-B-001", "Storage", "Beta.")])),
        engineer("batch-3").says(proposed(&[proposal("GAP-C-001", "Expiry", "Gamma.")])),
        reviewer().round(1).says(json!({
            "verdict": "reviewed", "checks": ["all"],
            "reviews": [
                {"gap": "GAP-A-001", "judgement": "approved"},
                {"gap": "GAP-B-001", "judgement": "needs-revision", "note": "no"},
                {"gap": "GAP-C-001", "judgement": "needs-revision", "note": "no"},
            ],
        })),
        engineer("batch-1").round(2).says(proposed(&[proposal("GAP-B-001", "Storage", "Beta, badly.")])),
        engineer("batch-2").round(2).says(proposed(&[proposal("GAP-C-001", "Expiry", "Gamma.")])),
        reviewer().round(2).says(approved(&["GAP-B-001", "GAP-C-001"])),
        engineer("batch-1").round(3).says(proposed(&[proposal("GAP-B-001", "Storage", "Beta, well.")])),
        reviewer().round(3).says(approved(&["GAP-B-001", "GAP-C-001"])),
        final_review(),
    ])
}

/// A run at the gate at the end of round 1.
fn after_round_one() -> Place {
    let place = place();
    let shown = begin(&place, &three_gaps(), &["--interactive"]);
    assert_eq!(shown.code, 5, "{shown:?}");
    place
}

/// The remainder of a budget.
fn remaining(place: &Place, budget: &str) -> u16 {
    let (reader, run) = (place.reader(), place.latest().run);
    let replayed = replay(&reader, &run, ReplayFrom::Start).expect("a run");
    let program = &replayed.program;
    let id = program.budgets.iter().position(|it| it.name == budget).expect("a budget");
    replayed.state.left[id]
}

// SR-11
#[test]
fn a_rollback_restores_text_and_gaps_from_the_start_of_the_round() {
    let place = after_round_one();
    let accepted = board(&place);
    assert_eq!(accepted.gaps().filter(|gap| gap.status == GapStatus::Resolved).count(), 1);
    assert!(document(&place, "spec.md").contains("Alpha."));
    assert_eq!(place.remand(&["rounds", "rollback", "latest", "--to", "1", "--reason", "no"]).code, 5);
    let specs = inputs_of(&place, "engineer", "spec.md");
    assert_eq!(specs[3], SPEC, "the accepted text is gone");
    let assigned: String = inputs_of(&place, "engineer", "assignment.md")[3..].concat();
    assert!(assigned.contains("## GAP-A-001 (critical)"), "the gap is open again: {assigned}");
    let (reader, run) = (place.reader(), place.latest().run);
    let engineers =
        reader.dispatches(&run).expect("dispatches").into_iter().filter(|row| row.role == "engineer");
    let prompts: Vec<String> = engineers
        .map(|row| {
            String::from_utf8_lossy(&reader.blob(row.prompt.expect("a prompt")).expect("a blob")).into_owned()
        })
        .collect();
    let is_first = |prompt: &String| prompt.contains("Phase `engineer` of the workflow `spec`, round 1.");
    assert!(prompts.iter().all(is_first), "the round starts again: {prompts:?}");
    let gap = board(&place).gap(&"GAP-A-001".parse().expect("an id")).expect("a gap").clone();
    assert_eq!((gap.status, gap.proposal), (GapStatus::Open, None));
}

// SR-11
#[test]
fn a_rolled_back_round_is_archived_with_its_documents_and_gaps_and_text_are_restored() {
    let place = place();
    let one = one_gap().with(reviewer().round(1).says(objected("GAP-FLOW-001", "low", "A comma.")));
    let script = one.with(engineer("batch-1").round(2).says(proposed(&[proposal(
        "GAP-FLOW-001",
        "Login",
        "Three tries, please.",
    )])));
    assert_eq!(begin(&place, &script, &["--interactive"]).code, 5);
    let shown = place.remand(&[
        "rounds",
        "rollback",
        "latest",
        "--to",
        "1",
        "--mode",
        "context",
        "--reason",
        "too abstract",
        "--context",
        "Give numbers.",
    ]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let kept = document(&place, "round_001_rolled_back_1/engineer.md");
    assert!(kept.contains("Three tries.") && !kept.contains("please"), "{kept}");
    assert!(document(&place, "round_001/engineer.md").contains("Three tries, please."));
    let status = document(&place, "status.md");
    for line in [
        "**Rounds:** 1 closed, at most 10",
        "## Round 1 rolled back",
        "**Reason:** too abstract",
        "- Give numbers.",
        "round_001_rolled_back_1",
    ] {
        assert!(status.contains(line), "{line} in {status}");
    }
    let adjustments = inputs_of(&place, "engineer", "adjustments.md");
    assert!(
        adjustments[0].is_empty()
            && adjustments[1].contains("too abstract")
            && adjustments[1].contains("- Give numbers."),
        "{adjustments:?}"
    );
    let after = board(&place);
    assert_eq!(after.rows().len(), 1, "the counter is reset");
    let used = place.latest().used.dispatches;
    assert_eq!(used, 6, "spent dispatches stay spent: inventory, two rounds of two, the final review");
}

// SR-11
#[test]
fn a_rollback_to_an_earlier_round_also_rolls_back_all_later_ones() {
    let place = place();
    let never = one_gap().with(reviewer().says(objected("GAP-FLOW-001", "low", "A comma.")));
    assert_eq!(begin(&place, &never, &["--interactive"]).code, 5);
    assert_eq!(place.remand(&["answer", "latest", "continue"]).code, 5);
    assert_eq!(board(&place).rows().len(), 2);
    let shown = place.remand(&["rounds", "rollback", "latest", "--to", "1", "--reason", "all of it"]);
    assert_eq!(shown.code, 5, "{shown:?}");
    // EP-23
    let evidence = place.remand(&["evidence", "latest"]).out;
    for part in ["rolled back to round 1 by ", ": all of it", "| spec-reviewer |"] {
        assert!(evidence.contains(part), "{part}: {evidence}");
    }
    assert!(!evidence.contains("Nothing was committed"), "{evidence}");
    for round in ["round_001_rolled_back_1", "round_002_rolled_back_1"] {
        assert!(document(&place, &format!("{round}/engineer.md")).contains("Three tries."), "{round}");
    }
    assert!(has_document(&place, "round_001/summary.md") && !has_document(&place, "round_002"));
    let reported = json(&place, &["rounds", "--json"]);
    assert_eq!(reported["rollbacks"].as_array().map(Vec::len), Some(1), "one rollback for both: {reported}");
    assert_eq!((reported["rounds"].as_array().map(Vec::len), &reported["round"]), (Some(1), &json!(2)));
    let (max, left) = (reported["max-rounds"].as_u64().expect("a number"), remaining(&place, "rounds"));
    assert_eq!((max, u64::from(left) + 1), (9, 9), "the second round stays spent, and both say so (CORE-11)");
    let issues: Vec<String> = board(&place).issues().map(|issue| issue.id.to_string()).collect();
    assert_eq!(issues, ["ISSUE-R1-002"], "an id is never reused");
}

// SR-15
#[test]
fn a_round_that_is_rolled_back_early_keeps_its_documents() {
    let place = place();
    assert_eq!(begin(&place, &one_gap(), &["--budget-dispatches", "2"]).code, 5, "before the review");
    let shown = place.remand(&["rounds", "rollback", "latest", "--to", "1", "--reason", "too early"]);
    assert_eq!(shown.code, 5, "{shown:?}");
    let kept = |name: &str| document(&place, &format!("round_001_rolled_back_1/{name}"));
    assert!(kept("engineer.md").contains("Three tries."), "{}", kept("engineer.md"));
    assert!(kept("reviewer.md").contains("rolled back before it was reviewed"), "{}", kept("reviewer.md"));
    assert!(kept("summary.md").contains("rolled back before it was closed"), "{}", kept("summary.md"));
}

// SR-11
#[test]
fn a_round_with_failed_engineers_can_be_redone() {
    let place = place();
    let script = one_gap().with(engineer("batch-1").does(json!({"print": "nothing"})));
    let script = script.with(engineer("batch-1").round(3).says(proposed(&[proposal(
        "GAP-FLOW-001",
        "Login",
        "Three tries.",
    )])));
    assert_eq!(begin(&place, &script, &["--interactive"]).code, 5);
    assert!(place.remand(&["gates"]).out.contains("Two rounds in a row failed."));
    let shown = place.remand(&["answer", "latest", "redo", "--note", "Name a number."]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(has_document(&place, "round_002_rolled_back_1/summary.md"));
    assert!(inputs_of(&place, "engineer", "adjustments.md").pop().expect("one").contains("Name a number."));
    assert_eq!(board(&place).rows().len(), 1);
}

// SR-11
#[test]
fn a_narrowed_round_is_given_fewer_gaps() {
    let place = after_round_one();
    let narrowed = place.remand(&["rounds", "rollback", "latest", "--to", "1", "--mode", "narrowed"]);
    assert_eq!(narrowed.code, 5, "{narrowed:?}");
    let assigned = inputs_of(&place, "engineer", "assignment.md");
    let last: String = assigned[3..].concat();
    assert!(
        last.contains("GAP-A-001") && last.contains("GAP-B-001") && !last.contains("GAP-C-001"),
        "{last}"
    );
}

// SR-11
#[test]
fn a_round_may_be_skipped() {
    let place = after_round_one();
    let shown = place.remand(&["rounds", "rollback", "latest", "--to", "1", "--mode", "skip"]);
    assert!(shown.code == 0 || shown.code == 5, "{shown:?}");
    let reported = json(&place, &["rounds", "--json"]);
    assert_eq!(reported["rounds"][0]["state"], "skipped", "{reported}");
    assert!(has_document(&place, "round_001_rolled_back_1/summary.md"));
}

// SR-11
#[test]
fn after_two_rollbacks_of_a_round_the_best_attempt_is_kept() {
    let place = place();
    // The first attempt resolves the gap, the others do not.
    let script = three_gaps()
        .with(reviewer().round(2).says(json!({
            "verdict": "reviewed", "checks": ["all"],
            "reviews": [{"gap": "GAP-A-001", "judgement": "needs-revision", "note": "no"}],
        })))
        .with(reviewer().round(3).says(json!({
            "verdict": "reviewed", "checks": ["all"],
            "reviews": [{"gap": "GAP-A-001", "judgement": "needs-revision", "note": "no"}],
        })))
        .with(engineer("batch-1").round(2).says(proposed(&[proposal("GAP-A-001", "Login", "Worse.")])))
        .with(engineer("batch-1").round(3).says(proposed(&[proposal("GAP-A-001", "Login", "Worst.")])))
        .with(engineer("batch-2").round(2).says(json!({"verdict": "nothing", "proposals": []})))
        .with(engineer("batch-2").round(3).says(json!({"verdict": "nothing", "proposals": []})))
        .with(engineer("batch-3").round(2).says(json!({"verdict": "nothing", "proposals": []})))
        .with(engineer("batch-3").round(3).says(json!({"verdict": "nothing", "proposals": []})));
    assert_eq!(begin(&place, &script, &["--interactive"]).code, 5);
    for _ in 0..2 {
        let shown = place.remand(&["answer", "latest", "redo"]);
        assert_eq!(shown.code, 5, "{shown:?}");
    }
    let refused = place.remand(&["rounds", "rollback", "latest", "--to", "1"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.err.contains("was already rolled back 2 times, which is the limit"), "{}", refused.err);
    assert!(refused.err.contains("`redo`"), "{}", refused.err);
    let shown = place.remand(&["answer", "latest", "redo"]);
    assert!(shown.err.contains("keep-best") || shown.out.contains("keep-best"), "{shown:?}");
    let rows = board(&place).rows().to_vec();
    assert_eq!(rows[0].resolved.len(), 1, "the first attempt is kept: {rows:?}");
    let spec = inputs_of(&place, "engineer", "spec.md").pop().expect("an input");
    assert!(spec.contains("Alpha.") && !spec.contains("Worse"), "its text too: {spec}");
}

// SR-11
#[test]
fn a_rollback_that_is_impossible_says_why() {
    let place = after_round_one();
    let never = place.remand(&["rounds", "rollback", "latest", "--to", "7"]);
    assert_eq!(never.code, 1);
    assert!(never.err.contains("round 7 has not started"), "{}", never.err);
    assert!(never.err.contains("rounds that can be rolled back: 1"), "{}", never.err);
    let bare = place.remand(&["rounds", "rollback", "latest", "--to", "1", "--mode", "context"]);
    assert!(bare.err.contains("`--mode context` needs `--context`"), "{}", bare.err);
    assert_eq!(place.remand(&["answer", "latest", "continue"]).code, 0);
    let over = place.remand(&["rounds", "rollback", "latest", "--to", "1"]);
    assert!(over.code == 1 && over.err.contains("is over"), "{}", over.err);
    assert!(committed(&place, "specs/sessions_v1.0.md").contains("Alpha."));
}
