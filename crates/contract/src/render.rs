//! Renders results as Markdown for people. The engine never reads the rendering.

use super::markdown::{block, cell, close_fences, code, fenced, inline, label};
use super::order::rank;
use super::schema::SchemaId;
use super::schema::plan::PlannedTask;
use super::waves::waves;
use serde_json::{Map, Value};

/// The Markdown of a whole result.
pub fn render(document: &Value, id: SchemaId) -> String {
    let empty = Map::new();
    let payload = document.get("payload").and_then(Value::as_object).unwrap_or(&empty);
    let mut page = Page { out: String::new() };
    let mut shown = vec!["verdict", "title"];
    if let Some(body) = payload.get("markdown").and_then(Value::as_str).filter(|_| id == SchemaId::Document) {
        page.out.push_str(&close_fences(body));
        shown.push("markdown");
    } else {
        page.head(document, payload, id);
    }
    if let Some(tasks) = payload.get("tasks") {
        page.waves(tasks);
    }
    page.sections(payload, &shown, 2);
    page.out
}

struct Page {
    out: String,
}

impl Page {
    fn head(&mut self, document: &Value, payload: &Map<String, Value>, id: SchemaId) {
        let title = match payload.get("title").and_then(Value::as_str) {
            Some(title) => inline(title),
            None => label(id.name()),
        };
        let field = |key: &str| document.get(key).and_then(Value::as_str).filter(|it| !it.is_empty());
        let instance = field("instance").map(|it| format!(": {}", inline(it))).unwrap_or_default();
        self.out.push_str(&format!("# {title}{instance}\n\n"));
        let mut facts = Vec::new();
        if let Some(verdict) = payload.get("verdict").and_then(Value::as_str) {
            facts.push(format!("**Verdict:** {}", inline(verdict)));
        }
        let completion = &document["completion"];
        for (name, value) in [
            ("Status", &completion["status"]),
            ("Risk", &completion["risk_level"]),
            ("By", &document["agent"]),
            ("Phase", &document["step"]),
            ("Completed", &document["completed_at"]),
        ] {
            if let Some(text) = value.as_str().filter(|it| !it.is_empty()) {
                facts.push(format!("**{name}:** {}", inline(text)));
            }
        }
        if !facts.is_empty() {
            self.out.push_str(&format!("{}\n\n", facts.join(" · ")));
        }
        if let Some(summary) = completion["summary"].as_str() {
            self.out.push_str(&format!("{}\n", inline(summary)));
        }
    }

    fn waves(&mut self, tasks: &Value) {
        let tasks: Vec<PlannedTask> = serde_json::from_value(tasks.clone()).unwrap_or_default();
        let Ok(waves) = waves(&tasks) else { return };
        if waves.is_empty() {
            return;
        }
        self.out.push_str("\n## Waves\n\n| wave | tasks |\n| --- | --- |\n");
        for (at, wave) in waves.iter().enumerate() {
            self.out.push_str(&format!("| {} | {} |\n", at + 1, cell(&wave.join(", "))));
        }
    }

    fn sections(&mut self, entries: &Map<String, Value>, shown: &[&str], level: usize) {
        for (key, value) in ordered(entries) {
            if shown.contains(&key) || is_empty(value) {
                continue;
            }
            self.out.push_str(&format!("\n{} {}\n\n", "#".repeat(level), label(key)));
            self.section(key, value, level);
        }
    }

    fn section(&mut self, key: &str, value: &Value, level: usize) {
        match value {
            Value::Array(items) if items.iter().all(Value::is_object) => {
                let rows: Vec<&Map<String, Value>> = items.iter().filter_map(Value::as_object).collect();
                if is_flat(&rows) {
                    self.table(&rows);
                } else {
                    for (at, row) in rows.iter().enumerate() {
                        self.entry(row, at, level + 1);
                    }
                }
            }
            Value::Array(_) | Value::Object(_) if is_location(value) => {
                self.out.push_str(&format!("{}\n", location(value)))
            }
            Value::Array(_) | Value::Object(_) => self.list(value, 0),
            Value::String(text) if key == "patch" => self.out.push_str(&fenced(text, "diff", 0)),
            Value::String(text) => self.out.push_str(&format!("{}\n", block(text, 0))),
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                self.out.push_str(&format!("{}\n", scalar(value)))
            }
        }
    }

    /// Renders one list entry as a section with its id and title as the heading.
    fn entry(&mut self, row: &Map<String, Value>, at: usize, level: usize) {
        let text = |key: &str| row.get(key).and_then(Value::as_str).filter(|it| !it.trim().is_empty());
        let id_key =
            ["id", "criterion", "gap", "issue", "number"].into_iter().find(|key| row.contains_key(*key));
        let title_key = ["title", "label", "name", "claim", "fact", "text", "file"]
            .into_iter()
            .find(|key| text(key).is_some());
        let id = id_key.and_then(|key| row.get(key)).map(scalar);
        let title = title_key.and_then(text).map(inline);
        let heading = match (id, title) {
            (Some(id), Some(title)) => format!("{id}: {title}"),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => (at + 1).to_string(),
        };
        if at > 0 {
            self.out.push('\n');
        }
        self.out.push_str(&format!("{} {heading}\n\n", "#".repeat(level.min(6))));
        let rest: Map<String, Value> = row
            .iter()
            .filter(|(key, _)| Some(key.as_str()) != id_key && Some(key.as_str()) != title_key)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        self.list(&Value::Object(rest), 0);
    }

    fn table(&mut self, rows: &[&Map<String, Value>]) {
        let mut keys: Vec<&str> = Vec::new();
        for (key, value) in rows.iter().flat_map(|row| ordered(row)) {
            if !keys.contains(&key) && !is_empty(value) {
                keys.push(key);
            }
        }
        keys.sort_by_key(|key| (rank(key), *key));
        let head: Vec<String> = keys.iter().map(|key| cell(&key.replace('_', " "))).collect();
        self.out.push_str(&format!("| {} |\n|{}\n", head.join(" | "), " --- |".repeat(keys.len())));
        for row in rows {
            let cells: Vec<String> = keys
                .iter()
                .map(|key| match row.get(*key) {
                    None | Some(Value::Null) => String::new(),
                    Some(value) if is_location(value) => location(value).replace('|', "\\|"),
                    Some(Value::String(text)) => cell(text),
                    Some(value) => scalar(value),
                })
                .collect();
            self.out.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
    }

    fn list(&mut self, value: &Value, indent: usize) {
        let pad = " ".repeat(indent);
        match value {
            Value::Object(entries) => {
                for (key, value) in ordered(entries).into_iter().filter(|(_, value)| !is_empty(value)) {
                    self.out.push_str(&format!("{pad}- **{}:**", label(key)));
                    self.item(key, value, indent + 2);
                }
            }
            Value::Array(items) => {
                for item in items {
                    match item {
                        Value::Object(entries) if !is_location(item) => {
                            let text = |key: &&str| entries.get(*key).is_some_and(Value::is_string);
                            let id = ["id", "file", "path", "name", "criterion"].into_iter().find(text);
                            let title = ["title", "label", "text", "approach"].into_iter().find(text);
                            let heading: Vec<&str> = id.into_iter().chain(title).collect();
                            let names = heading.iter().filter_map(|key| entries.get(*key)).map(scalar);
                            self.out.push_str(&format!("{pad}- {}\n", names.collect::<Vec<_>>().join(": ")));
                            let rest = entries.iter().filter(|(key, _)| !heading.contains(&key.as_str()));
                            let rest: Map<String, Value> =
                                rest.map(|(key, value)| (key.clone(), value.clone())).collect();
                            self.list(&Value::Object(rest), indent + 2);
                        }
                        _ => {
                            self.out.push_str(&format!("{pad}-"));
                            self.item("", item, indent + 2);
                        }
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                self.out.push_str(&format!("{pad}{}\n", scalar(value)));
            }
        }
    }

    /// Renders the text after the marker of a list item.
    fn item(&mut self, key: &str, value: &Value, indent: usize) {
        match value {
            value if is_location(value) => self.out.push_str(&format!(" {}\n", location(value))),
            Value::String(text) if key == "patch" => {
                self.out.push_str("\n\n");
                self.out.push_str(&fenced(text, "diff", indent));
            }
            Value::String(text) => self.out.push_str(&format!(" {}\n", block(text, indent))),
            Value::Array(items)
                if items.iter().all(|item| item.is_string() || item.is_number()) && items.len() <= 4 =>
            {
                let parts: Vec<String> = items.iter().map(scalar).collect();
                self.out.push_str(&format!(" {}\n", parts.join("; ")));
            }
            Value::Array(_) | Value::Object(_) => {
                self.out.push('\n');
                self.list(value, indent);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                self.out.push_str(&format!(" {}\n", scalar(value)))
            }
        }
    }
}

fn ordered(entries: &Map<String, Value>) -> Vec<(&str, &Value)> {
    let mut all: Vec<(&str, &Value)> = entries.iter().map(|(key, value)| (key.as_str(), value)).collect();
    all.sort_by_key(|(key, _)| (rank(key), *key));
    all
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.values().all(is_empty),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether rows can be shown as a table: they have few, short fields without nesting.
fn is_flat(rows: &[&Map<String, Value>]) -> bool {
    let fits = |(key, value): (&String, &Value)| match value {
        Value::String(text) => key != "patch" && text.lines().count() <= 2 && text.chars().count() <= 160,
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(_) => is_location(value),
    };
    rows.len() > 1 && rows.iter().all(|row| row.len() <= 6 && row.iter().all(fits))
}

fn is_location(value: &Value) -> bool {
    value.as_object().is_some_and(|entries| {
        entries.contains_key("file")
            && entries.keys().all(|key| matches!(key.as_str(), "file" | "symbol" | "line"))
    })
}

fn location(value: &Value) -> String {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().trim();
    let line = value.get("line").and_then(Value::as_u64).filter(|line| *line > 0);
    let file = match line {
        Some(line) => format!("{}:{line}", text("file")),
        None => text("file").to_string(),
    };
    let parts = [file.as_str(), text("symbol")].map(code);
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn scalar(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(true) => "yes".to_string(),
        Value::Bool(false) => "no".to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => inline(text.trim()),
        Value::Array(items) => items.iter().map(scalar).collect::<Vec<_>>().join("; "),
        Value::Object(_) if is_location(value) => location(value),
        Value::Object(_) => code(&value.to_string()),
    }
}
