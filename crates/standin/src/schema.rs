//! Creates values that match JSON schemas: arguments of tools, and replies in a required format.

use serde_json::{Map, Value, json};

/// The simplest value that matches the types of a schema.
pub fn simple_value(schema: &Value) -> Value {
    if let Some(value) = schema.get("const").or_else(|| schema.pointer("/enum/0")) {
        return value.clone();
    }
    if let Some(first) = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(key)?.get(0)) {
        return simple_value(first);
    }
    match kind(schema).as_str() {
        "boolean" => json!(false),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        "array" => json!([]),
        "object" => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let required = required(schema);
            let fields =
                properties.into_iter().flatten().filter(|(name, _)| required.contains(&name.as_str()));
            Value::Object(fields.map(|(name, schema)| (name.clone(), simple_value(schema))).collect())
        }
        _ => json!("as rehearsed"),
    }
}

/// The arguments of a tool: known values by property name, and simple values for other required properties.
pub fn arguments(schema: &Value, known: &[(&[&str], Value)]) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let required = required(schema);
    let mut filled = Map::new();
    for (name, schema) in &properties {
        let normalized = normalized(name);
        let value =
            known.iter().find(|(names, _)| names.contains(&normalized.as_str())).map(|(_, value)| value);
        match value {
            Some(value) => filled.insert(name.clone(), converted(value, schema)),
            None if required.contains(&name.as_str()) => filled.insert(name.clone(), simple_value(schema)),
            None => None,
        };
    }
    Value::Object(filled)
}

/// The name in a form in which `file_path` and `filePath` are equal.
fn normalized(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Converts a value to the type of a schema: a command becomes a list of words, an object becomes a string.
fn converted(value: &Value, schema: &Value) -> Value {
    match (value, kind(schema).as_str()) {
        (Value::String(command), "array") => json!(["bash", "-c", command]),
        (Value::Object(_), "string") => json!(value.to_string()),
        _ => value.clone(),
    }
}

fn required(schema: &Value) -> Vec<&str> {
    let required = schema.get("required").and_then(Value::as_array);
    required.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The first type of a schema, in lower case, because Gemini writes types in capitals.
fn kind(schema: &Value) -> String {
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
        kind => kind.and_then(Value::as_str),
    };
    kind.unwrap_or(if schema.get("properties").is_some() { "object" } else { "string" }).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_properties_are_set_and_other_required_ones_get_simple_values() {
        let schema = json!({
            "type": "object", "required": ["filePath", "description", "is_background"],
            "properties": {
                "filePath": {"type": "string"}, "content": {"type": "string"}, "description": {"type": "string"},
                "is_background": {"type": "BOOLEAN"}, "timeout": {"type": "number"},
            },
        });
        let known: [(&[&str], Value); 2] = [(&["filepath", "path"], json!("/a")), (&["content"], json!("b"))];
        let expected =
            json!({"filePath": "/a", "content": "b", "description": "as rehearsed", "is_background": false});
        assert_eq!(arguments(&schema, &known), expected);
    }

    #[test]
    fn a_command_becomes_a_list_if_the_schema_requires_one() {
        let schema = json!({"properties": {"command": {"type": "array", "items": {"type": "string"}}}});
        let known: [(&[&str], Value); 1] = [(&["command"], json!("ls"))];
        assert_eq!(arguments(&schema, &known), json!({"command": ["bash", "-c", "ls"]}));
    }

    #[test]
    fn a_simple_value_has_the_required_properties() {
        let schema = json!({
            "type": "OBJECT", "required": ["title", "score", "kind", "parts"],
            "properties": {
                "title": {"type": "STRING"}, "score": {"type": "integer", "minimum": 10}, "kind": {"enum": ["a", "b"]},
                "parts": {"type": "object", "required": ["x"], "properties": {"x": {"type": "array"}, "y": {}}},
                "more": {"type": "string"},
            },
        });
        let expected = json!({"title": "as rehearsed", "score": 10, "kind": "a", "parts": {"x": []}});
        assert_eq!(simple_value(&schema), expected);
    }
}
