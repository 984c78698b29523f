//! The shape of a text: its syntax tree without comments and whitespace.

use crate::ParsedSource;
use tree_sitter::Node;

impl ParsedSource<'_> {
    /// Whether two texts differ only in comments and whitespace. A text with syntax errors is like no other text.
    pub fn is_like(&self, other: &ParsedSource<'_>) -> bool {
        self.language() == other.language()
            && !self.root().has_error()
            && !other.root().has_error()
            && self.shape_of(self.root()) == other.shape_of(other.root())
    }

    /// The kinds and tokens of the nodes below a node, in order, without comments.
    pub(crate) fn shape_of<'s>(&'s self, node: Node<'s>) -> Vec<&'s str> {
        let mut shape = Vec::new();
        let mut pending = vec![Step::Into(node)];
        while let Some(step) = pending.pop() {
            let node = match step {
                Step::Into(node) if is_comment(node) => continue,
                Step::Into(node) => node,
                Step::Out => {
                    shape.push(")");
                    continue;
                }
            };
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
            if children.is_empty() {
                shape.push(self.text_of(node));
            } else {
                shape.push(node.kind());
                pending.push(Step::Out);
                pending.extend(children.into_iter().rev().map(Step::Into));
            }
        }
        shape
    }
}

enum Step<'t> {
    Into(Node<'t>),
    Out,
}

pub(crate) fn is_comment(node: Node<'_>) -> bool {
    matches!(node.kind(), "comment" | "line_comment" | "block_comment" | "html_comment")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::Language;

    fn is_like(language: Language, one: &str, other: &str) -> bool {
        ParsedSource::parse(language, one).unwrap().is_like(&ParsedSource::parse(language, other).unwrap())
    }

    // OT-17
    #[test]
    fn texts_that_differ_only_in_whitespace_and_comments_are_alike() {
        let text = "fn a(b: u8) -> u8 { b + 1 }\n";
        assert!(is_like(Language::Rust, text, "/// Adds.\nfn a(b: u8) -> u8 {\n    // one\n    b + 1\n}\n"));
        for other in
            ["fn a(b: u8) -> u8 { b + 2 }\n", "fn a(b: u8) -> u8 { 1 + b }\n", "fn a(b: u8) -> u8 {\n"]
        {
            assert!(!is_like(Language::Rust, text, other), "{other}");
        }
    }

    #[test]
    fn texts_with_a_statement_moved_into_a_block_are_not_alike() {
        assert!(!is_like(Language::Python, "if a:\n    b()\nc()\n", "if a:\n    b()\n    c()\n"));
        assert!(is_like(Language::Python, "if a:\n    b()\nc()\n", "if a:\n  b()  # now\n\nc()\n"));
    }
}
