//! Tricks in Go tests.

use super::{TrickKind, arguments, compact};
use crate::ParsedSource;
use tree_sitter::Node;

pub fn in_tests(source: &ParsedSource<'_>, node: Node<'_>) -> Option<(TrickKind, String)> {
    match node.kind() {
        // `os.Exit(m.Run())` hands the result on.
        "call_expression" => {
            let function = compact(source, node.child_by_field_name("function")?);
            let is_fixed = arguments(node).first().is_some_and(|code| code.kind() == "int_literal");
            let ends = function == "syscall.Exit" || (function == "os.Exit" && is_fixed);
            ends.then_some((TrickKind::EndsProcess, function))
        }
        "function_declaration" => {
            let name = source.text_of(node.child_by_field_name("name")?);
            let body = source.text_of(node.child_by_field_name("body")?);
            (name == "TestMain" && !body.contains(".Run("))
                .then(|| (TrickKind::HooksRunner, name.to_string()))
        }
        _ => None,
    }
}
