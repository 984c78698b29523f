#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::schema::words::ReportedSize;
use super::*;
use remand_kernel::criteria::Proof;
use remand_kernel::event::Risk;
use remand_ledger::fact::NoteKind;
use serde_json::{Value, json};

fn example(id: SchemaId) -> Value {
    parse(id.schema().example).expect("a valid example")
}

fn ok(value: &Value, expected: &Expectation) -> AcceptedResult {
    read(value.clone(), expected, &ResultLimits::default())
        .unwrap_or_else(|rejection| panic!("{rejection:#?}"))
}

fn problems(value: &Value, expected: &Expectation) -> Vec<String> {
    match read(value.clone(), expected, &ResultLimits::default()) {
        Err(Rejection::Malformed { problems, .. }) => {
            problems.iter().map(ContractProblem::to_string).collect()
        }
        other => panic!("{other:#?}"),
    }
}

fn planner() -> Expectation {
    let mut expected = Expectation::new(SchemaId::PlanOutput, "planner", "plan", &["done", "needs-revision"]);
    expected.findings = FindingsRule::Reports { needs: Vec::new() };
    expected
}

// EP-10
#[test]
fn a_plan_becomes_tasks_waves_and_a_risk() {
    let mut plan = example(SchemaId::PlanOutput);
    plan["payload"]["tasks"][0]["size"] = json!("standard");
    plan["payload"]["overall_risk"] = json!("🟢");
    let reading = ok(&plan, &planner());
    assert_eq!(reading.waves, [["task-01"], ["task-02"]]);
    assert_eq!(reading.tasks[0].size, ReportedSize::Large, "a red file makes a task large");
    assert_eq!(reading.tasks[1].size, ReportedSize::Standard);
    assert_eq!(reading.risk, Some(Risk::Red), "the highest risk of any file, whatever the plan says");
    let (name, items) = &reading.lists[0];
    assert_eq!((name.as_str(), items.len()), ("tasks", 2));
    assert_eq!(
        (items[1].needs.as_slice(), items[1].files.as_slice()),
        (&["task-01".to_string()][..], &["docs/sessions.md".to_string()][..])
    );
}

fn splitter() -> Expectation {
    Expectation::new(SchemaId::SplitOutput, "plan/split", "split", &["done"])
}

/// The example with only its first task, which `change` modifies.
fn one_task(change: impl Fn(&mut Value)) -> Value {
    let mut split = example(SchemaId::SplitOutput);
    let mut first = split["payload"]["tasks"][0].clone();
    change(&mut first);
    split["payload"]["tasks"] = json!([first]);
    split
}

// OT-07
#[test]
fn a_task_must_be_split_only_if_it_is_too_large() {
    let reading = ok(&example(SchemaId::SplitOutput), &splitter());
    assert_eq!(reading.lists[0].1.len(), 2, "structural work and changed behaviour are two tasks");
    let files = |count: usize| -> Vec<Value> {
        (0..count).map(|at| json!({"path": format!("src/{at}.rs"), "risk": "green"})).collect()
    };
    for (is_small_enough, change) in [
        (true, json!({"concerns": ["a", "b"], "lines": 500, "files": files(2)})),
        (true, json!({"concerns": ["a"], "lines": 50, "files": files(9)})),
        (false, json!({"concerns": ["a", "b", "c"]})),
        (false, json!({"lines": 51, "files": files(3)})),
        (false, json!({"work": ["structural", "runtime"]})),
    ] {
        let split = one_task(|task| {
            for (key, value) in change.as_object().expect("an object") {
                task[key] = value.clone();
            }
        });
        match is_small_enough {
            true => drop(ok(&split, &splitter())),
            false => {
                assert!(problems(&split, &splitter())[0].contains("a smaller task: split it"), "{change}")
            }
        }
    }
}

// OT-07 OT-11
#[test]
fn a_small_plan_is_not_split_and_the_first_task_has_no_dependencies() {
    let mut small = example(SchemaId::SplitOutput);
    small["payload"]["tasks"][0]["work"] = json!(["runtime"]);
    let reported = problems(&small, &splitter());
    assert!(reported[0].contains("one task: this plan is too small to split"), "{reported:?}");
    let mut backwards = example(SchemaId::SplitOutput);
    backwards["payload"]["tasks"][0]["depends_on"] = json!(["task-2"]);
    backwards["payload"]["tasks"][1]["depends_on"] = json!([]);
    let reported = problems(&backwards, &splitter());
    assert!(reported[0].contains("payload.tasks[0].depends_on"), "{reported:?}");
}

// EP-10
#[test]
fn the_digest_of_a_task_changes_only_with_its_text() {
    let plan = example(SchemaId::PlanOutput);
    let digests =
        |plan: &Value| ok(plan, &planner()).lists[0].1.iter().map(|item| item.spec).collect::<Vec<_>>();
    let before = digests(&plan);
    let mut other = plan.clone();
    other["payload"]["summary"] = json!("in other words");
    other["payload"]["tasks"][1]["title"] = json!("Describe it");
    let after = digests(&other);
    assert_eq!(before[0], after[0]);
    assert_ne!(before[1], after[1]);
}

// EP-10
#[test]
fn a_plan_with_a_file_without_risk_is_rejected() {
    let mut plan = example(SchemaId::PlanOutput);
    plan["payload"]["tasks"][0]["files"][1].as_object_mut().unwrap().remove("risk");
    plan["payload"]["tasks"][1]["files"][0]["risk"] = json!("orange");
    assert_eq!(
        problems(&plan, &planner()),
        [
            "payload.tasks[0].files[1].risk: expected one of `green`, `yellow`, `red`, found nothing",
            "payload.tasks[1].files[0].risk: expected one of `green`, `yellow`, `red`, found `orange`",
        ]
    );
}

// EP-10
#[test]
fn ids_dependencies_and_paths_of_tasks_are_checked() {
    let mut plan = example(SchemaId::PlanOutput);
    plan["payload"]["tasks"][0]["depends_on"] = json!(["task-02"]);
    assert_eq!(
        problems(&plan, &planner()),
        ["payload.tasks: expected dependencies without a cycle, found a cycle that blocks task-01, task-02"]
    );
    plan["payload"]["tasks"][0]["depends_on"] = json!(["task-01", "task-99"]);
    plan["payload"]["tasks"][0]["files"][0]["path"] = json!("../outside.rs");
    plan["payload"]["tasks"][0]["files"][1]["path"] = json!("/etc/passwd");
    plan["payload"]["tasks"][1]["id"] = json!("task-01");
    let reported = problems(&plan, &planner());
    for path in [
        "payload.tasks[1].id: expected an id that is unique in the list, found `task-01` again",
        "payload.tasks[0].depends_on[1]: ",
        "payload.tasks[0].files[0].path: expected a relative path inside the work tree, found `../outside.rs`",
        "payload.tasks[0].files[1].path: ",
    ] {
        assert!(reported.iter().any(|line| line.starts_with(path)), "{path}\n{reported:#?}");
    }
}

// EP-05
#[test]
fn a_planner_that_rejects_the_design_needs_no_plan() {
    let document = json!({"schema_version": "1.0",
        "completion": {"status": "NEEDS_REVISION", "summary": "the design lacks the store", "findings_count": 1},
        "payload": {"findings": [{"id": "F-1", "severity": "major", "category": "design", "claim": "no store", "place": "design#D-1"}]}});
    let reading = ok(&document, &planner());
    assert_eq!((reading.says.as_str(), reading.findings.len()), ("needs-revision", 1));
    assert!(reading.lists.is_empty());
    let mut successful = document.clone();
    successful["completion"]["status"] = json!("DONE");
    assert!(problems(&successful, &planner()).iter().any(|line| line.starts_with("payload.tasks: ")));
    let mut incomplete = example(SchemaId::PlanOutput);
    incomplete["payload"]["verdict"] = json!("needs-revision");
    incomplete["payload"]["tasks"][0]["files"] = json!([]);
    let reported = problems(&incomplete, &planner());
    assert!(
        reported.iter().any(|line| line.starts_with("payload.tasks[0].files: expected a non-empty list"))
    );
    assert!(reported.iter().any(|line| line.starts_with("payload.findings: expected at least one finding")));
}

// EP-34
#[test]
fn a_decision_record_must_be_complete_and_select_one_of_its_alternatives() {
    let expected = Expectation::new(SchemaId::DesignOutput, "designer", "design", &["done"]);
    let mut design = example(SchemaId::DesignOutput);
    assert_eq!(ok(&design, &expected).approach.unwrap().decisions, ["D-1"]);
    let decision = &mut design["payload"]["decisions"][0];
    decision["selected"] = json!("alt-3");
    decision["id"] = json!("8");
    decision["confidence"] = json!("certain");
    decision.as_object_mut().unwrap().remove("rationale");
    let reported = problems(&design, &expected);
    assert!(
        reported.contains(
            &"payload.decisions[0].id: expected a string of the form `^D-[0-9]+$`, found `8`".to_string()
        ),
        "{reported:#?}"
    );
    assert!(
        reported
            .iter()
            .any(|line| line.starts_with("payload.decisions[0].confidence: expected one of `high`"))
    );
    assert!(reported.iter().any(|line| line.starts_with("payload.decisions[0].rationale: ")));
    let decision = &mut design["payload"]["decisions"][0];
    *decision = example(SchemaId::DesignOutput)["payload"]["decisions"][0].clone();
    decision["selected"] = json!("alt-3");
    assert_eq!(
        problems(&design, &expected),
        ["payload.decisions[0].selected: expected one of `alt-1`, `alt-2`, found `alt-3`"]
    );
}

// EP-33
#[test]
fn each_criterion_must_be_judged_with_a_location_or_an_evidence_row() {
    let mut expected =
        Expectation::new(SchemaId::VerificationReport, "verifier", "verify", &["met", "unmet"]);
    expected.instance = "task-01".into();
    expected.findings = FindingsRule::Reports { needs: Vec::new() };
    expected.known.criteria = Some(vec!["AC-1".into(), "AC-2".into()]);
    let mut report = example(SchemaId::VerificationReport);
    report["payload"]["criteria"] = json!([
        {"criterion": "AC-1", "met": true, "row": "r-17"},
        {"criterion": "AC-2", "met": "yes", "place": "tests/a.rs:3"},
    ]);
    let reading = ok(&report, &expected);
    assert_eq!(reading.criteria[0].proof, Some(Proof::Row("r-17".into())));
    assert!(matches!(&reading.criteria[1].proof, Some(Proof::Place(place)) if place.line == 3));
    report["payload"]["criteria"] = json!([
        {"criterion": "AC-1", "met": "met", "place": {}, "row": " "},
        {"criterion": "AC-9", "met": "not met", "row": "r-1"},
    ]);
    report["payload"]["smoke"] = json!(["a\nb\nc", "d", "e", "f"]);
    assert_eq!(
        problems(&report, &expected),
        [
            "payload.criteria[0]: expected a `place` or a `row` as proof, found neither",
            "payload.criteria[1].criterion: expected one of `AC-1`, `AC-2`, found `AC-9`",
            "payload.criteria: expected a judgement of every criterion, found none for AC-2",
            "payload.verdict: expected a verdict that matches the criteria, found `met` with unmet criteria AC-9",
            "payload.smoke: expected at most 5 lines, found 6",
        ]
    );
}

// CORE-06
#[test]
fn a_dispute_must_name_a_finding_that_the_role_received() {
    let mut expected =
        Expectation::new(SchemaId::ImplementationReport, "implementer", "implement", &["done", "stuck"]);
    expected.instance = "task-01".into();
    expected.known.findings = Some(vec!["F-1".into()]);
    let mut report = example(SchemaId::ImplementationReport);
    report["payload"]["disputes"] =
        json!([{"finding": "F-1", "reason": "the clock cannot be set back here"}]);
    let reading = ok(&report, &expected);
    assert_eq!((reading.disputes.len(), reading.criteria.len()), (1, 0));
    assert!(reading.hypothesis.unwrap().starts_with("A comparison"));
    report["payload"]["disputes"][0]["finding"] = json!("F-2");
    assert_eq!(problems(&report, &expected), ["payload.disputes[0].finding: expected `F-1`, found `F-2`"]);
}

// CORE-15
#[test]
fn a_report_that_names_another_task_is_rejected() {
    let mut expected =
        Expectation::new(SchemaId::ImplementationReport, "implementer", "implement", &["done", "stuck"]);
    expected.instance = "task-01".into();
    expected.known.task = Some("task-01".into());
    let mut report = example(SchemaId::ImplementationReport);
    report["payload"]["task"] = json!("task-07");
    assert_eq!(problems(&report, &expected), ["payload.task: expected `task-01`, found `task-07`"]);
    report["payload"]["task"] = json!("");
    ok(&report, &expected);
    assert!(expected.example().contains("task: task-01"), "{}", expected.example());
}

// EP-22
#[test]
fn knowledge_and_concerns_become_notes() {
    let expected = Expectation::new(SchemaId::KnowledgeOutput, "knowledge", "knowledge", &["done"]);
    let reading = ok(&example(SchemaId::KnowledgeOutput), &expected);
    let kinds: Vec<NoteKind> = reading.notes.iter().map(|note| note.kind).collect();
    assert_eq!(kinds, [NoteKind::Decision, NoteKind::Lesson, NoteKind::Proposal]);
    assert_eq!(reading.notes[2].files, ["AGENTS.md"]);
    let expected = Expectation::new(SchemaId::SpecOutput, "spec", "spec", &["done", "concerns"]);
    let mut spec = example(SchemaId::SpecOutput);
    spec["payload"]["verdict"] = json!("concerns");
    assert_eq!(
        problems(&spec, &expected),
        ["payload.concerns: expected at least one concern, because the verdict is `concerns`, found none"]
    );
    spec["payload"]["concerns"] = json!([{"text": "an hour is short"}]);
    assert_eq!(ok(&spec, &expected).notes[0].kind, NoteKind::Concern);
    spec["payload"]["acceptance_criteria"][0]["covers"] = json!(["FR-9"]);
    assert_eq!(
        problems(&spec, &expected),
        ["payload.acceptance_criteria[0].covers[0]: expected `FR-1`, found `FR-9`"]
    );
}

// OT-16
#[test]
fn a_diagnosis_names_one_cause_and_does_not_need_a_finding() {
    let mut expected = Expectation::new(
        SchemaId::Diagnosis,
        "check/diagnosis",
        "diagnosis",
        &["test-design", "production-logic", "split-needed"],
    );
    expected.findings = FindingsRule::Reports { needs: Vec::new() };
    let mut diagnosis = example(SchemaId::Diagnosis);
    diagnosis["instance"] = json!("");
    diagnosis["payload"]["verdict"] = json!("Production Logic");
    diagnosis["payload"]["findings"] = json!([]);
    diagnosis["completion"]["findings_count"] = json!(0);
    assert_eq!(ok(&diagnosis, &expected).says, "production-logic");
    diagnosis["payload"]["notes"] = json!("  ");
    assert_eq!(
        problems(&diagnosis, &expected),
        ["payload.notes: expected a non-empty string, found an empty string"]
    );
}

// DR-07
#[test]
fn a_findings_report_with_a_missing_or_empty_part_is_rejected() {
    let expected =
        Expectation::new(SchemaId::FindingsReport, "findings", "findings", &["done", "oscillates"]);
    let report = example(SchemaId::FindingsReport);
    let reading = ok(&report, &expected);
    assert_eq!(reading.approach.unwrap().decisions, ["D-1"]);
    let mut paths = Vec::new();
    leaves(&report["payload"], "/payload".to_string(), &mut paths);
    let optional = [
        "/payload/verdict",
        "/payload/proposed_change/hints/0/note",
        "/payload/proposed_change/approach/decisions",
    ];
    let mut tried = 0;
    for path in paths.iter().filter(|path| !optional.iter().any(|it| path.starts_with(it))) {
        let mut emptied = report.clone();
        *emptied.pointer_mut(path).unwrap() = match report.pointer(path).unwrap() {
            Value::Array(_) => json!([]),
            Value::Bool(_) => json!("maybe"),
            _ => json!(""),
        };
        let reported = problems(&emptied, &expected);
        assert!(reported.iter().any(|line| line.contains("expected")), "{path}");
        let (parent, key) = path.rsplit_once('/').unwrap();
        let mut missing = report.clone();
        if let Some(entries) = missing.pointer_mut(parent).and_then(Value::as_object_mut) {
            entries.remove(key);
            problems(&missing, &expected);
        }
        tried += 1;
    }
    assert!(tried > 35, "{tried}");
}

fn leaves(value: &Value, path: String, out: &mut Vec<String>) {
    match value {
        Value::Object(entries) => {
            entries.iter().for_each(|(key, it)| leaves(it, format!("{path}/{key}"), out))
        }
        Value::Array(items) => {
            out.push(path.clone());
            items.iter().enumerate().for_each(|(at, it)| leaves(it, format!("{path}/{at}"), out));
        }
        _ => out.push(path),
    }
}

// SR-14
#[test]
fn proposals_and_reviews_are_converted_for_the_board() {
    let mut expected =
        Expectation::new(SchemaId::GapProposals, "engineer", "engineer", &["proposed", "nothing"]);
    expected.known.gaps = Some(vec!["GAP-FLOW-001".into()]);
    let mut document = example(SchemaId::GapProposals);
    let reading = ok(&document, &expected);
    let Payload::Proposals(payload) = &reading.payload else { panic!("{:?}", reading.payload) };
    let output = engineer_output(payload).unwrap();
    assert_eq!((output.proposals[0].section.as_str(), output.answers.len()), ("Sessions", 1));
    document["payload"]["proposals"][0]["gap"] = json!("GAP-FLOW-002");
    document["payload"]["answers"][0] = json!({"issue": "ISSUE-1", "stance": "agree"});
    let reported = problems(&document, &expected);
    assert!(
        reported.contains(
            &"payload.answers[0].issue: expected an id such as `ISSUE-R2-001`, found `ISSUE-1`".to_string()
        ),
        "{reported:#?}"
    );
    assert!(
        reported.contains(
            &"payload.proposals: expected at least one assigned gap: `GAP-FLOW-001`, found GAP-FLOW-002"
                .to_string()
        ),
        "{reported:#?}"
    );

    let expected =
        Expectation::new(SchemaId::GapReview, "spec-reviewer", "reviewer", &["reviewed", "no-issues"]);
    let mut document = example(SchemaId::GapReview);
    let reading = ok(&document, &expected);
    let Payload::GapReview(payload) = &reading.payload else { panic!("{:?}", reading.payload) };
    assert_eq!(reviewer_output(payload).unwrap().issues.len(), 1);
    document["payload"]["verdict"] = json!("no-issues");
    document["payload"]["reviews"][0]["note"] = json!("");
    document["payload"]["checks"] = json!([]);
    let reported = problems(&document, &expected);
    assert!(
        reported.contains(&"payload.checks: expected a non-empty list, found an empty list".to_string()),
        "{reported:#?}"
    );
    assert!(
        reported.iter().any(|line| line.starts_with("payload.reviews[0].note: expected a note")),
        "{reported:#?}"
    );
}

// SR-03, SR-05
#[test]
fn a_review_must_address_an_assigned_gap_whatever_its_verdict() {
    let mut expected =
        Expectation::new(SchemaId::GapReview, "spec-reviewer", "reviewer", &["reviewed", "no-issues"]);
    expected.known.gaps = Some(vec!["GAP-FLOW-001".to_string()]);
    let mut document = example(SchemaId::GapReview);
    document["payload"]["verdict"] = json!("no-issues");
    document["payload"]["reviews"] = json!([]);
    document["payload"]["new_gaps"] = json!([]);
    let reported = problems(&document, &expected);
    assert_eq!(reported, ["payload.reviews: expected at least one assigned gap: `GAP-FLOW-001`, found none"]);
    expected.known.gaps = Some(Vec::new());
    ok(&document, &expected);
}

// SR-14
#[test]
fn an_inventory_must_match_its_verdict() {
    let expected = Expectation::new(
        SchemaId::GapInventory,
        "spec-reviewer/final",
        "inventory",
        &["clean", "gaps-found"],
    );
    let mut document = example(SchemaId::GapInventory);
    document["payload"]["verdict"] = json!("clean");
    assert_eq!(
        problems(&document, &expected),
        ["payload.gaps: expected no gaps, because the verdict is `clean`, found 1"]
    );
    document["payload"]["gaps"] = json!(null);
    ok(&document, &expected);
    document["payload"]["verdict"] = json!("gaps-found");
    assert_eq!(
        problems(&document, &expected),
        ["payload.gaps: expected at least one gap, because the verdict is `gaps-found`, found none"]
    );
}

#[test]
fn an_approach_is_required_if_the_contract_requires_it() {
    let mut expected = Expectation::new(SchemaId::Document, "architect", "design", &["done"]);
    expected.approach = ApproachRule::Stated;
    let mut document = parse(&expected.example()).expect("a valid example");
    ok(&document, &expected);
    document["payload"].as_object_mut().unwrap().remove("approach");
    assert!(problems(&document, &expected)[0].starts_with("payload.approach: expected the core idea"));
}
