//! Fills in the common header of a scripted result, so that scripts stay short.

use super::dispatch::DispatchInfo;
use serde_json::{Map, Value, json};

/// The maximum length that the contract allows for a summary.
const MAX_SUMMARY_CHARS: usize = 200;

/// Adds missing header fields. Existing fields, and results that are not mappings, stay unchanged.
pub fn fill_in_header(result: &Value, info: &DispatchInfo) -> Value {
    let Value::Object(given) = result else { return result.clone() };
    let mut document = given.clone();
    let mut add = |key: &str, value: Value| {
        document.entry(key).or_insert(value);
    };
    add("agent", json!(info.role));
    if let Some(instance) = &info.instance {
        add("instance", json!(instance));
    }
    add("step", json!(info.phase));
    add("schema_version", json!("1.0"));
    add("completion", Value::Object(Map::new()));
    let payload = given.get("payload").unwrap_or(&Value::Null);
    if let Some(Value::Object(completion)) = document.get_mut("completion") {
        let mut add = |key: &str, value: Value| {
            completion.entry(key).or_insert(value);
        };
        add("status", json!("DONE"));
        add("summary", json!(summary(payload, info)));
        add("findings_count", json!(payload.get("findings").and_then(Value::as_array).map_or(0, Vec::len)));
        add("output_paths", json!([]));
    }
    Value::Object(document)
}

fn summary(payload: &Value, info: &DispatchInfo) -> String {
    match payload.get("summary").and_then(Value::as_str).and_then(|summary| summary.lines().next()) {
        Some(summary) => summary.chars().take(MAX_SUMMARY_CHARS).collect(),
        None => format!("scripted result of {}", info.role),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info() -> DispatchInfo {
        serde_json::from_value(json!({
            "run": "r", "phase": "review", "role": "check/code", "item": "t1", "instance": "t1#2", "round": 2, "attempt": 1,
            "result": "/r", "tree": "/t", "folder": "/f",
        }))
        .unwrap_or_else(|error| unreachable!("{error}"))
    }

    #[test]
    fn missing_fields_are_filled_in_and_given_fields_stay() {
        let given = json!({
            "agent": "someone", "completion": {"status": "ERROR"}, "payload": {"findings": [1, 2], "summary": "two\nlines"},
        });
        let expected = json!({
            "agent": "someone", "instance": "t1#2", "step": "review", "schema_version": "1.0",
            "completion": {"status": "ERROR", "summary": "two", "findings_count": 2, "output_paths": []},
            "payload": {"findings": [1, 2], "summary": "two\nlines"},
        });
        assert_eq!(fill_in_header(&given, &info()), expected);
    }

    #[test]
    fn results_that_are_not_mappings_stay_unchanged() {
        assert_eq!(fill_in_header(&json!([1]), &info()), json!([1]));
        let odd = fill_in_header(&json!({"completion": "DONE"}), &info());
        assert_eq!(odd["completion"], json!("DONE"));
    }

    #[test]
    fn a_summary_has_at_most_200_characters() {
        let long = fill_in_header(&json!({"payload": {"summary": "é".repeat(300)}}), &info());
        assert_eq!(long["completion"]["summary"], json!("é".repeat(200)));
    }
}
