#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::pointers::{Documents, Pointer, PointerError, artifact_name, extract, extract_yaml};
use super::*;
use serde_json::json;

fn documents() -> Documents {
    let design = json!({"payload": {
        "summary": "the whole design",
        "decisions": [{"id": "D-8", "title": "risk"}, {"id": "D-6", "title": "checks"}, {"id": 9}],
        "twice": [{"id": "x"}, {"id": "x"}],
        "none": null,
    }});
    let spec = json!({"payload": {"requirements": [{"id": "FR-4", "title": "evidence"}]}});
    Documents::from([("design".to_string(), design), ("spec".to_string(), spec)])
}

fn resolve(text: &str) -> Result<serde_json::Value, PointerError> {
    Pointer::parse(text)?.resolve(&documents()).cloned()
}

// EP-11
#[test]
fn a_pointer_resolves_with_every_spelling_of_its_artifact() {
    let section = json!({"id": "D-8", "title": "risk"});
    for text in [
        "design#payload.decisions[id='D-8']",
        "design-output.yaml#payload.decisions[id='D-8']",
        "`design-output.yaml#payload.decisions[id=\"D-8\"]`",
        "\"design-output.yaml\"#payload.decisions[0]",
        "artifacts/Design.yml # .payload.decisions[ id = 'D-8' ]",
    ] {
        assert_eq!(resolve(text), Ok(section.clone()), "{text}");
    }
    assert_eq!(resolve("design#payload.decisions[id='D-6'].title"), Ok(json!("checks")));
    assert_eq!(resolve("design#payload.decisions[id='9']"), Ok(json!({"id": 9})));
    assert_eq!(artifact_name("review-findings.md"), "review-findings");
}

// EP-11
#[test]
fn a_pointer_that_is_malformed_or_does_not_resolve_says_why() {
    for (text, why) in [
        ("design.payload", "`#` is missing between artifact and path"),
        ("#payload", "the artifact name is missing"),
        ("design#", "the path must have the form `payload.list[id='X'].field`, but continues with ``"),
        (
            "design#payload..x",
            "the path must have the form `payload.list[id='X'].field`, but continues with `..x`",
        ),
        ("design#[0]", "the path must have the form `payload.list[id='X'].field`, but continues with `[0]`"),
        (
            "design#payload.decisions[id=D-8]",
            "the path must have the form `payload.list[id='X'].field`, but continues with `[id=D-8]`",
        ),
        (
            "design#payload.decisions[id='D-8'",
            "the path must have the form `payload.list[id='X'].field`, but continues with `[id='D-8'`",
        ),
        ("plan#payload", "unknown artifact `plan`: use one of design, spec"),
        ("design#payload.decisions[id='D-7'].title", "`design#payload.decisions[id='D-7']` does not exist"),
        ("design#payload.none", "`design#payload.none` does not exist"),
        ("design#payload.twice[id='x']", "`design#payload.twice[id='x']` matches 2 entries"),
        ("design#payload.decisions[7]", "`design#payload.decisions[7]` does not exist"),
    ] {
        assert_eq!(resolve(text).unwrap_err().to_string(), why, "{text}");
    }
    assert!(Pointer::parse("design#payload[99999999999999999999999]").is_err());
}

// EP-11
#[test]
fn only_the_addressed_sections_are_extracted() {
    let pointers = [
        "design-output.yaml#payload.decisions[id='D-8']".to_string(),
        "spec#payload.requirements[id='FR-4']".to_string(),
    ];
    let text = extract_yaml(&pointers, &documents()).expect("both resolve");
    assert!(text.contains("risk") && text.contains("FR-4"), "{text}");
    assert!(!text.contains("D-6") && !text.contains("the whole design"), "{text}");
    let read: serde_json::Value = serde_saphyr::from_str(&text).expect("YAML");
    assert_eq!(read, extract(&pointers, &documents()).unwrap());
    let broken = ["design#payload.x".to_string(), "nothing".to_string(), pointers[0].clone()];
    let errors = extract(&broken, &documents()).unwrap_err();
    assert_eq!(
        errors.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>(),
        ["design#payload.x", "nothing"]
    );
}

// EP-11
#[test]
fn a_plan_with_a_pointer_that_does_not_resolve_is_rejected() {
    let mut expected = Expectation::new(SchemaId::PlanOutput, "planner", "plan", &["done", "needs-revision"]);
    let mut plan = parse(SchemaId::PlanOutput.schema().example).unwrap();
    expected.known.documents = Some(documents());
    let reported = |plan: &serde_json::Value| match read(plan.clone(), &expected, &ResultLimits::default()) {
        Err(Rejection::Malformed { problems, .. }) => {
            problems.iter().map(|it| it.path.clone()).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    let context = "payload.tasks[0].relevant_context";
    assert_eq!(reported(&plan), [format!("{context}[0]"), format!("{context}[1]")]);
    plan["payload"]["tasks"][0]["relevant_context"] = json!({
        "design_sections": ["design-output.yaml#payload.decisions[id='D-8']"],
        "spec_requirements": ["spec-output.yaml#payload.requirements[id='FR-4']", "spec: all of it"],
    });
    assert_eq!(reported(&plan), [format!("{context}[2]")]);
}
