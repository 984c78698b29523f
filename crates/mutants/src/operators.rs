//! Operators: comparisons, boundaries, logic and arithmetic.

use crate::mutant::MutantKind;
use crate::proposal::{Alteration, Spot, parts};
use remand_source::Language;
use tree_sitter::Node;

/// Comparisons and logic, in every language.
const DECISIONS: [(&str, &str, MutantKind); 17] = [
    ("<", "<=", MutantKind::Boundary),
    ("<=", "<", MutantKind::Boundary),
    (">", ">=", MutantKind::Boundary),
    (">=", ">", MutantKind::Boundary),
    ("==", "!=", MutantKind::Equality),
    ("!=", "==", MutantKind::Equality),
    ("===", "!==", MutantKind::Equality),
    ("!==", "===", MutantKind::Equality),
    ("is", "is not", MutantKind::Equality),
    ("is not", "is", MutantKind::Equality),
    ("in", "not in", MutantKind::Equality),
    ("not in", "in", MutantKind::Equality),
    ("&&", "||", MutantKind::Logic),
    ("||", "&&", MutantKind::Logic),
    ("and", "or", MutantKind::Logic),
    ("or", "and", MutantKind::Logic),
    ("??", "&&", MutantKind::Logic),
];

const ARITHMETIC: [(&str, &str); 12] = [
    ("+", "-"),
    ("-", "+"),
    ("*", "+"),
    ("/", "*"),
    ("//", "*"),
    ("%", "*"),
    ("**", "*"),
    ("&", "|"),
    ("|", "&"),
    ("^", "&"),
    ("<<", ">>"),
    (">>", "<<"),
];

pub fn propose(spot: &Spot<'_>, found: &mut Vec<Alteration>) {
    match spot.node.kind() {
        "binary_expression" | "binary_operator" | "boolean_operator" => {
            let Some(operator) = spot.field("operator").filter(|operator| spot.is_changed(*operator)) else {
                return;
            };
            found.extend(decision(spot, operator).or_else(|| arithmetic(spot, operator)));
        }
        "comparison_operator" => {
            let operators = spot.tokens().into_iter().filter(|token| !token.is_named());
            found.extend(
                operators.filter(|token| spot.is_changed(*token)).filter_map(|token| decision(spot, token)),
            );
        }
        "compound_assignment_expr"
        | "augmented_assignment"
        | "augmented_assignment_expression"
        | "assignment_statement" => {
            let Some(operator) = spot.field("operator").filter(|operator| spot.is_changed(*operator)) else {
                return;
            };
            let Some(bare) = spot.text_of(operator).strip_suffix('=') else { return };
            if let Some((_, other)) = ARITHMETIC.iter().find(|(old, _)| *old == bare)
                && !is_texty(spot, spot.field("right"))
            {
                found.push(spot.becomes(MutantKind::Arithmetic, operator, format!("{other}=")));
            }
        }
        "update_expression" | "inc_statement" | "dec_statement" => {
            for token in spot.tokens().into_iter().filter(|token| spot.is_changed(*token)) {
                match spot.text_of(token) {
                    "++" => found.push(spot.becomes(MutantKind::Arithmetic, token, "--")),
                    "--" => found.push(spot.becomes(MutantKind::Arithmetic, token, "++")),
                    _ => {}
                }
            }
        }
        "range_expression" if spot.language() == Language::Rust && parts(spot.node).len() == 2 => {
            for token in spot.tokens().into_iter().filter(|token| spot.is_changed(*token)) {
                match spot.text_of(token) {
                    ".." => found.push(spot.becomes(MutantKind::Boundary, token, "..=")),
                    "..=" => found.push(spot.becomes(MutantKind::Boundary, token, "..")),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn decision(spot: &Spot<'_>, operator: Node<'_>) -> Option<Alteration> {
    let text = spot.text_of(operator);
    // A property check of JavaScript has no opposite operator.
    if spot.is_script() && text == "in" {
        return None;
    }
    let (_, other, kind) = DECISIONS.iter().find(|(old, _, _)| *old == text)?;
    Some(spot.becomes(*kind, operator, *other))
}

fn arithmetic(spot: &Spot<'_>, operator: Node<'_>) -> Option<Alteration> {
    let (_, other) = ARITHMETIC.iter().find(|(old, _)| *old == spot.text_of(operator))?;
    let has_text = is_texty(spot, spot.field("left")) || is_texty(spot, spot.field("right"));
    (!has_text).then(|| spot.becomes(MutantKind::Arithmetic, operator, *other))
}

/// Whether an operand is text or a collection, for which another operator is an error instead of another value.
fn is_texty(spot: &Spot<'_>, operand: Option<Node<'_>>) -> bool {
    let Some(operand) = operand else { return false };
    let kind = operand.kind();
    kind.contains("string")
        || matches!(kind, "list" | "tuple" | "array" | "list_comprehension" | "reference_expression")
        || kind == "binary_expression" && is_texty(spot, operand.child_by_field_name("left"))
        || kind == "binary_operator" && is_texty(spot, operand.child_by_field_name("left"))
        || matches!(kind, "call" | "call_expression" | "macro_invocation") && {
            let text = spot.text_of(operand);
            ["str(", "String(", "format!", "list(", "fmt.Sprint"].iter().any(|start| text.starts_with(start))
                || [".to_string()", ".join(", ".to_owned()", ".format(", ".toString("]
                    .iter()
                    .any(|method| text.contains(method))
        }
}
