//! Syntax errors.

use crate::ParsedSource;
use tree_sitter::Node;

/// In characters.
const MAX_QUOTE_LENGTH: usize = 40;

const MAX_ERRORS: usize = 100;

/// A syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// From 1.
    pub line: usize,
    /// From 1, in bytes.
    pub column: usize,
    /// Names the missing or unexpected text.
    pub message: String,
}

impl ParsedSource<'_> {
    /// The syntax errors, in the order of the text.
    pub fn errors(&self) -> Vec<SyntaxError> {
        errors(self)
    }
}

/// Finds the errors, except those inside another error. A tree can be as deep as the text is long, so the walk is not
/// recursive.
fn errors(source: &ParsedSource<'_>) -> Vec<SyntaxError> {
    let mut found = Vec::new();
    let mut pending = vec![source.root()];
    while let Some(node) = pending.pop().filter(|_| found.len() < MAX_ERRORS) {
        if node.is_error() || node.is_missing() {
            let start = node.start_position();
            found.push(SyntaxError {
                line: start.row + 1,
                column: start.column + 1,
                message: message(source, node),
            });
        } else if node.has_error() {
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
            pending.extend(children.into_iter().rev());
        }
    }
    found
}

fn message(source: &ParsedSource<'_>, node: Node<'_>) -> String {
    if node.is_missing() {
        return format!("`{}` is missing", node.kind());
    }
    let text = source.text_of(node);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let quoted: String = line.chars().take(MAX_QUOTE_LENGTH).collect();
    if quoted.is_empty() { "unexpected end".to_string() } else { format!("`{quoted}` is unexpected") }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::Language;
    use std::path::Path;

    fn errors_of(language: Language, text: &str) -> Vec<(usize, usize)> {
        let source = ParsedSource::parse(language, text).unwrap();
        source.errors().iter().map(|error| (error.line, error.column)).collect()
    }

    // EP-15
    #[test]
    fn every_language_parses_valid_text_and_finds_an_error() {
        let samples = [
            ("a.rs", "fn a() -> u8 { 1 }\n", "fn a( -> u8 { 1 }\n"),
            ("a.py", "def a():\n    return 1\n", "def a(:\n    return 1\n"),
            ("a.js", "const a = () => 1;\n", "const = () => ;\n"),
            ("a.ts", "const a: number = 1;\n", "const a: = 1;\n"),
            ("a.tsx", "const a = <b>c</b>;\n", "const a = <b>c;\n"),
            ("a.go", "package a\n\nfunc A() int { return 1 }\n", "package a\n\nfunc A( int { return 1 }\n"),
            ("a.c", "int a(void) { return 1; }\n", "int a(void) { return 1; \n"),
            ("a.cpp", "class A { int b; };\n", "class A { int b }; ;)\n"),
            ("a.java", "class A { int b() { return 1; } }\n", "class A { int b( { return 1; } }\n"),
            ("a.yaml", "a: [1, 2]\n", "a: [1, 2\n"),
            ("a.json", "{\"a\": 1}\n", "{\"a\": }\n"),
            ("a.toml", "a = 1\n", "a = \n"),
        ];
        for (path, good, bad) in samples {
            let language = Language::of(Path::new(path)).unwrap();
            assert_eq!(errors_of(language, good), [], "{path}");
            assert!(!errors_of(language, bad).is_empty(), "{path}");
        }
    }

    #[test]
    fn an_error_has_a_position_and_quotes_the_text() {
        let text = "a = 1\nb = = 2\n";
        let source = ParsedSource::parse(Language::Toml, text).unwrap();
        let error = source.errors().into_iter().next().unwrap();
        assert_eq!(error.line, 2);
        assert!(error.message.contains('='), "{}", error.message);
    }

    #[test]
    fn deep_nesting_does_not_exhaust_the_stack() {
        let text = format!("{}{{{}", "[".repeat(20_000), "]".repeat(20_000));
        let source = ParsedSource::parse(Language::Json, &text).unwrap();
        assert!(!source.errors().is_empty());
    }
}
