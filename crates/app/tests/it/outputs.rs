//! The documents for people about reviews, reports, knowledge and decisions.

use crate::place::Place;
use crate::rehearsed::{Script, TRIVIAL, design, finding, review, role};
use remand_ledger::RunId;
use serde_json::json;
use std::collections::BTreeSet;

fn file(place: &Place, name: &str) -> String {
    let path = place.home().join("runs").join(&place.latest().run.0).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn shown(place: &Place, arguments: &[&str]) -> String {
    let shown = place.remand(&[&["show"], arguments].concat());
    assert_eq!(shown.code, 0, "{arguments:?}: {}{}", shown.out, shown.err);
    shown.out
}

// EP-08 EP-33 EP-34 EP-22 EP-23
#[test]
fn every_review_report_and_decision_is_a_document_that_show_prints() {
    let place = Place::configured(TRIVIAL);
    let rejecting = |focus: &str| {
        let findings = [finding(&format!("{focus}-1"), "major", &format!("sub has no {focus}"))];
        let reviewer = role("reviewer/design").item(focus).round(1);
        reviewer.says(review("design", focus, "needs-revision", &findings))
    };
    let learned = json!({
        "verdict": "done", "summary": "Operands have an order.",
        "decisions": [{"id": "K-1", "text": "sub takes b from a", "files": ["sums/sub.py"]}],
        "lessons": [{"text": "Subtraction is not commutative.", "evidence": "a test"}],
    });
    let mut revised = design();
    revised["decisions"][1]["title"] = json!("Integers with types");
    let script = Script::subtraction()
        .with(role("designer").round(2).says(revised))
        .with(rejecting("security"))
        .with(rejecting("architecture"))
        .with(role("knowledge").says(learned));

    let ran = place.feature(&script, &[]);

    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let list = shown(&place, &["--list", "--json"]);
    for focus in ["security", "architecture", "correctness"] {
        for part in [format!("design-{focus}-r1"), format!("design-{focus}-r2"), format!("code-{focus}-r1")] {
            assert!(list.contains(&part), "{part} in {list}");
            let findings = shown(&place, &[&format!("review-findings[{part}]")]);
            assert_eq!(findings, file(&place, &format!("artifacts/review-findings-{part}@1.md")));
            assert!(findings.contains("**Verdict:**") && findings.contains("**Model:**"), "{findings}");
            file(&place, &format!("artifacts/review-verdicts-{part}@1.yaml"));
        }
    }
    let findings = shown(&place, &["review-findings[design-security-r1]"]);
    assert!(findings.starts_with("# Review of design: security, round 1\n"), "{findings}");
    assert!(findings.contains("security-1: sub has no security"), "{findings}");
    let verdict = shown(&place, &["review-verdicts[design-security-r1]"]);
    for line in [
        "reviewer_model: ",
        "review_focus: security",
        "scope: design",
        "round: 1",
        "verdict: needs-revision",
        "  major: 1",
        "  blocker: 0",
        "summary: ",
    ] {
        assert!(verdict.contains(line), "{line} in {verdict}");
    }

    let verified = shown(&place, &["verification-reports[task-1]"]);
    assert!(
        verified.contains("## Evidence gate") && verified.contains("**Gate status:** passed"),
        "{verified}"
    );
    assert!(verified.contains("**AC-1**"), "{verified}");
    let stored = file(&place, "artifacts/verification-reports-task-1@1.yaml");
    assert!(stored.contains("evidence_gate:") && stored.contains("gate_status: passed"), "{stored}");
    let checks = place.reader().gate_checks(&place.latest().run, "task-1").expect("checks");
    let after = checks.iter().filter(|row| row.phase == remand_kernel::evidence::RowPhase::After).count();
    assert!(after > 0 && stored.contains(&format!("total_checks: {after}")), "{after} in {stored}");
    assert_eq!(verified, file(&place, "artifacts/verification-reports-task-1@1.md"));
    let implemented = shown(&place, &["implementation-reports[task-1]"]);
    assert!(implemented.contains("`sums/sub.py`"), "{implemented}");
    let knowledge = shown(&place, &["knowledge-output"]);
    assert!(knowledge.contains("Subtraction is not commutative."), "{knowledge}");

    let decisions = shown(&place, &["decisions"]);
    assert_eq!(decisions, file(&place, "decisions.yaml"));
    assert!(list.contains("decisions.yaml"), "{list}");
    for line in [
        "id: D-1",
        "title: One module a function",
        "decided_by: designer",
        "confidence: high",
        "risk: green",
        "selected: A module",
        "id: D-2",
        "id: K-1",
        "decided_by: knowledge",
        "- sums/sub.py",
    ] {
        assert!(decisions.contains(line), "{line} in {decisions}");
    }
    assert_eq!(decisions.matches("id: D-1").count(), 1, "the second design repeats it: {decisions}");
    let files = BTreeSet::from(["sums/sub.py".to_string()]);
    let later = place.reader().earlier_decisions(&RunId("later".to_string()), &files, 10).expect("decisions");
    let ids: BTreeSet<String> = later.into_iter().filter_map(|row| Some(row.decision?.id)).collect();
    assert_eq!(ids, BTreeSet::from(["D-1".to_string(), "K-1".to_string()]), "the task points to D-1");

    assert_eq!(decisions.matches("id: D-2").count(), 2, "the second design changes it: {decisions}");
    let first = decisions.split("- status: superseded").nth(1).expect("a superseded decision");
    assert!(first.contains("title: Plain integers"), "{decisions}");

    let bundle = place.remand(&["evidence"]).out;
    let log = bundle.split("## Decisions").nth(1).expect("decisions");
    assert!(log.contains("Integers with types") && !log.contains("Plain integers"), "{log}");
    assert!(bundle.contains("| review | round | model | verdict |"), "{bundle}");
    assert!(bundle.contains("Findings: 2 found, 2 fixed."), "{bundle}");
}
