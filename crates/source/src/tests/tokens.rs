//! The tokens of source text, without comments.

use crate::ParsedSource;
use tree_sitter::Node;

/// Whether a node counts as one token, even if it has children.
fn is_token(node: Node<'_>) -> bool {
    let kind = node.kind();
    node.child_count() == 0
        || kind.ends_with("string_literal")
        || kind == "string"
        || kind == "template_string"
}

/// The tokens below a node, in order. A grammar may hide punctuation, so text between two nodes is a token too.
pub fn tokens(source: &ParsedSource<'_>, node: Node<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = node.start_byte();
    let mut pending = vec![node];
    while let Some(node) = pending.pop() {
        if node.kind().contains("comment") {
            push_text(source, at, node.start_byte(), &mut found);
            at = node.end_byte().max(at);
        } else if is_token(node) {
            push_text(source, at, node.start_byte(), &mut found);
            let text = source.text_of(node).trim();
            if !text.is_empty() {
                found.push(text.to_string());
            }
            at = node.end_byte().max(at);
        } else {
            let mut cursor = node.walk();
            let inside: Vec<Node<'_>> = node.children(&mut cursor).collect();
            pending.extend(inside.into_iter().rev());
        }
    }
    push_text(source, at, node.end_byte(), &mut found);
    found
}

fn push_text(source: &ParsedSource<'_>, from: usize, to: usize, found: &mut Vec<String>) {
    let text = source.slice(from, to).trim();
    if !text.is_empty() {
        found.push(text.to_string());
    }
}

/// Splits tokens at a separator outside all brackets.
pub fn split<'t>(tokens: &'t [String], separator: &str) -> Vec<&'t [String]> {
    let (mut depth, mut from, mut parts) = (0_usize, 0, Vec::new());
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            token if token == separator && depth == 0 => {
                parts.push(&tokens[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&tokens[from..]);
    parts
}

/// The tokens in the first brackets at or after an index, and the index of the closing bracket.
pub fn bracketed(tokens: &[String], from: usize) -> Option<(&[String], usize)> {
    let open =
        from + tokens.get(from..)?.iter().position(|token| token == "(" || token == "[" || token == "{")?;
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return Some((&tokens[open + 1..at], at));
        }
    }
    None
}
