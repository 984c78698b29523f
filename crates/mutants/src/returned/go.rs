//! Returned values in Go, by the declared result.

use super::Near;
use crate::proposal::{Spot, parts};
use tree_sitter::Node;

const INTEGERS: [&str; 12] =
    ["int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "byte", "rune"];

pub fn returned<'s>(spot: &Spot<'s>) -> Vec<Near<'s>> {
    if spot.node.kind() != "return_statement" {
        return Vec::new();
    }
    let (Some(list), Some(result)) = (spot.node.named_child(0), spot.result) else { return Vec::new() };
    let (values, types) = (parts(list), types(result));
    if values.len() != types.len() {
        return Vec::new();
    }
    let near = |(value, of): (Node<'s>, Node<'s>)| {
        let replacement = near(spot.text_of(of), spot.text_of(value))?;
        Some(Near { value, replacement })
    };
    values.into_iter().zip(types).filter_map(near).collect()
}

/// The types of a result, one for each value.
fn types(result: Node<'_>) -> Vec<Node<'_>> {
    if result.kind() != "parameter_list" {
        return vec![result];
    }
    let mut found = Vec::new();
    for declaration in parts(result) {
        let mut cursor = declaration.walk();
        let names = declaration.children_by_field_name("name", &mut cursor).count().max(1);
        if let Some(of) = declaration.child_by_field_name("type") {
            found.extend(std::iter::repeat_n(of, names));
        }
    }
    found
}

fn near(of: &str, value: &str) -> Option<String> {
    Some(match of {
        "bool" => format!("!({value})"),
        "string" => format!("({value}) + \"x\""),
        "float32" | "float64" => format!("({value}) + 1"),
        "error" if value != "nil" => "nil".to_string(),
        _ if INTEGERS.contains(&of) => format!("({value}) + 1"),
        _ if of.starts_with("[]") && value != "nil" => format!(
            "func() {of} {{ near := {value}; if len(near) > 0 {{ return near[:len(near)-1] }}; return near }}()"
        ),
        _ => return None,
    })
}
