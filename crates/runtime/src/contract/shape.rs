//! Walks in a JSON Schema: what it says of a place, in words and in parts.

use super::problem::one_of;
use serde_json::Value;

/// Follows references and optional wrappers to the schema that says something.
pub(super) fn resolve<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let mut at = schema;
    for _ in 0..16 {
        if let Some(pointer) = at.get("$ref").and_then(Value::as_str) {
            match pointer.strip_prefix('#').and_then(|path| root.pointer(path)) {
                Some(target) => at = target,
                None => return at,
            }
        } else if let Some([only]) =
            at.get("anyOf").and_then(Value::as_array).map(|all| parts(all)).as_deref()
        {
            at = only;
        } else {
            return at;
        }
    }
    at
}

fn parts(all: &[Value]) -> Vec<&Value> {
    all.iter().filter(|part| part.get("type").and_then(Value::as_str) != Some("null")).collect()
}

/// The words that a schema allows, each with its meaning where it is stated.
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

/// Tells whether a schema allows this JSON type.
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

/// The names that a mapping must have.
pub(super) fn required(schema: &Value) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.map(|names| names.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
}

/// What a value must be, in words.
pub(super) fn described(root: &Value, schema: &Value) -> String {
    let schema = resolve(root, schema);
    if let Some(words) = words(schema) {
        return one_of(words.iter().map(|(word, _)| *word));
    }
    let number = |key: &str| schema.get(key).and_then(Value::as_u64);
    if is_a(schema, "string") {
        return match (number("maxLength"), schema.get("pattern").and_then(Value::as_str)) {
            (Some(most), _) => format!("one line of text, 1 to {most} characters"),
            (None, Some("\\S")) => "a text that says something".to_string(),
            (None, Some(pattern)) => format!("a text of the form `{pattern}`"),
            (None, None) => "a text".to_string(),
        };
    }
    if is_a(schema, "integer") {
        return match (number("minimum"), number("maximum")) {
            (Some(least), Some(most)) => format!("a whole number from {least} to {most}"),
            (Some(least), None) => format!("a whole number from {least}"),
            (None, _) => "a whole number".to_string(),
        };
    }
    if is_a(schema, "array") {
        return match (number("minItems"), number("maxItems")) {
            (Some(1), None) => "a list that is not empty".to_string(),
            (_, Some(most)) => format!("a list of at most {most}"),
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

/// The schema of the place that a JSON pointer names.
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

/// A JSON pointer as problems write paths: `payload.tasks[2].files[0].risk`.
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

/// A text without case and separators, so that `NEEDS_REVISION` and `needs revision` are one.
pub(super) fn squashed(text: &str) -> String {
    let kept = text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '-' | '_' | '.' | '\u{fe0f}'));
    kept.flat_map(char::to_lowercase).collect()
}
