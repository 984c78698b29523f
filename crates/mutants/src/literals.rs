//! Literals, each replaced by one near it.

use crate::mutant::MutantKind;
use crate::proposal::{Alteration, Spot, is_log, last_segment};
use remand_source::Language;
use tree_sitter::Node;

/// Macros whose arguments the compiler reads, or whose text no test looks at.
const MACROS: [&str; 22] = [
    "include_str",
    "include_bytes",
    "include",
    "env",
    "option_env",
    "cfg",
    "concat",
    "compile_error",
    "dbg",
    "trace",
    "debug",
    "info",
    "warn",
    "error",
    "log",
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "unreachable",
    "unimplemented",
];

pub fn propose(spot: &Spot<'_>, found: &mut Vec<Alteration>) {
    if !spot.is_changed(spot.node) {
        return;
    }
    let text = spot.text();
    let replacement = match spot.node.kind() {
        "integer_literal" | "int_literal" | "integer" => next_integer(text),
        "float_literal" | "float" => next_float(text),
        "number" => next_integer(text).or_else(|| next_float(text)),
        "boolean_literal" | "true" | "false" => Some(flipped(text).to_string()),
        "string_literal" | "string" | "interpreted_string_literal" | "template_string" => longer(spot),
        _ => None,
    };
    found.extend(replacement.map(|replacement| spot.becomes(MutantKind::Literal, spot.node, replacement)));
}

/// Whether the literals below a node are invisible to tests.
pub fn hides_literals(spot: &Spot<'_>) -> bool {
    match spot.node.kind() {
        "macro_invocation" => {
            let name = last_segment(spot.field_text("macro"));
            MACROS.contains(&name)
        }
        "call" | "call_expression" => {
            let callee = spot.field_text("function");
            is_log(callee) || matches!(callee, "require" | "errors.New" | "fmt.Errorf")
        }
        // The text of an error, not its kind.
        "raise_statement" | "throw_statement" => true,
        "expression_statement" => {
            // A docstring, or a directive such as "use strict".
            spot.node.named_child_count() == 1
                && spot.node.named_child(0).is_some_and(|child| child.kind() == "string")
        }
        _ => false,
    }
}

fn flipped(text: &str) -> &'static str {
    match text {
        "true" => "false",
        "True" => "False",
        "False" => "True",
        _ => "true",
    }
}

/// The next integer, with the same suffix, or the previous one at the maximum of a machine type.
fn next_integer(text: &str) -> Option<String> {
    let (radix, rest) = match text.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => (16, &text[2..]),
        Some("0o") => (8, &text[2..]),
        Some("0b") => (2, &text[2..]),
        Some(_) | None => (10, text),
    };
    let end = rest.find(|c: char| !c.is_digit(radix) && c != '_').unwrap_or(rest.len());
    let (digits, suffix) = rest.split_at(end);
    if !suffix.is_empty() && suffix != "n" && !suffix.starts_with(['u', 'i']) {
        return None;
    }
    let value = u128::from_str_radix(&digits.replace('_', ""), radix).ok()?;
    let next = value.checked_add(1)?;
    let is_last = next.is_power_of_two() && next >= 128;
    Some(format!("{}{suffix}", if is_last { value - 1 } else { next }))
}

fn next_float(text: &str) -> Option<String> {
    let number = text.trim_end_matches("f32").trim_end_matches("f64").trim_end_matches('_');
    let suffix = &text[number.len()..];
    let value: f64 = number.replace('_', "").parse().ok()?;
    Some(format!("{:?}{suffix}", value + 1.0))
}

/// The text with an `x` at its end.
fn longer(spot: &Spot<'_>) -> Option<String> {
    let text = spot.text();
    let end: Node<'_> = spot.node.child(spot.node.child_count().checked_sub(1)?)?;
    let closing = match spot.language() {
        Language::Python if end.kind() == "string_end" => spot.text_of(end),
        Language::Python => return None,
        _ if text.ends_with(['"', '\'', '`']) => &text[text.len() - 1..],
        _ => return None,
    };
    Some(format!("{}x{closing}", text.strip_suffix(closing)?))
}
