#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::*;
use remand_workflow::roles::{RESULTS, Roles};
use serde_json::Value;

/// The expectation of a shipped role, as the engine builds it.
fn expectation(title: &str) -> Expectation {
    let roles = Roles::shipped();
    let role = roles.get(title).expect("a shipped role");
    let says: Vec<&str> = role.says.iter().map(String::as_str).collect();
    let mut expected = Expectation::new(role.result.parse().expect("a schema"), title, "a-phase", &says);
    expected.findings = FindingsRule::of_contract(role.findings, role.by_kind);
    if role.states_approach {
        expected.approach = ApproachRule::Stated;
    }
    expected
}

fn parsed(text: &str) -> Value {
    let raw = RawResult { file: Some(text.as_bytes().to_vec()), answer: String::new() };
    find(&raw, &ResultLimits::default()).expect("a document").value
}

// EP-06
#[test]
fn every_schema_has_a_producer_consumers_and_a_valid_example() {
    for (id, entry) in SchemaId::ALL.into_iter().zip(schemas()) {
        assert_eq!((id, id.name()), (entry.id, entry.name));
        assert_eq!((id.schema().name, schema(id.name()).map(|it| it.id)), (entry.name, Some(id)));
        assert_eq!(id.name().parse(), Ok(id));
        assert!(!entry.producer.is_empty() && !entry.consumers.is_empty() && !entry.about.is_empty());
        assert!(entry.validator.is_some(), "{}", entry.name);
        let document = parsed(entry.example);
        let problems = validate::validate(&document, entry);
        assert!(problems.is_empty(), "{}: {problems:?}", entry.name);
        Payload::read(id, document["payload"].clone()).expect(entry.name);
    }
    assert!("plan".parse::<SchemaId>().is_err());
    assert!(
        RESULTS.iter().all(|(name, _)| schema(name).is_some()),
        "every result that a role may name has a schema"
    );
}

// EP-05, EP-06, SR-14, DR-07, OT-16
#[test]
fn the_example_for_every_shipped_role_is_accepted() {
    let roles = Roles::shipped();
    for title in roles.titles() {
        let expected = expectation(title);
        let example = expected.example();
        let reading = read(parsed(&example), &expected, &ResultLimits::default());
        let reading = reading.unwrap_or_else(|rejection| panic!("{title}: {rejection:?}\n{example}"));
        assert!(expected.says.contains(&reading.says), "{title} says {}", reading.says);
        assert_eq!(reading.value["step"], "a-phase");
    }
}

// EP-06
#[test]
fn the_example_uses_ids_of_the_run() {
    let mut expected = expectation("verifier");
    expected.instance = "task-07".into();
    expected.known.criteria = Some(vec!["AC-8".into(), "AC-9".into()]);
    let reading = read(parsed(&expected.example()), &expected, &ResultLimits::default()).expect("accepted");
    assert_eq!(reading.criteria.len(), 2);
    let mut expected = expectation("engineer");
    expected.known.gaps = Some(vec!["GAP-DATA-004".into()]);
    read(parsed(&expected.example()), &expected, &ResultLimits::default()).expect("accepted");
    let mut expected = expectation("tsp-code-reviewer");
    expected.injects = vec!["planning".into(), "code".into()];
    expected.findings = FindingsRule::Reports { needs: vec![FindingField::InjectedBy, FindingField::Place] };
    read(parsed(&expected.example()), &expected, &ResultLimits::default()).expect("accepted");
}

// EP-05
#[test]
fn an_outline_shows_the_verdicts_of_the_role_and_the_required_fields() {
    let text = outline_for(&expectation("check/code"));
    assert!(text.contains("verdict: acceptable | needs-work | block  # (required)"), "{text}");
    assert!(text.contains("severity: blocker | critical | major | minor  # (required)"), "{text}");
    assert!(text.contains("# blocker: Work must not continue until it is fixed."), "{text}");
    assert!(text.contains("kind: plan | test | production | cosmetic  # (required)"), "{text}");
    assert!(text.contains(r#"agent: "check/code""#), "{text}");
    let text = outline_for(&expectation("documenter"));
    assert!(!text.contains("findings:"), "{text}");
    for entry in schemas() {
        let text = outline(entry);
        assert!(text.contains("payload:  # (required)"), "{}\n{text}", entry.name);
    }
}

// EP-06
#[test]
fn no_alias_of_a_field_is_the_name_of_a_sibling() {
    let mut aliases = 0;
    for entry in schemas() {
        let parts = entry.json["$defs"].as_object().unwrap().values().chain([&entry.json]);
        for properties in parts.filter_map(|part| part["properties"].as_object()) {
            for (name, field) in properties {
                for alias in field["x-alias"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                    assert!(!properties.contains_key(alias), "{}: `{alias}` for `{name}`", entry.name);
                    aliases += 1;
                }
            }
        }
    }
    assert!(aliases > 40, "{aliases}");
}

// EP-06
#[test]
fn the_schema_for_every_shipped_role_is_self_contained_and_accepts_what_the_contract_accepts() {
    for title in Roles::shipped().titles() {
        let expected = expectation(title);
        let schema = schema_for(&expected);
        let text = schema.to_string();
        assert!(!text.contains("$ref") && !text.contains("\"x-"), "{title}: {text}");
        let mut example = parsed(&expected.example());
        let validator = jsonschema::validator_for(&schema).expect(title);
        let errors: Vec<String> = validator.iter_errors(&example).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{title}");
        for filled in ["agent", "instance", "step"] {
            example.as_object_mut().unwrap().remove(filled);
        }
        assert!(
            validator.is_valid(&example)
                && read(example.clone(), &expected, &ResultLimits::default()).is_ok()
        );
        example["payload"]["verdict"] = Value::from("not a verdict of the role");
        assert!(!validator.is_valid(&example), "{title}");
    }
}

// EP-06
#[test]
fn an_expectation_survives_serialization() {
    for title in Roles::shipped().titles() {
        let mut expected = expectation(title);
        expected.known.documents = Some([("design".to_string(), Value::from("text"))].into());
        let text = serde_json::to_string(&expected).unwrap();
        let again: Expectation = serde_json::from_str(&text).unwrap();
        assert_eq!(format!("{again:?}"), format!("{expected:?}"));
        assert!(text.contains(&format!("\"schema\":\"{}\"", expected.schema.name())), "{text}");
    }
}
