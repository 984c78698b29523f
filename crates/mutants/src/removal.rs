//! Statements that have an effect, removed.

use crate::mutant::{MutantKind, quote};
use crate::proposal::{Alteration, Spot, is_log, last_segment};
use remand_source::Language;
use tree_sitter::Node;

pub fn propose(spot: &Spot<'_>, found: &mut Vec<Alteration>) {
    if !spot.is_changed(spot.node) || !has_effect(spot) {
        return;
    }
    let text = spot.text();
    let replacement = match spot.language() {
        Language::Python => "pass".to_string(),
        // The compiler still sees the uses of variables and imports.
        Language::Rust | Language::Go => format!("if false {{ {text} }}"),
        _ => ";".to_string(),
    };
    let words = format!("{} was removed", quote(text.trim_end_matches(';')));
    found.push(spot.altered(MutantKind::Removed, spot.node, replacement, words));
}

fn has_effect(spot: &Spot<'_>) -> bool {
    match spot.node.kind() {
        "raise_statement" | "delete_statement" => spot.language() == Language::Python,
        "throw_statement" => spot.is_script(),
        "inc_statement" | "dec_statement" | "go_statement" | "defer_statement" => true,
        "assignment_statement" => {
            let is_part_of_for = spot.node.parent().is_some_and(|parent| parent.kind() == "for_clause");
            !is_part_of_for
        }
        "expression_statement" => spot.node.named_child(0).is_some_and(|inner| is_effect(spot, inner)),
        _ => false,
    }
}

fn is_effect(spot: &Spot<'_>, inner: Node<'_>) -> bool {
    match inner.kind() {
        "call" | "call_expression" => {
            let callee = inner.child_by_field_name("function").map_or("", |callee| spot.text_of(callee));
            !is_log(callee) && !callee.starts_with("super") && last_segment(callee) != "__init__"
        }
        "macro_invocation" => {
            let name = inner.child_by_field_name("macro").map_or("", |name| spot.text_of(name));
            let name = last_segment(name);
            !is_log(name) && !name.contains("assert")
        }
        "await_expression" | "await" | "try_expression" => {
            inner.named_child(0).is_some_and(|inner| is_effect(spot, inner))
        }
        "compound_assignment_expr"
        | "augmented_assignment"
        | "augmented_assignment_expression"
        | "update_expression" => true,
        "assignment_expression" | "assignment" => {
            let left = inner.child_by_field_name("left").map_or("", |left| left.kind());
            spot.language() == Language::Rust
                || matches!(left, "attribute" | "subscript" | "member_expression" | "subscript_expression")
        }
        _ => false,
    }
}
