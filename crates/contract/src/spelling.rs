//! Converts a document to canonical spelling before validation: case, separators, synonyms, and the form of values.

use super::shape::{is_a, normalize, properties, resolve, words};
use serde_json::{Map, Value};

/// Rewrites the known fields of a document in canonical spelling. Returns the mappings that must be recorded.
pub(super) fn respell(document: &mut Value, schema: &Value) -> Vec<String> {
    unwrap_other_formats(document);
    let mut walk = Walk { root: schema, mapped: Vec::new() };
    walk.value(document, schema, &mut String::new());
    walk.mapped
}

/// Accepts the formats of some existing prompts, which wrap the result in `agent_output` and group the context of a task
/// by artifact.
fn unwrap_other_formats(document: &mut Value) {
    let Some(root) = document.as_object_mut() else { return };
    if let Some(Value::Object(inner)) = root.get("agent_output").cloned() {
        root.remove("agent_output");
        for (key, value) in inner {
            root.entry(key).or_insert(value);
        }
    }
    let tasks =
        root.get_mut("payload").and_then(|payload| payload.get_mut("tasks")).and_then(Value::as_array_mut);
    for task in tasks.into_iter().flatten().filter_map(Value::as_object_mut) {
        flatten_context(task);
    }
    if let Some(task) =
        root.get_mut("payload").and_then(|it| it.get_mut("task")).and_then(Value::as_object_mut)
    {
        flatten_context(task);
    }
}

fn flatten_context(task: &mut Map<String, Value>) {
    let Some(Value::Object(context)) = task.get("relevant_context").cloned() else { return };
    let mut pointers = Vec::new();
    for (key, value) in context {
        if key == "files_to_modify" {
            task.entry("files").or_insert(value);
        } else if let Value::Array(items) = value {
            pointers.extend(items);
        }
    }
    task.insert("relevant_context".to_string(), Value::Array(pointers));
}

struct Walk<'s> {
    root: &'s Value,
    mapped: Vec<String>,
}

impl Walk<'_> {
    fn value(&mut self, value: &mut Value, schema: &Value, path: &mut String) {
        let schema = resolve(self.root, schema);
        self.scalar(value, schema, path);
        match value {
            Value::Object(entries) => self.entries(entries, schema, path),
            Value::Array(items) => {
                let Some(inner) = schema.get("items") else { return };
                for (at, item) in items.iter_mut().enumerate() {
                    let length = path.len();
                    path.push_str(&format!("[{at}]"));
                    self.value(item, inner, path);
                    path.truncate(length);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn entries(&mut self, entries: &mut Map<String, Value>, schema: &Value, path: &mut String) {
        if let Some(inner) = schema.get("additionalProperties").filter(|inner| inner.is_object()) {
            for (name, value) in entries.iter_mut() {
                self.value(value, inner, &mut format!("{path}.{name}"));
            }
        }
        let Some(properties) = properties(schema) else { return };
        for (name, inner) in properties {
            rename_alias(entries, name, inner);
            let Some(value) = entries.get_mut(name) else { continue };
            let length = path.len();
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(name);
            self.value(value, inner, path);
            path.truncate(length);
        }
    }

    fn scalar(&mut self, value: &mut Value, schema: &Value, path: &str) {
        if let Some(words) = words(schema) {
            self.word(value, schema, &words, path);
        } else if schema.get("x-place").is_some() {
            parse_place(value);
        } else if is_a(schema, "string") {
            to_string_value(value, schema);
        } else if is_a(schema, "boolean") {
            to_bool_value(value);
        } else if is_a(schema, "integer") {
            if let Some(number) = value.as_str().and_then(|text| text.trim().parse::<u64>().ok()) {
                *value = Value::from(number);
            }
        } else if is_a(schema, "array") {
            to_list_value(value, self.root, schema);
        }
    }

    fn word(&mut self, value: &mut Value, schema: &Value, words: &[(&str, Option<&str>)], path: &str) {
        let given = match value {
            Value::String(text) => text.trim().to_string(),
            Value::Bool(it) => it.to_string(),
            Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => return,
        };
        let normalized = normalize(&given);
        if let Some((word, _)) = words.iter().find(|(word, _)| normalize(word) == normalized) {
            *value = Value::from(*word);
            return;
        }
        let synonym = |key: &str| {
            let table = schema.get(key).and_then(Value::as_object)?;
            table.iter().find(|(word, _)| normalize(word) == normalized).map(|(_, ours)| ours.clone())
        };
        if let Some(ours) = synonym("x-same") {
            *value = ours;
        } else if let Some(ours) = synonym("x-mapped") {
            self.mapped.push(format!("{path}: `{given}` read as `{}`", ours.as_str().unwrap_or_default()));
            *value = ours;
        }
    }
}

/// Renames an alias to the canonical field name, unless a field with that name exists.
fn rename_alias(entries: &mut Map<String, Value>, name: &str, schema: &Value) {
    if entries.contains_key(name) {
        return;
    }
    let aliases = schema.get("x-alias").and_then(Value::as_array);
    let mut candidates = aliases.into_iter().flatten().filter_map(Value::as_str);
    if let Some(alias) = candidates.find(|alias| entries.contains_key(*alias))
        && let Some(value) = entries.remove(alias)
    {
        entries.insert(name.to_string(), value);
    }
}

/// Converts a value to a string, since YAML reads `1.0` as a number and `true` as a boolean.
fn to_string_value(value: &mut Value, schema: &Value) {
    match value {
        Value::Number(it) => *value = Value::String(it.to_string()),
        Value::Bool(it) => *value = Value::String(it.to_string()),
        Value::Null if !is_a(schema, "null") && schema.get("pattern").is_none() => {
            *value = Value::String(String::new());
        }
        Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => {}
    }
}

fn to_bool_value(value: &mut Value) {
    match value.as_str().map(normalize).as_deref() {
        Some("true" | "yes") => *value = Value::Bool(true),
        Some("false" | "no") => *value = Value::Bool(false),
        Some(_) | None => {}
    }
}

/// Converts a missing value to an empty list, and a single string to a list with one entry.
fn to_list_value(value: &mut Value, root: &Value, schema: &Value) {
    let takes_strings = schema.get("items").is_some_and(|items| {
        let items = resolve(root, items);
        is_a(items, "string") && words(items).is_none()
    });
    match value {
        Value::Null => *value = Value::Array(Vec::new()),
        Value::String(text) if text.trim().is_empty() => *value = Value::Array(Vec::new()),
        Value::String(_) if takes_strings => *value = Value::Array(vec![value.take()]),
        Value::String(_) | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {}
    }
}

/// Parses a place in the form `src/a.rs:42` or `src/a.rs#Store::get`.
fn parse_place(value: &mut Value) {
    if let Value::Array(items) = value
        && let [only @ Value::String(_)] = items.as_mut_slice()
    {
        *value = only.take();
    }
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    let Some(text) = value.as_str().map(str::trim).map(str::to_string) else { return };
    let (head, symbol) = match text.split_once('#') {
        Some((head, symbol)) => (head, symbol),
        None => (text.as_str(), ""),
    };
    let mut parts = head.split(':');
    let file = parts.next().unwrap_or_default();
    let line =
        parts.next().and_then(|part| part.split('-').next()).and_then(|part| part.trim().parse::<u32>().ok());
    let file = if line.is_some() { file } else { head };
    let mut place = Map::new();
    place.insert("file".to_string(), Value::from(file.trim()));
    place.insert("symbol".to_string(), Value::from(symbol.trim()));
    place.insert("line".to_string(), Value::from(line.unwrap_or(0)));
    *value = Value::Object(place);
}
