#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::schema::words::CompletionStatus;
use super::*;
use serde_json::{Value, json};

fn reviewer() -> Expectation {
    let mut expected = Expectation::new(
        SchemaId::ReviewFindings,
        "reviewer",
        "code-review",
        &["approve", "needs-revision", "blocker"],
    );
    expected.findings = FindingsRule::Reports { needs: Vec::new() };
    expected
}

fn finding(id: &str, severity: &str, category: &str) -> Value {
    json!({"id": id, "severity": severity, "category": category, "claim": "the clock may be set back",
        "place": {"file": "src/session.rs", "line": 42}})
}

fn review(verdict: &str, findings: Vec<Value>) -> Value {
    json!({
        "agent": "reviewer", "step": "code-review", "schema_version": "1.0",
        "completion": {"status": "DONE", "summary": "looked at it", "findings_count": findings.len()},
        "payload": {"verdict": verdict, "summary": "as it stands", "findings": findings},
    })
}

fn ok(value: Value, expected: &Expectation) -> AcceptedResult {
    read(value, expected, &ResultLimits::default()).unwrap_or_else(|rejection| panic!("{rejection:#?}"))
}

fn problems(value: Value, expected: &Expectation) -> Vec<String> {
    match read(value, expected, &ResultLimits::default()) {
        Err(Rejection::Malformed { problems, .. }) => {
            problems.iter().map(ContractProblem::to_string).collect()
        }
        other => panic!("{other:#?}"),
    }
}

// EP-05
#[test]
fn other_spellings_are_normalized() {
    let mut document = review("Needs_Revision", vec![finding("F-1", "Blocker", "Security")]);
    document["completion"]["status"] = json!("done");
    document["completion"]["risk_level"] = json!("🔴");
    document["completion"]["severity"] = json!("Blocker");
    document["schema_version"] = json!(1.0);
    document["payload"]["findings"][0]["place"] = json!("src/session.rs:42-50");
    let reading = ok(document, &reviewer());
    assert_eq!((reading.says.as_str(), reading.status), ("needs-revision", CompletionStatus::Done));
    assert_eq!(reading.risk, Some(remand_kernel::event::Risk::Red));
    assert_eq!(
        (reading.findings[0].place.file.as_str(), reading.findings[0].place.line),
        ("src/session.rs", 42)
    );
    assert!(reading.mapped.is_empty());
    let wrapped = json!({"agent_output": review("approve", vec![])});
    assert_eq!(ok(wrapped, &reviewer()).says, "approve");
}

// EP-07
#[test]
fn severities_of_another_scale_are_mapped_and_the_mapping_is_recorded() {
    use remand_kernel::finding::Severity;
    let given = ["critical", "HIGH", "medium", "low", "minor"];
    let findings =
        given.iter().enumerate().map(|(at, word)| finding(&format!("F-{at}"), word, "design")).collect();
    let reading = ok(review("needs-revision", findings), &reviewer());
    let severities: Vec<Severity> = reading.findings.iter().map(|it| it.severity).collect();
    use Severity::{Critical, Major, Minor};
    assert_eq!(severities, [Critical, Major, Minor, Minor, Minor]);
    assert_eq!(
        reading.mapped,
        [
            "payload.findings[1].severity: `HIGH` read as `major`",
            "payload.findings[2].severity: `medium` read as `minor`",
            "payload.findings[3].severity: `low` read as `minor`",
        ]
    );
    assert_eq!(reading.notes.len(), 3);
}

// EP-07, SR-14
#[test]
fn gaps_have_their_own_severity_scale() {
    let expected =
        Expectation::new(SchemaId::GapInventory, "spec-reviewer/inventory", "inventory", &["found", "none"]);
    let mut document: Value = serde_saphyr::from_str(SchemaId::GapInventory.schema().example).unwrap();
    document["payload"]["gaps"][0]["severity"] = json!("Medium");
    let reading = ok(document.clone(), &expected);
    assert_eq!(reading.value["payload"]["gaps"][0]["severity"], "medium");
    assert!(reading.mapped.is_empty());
    assert_eq!(reading.lists[0].1[0].id, "GAP-FLOW-001");
    document["payload"]["gaps"][0]["severity"] = json!("major");
    assert_eq!(
        problems(document, &expected),
        ["payload.gaps[0].severity: expected one of `critical`, `high`, `medium`, `low`, found `major`"]
    );
}

// EP-05
#[test]
fn a_result_with_the_status_error_is_a_failure_whatever_its_payload() {
    let document =
        json!({"schema_version": "1.0", "completion": {"status": "error", "summary": "no network"}});
    let rejection = read(document, &reviewer(), &ResultLimits::default()).unwrap_err();
    assert_eq!(rejection, Rejection::Failed { summary: "no network".into() });
}

// EP-05
#[test]
fn the_verdict_may_be_omitted_only_if_the_status_implies_it() {
    let bare = |status: &str| {
        json!({"schema_version": "1.0", "completion": {"status": status, "summary": "s", "findings_count": 0},
            "payload": {}})
    };
    let expect = |says: &[&str]| Expectation::new(SchemaId::CompletionContract, "r", "p", says);
    assert_eq!(ok(bare("DONE"), &expect(&["done"])).says, "done");
    assert_eq!(ok(bare("DONE"), &expect(&["done", "stuck"])).says, "done");
    assert_eq!(ok(bare("needs revision"), &expect(&["done", "stuck"])).says, "stuck");
    for says in [&["met", "unmet"][..], &["done", "a", "b"]] {
        assert!(problems(bare("DONE"), &expect(says))[0].starts_with("payload.verdict: expected one of"));
    }
    let mut other = bare("DONE");
    other["payload"]["verdict"] = json!("lgtm");
    assert_eq!(
        problems(other, &expect(&["met", "unmet"])),
        ["payload.verdict: expected one of `met`, `unmet`, found `lgtm`"]
    );
}

// EP-05
#[test]
fn a_verdict_must_match_its_findings() {
    let reported = problems(review("needs-revision", vec![]), &reviewer());
    assert_eq!(
        reported,
        [
            "payload.findings: expected at least one finding, because the verdict is `needs-revision`, found none"
        ]
    );
    let reported = problems(review("approve", vec![finding("F-1", "blocker", "design")]), &reviewer());
    assert!(reported[0].starts_with("payload.findings[0].severity: expected no blocker"), "{reported:?}");
    ok(review("approve", vec![finding("F-1", "critical", "design")]), &reviewer());
    let mut document = review("approve", vec![finding("F-1", "minor", "design")]);
    document["completion"]["findings_count"] = json!(2);
    let reported = problems(document, &reviewer());
    assert_eq!(
        reported,
        ["completion.findings_count: expected 1, the number of entries in `payload.findings`, found 2"]
    );
    let mut document = review("approve", vec![]);
    document["completion"]["status"] = json!("NEEDS_REVISION");
    assert!(problems(document, &reviewer())[0].starts_with("completion.status: expected `DONE`"));
}

// EP-05
#[test]
fn a_security_blocker_counts_whatever_the_verdict_and_even_in_a_malformed_result() {
    let blocker = finding("F-1", "blocker", "security");
    let reading = ok(review("approve", vec![blocker.clone()]), &reviewer());
    assert!(reading.findings[0].is_security_blocker());
    let mut document = review("approve", vec![blocker]);
    document["completion"]["findings_count"] = json!(0);
    match read(document, &reviewer(), &ResultLimits::default()) {
        Err(Rejection::Malformed { blockers, .. }) => assert_eq!(blockers.len(), 1),
        other => panic!("{other:?}"),
    }
}

// EP-06
#[test]
fn up_to_twenty_problems_are_reported_with_their_paths() {
    let document = json!({
        "schema_version": "1.0",
        "completion": {"status": "MAYBE", "summary": "x".repeat(201), "findings_count": "many"},
        "payload": {"verdict": "approve", "findings": [{"id": " ", "severity": "awful", "category": 7}], "sumary": "x"},
    });
    let reported = problems(document, &reviewer());
    for expected in [
        "completion.status: expected one of `DONE`, `NEEDS_REVISION`, `ERROR`, found `MAYBE`",
        "completion.summary: expected one line of text, 1 to 200 characters, found 201 characters",
        "completion.findings_count: expected a whole number of at least 0, found `many`",
        "payload.findings[0].id: expected a non-empty string, found an empty string",
        "payload.findings[0].severity: expected one of `blocker`, `critical`, `major`, `minor`, found `awful`",
        "payload.findings[0].claim: expected a non-empty string, found nothing",
        "payload.summary: expected a non-empty string, found nothing (did you mean `summary` instead of `sumary`?)",
    ] {
        assert!(reported.iter().any(|line| line == expected), "{expected}\n{reported:#?}");
    }
    let many: serde_json::Map<String, Value> =
        (0..30).map(|at| (format!("F-{at}"), json!("maybe"))).collect();
    let mut flagged = review("approve", Vec::new());
    flagged["payload"]["flags"] = Value::Object(many);
    assert_eq!(problems(flagged, &reviewer()).len(), 20);
}

// CORE-15 EP-06
#[test]
fn a_problem_that_all_entries_of_a_list_have_is_reported_once() {
    let bad = (0..30).map(|at| finding(&format!("F-{at}"), "awful", "design")).collect();
    let mut document = review("approve", bad);
    document["payload"]["summary"] = json!("");
    let reported = problems(document, &reviewer());
    assert_eq!(
        reported,
        [
            "payload.findings[0].severity: expected one of `blocker`, `critical`, `major`, `minor`, found `awful` \
             (29 other entries have the same problem)",
            "payload.summary: expected a non-empty string, found an empty string",
        ]
    );
}

// EP-06
#[test]
fn unknown_fields_are_kept_and_misspelt_optional_ones_are_reported() {
    let mut document = review("approve", vec![]);
    document["payload"]["mood"] = json!({"today": ["good", 1]});
    document["extra"] = json!(true);
    let reading = ok(document.clone(), &reviewer());
    assert_eq!(
        (&reading.value["payload"]["mood"], &reading.value["extra"]),
        (&json!({"today": ["good", 1]}), &json!(true))
    );
    document["payload"]["cheked"] = json!(["all"]);
    assert_eq!(
        problems(document, &reviewer()),
        ["payload.cheked: expected `checked`, found `cheked`, which is not a field"]
    );
}

// EP-06
#[test]
fn another_major_version_is_rejected_with_both_numbers() {
    for same in ["1.0", "1.7", "1"] {
        let mut document = review("approve", vec![]);
        document["schema_version"] = json!(same);
        ok(document, &reviewer());
    }
    for (given, shown) in [(json!("2.0"), "2.0"), (json!(0.9), "0.9"), (json!("v1"), "v1")] {
        let mut document = review("approve", vec![]);
        document["schema_version"] = given;
        assert_eq!(
            problems(document, &reviewer()),
            [format!("schema_version: expected version 1 (this engine uses 1.0), found version {shown}")]
        );
    }
}

// CORE-15
#[test]
fn a_result_of_another_phase_is_rejected_and_a_missing_header_is_filled_in() {
    let mut expected = reviewer();
    expected.instance = "security".into();
    let mut document = review("approve", vec![]);
    document["step"] = json!("design-review");
    document["instance"] = json!("correctness");
    assert_eq!(
        problems(document, &expected),
        [
            "step: expected `code-review`, found `design-review`",
            "instance: expected `security`, found `correctness`"
        ]
    );
    let reading = ok(review("approve", vec![]), &expected);
    assert_eq!(reading.value["instance"], "security");
}

// CORE-20
#[test]
fn a_contract_decides_which_fields_a_finding_needs_and_which_phases_it_may_name() {
    let mut expected = reviewer();
    expected.findings = FindingsRule::Reports {
        needs: vec![
            FindingField::Kind,
            FindingField::InjectedBy,
            FindingField::Evidence,
            FindingField::Impact,
        ],
    };
    expected.injects = vec!["planning".into(), "design".into()];
    let mut one = finding("F-1", "major", "design");
    one["injected_by"] = json!("testing");
    let reported = problems(review("needs-revision", vec![one.clone(), one]), &expected);
    for expected in [
        "payload.findings[1].id: expected an id that is unique in the list, found `F-1` again",
        "payload.findings[0].kind: expected one of `plan`, `test`, `production`, `cosmetic`, found nothing",
        "payload.findings[0].evidence: expected evidence of the defect, found nothing",
        "payload.findings[1].impact: expected the consequences of the defect, found nothing",
        "payload.findings[0].injected_by[0]: expected one of `planning`, `design`, found `testing`",
    ] {
        assert!(reported.iter().any(|line| line == expected), "{expected}\n{reported:#?}");
    }
}

// CORE-20
#[test]
fn every_field_of_a_finding_reaches_the_kernel() {
    let given = json!({"id": "F-1", "severity": "minor", "category": "performance", "kind": "cosmetic",
        "injected_by": ["code"], "task": "task-01", "place": {"file": "a.rs", "symbol": "f", "line": 3},
        "claim": "c", "evidence": "e", "impact": "i", "recommendation": "r", "patch": "--- a", "repeats": "F-0"});
    let reading = ok(review("approve", vec![given.clone()]), &reviewer());
    assert_eq!(serde_json::to_value(&reading.findings[0]).unwrap(), given);
}

#[test]
fn only_the_flags_of_the_phase_are_set() {
    let mut expected = reviewer();
    expected.sets = vec!["acceptable".into()];
    let mut document = review("approve", vec![]);
    document["payload"]["flags"] = json!({"acceptable": "yes"});
    assert_eq!(ok(document.clone(), &expected).flags, [("acceptable".to_string(), true)]);
    document["payload"]["flags"] = json!({"admin": true});
    assert_eq!(
        problems(document.clone(), &expected),
        ["payload.flags.admin: expected `acceptable`, found `admin`"]
    );
    assert!(ok(document, &reviewer()).flags.is_empty());
}

// EP-06
#[test]
fn a_problem_names_its_path_or_the_whole_result() {
    let verdict = ContractProblem::new("payload.verdict", "`met`", "nothing");
    assert_eq!(verdict.to_string(), "payload.verdict: expected `met`, found nothing");
    let whole = ContractProblem::new("", "a document", "a list").with_hint("try again");
    assert_eq!(whole.to_string(), "the result: expected a document, found a list (try again)");
    assert_eq!(fence_for("a: |\n  ```\n  ````\n"), "`````");
}

// CORE-09
#[test]
fn too_many_findings_are_rejected_and_a_large_report_is_read() {
    let many = |count: usize| {
        (0..count).map(|at| finding(&format!("F-{at}"), "minor", "design")).collect::<Vec<_>>()
    };
    assert_eq!(ok(review("approve", many(2_000)), &reviewer()).findings.len(), 2_000);
    let reported = problems(review("approve", many(10_001)), &reviewer());
    assert_eq!(reported, ["payload.findings: expected at most 10000 findings, found 10001"]);
}

// EP-05
#[test]
fn the_order_of_keys_in_a_document_does_not_matter() {
    let expected = Expectation::new(SchemaId::PlanOutput, "planner", "plan", &["done"]);
    let mut plan = parse(SchemaId::PlanOutput.schema().example).unwrap();
    plan["payload"]["tasks"][0]["relevant_context"] =
        json!({"spec": ["spec#payload.b"], "design": ["design#payload.a"]});
    plan["payload"]["Overall Risk"] = plan["payload"]["overall_risk"].take();
    plan["payload"]["tasks"][0]["own"] = json!({"b": 1, "a": {"d": 2, "c": 3}});
    let other = remand_notation::ordered::reversed(&plan);
    assert_eq!(plan, other);
    assert_ne!(plan.to_string(), other.to_string());

    let read = |text: &Value| ok(parse(&text.to_string()).unwrap(), &expected);
    let (one, other) = (read(&plan), read(&other));
    assert_eq!(one.value.to_string(), other.value.to_string());
    assert_eq!(to_yaml(&one.value), to_yaml(&other.value));
    assert_eq!(rendered(SchemaId::PlanOutput, &one.value), rendered(SchemaId::PlanOutput, &other.value));
    assert_eq!((one.lists, one.notes), (other.lists, other.notes));
    let context = json!(["design#payload.a", "spec#payload.b"]);
    assert_eq!(one.value["payload"]["tasks"][0]["relevant_context"], context);

    let wrong = |text: &Value| {
        let mut value = text.clone();
        value["payload"]["tasks"][0]["size"] = json!({"b": 1, "a": 2});
        problems(parse(&value.to_string()).unwrap(), &expected)
    };
    assert_eq!(wrong(&plan), wrong(&remand_notation::ordered::reversed(&plan)));
}
