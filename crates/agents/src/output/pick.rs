//! Selects values from the JSON lines that an agent prints.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Selects values from the lines that match.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pick {
    /// Conditions on a line. For each path: a value, a list of possible values, or `true` for any non-empty value.
    #[serde(rename = "in")]
    pub lines: BTreeMap<String, Value>,
    /// Path of the value, separated by dots; `*` matches every member. If absent, the value is the whole line.
    pub at: Option<String>,
    /// A string that the value must contain.
    pub saying: Option<String>,
    /// Whether all values count: numbers are added, strings are concatenated. Otherwise only the last value counts.
    pub all: bool,
}

impl Pick {
    /// The selected values of a line.
    pub fn values<'v>(&self, line: &'v Value) -> Vec<&'v Value> {
        let mut values = match &self.at {
            _ if !self.matches(line) => Vec::new(),
            Some(path) => values_at(line, path),
            None => vec![line],
        };
        if let Some(words) = &self.saying {
            values.retain(|value| value.as_str().is_some_and(|text| text.contains(words)));
        }
        values
    }

    fn matches(&self, line: &Value) -> bool {
        self.lines.iter().all(|(path, expected)| {
            let found = values_at(line, path);
            match expected {
                Value::Bool(true) => found.iter().any(|value| is_non_empty(value)),
                Value::Array(any) => found.iter().any(|value| any.contains(value)),
                expected => found.contains(&expected),
            }
        })
    }
}

fn is_non_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(members) => !members.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    }
}

fn values_at<'v>(value: &'v Value, path: &str) -> Vec<&'v Value> {
    path.split('.')
        .fold(vec![value], |found, part| found.into_iter().flat_map(|value| members(value, part)).collect())
}

fn members<'v>(value: &'v Value, part: &str) -> Vec<&'v Value> {
    match value {
        Value::Array(members) if part == "*" => members.iter().collect(),
        Value::Object(members) if part == "*" => members.values().collect(),
        Value::Object(members) => members.get(part).into_iter().collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_selected_by_line_and_path() {
        let line = json!({"type": "text", "part": {"text": "one"}, "uses": [{"name": "a"}, {"name": "b"}], "no": []});
        let found = |pick: &str| {
            let pick: Pick = toml::from_str(pick).expect("a pick");
            pick.values(&line).into_iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(found("in = {type = 'text'}\nat = 'part.text'"), ["\"one\""]);
        assert_eq!(found("in = {type = ['step', 'text']}\nat = 'uses.*.name'"), ["\"a\"", "\"b\""]);
        assert_eq!(found("at = 'uses.*.name'\nsaying = 'b'"), ["\"b\""]);
        assert_eq!(found("in = {uses = true}\nat = 'type'"), ["\"text\""]);
        for none in ["in = {type = 'end'}", "in = {no = true}", "in = {'part.x' = true}", "at = 'part.x'"] {
            assert_eq!(found(none), Vec::<String>::new(), "{none}");
        }
    }
}
