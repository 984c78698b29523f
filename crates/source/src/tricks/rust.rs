//! Tricks in Rust tests.

use super::{TrickKind, compact, nodes};
use crate::ParsedSource;
use tree_sitter::Node;

/// Macros by which tests fail.
const MACROS: [&str; 10] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "assert_matches",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "panic",
    "unreachable",
    "matches",
];

pub fn in_tests(source: &ParsedSource<'_>, node: Node<'_>) -> Option<(TrickKind, String)> {
    match node.kind() {
        "macro_definition" => {
            let name = source.text_of(node.child_by_field_name("name")?);
            MACROS.contains(&name).then(|| (TrickKind::RedefinesAssertion, format!("{name}!")))
        }
        // Other crates offer assertions with better messages; the crate itself offers none with the same name.
        "use_declaration" => {
            let text = compact(source, node);
            let path = text.trim_start_matches("pub").trim_start_matches("use");
            let is_own = ["crate::", "super::", "self::"].iter().any(|start| path.starts_with(start));
            let is_renamed = |name: &&&str| {
                source
                    .text_of(node)
                    .split([',', ';', '}'])
                    .any(|part| part.trim().ends_with(&format!(" as {name}")))
            };
            let brings = |name: &&&str| path.split([':', '{', ',', '}', ';']).any(|part| part == **name);
            let name = MACROS.iter().find(|name| is_renamed(name) || (is_own && brings(name)))?;
            Some((TrickKind::RedefinesAssertion, format!("{name}!")))
        }
        "call_expression" => {
            let function = compact(source, node.child_by_field_name("function")?);
            let ends = ["process::exit", "process::abort", "libc::_exit", "libc::exit"];
            ends.iter().any(|end| function.ends_with(end)).then_some((TrickKind::EndsProcess, function))
        }
        // An item of a test module hides what it imports with `use super::*`.
        "function_item" | "struct_item" => {
            let name = source.text_of(node.child_by_field_name("name")?);
            let module = node.parent()?.parent().filter(|module| module.kind() == "mod_item")?;
            let around = module.parent()?;
            let mut cursor = around.walk();
            let is_hidden = around.named_children(&mut cursor).any(|item| {
                item.kind() == node.kind()
                    && item.child_by_field_name("name").is_some_and(|other| source.text_of(other) == name)
            });
            let globs = |item: Node<'_>| {
                item.kind() == "use_declaration" && compact(source, item).contains("super::*")
            };
            (is_hidden && nodes(module).any(globs)).then(|| (TrickKind::ReplacesSubject, name.to_string()))
        }
        _ => None,
    }
}
