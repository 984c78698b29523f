//! Tests in Python: functions and methods whose names start with `test`.

use super::test_function::{Markers, TestFunction, TestScope, children, field};
use crate::ParsedSource;
use tree_sitter::Node;

pub fn test_functions<'t>(source: &'t ParsedSource<'_>) -> Vec<TestFunction<'t>> {
    let mut found = Vec::new();
    let module = TestScope { path: Vec::new(), markers: module_markers(source) };
    let mut pending = vec![(source.root(), module)];
    while let Some((node, scope)) = pending.pop() {
        for child in children(node) {
            let (definition, markers) = match child.kind() {
                "decorated_definition" => (
                    child.child_by_field_name("definition").unwrap_or(child),
                    decorator_markers(source, child),
                ),
                _ => (child, Markers::default()),
            };
            let name = field(source, definition, "name");
            match (definition.kind(), definition.child_by_field_name("body")) {
                ("class_definition", Some(body)) => pending.push((body, scope.inner(name, markers))),
                ("function_definition", Some(body)) => {
                    found.push(scope.function(name, markers, name.starts_with("test"), definition, body));
                }
                // Definitions may be nested in these statements.
                ("if_statement" | "else_clause" | "block" | "try_statement", _) => {
                    pending.push((definition, scope.clone()));
                }
                _ => {}
            }
        }
    }
    found.sort_by_key(|function| function.line);
    found
}

fn decorator_markers(source: &ParsedSource<'_>, node: Node<'_>) -> Markers {
    let mut markers = Markers::default();
    for decorator in children(node).into_iter().filter(|child| child.kind() == "decorator") {
        let written: String = source.text_of(decorator).split_whitespace().collect::<Vec<_>>().join(" ");
        let name = written.split('(').next().unwrap_or_default();
        match name.rsplit('.').next().unwrap_or_default().trim_start_matches('@') {
            "skip" | "skipif" | "skipIf" | "skipUnless" => markers.off.push(written),
            "xfail" | "expectedFailure" => markers.inverted.push(written),
            _ => {}
        }
    }
    markers
}

/// The markers for all tests of a file: `pytestmark`, and a top-level skip.
fn module_markers(source: &ParsedSource<'_>) -> Markers {
    let mut markers = Markers::default();
    for child in children(source.root()) {
        let text = source.text_of(child);
        let is_marker = text.starts_with("pytestmark") && text.contains("skip");
        let is_call = ["pytest.skip(", "pytest.importorskip("].iter().any(|call| text.starts_with(call));
        if is_marker || is_call || (text.starts_with("raise ") && text.contains("SkipTest")) {
            markers.off.push(text.lines().next().unwrap_or_default().to_string());
        }
    }
    markers
}
