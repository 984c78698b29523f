//! Tests in Rust: functions with a test attribute, also inside macros such as `proptest!`.

use super::test_function::{Markers, TestFunction, TestScope, children, field};
use crate::ParsedSource;
use crate::attribute::{inner, is_test};
use tree_sitter::Node;

pub fn test_functions<'t>(source: &'t ParsedSource<'_>) -> Vec<TestFunction<'t>> {
    let mut found = Vec::new();
    let mut pending = vec![(source.root(), TestScope::default())];
    while let Some((node, scope)) = pending.pop() {
        let mut attributes: Vec<String> = Vec::new();
        for child in children(node) {
            match child.kind() {
                "attribute_item" => attributes.push(inner(source.text_of(child))),
                kind if kind.contains("comment") => {}
                "mod_item" => {
                    let markers = markers(&attributes);
                    if let Some(body) = child.child_by_field_name("body") {
                        pending.push((body, scope.inner(field(source, child, "name"), markers)));
                    }
                    attributes.clear();
                }
                "impl_item" | "trait_item" => {
                    if let Some(body) = child.child_by_field_name("body") {
                        pending.push((body, scope.clone()));
                    }
                    attributes.clear();
                }
                "function_item" => {
                    if let Some(body) = child.child_by_field_name("body") {
                        let is_test = attributes.iter().any(|attribute| is_test(attribute));
                        let name = field(source, child, "name");
                        found.push(scope.function(name, markers(&attributes), is_test, child, body));
                    }
                    attributes.clear();
                }
                "expression_statement" | "macro_invocation" => {
                    let call =
                        if child.kind() == "macro_invocation" { Some(child) } else { child.named_child(0) };
                    found.extend(call.into_iter().flat_map(|call| macro_functions(source, call, &scope)));
                    attributes.clear();
                }
                _ => attributes.clear(),
            }
        }
    }
    found.sort_by_key(|function| function.line);
    found
}

/// The functions among the tokens of a macro: `#[test] fn name() { … }`.
fn macro_functions<'t>(
    source: &ParsedSource<'_>,
    call: Node<'t>,
    scope: &TestScope,
) -> Vec<TestFunction<'t>> {
    let Some(tree) = children(call).into_iter().find(|child| child.kind() == "token_tree") else {
        return Vec::new();
    };
    let mut cursor = tree.walk();
    let inside: Vec<Node<'t>> = tree.children(&mut cursor).collect();
    let (mut found, mut attributes, mut name) = (Vec::new(), Vec::new(), None);
    for (at, node) in inside.iter().enumerate() {
        let text = source.text_of(*node);
        match node.kind() {
            "token_tree" if at > 0 && source.text_of(inside[at - 1]) == "#" => attributes.push(inner(text)),
            "token_tree" if text.starts_with('{') => {
                if let Some(name) = name.take() {
                    let is_test = attributes.iter().any(|attribute| is_test(attribute));
                    found.push(scope.function(name, markers(&attributes), is_test, *node, *node));
                }
                attributes.clear();
            }
            "identifier" if at > 0 && source.text_of(inside[at - 1]) == "fn" => name = Some(text),
            _ => {}
        }
    }
    found
}

fn markers(attributes: &[String]) -> Markers {
    let mut markers = Markers::default();
    for attribute in attributes {
        let name = attribute.split(['(', '=']).next().unwrap_or_default();
        let written = format!("#[{attribute}]");
        match name {
            "ignore" => markers.off.push(written),
            "should_panic" => markers.inverted.push(written),
            "cfg_attr" if attribute.contains("should_panic") => markers.inverted.push(written),
            "cfg_attr" if attribute.contains("ignore") => markers.off.push(written),
            "cfg" if attribute != "cfg(test)" => markers.off.push(written),
            _ => {}
        }
    }
    markers
}
