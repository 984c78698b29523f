//! Tests in JavaScript and TypeScript: calls of `test`, `it` and similar functions with a name and a function.

use super::test_function::{Markers, TestFunction, TestScope, children, field};
use crate::ParsedSource;
use tree_sitter::Node;

const TEST_FUNCTIONS: [&str; 8] = ["test", "it", "specify", "fit", "xit", "xtest", "xspecify", "ftest"];
const GROUP_FUNCTIONS: [&str; 8] =
    ["describe", "context", "suite", "fdescribe", "xdescribe", "xcontext", "fcontext", "xsuite"];

pub fn test_functions<'t>(source: &'t ParsedSource<'_>) -> Vec<TestFunction<'t>> {
    let mut found = Vec::new();
    let mut pending = vec![(source.root(), TestScope::default())];
    while let Some((node, scope)) = pending.pop() {
        if let Some(call) = TestCall::of(source, node) {
            let group_scope = match call.kind {
                CallKind::Group => Some(scope.inner(&call.name, call.markers.clone())),
                CallKind::Test => None,
            };
            match (group_scope, call.body) {
                (Some(inner), Some(body)) => pending.push((body, inner)),
                (None, Some(body)) => found.push(scope.function(&call.name, call.markers, true, node, body)),
                // `it.todo("name")` has no body and never runs.
                (_, None) => {}
            }
            continue;
        }
        let body = node.child_by_field_name("body");
        match (node.kind(), body) {
            ("function_declaration" | "method_definition", Some(body)) => {
                found.push(scope.function(
                    field(source, node, "name"),
                    Markers::default(),
                    false,
                    node,
                    body,
                ));
            }
            ("variable_declarator", _) => {
                let value = node.child_by_field_name("value");
                let function = value.filter(|value| value.kind().contains("function"));
                if let Some(body) = function.and_then(|function| function.child_by_field_name("body")) {
                    found.push(scope.function(
                        field(source, node, "name"),
                        Markers::default(),
                        false,
                        node,
                        body,
                    ));
                }
            }
            _ => {}
        }
        pending.extend(children(node).into_iter().rev().map(|child| (child, scope.clone())));
    }
    found.sort_by_key(|function| function.line);
    found
}

enum CallKind {
    Test,
    Group,
}

struct TestCall<'t> {
    kind: CallKind,
    name: String,
    markers: Markers,
    body: Option<Node<'t>>,
}

impl<'t> TestCall<'t> {
    fn of(source: &ParsedSource<'_>, node: Node<'t>) -> Option<TestCall<'t>> {
        if node.kind() != "call_expression" {
            return None;
        }
        let callee: String =
            source.text_of(node.child_by_field_name("function")?).split_whitespace().collect();
        // `test.each([…])("name", …)` and `` it.each`…` `` have their cases in the callee.
        let written = callee.split(['(', '`', '[']).next().unwrap_or_default().to_string();
        let mut words = written.split('.');
        let first = match words.next()? {
            "Deno" | "QUnit" | "t" => words.next()?,
            first => first,
        };
        let kind = if TEST_FUNCTIONS.contains(&first) {
            CallKind::Test
        } else if GROUP_FUNCTIONS.contains(&first) {
            CallKind::Group
        } else {
            return None;
        };
        let arguments = children(node.child_by_field_name("arguments")?);
        let name = arguments.first().filter(|name| name.kind().contains("string"))?;
        let function = arguments.iter().rev().find(|argument| argument.kind().contains("function"));
        let mut markers = Markers::default();
        for word in written.split('.').skip(1) {
            match word {
                "skip" | "todo" | "skipIf" | "runIf" => markers.off.push(written.clone()),
                "only" => markers.alone.push(written.clone()),
                "fails" | "failing" => markers.inverted.push(written.clone()),
                _ => {}
            }
        }
        if first.starts_with('x') {
            markers.off.push(written.clone());
        } else if first.starts_with('f') {
            markers.alone.push(written.clone());
        }
        for options in arguments.iter().filter(|argument| argument.kind() == "object") {
            add_option_markers(source, *options, &mut markers);
        }
        let name = source.text_of(*name).trim_matches(['"', '\'', '`']).to_string();
        Some(TestCall {
            kind,
            name,
            markers,
            body: function.and_then(|function| function.child_by_field_name("body")),
        })
    }
}

/// Adds the markers among the options of a test, such as `{ skip: true }` for the runners of Node.js and Deno.
fn add_option_markers(source: &ParsedSource<'_>, options: Node<'_>, markers: &mut Markers) {
    for pair in children(options) {
        let (key, value) = (field(source, pair, "key"), field(source, pair, "value"));
        let written = format!("{key}: {value}");
        match (key, value) {
            (_, "false") | (_, "undefined") => {}
            ("skip" | "todo" | "ignore", _) => markers.off.push(written),
            ("only", _) => markers.alone.push(written),
            _ => {}
        }
    }
}
