//! Reading a mapping key by key: what is taken is known, what is left over is reported.

use crate::diagnostic::{Code, Diagnostic, suggest};
use crate::source::{At, Span};
use crate::yaml::{Key, Node, Value};

/// The entries of a mapping that have not been read yet.
pub struct Fields<'n, 'p> {
    /// What the mapping describes, for messages.
    what: String,
    span: Span,
    entries: Vec<&'n (Key, Node)>,
    known: Vec<&'static str>,
    problems: &'p mut Vec<Diagnostic>,
}

impl<'n, 'p> Fields<'n, 'p> {
    /// Opens a mapping; anything else is reported and reads as an empty one.
    pub fn open(
        node: &'n Node,
        what: impl Into<String>,
        problems: &'p mut Vec<Diagnostic>,
    ) -> Fields<'n, 'p> {
        let what = what.into();
        let entries = match &node.value {
            Value::Map(entries) => entries.iter().collect(),
            other @ (Value::Empty | Value::Text(_) | Value::List(_)) => {
                let message = format!("{what} is a mapping, but {} stands here", other.shape());
                let remedy = "write `key: value` lines, indented below";
                problems.push(Diagnostic::error(Code::Shape, node.span, message, remedy));
                Vec::new()
            }
        };
        Fields { what, span: node.span, entries, known: Vec::new(), problems }
    }

    pub fn take(&mut self, key: &'static str) -> Option<&'n (Key, Node)> {
        self.known.push(key);
        let at = self.entries.iter().position(|(name, _)| name.name == key)?;
        Some(self.entries.remove(at))
    }

    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(name, _)| name.name == key)
    }

    pub fn span(&self) -> Span {
        self.span
    }

    /// Where a key stands that is not taken yet.
    pub fn entry_span(&self, key: &str) -> Option<Span> {
        self.entries.iter().find(|(name, _)| name.name == key).map(|(name, _)| name.span)
    }

    pub fn report(&mut self, problem: Diagnostic) {
        self.problems.push(problem);
    }

    pub fn problems(&mut self) -> &mut Vec<Diagnostic> {
        self.problems
    }

    /// Takes over a phrase, or reports what is wrong with it.
    pub fn keep<T>(&mut self, parsed: Result<T, Diagnostic>) -> Option<T> {
        match parsed {
            Ok(it) => Some(it),
            Err(problem) => {
                self.problems.push(problem);
                None
            }
        }
    }

    pub fn text(&mut self, key: &'static str) -> Option<At<String>> {
        let (_, node) = self.take(key)?;
        text(node, key, self.problems)
    }

    pub fn required_text(&mut self, key: &'static str, example: &str) -> Option<At<String>> {
        if !self.has(key) {
            self.known.push(key);
            let message = format!("{} has no `{key}`", self.what);
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

    pub fn number(&mut self, key: &'static str) -> Option<At<u16>> {
        let written = self.text(key)?;
        match written.it.parse() {
            Ok(number) => Some(At::new(number, written.span)),
            Err(_) => {
                let message = format!("`{key}` takes a number, not `{}`", written.it);
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
        match written.it.as_str() {
            "true" => true,
            "false" => false,
            other => {
                let message = format!("`{key}` is true or false, not `{other}`");
                let remedy = format!("write `{key}: true` or `{key}: false`");
                let problem = Diagnostic::error(Code::Shape, written.span, message, remedy);
                self.problems.push(problem);
                false
            }
        }
    }

    /// A list of texts; a single text reads as a list of one.
    pub fn texts(&mut self, key: &'static str) -> Vec<At<String>> {
        let Some((_, node)) = self.take(key) else {
            return Vec::new();
        };
        texts(node, key, self.problems)
    }

    pub fn entries(&mut self, key: &'static str) -> Option<&'n [(Key, Node)]> {
        let (_, node) = self.take(key)?;
        match &node.value {
            Value::Map(entries) => Some(entries),
            other @ (Value::Empty | Value::Text(_) | Value::List(_)) => {
                let message = format!("`{key}` is a mapping, but {} stands here", other.shape());
                let remedy = "write `key: value` lines, indented below";
                self.problems.push(Diagnostic::error(Code::Shape, node.span, message, remedy));
                None
            }
        }
    }

    /// Reports what nobody took.
    pub fn finish(self) {
        for (key, _) in self.entries {
            if key.name.is_empty() {
                continue;
            }
            let message = format!("`{}` is not a key of {}", key.name, self.what);
            let remedy = suggest(&key.name, self.known.iter().copied());
            self.problems.push(Diagnostic::error(Code::UnknownKey, key.span, message, remedy));
        }
    }
}

/// The text of a node, or a report.
pub fn text(node: &Node, what: &str, problems: &mut Vec<Diagnostic>) -> Option<At<String>> {
    match &node.value {
        Value::Text(text) => Some(At::new(text.clone(), node.span)),
        other @ (Value::Empty | Value::List(_) | Value::Map(_)) => {
            let message = format!("`{what}` is a text, but {} stands here", other.shape());
            problems.push(Diagnostic::error(Code::Shape, node.span, message, "write a text in one line"));
            None
        }
    }
}

/// The texts of a list node, or of a single text.
pub fn texts(node: &Node, what: &str, problems: &mut Vec<Diagnostic>) -> Vec<At<String>> {
    match &node.value {
        Value::List(items) => items.iter().filter_map(|item| text(item, what, problems)).collect(),
        Value::Text(_) => text(node, what, problems).into_iter().collect(),
        Value::Empty | Value::Map(_) => {
            let message = format!("`{what}` is a list, but {} stands here", node.value.shape());
            problems.push(Diagnostic::error(Code::Shape, node.span, message, "write `[a, b]`"));
            Vec::new()
        }
    }
}

/// The first character of a span: enough to point at a long mapping.
pub fn head(span: Span) -> Span {
    Span::new(span.start, (span.start + 1).min(span.end))
}
