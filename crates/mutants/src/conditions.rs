//! Conditions, negated.

use crate::mutant::{MutantKind, quote};
use crate::proposal::{Alteration, Spot};
use remand_source::Language;
use tree_sitter::Node;

pub fn propose(spot: &Spot<'_>, found: &mut Vec<Alteration>) {
    let condition = match spot.node.kind() {
        // The condition of a loop is not negated: the loop would run forever or not at all. Its boundary is altered
        // elsewhere.
        "if_expression" | "if_statement" | "elif_clause" | "ternary_expression" | "match_pattern" => {
            spot.field("condition")
        }
        "conditional_expression" => spot.node.named_child(1),
        "if_clause" => spot.node.named_child(0),
        _ => None,
    };
    found.extend(
        condition.filter(|condition| spot.is_changed(*condition)).and_then(|node| negated(spot, node)),
    );
}

fn negated(spot: &Spot<'_>, condition: Node<'_>) -> Option<Alteration> {
    let text = spot.text_of(condition);
    let replacement = match (spot.language(), condition.kind()) {
        (_, "let_condition" | "let_chain") => return None,
        (_, "not_operator") => format!("({})", spot.text_of(condition.child_by_field_name("argument")?)),
        (Language::Python, _) => format!("not ({text})"),
        (_, "parenthesized_expression") => format!("(!{text})"),
        _ => format!("!({text})"),
    };
    let words = format!("the condition {} was negated", quote(bare(text)));
    Some(spot.altered(MutantKind::Condition, condition, replacement, words))
}

/// The condition without the parentheses that its statement demands.
fn bare(text: &str) -> &str {
    let inner = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    inner.filter(|inner| !inner.contains(['(', ')'])).unwrap_or(text)
}
