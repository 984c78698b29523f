//! Looks up parts of a JSON Schema and describes them in words.

use super::problem::one_of;
use serde_json::Value;

/// Follows references and `anyOf` wrappers of optional values to the actual schema.
pub(super) fn resolve<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let mut at = schema;
    for _ in 0..16 {
        if let Some(pointer) = at.get("$ref").and_then(Value::as_str) {
            match pointer.strip_prefix('#').and_then(|path| root.pointer(path)) {
                Some(target) => at = target,
                None => return at,
            }
        } else if let Some([only]) =
            at.get("anyOf").and_then(Value::as_array).map(|all| without_null(all)).as_deref()
        {
            at = only;
        } else {
            return at;
        }
    }
    at
}

fn without_null(all: &[Value]) -> Vec<&Value> {
    all.iter().filter(|part| part.get("type").and_then(Value::as_str) != Some("null")).collect()
}

/// The words that a schema allows, each with its meaning if it has one.
pub(super) fn words(schema: &Value) -> Option<Vec<(&str, Option<&str>)>> {
    if let Some(all) = schema.get("enum").and_then(Value::as_array) {
        return Some(all.iter().filter_map(Value::as_str).map(|word| (word, None)).collect());
    }
    let mut words = Vec::new();
    for part in schema.get("oneOf")?.as_array()? {
        match part.get("const").and_then(Value::as_str) {
            Some(word) => words.push((word, part.get("description").and_then(Value::as_str))),
            None => words.extend(self::words(part)?),
        }
    }
    Some(words)
}

/// Whether a schema allows this JSON type.
pub(super) fn is_a(schema: &Value, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(only)) => only == kind,
        Some(Value::Array(all)) => all.iter().any(|one| one.as_str() == Some(kind)),
        _ => kind == "string" && words(schema).is_some(),
    }
}

/// The properties of a mapping, by name.
pub(super) fn properties(schema: &Value) -> Option<&serde_json::Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}

/// The required fields of a mapping.
pub(super) fn required(schema: &Value) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.map(|names| names.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
}

/// The maximum length of a string that must be a single line; `None` for any other schema.
pub(super) fn one_line_limit(root: &Value, schema: &Value) -> Option<u64> {
    let schema = resolve(root, schema);
    is_a(schema, "string").then(|| schema.get("maxLength").and_then(Value::as_u64)).flatten()
}

/// Describes in words what a value must be.
pub(super) fn describe(root: &Value, schema: &Value) -> String {
    let schema = resolve(root, schema);
    if let Some(words) = words(schema) {
        return one_of(words.iter().map(|(word, _)| *word));
    }
    let number = |key: &str| schema.get(key).and_then(Value::as_u64);
    if is_a(schema, "string") {
        return match (one_line_limit(root, schema), schema.get("pattern").and_then(Value::as_str)) {
            (Some(max), _) => format!("one line of text, 1 to {max} characters"),
            (None, Some("\\S")) => "a non-empty string".to_string(),
            (None, Some(pattern)) => format!("a string of the form `{pattern}`"),
            (None, None) => "a string".to_string(),
        };
    }
    if is_a(schema, "integer") {
        return match (number("minimum"), number("maximum")) {
            (Some(min), Some(max)) => format!("a whole number from {min} to {max}"),
            (Some(min), None) => format!("a whole number of at least {min}"),
            (None, _) => "a whole number".to_string(),
        };
    }
    if is_a(schema, "array") {
        return match (number("minItems"), number("maxItems")) {
            (Some(1), None) => "a non-empty list".to_string(),
            (_, Some(max)) => format!("a list of at most {max} entries"),
            (_, None) => "a list".to_string(),
        };
    }
    if is_a(schema, "boolean") {
        return "`true` or `false`".to_string();
    }
    match required(schema).as_slice() {
        [] => "a mapping".to_string(),
        names => format!("a mapping with {}", names.join(", ")),
    }
}

/// The schema of the value that a JSON pointer addresses.
pub(super) fn at<'s>(root: &'s Value, pointer: &str) -> Option<&'s Value> {
    let mut schema = resolve(root, root);
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        let inner = properties(schema)
            .and_then(|all| all.get(&part))
            .or_else(|| schema.get("items"))
            .or_else(|| schema.get("additionalProperties"))?;
        schema = resolve(root, inner);
    }
    Some(schema)
}

/// Converts a JSON pointer to the path notation of problems: `payload.tasks[2].files[0].risk`.
pub(super) fn dotted(pointer: &str) -> String {
    let mut path = String::new();
    for part in pointer.split('/').skip(1) {
        if part.bytes().all(|byte| byte.is_ascii_digit()) && !part.is_empty() {
            path.push_str(&format!("[{part}]"));
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&part.replace("~1", "/").replace("~0", "~"));
        }
    }
    path
}

/// The findings that a document lists, before they are validated.
pub(super) fn listed_findings(document: &Value) -> &[Value] {
    document["payload"]["findings"].as_array().map_or(&[], Vec::as_slice)
}

/// Removes differences of case and separators: `NEEDS_REVISION` and `needs revision` become equal.
pub(super) fn normalize(text: &str) -> String {
    let kept = text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '-' | '_' | '.' | '\u{fe0f}'));
    kept.flat_map(char::to_lowercase).collect()
}
