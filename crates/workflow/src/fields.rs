//! Reads a mapping key by key and reports the keys that were not read.

use crate::diagnostic::{Code, Diagnostic, suggest};
use crate::source::{Span, Spanned};
use crate::yaml::{YamlKey, YamlNode, YamlValue};

/// The entries of a mapping that have not been read yet.
pub struct MappingReader<'n, 'p> {
    /// The name of the mapping in messages.
    title: String,
    span: Span,
    entries: Vec<&'n (YamlKey, YamlNode)>,
    /// The keys that were asked for, for suggestions.
    known: Vec<&'static str>,
    problems: &'p mut Vec<Diagnostic>,
}

impl<'n, 'p> MappingReader<'n, 'p> {
    /// Opens a mapping. Any other value is reported and treated as an empty mapping.
    pub fn open(
        node: &'n YamlNode,
        title: impl Into<String>,
        problems: &'p mut Vec<Diagnostic>,
    ) -> MappingReader<'n, 'p> {
        let title = title.into();
        let entries = match &node.value {
            YamlValue::Map(entries) => entries.iter().collect(),
            other @ (YamlValue::Empty | YamlValue::Text(_) | YamlValue::List(_)) => {
                let message = format!("{title} must be a mapping, but this is {}", other.shape());
                let remedy = "write `key: value` lines, indented below";
                problems.push(Diagnostic::error(Code::Shape, node.span, message, remedy));
                Vec::new()
            }
        };
        MappingReader { title, span: node.span, entries, known: Vec::new(), problems }
    }

    pub fn take(&mut self, key: &'static str) -> Option<&'n (YamlKey, YamlNode)> {
        self.known.push(key);
        let index = self.entries.iter().position(|(name, _)| name.name == key)?;
        Some(self.entries.remove(index))
    }

    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(name, _)| name.name == key)
    }

    pub fn span(&self) -> Span {
        self.span
    }

    /// The span of a key that has not been read yet.
    pub fn entry_span(&self, key: &str) -> Option<Span> {
        self.entries.iter().find(|(name, _)| name.name == key).map(|(name, _)| name.span)
    }

    pub fn report(&mut self, problem: Diagnostic) {
        self.problems.push(problem);
    }

    pub fn problems(&mut self) -> &mut Vec<Diagnostic> {
        self.problems
    }

    /// Returns a parsed phrase, or reports its problem.
    pub fn accept<T>(&mut self, parsed: Result<T, Diagnostic>) -> Option<T> {
        match parsed {
            Ok(value) => Some(value),
            Err(problem) => {
                self.problems.push(problem);
                None
            }
        }
    }

    pub fn text(&mut self, key: &'static str) -> Option<Spanned<String>> {
        let (_, node) = self.take(key)?;
        text(node, key, self.problems)
    }

    pub fn required_text(&mut self, key: &'static str, example: &str) -> Option<Spanned<String>> {
        if !self.has(key) {
            self.known.push(key);
            let message = format!("{} has no `{key}`", self.title);
            let problem = Diagnostic::error(
                Code::MissingKey,
                head(self.span),
                message,
                format!("add `{key}: {example}`"),
            );
            self.problems.push(problem);
            return None;
        }
        self.text(key)
    }

    pub fn number(&mut self, key: &'static str) -> Option<Spanned<u16>> {
        let written = self.text(key)?;
        match written.value.parse() {
            Ok(number) => Some(Spanned::new(number, written.span)),
            Err(_) => {
                let message = format!("`{key}` must be a number, not `{}`", written.value);
                let problem = Diagnostic::error(
                    Code::Shape,
                    written.span,
                    message,
                    "write a whole number from 0 to 65535",
                );
                self.problems.push(problem);
                None
            }
        }
    }

    pub fn flag(&mut self, key: &'static str) -> bool {
        let Some(written) = self.text(key) else {
            return false;
        };
        match written.value.as_str() {
            "true" => true,
            "false" => false,
            other => {
                let message = format!("`{key}` must be true or false, not `{other}`");
                let remedy = format!("write `{key}: true` or `{key}: false`");
                let problem = Diagnostic::error(Code::Shape, written.span, message, remedy);
                self.problems.push(problem);
                false
            }
        }
    }

    /// A list of strings. A single string counts as a list of one.
    pub fn texts(&mut self, key: &'static str) -> Vec<Spanned<String>> {
        let Some((_, node)) = self.take(key) else {
            return Vec::new();
        };
        texts(node, key, self.problems)
    }

    pub fn entries(&mut self, key: &'static str) -> Option<&'n [(YamlKey, YamlNode)]> {
        let (_, node) = self.take(key)?;
        match &node.value {
            YamlValue::Map(entries) => Some(entries),
            other @ (YamlValue::Empty | YamlValue::Text(_) | YamlValue::List(_)) => {
                let message = format!("`{key}` must be a mapping, but this is {}", other.shape());
                let remedy = "write `key: value` lines, indented below";
                self.problems.push(Diagnostic::error(Code::Shape, node.span, message, remedy));
                None
            }
        }
    }

    /// Reports the keys that were not read.
    pub fn finish(self) {
        for (key, _) in self.entries {
            if key.name.is_empty() {
                continue;
            }
            let message = format!("`{}` is not a key of {}", key.name, self.title);
            let remedy = suggest(&key.name, self.known.iter().copied());
            self.problems.push(Diagnostic::error(Code::UnknownKey, key.span, message, remedy));
        }
    }
}

/// The string of a node. Any other value is reported.
pub fn text(node: &YamlNode, key: &str, problems: &mut Vec<Diagnostic>) -> Option<Spanned<String>> {
    match &node.value {
        YamlValue::Text(text) => Some(Spanned::new(text.clone(), node.span)),
        other @ (YamlValue::Empty | YamlValue::List(_) | YamlValue::Map(_)) => {
            let message = format!("`{key}` must be a string, but this is {}", other.shape());
            problems.push(Diagnostic::error(Code::Shape, node.span, message, "write a string on one line"));
            None
        }
    }
}

/// The strings of a list node, or of a single string.
pub fn texts(node: &YamlNode, key: &str, problems: &mut Vec<Diagnostic>) -> Vec<Spanned<String>> {
    match &node.value {
        YamlValue::List(items) => items.iter().filter_map(|item| text(item, key, problems)).collect(),
        YamlValue::Text(_) => text(node, key, problems).into_iter().collect(),
        YamlValue::Empty | YamlValue::Map(_) => {
            let message = format!("`{key}` must be a list, but this is {}", node.value.shape());
            problems.push(Diagnostic::error(Code::Shape, node.span, message, "write `[a, b]`"));
            Vec::new()
        }
    }
}

/// The first character of a span, to point at a long mapping.
pub fn head(span: Span) -> Span {
    Span::new(span.start, (span.start + 1).min(span.end))
}
