//! Validates a document against its JSON Schema and describes each violation.

use super::problem::{ContractProblem, describe_value};
use super::schema::{MAJOR, Schema, VERSION};
use super::shape::{at, describe, dotted, one_line_limit, properties, required};
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

/// The maximum number of errors to collect: a list of a hundred thousand wrong entries is one mistake.
const MAX_ERRORS: usize = 100;

/// The violations of the schema in a document.
pub(super) fn validate(document: &Value, schema: &Schema) -> Vec<ContractProblem> {
    let Some(validator) = &schema.validator else {
        return vec![ContractProblem::new("", format!("a valid schema `{}`", schema.name), "an invalid one")];
    };
    let mut problems: Vec<ContractProblem> = Vec::new();
    for error in validator.iter_errors(document).take(MAX_ERRORS) {
        let pointer = error.instance_path().to_string();
        if let ValidationErrorKind::Required { property } = error.kind() {
            problems.push(missing(document, &schema.json, &pointer, property.as_str().unwrap_or_default()));
            continue;
        }
        let value_schema = at(&schema.json, &pointer);
        let expected = match value_schema {
            Some(value_schema) => describe(&schema.json, value_schema),
            None => "another value".to_string(),
        };
        let is_one_line =
            value_schema.is_some_and(|value_schema| one_line_limit(&schema.json, value_schema).is_some());
        let value = document.pointer(&pointer).unwrap_or(&Value::Null);
        let found = match (error.kind(), value) {
            (ValidationErrorKind::MaxLength { .. }, Value::String(text)) => {
                format!("{} characters", text.chars().count())
            }
            (_, Value::String(text)) if is_one_line && text.contains('\n') => {
                format!("{} lines", text.lines().count())
            }
            (_, value) => describe_value(value),
        };
        problems.push(ContractProblem::new(dotted(&pointer), expected, found));
    }
    problems.dedup();
    problems
}

fn missing(document: &Value, schema: &Value, pointer: &str, name: &str) -> ContractProblem {
    let parent = document.pointer(pointer);
    let parent_schema = at(schema, pointer);
    let value_schema = parent_schema.and_then(properties).and_then(|all| all.get(name));
    let expected = value_schema.map_or_else(|| "a value".to_string(), |value| describe(schema, value));
    let path = match dotted(pointer) {
        path if path.is_empty() => name.to_string(),
        path => format!("{path}.{name}"),
    };
    let problem = ContractProblem::new(path, expected, "nothing");
    let known: Vec<&str> = parent_schema
        .and_then(properties)
        .map(|all| all.keys().map(String::as_str).collect())
        .unwrap_or_default();
    let keys = parent.and_then(Value::as_object).into_iter().flat_map(|entries| entries.keys());
    let misspelt = keys.filter(|key| !known.contains(&key.as_str())).find(|key| is_misspelling(key, name));
    match misspelt {
        Some(key) => problem.with_hint(format!("did you mean `{name}` instead of `{key}`?")),
        None => problem,
    }
}

/// Whether `given` is probably a misspelling of `name`.
pub(super) fn is_misspelling(given: &str, name: &str) -> bool {
    let (given, name) = (super::shape::normalize(given), super::shape::normalize(name));
    let shorter = given.len().min(name.len());
    given == name
        || (shorter >= 4 && (given.starts_with(&name) || name.starts_with(&given)))
        || distance(&given, &name) <= name.chars().count() / 4
}

/// Reports unknown fields that are probably misspelt optional ones.
pub(super) fn misspelt(document: &Value, schema: &Value) -> Vec<ContractProblem> {
    let mut problems = Vec::new();
    let Some(payload) = document.get("payload").and_then(Value::as_object) else { return problems };
    let Some(known) = at(schema, "/payload").and_then(properties) else { return problems };
    let needed = at(schema, "/payload").map(required).unwrap_or_default();
    for key in payload.keys().filter(|key| !known.contains_key(*key)) {
        let meant = known.keys().find(|name| {
            !payload.contains_key(*name)
                && !needed.contains(&name.as_str())
                && distance(&super::shape::normalize(key), &super::shape::normalize(name)) <= 1
        });
        if let Some(name) = meant {
            let found = format!("`{key}`, which is not a field");
            problems.push(ContractProblem::new(format!("payload.{key}"), format!("`{name}`"), found));
        }
    }
    problems
}

/// The number of single-character edits between two strings.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let change = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// Rejects another major version.
pub(super) fn check_version(document: &Value) -> Option<ContractProblem> {
    let given = match document.get("schema_version")? {
        Value::String(text) => text.trim().to_string(),
        Value::Number(number) => number.to_string(),
        other => describe_value(other),
    };
    let major = given.split('.').next().and_then(|major| major.parse::<u64>().ok());
    if major == Some(MAJOR) {
        return None;
    }
    let expected = format!("version {MAJOR} (this engine uses {VERSION})");
    Some(ContractProblem::new("schema_version", expected, format!("version {given}")))
}
