//! Returned values in Rust, by the declared result: `return` and the last expression of a function.

use super::Near;
use crate::proposal::{Spot, parts};
use tree_sitter::Node;

const INTEGERS: [&str; 12] =
    ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];

pub fn returned<'s>(spot: &Spot<'s>) -> Vec<Near<'s>> {
    let (values, result) = match spot.node.kind() {
        "return_expression" => (spot.node.named_child(0).into_iter().collect(), spot.result),
        "function_item" => {
            let mut last = Vec::new();
            last_values(spot.field("body"), &mut last);
            (last, spot.field("return_type"))
        }
        _ => return Vec::new(),
    };
    let Some(result) = result else { return Vec::new() };
    let near = |value: Node<'s>| {
        let replacement = near(spot, result, spot.text_of(value))?;
        Some(Near { value, replacement })
    };
    values.into_iter().filter_map(near).collect()
}

/// The expressions that can be the value of a block, in order.
fn last_values<'s>(at: Option<Node<'s>>, found: &mut Vec<Node<'s>>) {
    let mut pending: Vec<Node<'s>> = at.into_iter().collect();
    while let Some(node) = pending.pop() {
        match node.kind() {
            "block" => pending.extend(parts(node).into_iter().next_back()),
            "unsafe_block" | "else_clause" | "parenthesized_expression" => {
                pending.extend(parts(node).into_iter().next_back());
            }
            // A block-like expression at the end of a block.
            "expression_statement" => {
                let ends = node.child(node.child_count().saturating_sub(1));
                if ends.is_none_or(|end| end.kind() != ";") {
                    pending.extend(node.named_child(0));
                }
            }
            "if_expression" => {
                pending.extend(node.child_by_field_name("alternative"));
                pending.extend(node.child_by_field_name("consequence"));
            }
            "match_expression" => {
                let arms = node.child_by_field_name("body").map(parts).unwrap_or_default();
                let arms = arms.into_iter().filter(|arm| arm.kind() == "match_arm");
                let values: Vec<Node<'s>> = arms.filter_map(|arm| arm.child_by_field_name("value")).collect();
                pending.extend(values.into_iter().rev());
            }
            "return_expression" | "loop_expression" | "while_expression" | "for_expression" => {}
            kind if kind.ends_with("_expression")
                || kind.ends_with("_literal")
                || matches!(kind, "identifier" | "self" | "macro_invocation" | "scoped_identifier") =>
            {
                found.push(node);
            }
            _ => {}
        }
    }
}

fn near(spot: &Spot<'_>, of: Node<'_>, value: &str) -> Option<String> {
    let never = ["todo!", "unimplemented!", "unreachable!", "panic!"];
    if never.iter().any(|name| value.starts_with(name)) {
        return None;
    }
    let text = spot.text_of(of);
    let name = text.split('<').next().unwrap_or(text).trim().rsplit("::").next().unwrap_or(text);
    let arguments = of.child_by_field_name("type_arguments").map(parts).unwrap_or_default();
    match (of.kind(), name, arguments.as_slice()) {
        ("reference_type", _, _) => {
            let inner = of.child_by_field_name("type")?;
            let is_plain = spot.text_of(inner) == "str" && !text.contains("mut ");
            is_plain.then(|| format!("&*Box::leak(format!(\"{{}}x\", {value}).into_boxed_str())"))
        }
        ("tuple_type", _, _) => {
            let first = parts(of).into_iter().next()?;
            let changed = near(spot, first, "near.0")?;
            Some(format!("{{ let mut near: {text} = {value}; near.0 = {changed}; near }}"))
        }
        (_, "bool", []) => Some(format!("!({value})")),
        (_, "f32" | "f64", []) => Some(format!("({value}) + 1.0")),
        (_, "String", []) => Some(format!("format!(\"{{}}x\", {value})")),
        (_, name, []) if INTEGERS.contains(&name) => Some(format!("{name}::wrapping_add({value}, 1)")),
        (_, "Option", [inner]) => match value {
            "None" => Some(format!("Some({})", plain_value(spot.text_of(*inner))?)),
            _ => {
                let inner = near(spot, *inner, "near")?;
                Some(format!("({value}).map(|near| {inner})"))
            }
        },
        (_, "Result", [inner, ..]) => {
            if value.starts_with("Err(") {
                return Some(format!("Ok({})", plain_value(spot.text_of(*inner))?));
            }
            let inner = near(spot, *inner, "near")?;
            Some(format!("({value}).map(|near| {inner})"))
        }
        (_, "Vec", [_]) => Some(format!("{{ let mut near: Vec<_> = {value}; near.pop(); near }}")),
        _ => None,
    }
}

/// A value of a type, to replace `None` or an error.
fn plain_value(of: &str) -> Option<&'static str> {
    Some(match of {
        "bool" => "false",
        "f32" | "f64" => "0.0",
        "String" => "String::new()",
        "&str" | "&'static str" => "\"\"",
        "()" => "()",
        _ if INTEGERS.contains(&of) => "0",
        _ if of.starts_with("Vec<") => "Vec::new()",
        _ if of.starts_with("Option<") => "None",
        _ => return None,
    })
}
