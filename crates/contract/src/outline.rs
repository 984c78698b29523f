//! Describes a schema to agents: a YAML skeleton that shows types, allowed words, and which fields are required.

use super::expectation::{Expectation, FindingsRule};
use super::order::rank;
use super::schema::{Schema, VERSION};
use super::shape::{describe, is_a, properties, required, resolve, words};
use serde_json::Value;
use std::collections::BTreeSet;

/// The skeleton of a schema.
pub fn outline(schema: &Schema) -> String {
    Outline { root: &schema.json, expected: None, explained: BTreeSet::new(), out: String::new() }.write()
}

/// The skeleton for one dispatch: its header and verdicts, and only the fields that its role needs.
pub fn outline_for(expected: &Expectation) -> String {
    let root = &expected.schema.schema().json;
    Outline { root, expected: Some(expected), explained: BTreeSet::new(), out: String::new() }.write()
}

struct Outline<'o> {
    root: &'o Value,
    expected: Option<&'o Expectation>,
    /// Lists of words whose meanings are already explained.
    explained: BTreeSet<String>,
    out: String,
}

impl Outline<'_> {
    fn write(mut self) -> String {
        self.out.push_str("# Fields marked (required) must be present; all others are optional.\n");
        self.entries(resolve(self.root, self.root), "", 0, "");
        self.out
    }

    /// Writes the fields of a mapping. `first` is the list marker in front of the first field, or empty.
    fn entries(&mut self, schema: &Value, path: &str, indent: usize, first: &str) {
        let Some(all) = properties(schema) else { return };
        let needed = required(schema);
        let mut names: Vec<&String> = all.keys().collect();
        names.sort_by_key(|name| (rank(name), name.as_str()));
        let mut marker = first;
        for name in names {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            if self.is_omitted(&path) {
                continue;
            }
            let is_required = needed.contains(&name.as_str()) || self.is_required_by_role(&path);
            let pad = " ".repeat(indent);
            let margin =
                if marker.is_empty() { pad } else { format!("{}{marker}", &pad[..indent - marker.len()]) };
            self.field(&all[name.as_str()], name, &path, &margin, indent, is_required);
            marker = "";
        }
    }

    fn field(
        &mut self,
        given: &Value,
        name: &str,
        path: &str,
        margin: &str,
        indent: usize,
        is_required: bool,
    ) {
        let schema = resolve(self.root, given);
        let label = if is_required { "(required) " } else { "" };
        let about = given.get("description").or_else(|| schema.get("description")).and_then(Value::as_str);
        let note = |rest: &str| {
            let text = format!("{label}{rest}{}", about.map(|it| it.replace('\n', " ")).unwrap_or_default());
            if text.trim().is_empty() { String::new() } else { format!("  # {}", text.trim_end()) }
        };
        if let Some(fixed) = self.fixed(path) {
            self.out.push_str(&format!("{margin}{name}: {fixed}{}\n", note("")));
        } else if let Some(words) = words(schema) {
            let list: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.out.push_str(&format!("{margin}{name}: {}{}\n", list.join(" | "), note("")));
            self.meanings(&words, indent);
        } else if is_a(schema, "array") {
            let items = schema.get("items").map(|items| resolve(self.root, items));
            let size = describe(self.root, schema);
            self.out.push_str(&format!("{margin}{name}:{}\n", note(&format!("{size}. "))));
            match items {
                Some(items) if properties(items).is_some() => {
                    self.entries(items, &format!("{path}[]"), indent + 4, "- ");
                }
                Some(items) => {
                    let pad = " ".repeat(indent + 2);
                    self.out.push_str(&format!("{pad}- {}\n", placeholder(self.root, items)));
                }
                None => {}
            }
        } else if properties(schema).is_some() {
            self.out.push_str(&format!("{margin}{name}:{}\n", note("")));
            self.entries(schema, path, indent + 2, "");
        } else {
            self.out.push_str(&format!("{margin}{name}: {}{}\n", placeholder(self.root, schema), note("")));
        }
    }

    fn meanings(&mut self, words: &[(&str, Option<&str>)], indent: usize) {
        let key: String = words.iter().map(|(word, _)| *word).collect();
        if !self.explained.insert(key) {
            return;
        }
        let pad = " ".repeat(indent + 2);
        for (word, meaning) in words {
            if let Some(meaning) = meaning {
                self.out.push_str(&format!("{pad}# {word}: {}\n", meaning.replace('\n', " ")));
            }
        }
    }

    /// The value that this dispatch must write verbatim, or the values that it must choose from.
    fn fixed(&self, path: &str) -> Option<String> {
        let expected = self.expected?;
        let text = match path {
            "agent" => expected.role.clone(),
            "instance" => expected.instance.clone(),
            "step" => expected.step.clone(),
            "schema_version" => VERSION.to_string(),
            "payload.verdict" => return Some(expected.says.join(" | ")),
            "payload.findings[].injected_by" if !expected.injects.is_empty() => {
                return Some(format!("[{}]", expected.injects.join(" | ")));
            }
            _ => return None,
        };
        Some(Value::from(text).to_string())
    }

    fn is_required_by_role(&self, path: &str) -> bool {
        let Some(expected) = self.expected else { return false };
        let needs = match &expected.findings {
            FindingsRule::NotAsked => &[][..],
            FindingsRule::Reports { needs } => needs.as_slice(),
        };
        let field = path.strip_prefix("payload.findings[].");
        (path == "payload.verdict" && expected.says.len() > 1)
            || path == "payload.constraints"
            || field.is_some_and(|field| needs.iter().any(|need| need.name() == field))
    }

    fn is_omitted(&self, path: &str) -> bool {
        let Some(expected) = self.expected else { return false };
        match path {
            "started_at" | "completed_at" => true,
            "payload.findings" => expected.findings == FindingsRule::NotAsked,
            "payload.flags" => expected.sets.is_empty(),
            "payload.constraints" => expected.known.constraints.is_empty(),
            "payload.findings[].injected_by" => expected.injects.is_empty(),
            _ => false,
        }
    }
}

fn placeholder(root: &Value, schema: &Value) -> String {
    format!("<{}>", describe(root, schema).replace('`', ""))
}
