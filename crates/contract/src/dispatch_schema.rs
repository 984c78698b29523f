//! The JSON Schema for one dispatch's result, as agent programs accept it: self-contained, with the verdicts of this
//! dispatch and without the fields that the engine fills in.

use super::expectation::{Expectation, FindingsRule};
use super::schema::{SchemaId, VERSION};
use super::shape::words;
use serde_json::{Map, Value, json};

/// Fields that the engine fills in.
const FILLED_BY_ENGINE: [&str; 5] = ["agent", "instance", "step", "started_at", "completed_at"];

/// The maximum nesting of a schema.
const MAX_DEPTH: usize = 24;

/// The schema for one dispatch. It is weaker than the contract: it accepts everything that the contract accepts.
pub fn schema_for(expected: &Expectation) -> Value {
    let root = &expected.schema.schema().json;
    let mut schema = inline(root, root, MAX_DEPTH);
    if let Some(header) = schema.as_object_mut() {
        FILLED_BY_ENGINE.iter().for_each(|name| leave_out(header, name));
    }
    schema["properties"]["schema_version"] = json!({"type": "string", "enum": [VERSION]});
    if let Some(payload) = schema.pointer_mut("/properties/payload").and_then(Value::as_object_mut) {
        adapt_payload(payload, expected);
    }
    schema.sort_all_objects();
    schema
}

fn adapt_payload(payload: &mut Map<String, Value>, expected: &Expectation) {
    let reports_findings = expected.findings != FindingsRule::NotAsked;
    // A role that rejects its input may return findings alone.
    if reports_findings && expected.says.len() > 1 && expected.schema != SchemaId::FindingsReport {
        payload.remove("required");
    }
    if !reports_findings {
        leave_out(payload, "findings");
    }
    if expected.sets.is_empty() {
        leave_out(payload, "flags");
    }
    if expected.known.constraints.is_empty() {
        leave_out(payload, "constraints");
    }
    if let Some(verdict) = property(payload, "verdict") {
        let about = verdict.get("description").cloned().unwrap_or_default();
        *verdict = json!({"type": "string", "enum": expected.says, "description": about});
        if expected.says.len() > 1 {
            require(payload, "verdict");
        }
    }
    let finding = property(payload, "findings").and_then(|list| list.get_mut("items"));
    if let Some(finding) = finding.and_then(Value::as_object_mut) {
        adapt_finding(finding, expected);
    }
}

fn adapt_finding(finding: &mut Map<String, Value>, expected: &Expectation) {
    if expected.injects.is_empty() {
        leave_out(finding, "injected_by");
    } else if let Some(origins) = property(finding, "injected_by") {
        origins["items"] = json!({"type": "string", "enum": expected.injects});
    }
    if let FindingsRule::Reports { needs } = &expected.findings {
        needs.iter().for_each(|need| require(finding, need.name()));
    }
}

fn property<'s>(schema: &'s mut Map<String, Value>, name: &str) -> Option<&'s mut Value> {
    schema.get_mut("properties")?.get_mut(name)
}

fn leave_out(schema: &mut Map<String, Value>, name: &str) {
    if let Some(all) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        all.remove(name);
    }
    if let Some(needed) = schema.get_mut("required").and_then(Value::as_array_mut) {
        needed.retain(|needed| needed.as_str() != Some(name));
    }
}

fn require(schema: &mut Map<String, Value>, name: &str) {
    let needed = schema.entry("required").or_insert_with(|| json!([]));
    if let Some(needed) = needed.as_array_mut()
        && !needed.iter().any(|needed| needed.as_str() == Some(name))
    {
        needed.push(Value::from(name));
    }
}

/// Inlines the references in a part of a schema, and keeps only widely supported keywords.
fn inline(root: &Value, part: &Value, depth: usize) -> Value {
    let (Some(part), Some(depth)) = (part.as_object(), depth.checked_sub(1)) else { return part.clone() };
    let mut keywords = part.clone();
    if let Some(Value::String(pointer)) = keywords.remove("$ref") {
        let target = pointer.strip_prefix('#').and_then(|path| root.pointer(path)).unwrap_or(&Value::Null);
        let mut inlined = inline(root, target, depth);
        if let Some(inlined) = inlined.as_object_mut() {
            inlined.extend(keywords.into_iter().filter(|(key, _)| is_supported(key)));
        }
        return inlined;
    }
    if let Some(words) = words(&Value::Object(keywords.clone())) {
        return enumeration(&keywords, &words);
    }
    let inline_keyword = |(key, value): (String, Value)| {
        let value = match (key.as_str(), value) {
            ("properties", Value::Object(all)) => {
                all.iter().map(|(name, value)| (name.clone(), inline(root, value, depth))).collect()
            }
            ("items" | "additionalProperties", value) => inline(root, &value, depth),
            ("anyOf" | "oneOf" | "allOf", Value::Array(all)) => {
                all.iter().map(|value| inline(root, value, depth)).collect()
            }
            (_, value) => value,
        };
        (key, value)
    };
    keywords.into_iter().filter(|(key, _)| is_supported(key)).map(inline_keyword).collect()
}

/// An enumeration of words, with their meanings in the description.
fn enumeration(keywords: &Map<String, Value>, words: &[(&str, Option<&str>)]) -> Value {
    let list: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let about = keywords.get("description").and_then(Value::as_str).map(str::to_string);
    let meanings = words.iter().filter_map(|(word, meaning)| Some(format!("{word}: {}", (*meaning)?)));
    let about: Vec<String> = about.into_iter().chain(meanings).collect();
    match about.is_empty() {
        true => json!({"type": "string", "enum": list}),
        false => json!({"type": "string", "enum": list, "description": about.join("\n")}),
    }
}

/// Whether agent programs support a keyword. `format` names Rust types, and keywords that begin with `x-` are ours.
fn is_supported(key: &str) -> bool {
    !key.starts_with("x-") && !matches!(key, "$schema" | "$defs" | "$id" | "title" | "format")
}
