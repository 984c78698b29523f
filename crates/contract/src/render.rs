//! Renders results as Markdown for people. The engine never reads the rendering.
//!
//! Every entry of a list has the same form: its name, its short fields in one line, and the rest below. Fields that a
//! schema does not know are shown too, so nothing that a role reports is lost.

use super::markdown::{block, cell, close_fences, code, fenced, inline, label};
use super::order::rank;
use super::schema::SchemaId;
use super::schema::plan::PlannedTask;
use super::waves::waves;
use serde_json::{Map, Value};

/// A whole result as a page with a heading.
pub fn rendered(schema: SchemaId, result: &Value) -> String {
    let mut page = Page::new(2);
    if let Some(document) = document(schema, result) {
        page.out = format!("{}\n---\n\n", close_fences(document));
    } else {
        let title = match result["payload"].get("title").and_then(Value::as_str) {
            Some(title) => inline(title),
            None => label(schema.name()),
        };
        page.out = format!("# {title}\n\n");
    }
    let origin =
        [("By", "agent"), ("Instance", "instance"), ("Phase", "step"), ("Completed", "completed_at")];
    let origin = origin.into_iter().filter_map(|(name, key)| Some((name, given(result.get(key)?)?)));
    page.report(schema, result, &origin.map(|(name, text)| bold(name, &inline(text))).collect::<Vec<_>>());
    page.out
}

/// The report of a result, to be inserted below a heading; its sections have headings of this level. Leaves out a
/// Markdown document, because that is an artifact.
pub fn rendered_report(schema: SchemaId, result: &Value, level: usize) -> String {
    let mut page = Page::new(level);
    page.report(schema, result, &[]);
    page.out
}

/// The report of a result, for the role that continues the work. Leaves out the verdict, the findings and the position
/// in the workflow, because a brief gives them separately.
pub fn rendered_words(schema: SchemaId, result: &Value, level: usize) -> String {
    let mut words = result.clone();
    for (part, keys) in [
        ("payload", &["verdict", "findings", "flags", "scope", "focus", "task"][..]),
        ("completion", &["status", "output_paths"][..]),
    ] {
        if let Some(fields) = words.get_mut(part).and_then(Value::as_object_mut) {
            fields.retain(|key, _| !keys.contains(&key.as_str()));
        }
    }
    rendered_report(schema, &words, level)
}

/// The Markdown document in a result.
fn document(schema: SchemaId, result: &Value) -> Option<&str> {
    result["payload"].get("markdown").and_then(Value::as_str).filter(|_| schema == SchemaId::Document)
}

/// Short fields, shown in one line.
const FACTS: &[&str] = &[
    "action",
    "category",
    "command",
    "confidence",
    "covers",
    "date",
    "decided_by",
    "decisions",
    "depends_on",
    "exit_code",
    "focus",
    "injected_by",
    "judgement",
    "kind",
    "lines",
    "met",
    "overall_risk",
    "passed",
    "place",
    "priority",
    "produced_by",
    "repeats",
    "revision",
    "risk",
    "row",
    "scope",
    "section",
    "sections",
    "selected",
    "severity",
    "size",
    "stance",
    "task",
    "test",
    "trigger",
    "type",
    "work",
];

/// Facts whose value needs no label.
const PLAIN: &[&str] = &["action", "category", "judgement", "met", "passed", "place", "severity", "stance"];

/// Fields with paths, commands and signatures.
const CODE: &[&str] = &[
    "command",
    "file",
    "files",
    "interfaces",
    "key_files",
    "output_paths",
    "path",
    "relevant_context",
    "removes_tests",
    "row",
    "signatures",
    "smoke",
];

/// Fields whose line breaks matter.
const LITERAL: &[&str] = &["change", "output", "patch", "replaces", "text"];

/// Fields that identify an entry, the best first.
const NAMES: &[&str] =
    &["id", "number", "name", "criterion", "gap", "issue", "finding", "file", "path", "changed"];

/// Fields that state in one sentence what an entry is about, the best first.
const TITLES: &[&str] = &[
    "title",
    "label",
    "claim",
    "fact",
    "concern",
    "solution",
    "what",
    "approach",
    "hypothesis",
    "responsibility",
    "text",
    "position",
    "reason",
    "note",
    "why",
    "change",
];

struct Page {
    out: String,
    /// The level of the headings of sections.
    level: usize,
}

impl Page {
    fn new(level: usize) -> Page {
        Page { out: String::new(), level }
    }

    fn report(&mut self, schema: SchemaId, result: &Value, origin: &[String]) {
        let empty = Map::new();
        let payload = result["payload"].as_object().unwrap_or(&empty);
        let completion = &result["completion"];
        let is_page = !origin.is_empty();
        let mut line = Vec::new();
        let mut shown = vec!["verdict", "summary"];
        let document = document(schema, result);
        let title = payload.get("title").and_then(given);
        shown.extend(document.map(|_| "markdown"));
        if is_page && document.is_none_or(|text| title.is_some_and(|title| text.contains(title))) {
            shown.push("title");
        }
        if let Some(verdict) = payload.get("verdict").and_then(given) {
            line.push(bold("Verdict", &inline(verdict)));
        }
        if let Some(status) = given(&completion["status"]).filter(|status| *status != "DONE") {
            line.push(bold("Status", &inline(status)));
        }
        let risk = given(&completion["risk_level"]);
        if let Some(risk) = risk.filter(|risk| payload.get("overall_risk").and_then(given) != Some(risk)) {
            line.push(bold("Risk", &inline(risk)));
        }
        for (key, value) in ordered(payload).into_iter().filter(|(key, value)| is_fact(key, value)) {
            line.push(bold(&label(key), &fact_value(key, value)));
            shown.push(key);
        }
        line.extend_from_slice(origin);
        if !line.is_empty() {
            self.out.push_str(&format!("{}\n", line.join(" · ")));
        }
        let mut summaries: Vec<&str> = [&completion["summary"], &result["payload"]["summary"]]
            .into_iter()
            .filter_map(|text| given(text))
            .collect();
        summaries.dedup();
        for summary in summaries {
            self.separate();
            self.out.push_str(&format!("{}\n", block(summary, 0)));
        }
        if let Some(tasks) = payload.get("tasks") {
            self.waves(tasks);
        }
        self.sections(payload, &shown);
        for key in ["output_paths", "evidence_summary"] {
            if !is_empty(&completion[key]) {
                self.heading(&label(key));
                self.section(key, &completion[key]);
            }
        }
    }

    fn waves(&mut self, tasks: &Value) {
        let tasks: Vec<PlannedTask> = serde_json::from_value(tasks.clone()).unwrap_or_default();
        let Ok(waves) = waves(&tasks) else { return };
        if waves.len() < 2 {
            return;
        }
        self.heading("Waves");
        self.out.push_str("| wave | tasks |\n| --- | --- |\n");
        for (at, wave) in waves.iter().enumerate() {
            self.out.push_str(&format!("| {} | {} |\n", at + 1, cell(&wave.join(", "))));
        }
    }

    fn sections(&mut self, entries: &Map<String, Value>, shown: &[&str]) {
        for (key, value) in ordered(entries) {
            if shown.contains(&key) || is_empty(value) {
                continue;
            }
            self.heading(&label(key));
            self.section(key, value);
        }
    }

    fn heading(&mut self, text: &str) {
        self.separate();
        self.out.push_str(&format!("{} {text}\n\n", "#".repeat(self.level.min(6))));
    }

    /// Makes sure that the next line starts after an empty line.
    fn separate(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn section(&mut self, key: &str, value: &Value) {
        match value {
            Value::Array(items) if items.iter().any(needs_section) => {
                for (at, item) in items.iter().enumerate() {
                    match item.as_object() {
                        Some(row) => self.entry_section(row, at),
                        None => self.list(key, item, 0),
                    }
                }
            }
            Value::Object(_) if is_location(value) => self.out.push_str(&format!("{}\n", location(value))),
            Value::Object(row) if Entry::of(row).name.is_some() && needs_section(value) => {
                self.entry_section(row, 0);
            }
            Value::Object(row) => match answer(row) {
                Some(text) => self.out.push_str(&format!("{}\n", block(&text, 0))),
                None if Entry::of(row).is_named() => {
                    let entry = Entry::of(row);
                    self.out.push_str(&format!("{}\n", entry.line(0)));
                    if !entry.rest.is_empty() {
                        self.separate();
                        self.fields(&entry.rest, 0);
                    }
                }
                None => self.list(key, value, 0),
            },
            Value::Array(_) => self.list(key, value, 0),
            Value::String(text) => self.out.push_str(&format!("{}\n", prose(key, text, 0))),
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                self.out.push_str(&format!("{}\n", scalar(value)))
            }
        }
    }

    /// Renders a long entry as a section with its name as the heading.
    fn entry_section(&mut self, row: &Map<String, Value>, at: usize) {
        let entry = Entry::of(row);
        let short = entry.title.filter(|title| title.lines().count() == 1 && title.chars().count() <= 120);
        let heading = match (&entry.name, short) {
            (Some(name), Some(title)) => format!("{name}: {}", inline(title)),
            (Some(name), None) => name.clone(),
            (None, Some(title)) => inline(title),
            (None, None) => (at + 1).to_string(),
        };
        self.level += 1;
        self.heading(&heading);
        self.level -= 1;
        let mut lines = Vec::new();
        if !entry.facts.is_empty() {
            lines.push(entry.facts.join(" · "));
        }
        if short.is_none() {
            lines.extend(entry.title.map(|title| block(title, 0)));
        }
        if !lines.is_empty() {
            self.out.push_str(&format!("{}\n", lines.join("\n\n")));
        }
        if !entry.rest.is_empty() {
            self.separate();
            self.fields(&entry.rest, 0);
        }
    }

    /// Renders an entry as one item of a list.
    fn entry_item(&mut self, row: &Map<String, Value>, indent: usize) {
        let entry = Entry::of(row);
        let line = entry.line(indent + 2);
        if line.is_empty() {
            // An entry without any known field.
            return self.fields(&entry.rest, indent);
        }
        self.out.push_str(&format!("{}- {line}\n", " ".repeat(indent)));
        self.fields(&entry.rest, indent + 2);
    }

    fn fields(&mut self, fields: &[(&str, &Value)], indent: usize) {
        let pad = " ".repeat(indent);
        for (key, value) in fields {
            self.out.push_str(&format!("{pad}- **{}:**", label(key)));
            self.item(key, value, indent + 2);
        }
    }

    fn list(&mut self, key: &str, value: &Value, indent: usize) {
        match value {
            Value::Object(entries) => {
                let fields: Vec<_> =
                    ordered(entries).into_iter().filter(|(_, value)| !is_empty(value)).collect();
                self.fields(&fields, indent);
            }
            Value::Array(items) => {
                for item in items.iter().filter(|item| !is_empty(item)) {
                    match item {
                        Value::Object(row) if !is_location(item) => self.entry_item(row, indent),
                        _ => {
                            self.out.push_str(&format!("{}-", " ".repeat(indent)));
                            self.item(key, item, indent + 2);
                        }
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                self.out.push_str(&format!("{}{}\n", " ".repeat(indent), fact_value(key, value)));
            }
        }
    }

    /// Renders the text after the marker of a list item.
    fn item(&mut self, key: &str, value: &Value, indent: usize) {
        match value {
            value if is_location(value) => self.out.push_str(&format!(" {}\n", location(value))),
            Value::String(text) if is_literal(key, text) => {
                self.out.push_str("\n\n");
                self.out.push_str(&prose(key, text, indent));
                self.out.push('\n');
            }
            Value::String(text) => self.out.push_str(&format!(" {}\n", prose(key, text, indent))),
            Value::Array(items) if is_short_list(items) => {
                self.out.push_str(&format!(" {}\n", fact_value(key, value)));
            }
            Value::Object(row) => match answer(row) {
                Some(text) => self.out.push_str(&format!(" {}\n", block(&text, indent))),
                None if Entry::of(row).is_named() => {
                    let entry = Entry::of(row);
                    self.out.push_str(&format!(" {}\n", entry.line(indent)));
                    self.fields(&entry.rest, indent);
                }
                None => {
                    self.out.push('\n');
                    self.list(key, value, indent);
                }
            },
            Value::Array(_) => {
                self.out.push('\n');
                self.list(key, value, indent);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                self.out.push_str(&format!(" {}\n", scalar(value)))
            }
        }
    }
}

/// An entry of a list, by the purpose of its fields.
struct Entry<'v> {
    name: Option<String>,
    title: Option<&'v str>,
    facts: Vec<String>,
    rest: Vec<(&'v str, &'v Value)>,
}

impl<'v> Entry<'v> {
    fn of(row: &'v Map<String, Value>) -> Entry<'v> {
        let name_key = NAMES.iter().copied().find(|key| {
            row.get(*key).is_some_and(|it| it.is_number() || given(it).is_some_and(|it| !it.contains('\n')))
        });
        let title_key = TITLES
            .iter()
            .copied()
            .find(|key| row.get(*key).and_then(given).is_some_and(|text| !is_literal(key, text)));
        let mut entry = Entry {
            name: name_key.and_then(|key| Some(fact_value(key, row.get(key)?))),
            title: title_key.and_then(|key| given(row.get(key)?)),
            facts: Vec::new(),
            rest: Vec::new(),
        };
        for (key, value) in ordered(row) {
            if Some(key) == name_key || Some(key) == title_key || is_empty(value) {
                continue;
            }
            if !is_fact(key, value) {
                entry.rest.push((key, value));
            } else if PLAIN.contains(&key) {
                entry.facts.push(fact_value(key, value));
            } else {
                entry.facts.push(format!("{}: {}", key.replace('_', " "), fact_value(key, value)));
            }
        }
        entry
    }

    /// The name, the facts and the title.
    fn line(&self, indent: usize) -> String {
        let facts = match self.facts.is_empty() {
            true => String::new(),
            false => format!(" ({})", self.facts.join(", ")),
        };
        let title = self.title.map(|title| block(title, indent));
        match (&self.name, title) {
            (Some(name), Some(title)) => format!("**{name}**{facts}: {title}"),
            (Some(name), None) => format!("**{name}**{facts}"),
            (None, Some(title)) => format!("{title}{facts}"),
            (None, None) => self.facts.join(", "),
        }
    }

    fn is_named(&self) -> bool {
        self.name.is_some() || self.title.is_some()
    }
}

/// Whether an entry is too long for an item of a list.
fn needs_section(item: &Value) -> bool {
    let Some(row) = item.as_object().filter(|_| !is_location(item)) else { return false };
    let rest = Entry::of(row).rest;
    rest.len() > 2 || rest.iter().any(|(key, value)| is_long(key, value))
}

fn is_long(key: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => is_literal(key, text),
        Value::Array(items) => items.iter().any(Value::is_object),
        Value::Object(_) => !is_location(value),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A yes or no with its reason.
fn answer(row: &Map<String, Value>) -> Option<String> {
    let key = ["answer", "possible"].into_iter().find(|key| row.get(*key).is_some_and(Value::is_boolean))?;
    let explanation = given(row.get("explanation")?)?;
    (row.len() == 2).then(|| format!("{}: {explanation}", scalar(&row[key])))
}

fn is_fact(key: &str, value: &Value) -> bool {
    const WIDTH: usize = 80;
    FACTS.contains(&key)
        && !is_empty(value)
        && match value {
            Value::String(text) => !text.trim().contains('\n') && text.chars().count() <= WIDTH,
            Value::Array(items) => is_short_list(items),
            Value::Object(_) => is_location(value),
            Value::Bool(_) | Value::Number(_) => true,
            Value::Null => false,
        }
}

fn is_short_list(items: &[Value]) -> bool {
    let is_scalar = |item: &Value| match item {
        Value::String(text) => !text.trim().contains('\n'),
        Value::Number(_) => true,
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    };
    let length: usize = items.iter().map(|item| item.as_str().map_or(4, |text| text.chars().count())).sum();
    items.iter().all(is_scalar) && items.len() <= 4 && (items.len() == 1 || length <= 100)
}

fn is_literal(key: &str, text: &str) -> bool {
    LITERAL.contains(&key) && (key == "patch" || text.trim().contains('\n'))
}

/// The text of a field. Text whose line breaks matter is fenced.
fn prose(key: &str, text: &str, indent: usize) -> String {
    if is_literal(key, text) {
        let language = if key == "patch" { "diff" } else { "" };
        return fenced(text, language, indent).trim_end().to_string();
    }
    if CODE.contains(&key) && !text.trim().contains('\n') { code(text.trim()) } else { block(text, indent) }
}

fn fact_value(key: &str, value: &Value) -> String {
    match value {
        Value::String(text) if CODE.contains(&key) => code(text.trim()),
        Value::Array(items) => {
            let separator = if CODE.contains(&key) { ", " } else { "; " };
            items.iter().map(|item| fact_value(key, item)).collect::<Vec<_>>().join(separator)
        }
        Value::Bool(passed) if key == "passed" => if *passed { "passed" } else { "failed" }.to_string(),
        _ => scalar(value),
    }
}

fn bold(name: &str, text: &str) -> String {
    format!("**{name}:** {text}")
}

fn ordered(entries: &Map<String, Value>) -> Vec<(&str, &Value)> {
    let mut all: Vec<(&str, &Value)> = entries.iter().map(|(key, value)| (key.as_str(), value)).collect();
    all.sort_by_key(|(key, _)| (rank(key), *key));
    all
}

/// The text of a value that is not blank.
fn given(value: &Value) -> Option<&str> {
    value.as_str().map(str::trim).filter(|text| !text.is_empty())
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.iter().all(is_empty),
        Value::Object(_) if is_location(value) => location(value).is_empty(),
        Value::Object(entries) => entries.values().all(is_empty),
        Value::Bool(_) | Value::Number(_) => false,
    }
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
