//! The texts that a change brings into production code.

use super::{nodes, unquoted};
use crate::{Language, ParsedSource};
use std::collections::BTreeSet;

/// The text literals of production code that it did not contain before, each with its line.
pub fn new_literals(language: Language, before: &str, after: &str) -> Vec<(usize, String)> {
    let parse = |text| ParsedSource::parse(language, text);
    let (Some(before), Some(after)) = (parse(before), parse(after)) else { return Vec::new() };
    let known: BTreeSet<String> = literals(&before).into_iter().map(|(_, text)| text).collect();
    literals(&after).into_iter().filter(|(_, text)| !known.contains(text)).collect()
}

fn literals(source: &ParsedSource<'_>) -> Vec<(usize, String)> {
    let tests = source.test_code();
    let is_literal = |kind: &str| {
        matches!(
            kind,
            "string"
                | "string_literal"
                | "raw_string_literal"
                | "interpreted_string_literal"
                | "template_string"
        )
    };
    nodes(source.root())
        .filter(|node| is_literal(node.kind()))
        .filter(|node| !tests.iter().any(|test| test.contains(&node.start_byte())))
        .map(|node| (node.start_position().row + 1, unquoted(source, node).to_string()))
        .collect()
}
