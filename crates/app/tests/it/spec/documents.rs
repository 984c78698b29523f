//! The results of a refinement: the specification, readable documents of each round, every transition of each gap.

use super::rehearsed::{
    approved, engineer, final_review, gap, inventory, objected, one_gap, proposal, proposed, reviewer,
};
use super::{
    SPEC, begin, board, committed, document, has_document, inputs_of, json, place, place_with, prompts,
};
use crate::rehearsed::{Script, role};
use remand_kernel::gaps::{Actor, GapStatus};
use remand_ledger::fact::NoteKind;
use serde_json::json;

/// Two gaps in two batches; one proposal is sent back once.
pub fn two_rounds() -> Script {
    let text = "After three failed tries the account is locked for ten minutes.";
    let better = "After three failed tries every further try waits a minute.";
    let replacing = |text: &str| {
        let mut proposal = proposal("GAP-FLOW-001", "Login", text);
        proposal["replaces"] = json!("After some failed tries the account is locked.");
        proposal
    };
    let mut review = objected("GAP-FLOW-001", "high", "Anybody can lock anybody out.");
    review["reviews"]
        .as_array_mut()
        .expect("a list")
        .push(json!({"gap": "GAP-DATA-001", "judgement": "approved"}));
    let mut second = proposed(&[replacing(better)]);
    second["answers"] = json!([{"issue": "ISSUE-R1-001", "stance": "agree"}]);
    Script::of([
        inventory(&[gap("FLOW", "high", "Login"), gap("DATA", "critical", "Storage")]),
        engineer("batch-1").round(1).says(proposed(&[proposal(
            "GAP-DATA-001",
            "Storage",
            "They survive a restart.",
        )])),
        engineer("batch-2").round(1).says(proposed(&[replacing(text)])),
        reviewer().round(1).says(review),
        engineer("batch-1").round(2).says(second),
        reviewer().round(2).says(approved(&["GAP-FLOW-001"])),
        final_review(),
    ])
}

// SR-09, SR-14, SR-17
#[test]
fn accepted_text_is_put_into_the_specification_and_every_other_byte_stays() {
    let place = place();
    let shown = begin(&place, &two_rounds(), &[]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let wanted = SPEC
        .replace(
            "After some failed tries the\naccount is locked.",
            "After three failed tries every further try waits a minute.",
        )
        .replace("stored on the server.\n", "stored on the server.\n\nThey survive a restart.\n");
    assert_eq!(committed(&place, "specs/sessions_v1.0.md"), wanted);
    assert_eq!(committed(&place, super::FILE), SPEC, "the user's specification is unchanged");
    let summary = document(&place, "summary.md");
    for line in
        ["**Status:** complete", "**Rounds:** 2 counted", "`specs/sessions_v1.0.md`", "| closed    | 2    |"]
    {
        assert!(summary.contains(line), "{line} in {summary}");
    }
}

// SR-17
#[test]
fn text_that_looks_like_a_secret_stays_in_the_specification_and_is_reported_if_its_line_changed() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let example = format!("Sessions are stored on the server.\n\n    token {token}\n");
    let spec = SPEC
        .replace("Sessions are stored on the server.\n", &example)
        .replace("a name and a password", &format!("a name and {token}"));
    let mut changed = proposal("GAP-FLOW-001", "Login", "and [secret: GitHub token] and nothing else.");
    changed["replaces"] = json!("and [secret: GitHub token].");
    let place = place_with(&[(super::FILE, &spec)]);
    let script = one_gap().with(engineer("batch-1").round(1).says(proposed(&[changed])));
    let shown = begin(&place, &script, &[]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let written = committed(&place, "specs/sessions_v1.0.md");
    assert!(written.contains(&example), "{written}");
    assert!(written.contains("with a name and [secret: GitHub token] and nothing else."), "{written}");
    assert_eq!(inputs_of(&place, "engineer", "spec.md")[0].matches("[secret: GitHub token]").count(), 2);
    let notes = place.reader().notes(&place.latest().run).expect("notes");
    let reported = "line 7 of specs/sessions_v1.0.md says [secret: GitHub token] instead of the text of docs/sessions.md";
    assert!(
        notes.iter().any(|note| note.kind == NoteKind::Concern && note.text.starts_with(reported)),
        "{notes:?}"
    );
}

// SR-05, SR-15
#[test]
fn every_round_has_its_documents_for_people() {
    let place = place();
    assert_eq!(begin(&place, &two_rounds(), &[]).code, 0);
    let first = document(&place, "round_001/engineer.md");
    assert!(
        first.contains("## GAP-FLOW-001: What about Login?") && first.contains("### Trade-offs"),
        "{first}"
    );
    let review = document(&place, "round_001/reviewer.md");
    assert!(review.contains("ISSUE-R1-001") && review.contains("**needs revision**"), "{review}");
    let second = document(&place, "round_002/reviewer.md");
    assert!(
        second.contains("**No issues found.**") && second.contains("## Checks performed\n\n- closes"),
        "{second}"
    );
    let summary = document(&place, "round_001/summary.md");
    assert!(summary.contains("**End:** converging") && summary.contains("proposed → accepted"), "{summary}");
    let status = document(&place, "status.md");
    assert!(status.contains("## Convergence") && status.contains("| GAP-DATA-001 |"), "{status}");
    assert!(has_document(&place, "decisions.md") && !has_document(&place, "round_003"));
}

// SR-02
#[test]
fn every_move_of_a_gap_is_recorded_with_its_one_actor() {
    let place = place();
    assert_eq!(begin(&place, &two_rounds(), &[]).code, 0);
    let board = board(&place);
    let moves: Vec<(GapStatus, Actor)> = board
        .transitions()
        .iter()
        .filter(|moved| moved.gap.to_string() == "GAP-FLOW-001")
        .map(|moved| (moved.to, moved.actor))
        .collect();
    let wanted = [
        (GapStatus::Proposed, Actor::Engineer),
        (GapStatus::NeedsRevision, Actor::Reviewer),
        (GapStatus::Proposed, Actor::Engineer),
        (GapStatus::Accepted, Actor::Reviewer),
        (GapStatus::Resolved, Actor::Engine),
        (GapStatus::Closed, Actor::Engine),
    ];
    assert_eq!(moves, wanted);
    let reported = json(&place, &["gaps", "--json"]);
    assert_eq!((&reported["open"], reported["moves"].as_array().map(Vec::len)), (&json!(0), Some(10)));
}

// SR-01
#[test]
fn each_role_starts_fresh_and_sees_only_documents() {
    let place = place();
    let checkout = place.project().join("README.md").display().to_string();
    let hidden = ["../../../../../trees", "../../../dispatches", "../../../status.md", checkout.as_str()];
    let mut curious = engineer("batch-1").attempt(1).ignoring_failures();
    for path in ["spec.md", "README.md"].iter().chain(&hidden) {
        curious = curious.does(json!({"read": path}));
    }
    let shown = begin(&place, &one_gap().with(curious), &[]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let (reader, run) = (place.reader(), place.latest().run);
    let notes = reader.notes(&run).expect("notes");
    for path in hidden {
        let denied = |text: &str| text.contains(&format!("read {path}: Permission denied"));
        assert!(
            notes.iter().any(|note| note.kind == NoteKind::Violation && denied(&note.text)),
            "{path}: {notes:?}"
        );
    }
    assert!(!notes.iter().any(|note| note.text.contains("read spec.md")), "it may read its documents");
    let rows = reader.dispatches(&run).expect("dispatches");
    assert!(rows.iter().all(|row| row.session.is_none()), "a session was resumed");
    let first = rows.iter().find(|row| row.role == "engineer").expect("an engineer");
    let said = reader.blob(first.output.expect("output")).expect("a blob");
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(said.contains("README.md: No such file"), "there is no work tree around it: {said}");
    for prompt in prompts(&place, "engineer").iter().chain(&prompts(&place, "spec-reviewer")) {
        assert!(prompt.contains("You see only the documents of this brief"), "{prompt}");
        assert!(!prompt.contains("Your working directory is the repository"), "{prompt}");
    }
    // Results of one role reach the other only as documents.
    let proposals = inputs_of(&place, "spec-reviewer", "proposals.md");
    assert!(proposals[0].contains("Three tries."), "{proposals:?}");
}

// SR-02
#[test]
fn gaps_given_with_the_specification_are_used_unchanged() {
    let gaps = "gaps:\n  - {category: FLOW, severity: high, claim: How often?, sections: [Login]}\n";
    let place = place_with(&[("docs/sessions.gaps.yaml", gaps)]);
    assert_eq!(begin(&place, &one_gap(), &[]).code, 0);
    let rows = place.reader().dispatches(&place.latest().run).expect("dispatches");
    assert!(rows.iter().all(|row| row.role != "spec-reviewer/inventory"), "no role searches for gaps");
    assert_eq!(board(&place).gaps().next().expect("a gap").claim, "How often?");
}

// CORE-09
#[test]
fn unreadable_given_gaps_stop_the_run_and_the_error_names_file_and_remedy() {
    let place = place_with(&[(
        "docs/sessions.gaps.yaml",
        "gaps:\n  - {category: flow, severity: high, claim: Eh?}\n",
    )]);
    let shown = begin(&place, &one_gap(), &[]);
    assert_eq!(shown.code, 4, "{shown:?}");
    assert!(shown.err.contains("docs/sessions.gaps.yaml: `flow` is not a gap category"), "{}", shown.err);
}

// SR-09
#[test]
fn a_specification_without_a_gap_is_complete_after_a_final_review() {
    let place = place();
    assert_eq!(begin(&place, &Script::of([inventory(&[]), final_review()]), &[]).code, 0);
    assert_eq!(committed(&place, "specs/sessions_v1.0.md"), SPEC);
}

// SR-09
#[test]
fn findings_of_the_final_review_are_worked_on() {
    let place = place();
    let found =
        json!({"verdict": "gaps-found", "gaps": [gap("UX", "medium", "Expiry")], "checks": ["all of it"]});
    let script = one_gap()
        .with(role("spec-reviewer/final").round(1).says(found))
        .with(engineer("batch-1").round(2).says(proposed(&[proposal(
            "GAP-UX-001",
            "Expiry",
            "Eight hours.",
        )])))
        .with(reviewer().round(2).says(approved(&["GAP-UX-001"])));
    let shown = begin(&place, &script, &[]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(committed(&place, "specs/sessions_v1.0.md").contains("Eight hours."));
}
