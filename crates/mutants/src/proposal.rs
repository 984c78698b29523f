//! An alteration that is proposed at a node, and the node with its context.

use crate::mutant::{MutantKind, quote};
use remand_source::{Language, ParsedSource};
use std::collections::BTreeSet;
use std::ops::Range;
use tree_sitter::Node;

/// A node of a changed file, with the context that proposals need.
#[derive(Clone, Copy)]
pub struct Spot<'s> {
    pub source: &'s ParsedSource<'s>,
    /// The changed lines, from 1.
    pub changed: &'s BTreeSet<usize>,
    pub node: Node<'s>,
    /// The declared result of the function around the node, in languages that declare it.
    pub result: Option<Node<'s>>,
}

/// A proposed alteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alteration {
    pub kind: MutantKind,
    pub range: Range<usize>,
    pub replacement: String,
    /// In words without the location.
    pub words: String,
    /// From 1.
    pub line: usize,
}

impl<'s> Spot<'s> {
    pub fn language(&self) -> Language {
        self.source.language()
    }

    pub fn is_script(&self) -> bool {
        matches!(self.language(), Language::JavaScript | Language::TypeScript | Language::Tsx)
    }

    pub fn text(&self) -> &'s str {
        self.source.text_of(self.node)
    }

    pub fn text_of(&self, node: Node<'_>) -> &'s str {
        self.source.text_of(node)
    }

    pub fn field(&self, name: &str) -> Option<Node<'s>> {
        self.node.child_by_field_name(name)
    }

    pub fn field_text(&self, name: &str) -> &'s str {
        self.field(name).map_or("", |node| self.source.text_of(node))
    }

    /// All children, with operators and punctuation.
    pub fn tokens(&self) -> Vec<Node<'s>> {
        let mut cursor = self.node.walk();
        self.node.children(&mut cursor).collect()
    }

    /// Whether the change touches a line of a node.
    pub fn is_changed(&self, node: Node<'_>) -> bool {
        lines(node).any(|line| self.changed.contains(&line))
    }

    /// One piece of code becomes another.
    pub fn becomes(&self, kind: MutantKind, node: Node<'_>, replacement: impl Into<String>) -> Alteration {
        let replacement = replacement.into();
        let words = format!("{} became {}", quote(self.text_of(node)), quote(&replacement));
        self.altered(kind, node, replacement, words)
    }

    pub fn altered(
        &self,
        kind: MutantKind,
        node: Node<'_>,
        replacement: String,
        words: String,
    ) -> Alteration {
        let line = lines(node).find(|line| self.changed.contains(line));
        let line = line.unwrap_or(node.start_position().row + 1);
        Alteration { kind, range: node.byte_range(), replacement, words, line }
    }
}

/// The lines of a node, from 1.
pub fn lines(node: Node<'_>) -> std::ops::RangeInclusive<usize> {
    node.start_position().row + 1..=node.end_position().row + 1
}

/// The named children of a node, without comments.
pub fn parts(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| !child.kind().contains("comment")).collect()
}

/// The last segment of the name that a call names: `starts_with` for `text.starts_with`.
pub fn last_segment(callee: &str) -> &str {
    callee.rsplit(['.', ':']).next().unwrap_or(callee)
}

/// Whether a callee writes a log, which tests rarely look at.
pub fn is_log(callee: &str) -> bool {
    let (object, name) = callee.rsplit_once(['.', ':']).unwrap_or(("", callee));
    let object = object.to_lowercase();
    let is_level = matches!(
        name,
        "trace" | "debug" | "info" | "warn" | "warning" | "error" | "exception" | "critical" | "log"
    );
    let is_logger = ["log", "tracing", "console"].iter().any(|part| object.contains(part));
    // `console.log` is how a script prints.
    is_level && (is_logger || object.is_empty()) && callee != "console.log"
        || object == "log" && name.starts_with("Print")
        || callee == "warnings.warn"
}
