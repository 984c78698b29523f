//! Tests in Rust: functions with a test attribute, also inside macros such as `proptest!`.

use super::test_function::{Around, Marks, TestFunction, children, field};
use crate::ParsedSource;
use crate::attribute::{inner, is_test};
use tree_sitter::Node;

pub fn drafts<'t>(source: &'t ParsedSource<'_>) -> Vec<TestFunction<'t>> {
    let mut found = Vec::new();
    let mut open = vec![(source.root(), Around::default())];
    while let Some((node, around)) = open.pop() {
        let mut attributes: Vec<String> = Vec::new();
        for child in children(node) {
            match child.kind() {
                "attribute_item" => attributes.push(inner(source.text_of(child))),
                kind if kind.contains("comment") => {}
                "mod_item" => {
                    let marks = marks(&attributes);
                    if let Some(body) = child.child_by_field_name("body") {
                        open.push((body, around.within(field(source, child, "name"), marks)));
                    }
                    attributes.clear();
                }
                "impl_item" | "trait_item" => {
                    if let Some(body) = child.child_by_field_name("body") {
                        open.push((body, around.clone()));
                    }
                    attributes.clear();
                }
                "function_item" => {
                    if let Some(body) = child.child_by_field_name("body") {
                        let is_test = attributes.iter().any(|attribute| is_test(attribute));
                        let name = field(source, child, "name");
                        found.push(around.draft(name, marks(&attributes), is_test, child, body));
                    }
                    attributes.clear();
                }
                "expression_statement" | "macro_invocation" => {
                    let call =
                        if child.kind() == "macro_invocation" { Some(child) } else { child.named_child(0) };
                    found.extend(call.into_iter().flat_map(|call| in_macro(source, call, &around)));
                    attributes.clear();
                }
                _ => attributes.clear(),
            }
        }
    }
    found.sort_by_key(|draft| draft.line);
    found
}

/// Functions among the tokens of a macro: `#[test] fn name() { … }`.
fn in_macro<'t>(source: &ParsedSource<'_>, call: Node<'t>, around: &Around) -> Vec<TestFunction<'t>> {
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
                    found.push(around.draft(name, marks(&attributes), is_test, *node, *node));
                }
                attributes.clear();
            }
            "identifier" if at > 0 && source.text_of(inside[at - 1]) == "fn" => name = Some(text),
            _ => {}
        }
    }
    found
}

fn marks(attributes: &[String]) -> Marks {
    let mut marks = Marks::default();
    for attribute in attributes {
        let name = attribute.split(['(', '=']).next().unwrap_or_default();
        let written = format!("#[{attribute}]");
        match name {
            "ignore" => marks.off.push(written),
            "should_panic" => marks.inverted.push(written),
            "cfg_attr" if attribute.contains("should_panic") => marks.inverted.push(written),
            "cfg_attr" if attribute.contains("ignore") => marks.off.push(written),
            "cfg" if attribute != "cfg(test)" => marks.off.push(written),
            _ => {}
        }
    }
    marks
}
