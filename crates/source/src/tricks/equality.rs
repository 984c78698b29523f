//! Definitions of equality by which values are equal that differ.

use super::{TrickKind, compact, nodes, unquoted};
use crate::{Language, ParsedSource};
use tree_sitter::Node;

/// Functions that convert a value for a comparison and keep what it says.
const CONVERSIONS: [&str; 42] = [
    "as_str",
    "as_ref",
    "as_bytes",
    "as_slice",
    "as_deref",
    "to_string",
    "to_owned",
    "into",
    "clone",
    "copied",
    "borrow",
    "deref",
    "str",
    "String",
    "toString",
    "valueOf",
    "isinstance",
    "type",
    "super",
    "hasattr",
    "getattr",
    "iter",
    "into_iter",
    "values",
    "items",
    "keys",
    "zip",
    "all",
    "every",
    "entries",
    "is",
    "eq",
    "__eq__",
    "equals",
    "isEqual",
    "Equal",
    "deepEqual",
    "bytes",
    "downcast_ref",
    "is_some_and",
    "ok",
    "try_from",
];

/// Types of which a value of a derived type is converted back before it is compared.
const BASE_TYPES: [&str; 8] = ["int", "float", "tuple", "list", "dict", "set", "frozenset", "complex"];

/// An equality that holds for more values than those with the same content.
pub fn loose(source: &ParsedSource<'_>, node: Node<'_>) -> Option<(TrickKind, String)> {
    if let Some(name) = bound_elsewhere(source, node) {
        return Some((TrickKind::LoosensEquality, name));
    }
    let is_function = matches!(
        node.kind(),
        "function_item" | "function_definition" | "method_definition" | "method_declaration"
    );
    if !is_function {
        return None;
    }
    let name = source.text_of(node.child_by_field_name("name")?);
    let body = node.child_by_field_name("body")?;
    if name == "asymmetricMatch" {
        return Some((TrickKind::LoosensEquality, name.to_string()));
    }
    if !["__eq__", "eq", "equals", "Equal", "is_equal", "isEqual"].contains(&name) {
        return None;
    }
    let text = compact(source, body);
    if ["{true}", "{returntrue;}", "{returntrue}", "returnTrue"].contains(&text.as_str()) {
        return Some((TrickKind::AlwaysEqual, name.to_string()));
    }
    let is_method = node.kind() != "function_item" || is_in_impl_of_equality(source, node);
    (is_method && nodes(body).any(|inner| alters(source, inner)))
        .then(|| (TrickKind::LoosensEquality, qualified(source, node, name)))
}

/// Whether an expression changes a value before it is compared, or compares in another way than for equality.
fn alters(source: &ParsedSource<'_>, node: Node<'_>) -> bool {
    match node.kind() {
        "call" | "call_expression" => {
            let function =
                node.child_by_field_name("function").map(|it| compact(source, it)).unwrap_or_default();
            let last = function.rsplit(['.', ':']).next().unwrap_or_default().to_string();
            // A conversion to a type keeps what a value says.
            let is_type = last.starts_with(char::is_uppercase);
            let arguments = node.child_by_field_name("arguments").map(|it| compact(source, it));
            let is_whole = matches!(arguments.as_deref(), Some("(self)" | "(other)"));
            let is_base = is_whole && BASE_TYPES.contains(&last.as_str());
            !is_type && !is_base && !CONVERSIONS.contains(&last.as_str())
        }
        "comparison_operator" => {
            let mut cursor = node.walk();
            node.children(&mut cursor)
                .any(|part| ["<", ">", "<=", ">=", "in", "not in"].contains(&part.kind()))
        }
        "binary_expression" => {
            let operator = node.child_by_field_name("operator").map(|it| source.text_of(it));
            !matches!(operator, Some("==" | "!=" | "===" | "!==" | "&&" | "||" | "??" | "instanceof" | "in"))
        }
        "slice" | "binary_operator" | "range_expression" => true,
        _ => false,
    }
}

fn is_in_impl_of_equality(source: &ParsedSource<'_>, node: Node<'_>) -> bool {
    let outer = std::iter::successors(node.parent(), Node::parent).find(|it| it.kind() == "impl_item");
    let of = outer.and_then(|it| it.child_by_field_name("trait")).map(|it| source.text_of(it));
    of.is_some_and(|of| of.contains("PartialEq"))
}

/// The name of a method with that of its type, and what it compares with.
fn qualified(source: &ParsedSource<'_>, node: Node<'_>, name: &str) -> String {
    let owner = std::iter::successors(node.parent(), Node::parent)
        .find(|it| matches!(it.kind(), "impl_item" | "class_definition" | "class_declaration"));
    let field = |field| owner.and_then(|it| it.child_by_field_name(field)).map(|it| compact(source, it));
    match field("type").or_else(|| field("name")) {
        Some(owner) => format!("{owner}.{name}"),
        None => name.to_string(),
    }
}

/// An equality of a Python class that is not defined with `def` inside it.
fn bound_elsewhere(source: &ParsedSource<'_>, node: Node<'_>) -> Option<String> {
    if source.language() != Language::Python {
        return None;
    }
    let (name, value) = match node.kind() {
        "pair" => (node.child_by_field_name("key")?, node.child_by_field_name("value")?),
        "assignment" => (node.child_by_field_name("left")?, node.child_by_field_name("right")?),
        _ => return None,
    };
    let text = if name.kind() == "string" { unquoted(source, name) } else { source.text_of(name) };
    let is_equality = text.rsplit('.').next() == Some("__eq__");
    let is_own = ["object", "str", "int", "super", "tuple", "dict", "list"]
        .iter()
        .any(|base| compact(source, value).starts_with(&format!("{base}.")));
    (is_equality && !is_own).then(|| "__eq__".to_string())
}
