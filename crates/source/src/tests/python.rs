//! Tests in Python: functions and methods whose names start with `test`.

use super::test_function::{Around, Marks, TestFunction, children, field};
use crate::ParsedSource;
use tree_sitter::Node;

pub fn drafts<'t>(source: &'t ParsedSource<'_>) -> Vec<TestFunction<'t>> {
    let mut found = Vec::new();
    let whole = Around { path: Vec::new(), marks: of_module(source) };
    let mut open = vec![(source.root(), whole)];
    while let Some((node, around)) = open.pop() {
        for child in children(node) {
            let (definition, marks) = match child.kind() {
                "decorated_definition" => {
                    (child.child_by_field_name("definition").unwrap_or(child), decorated(source, child))
                }
                _ => (child, Marks::default()),
            };
            let name = field(source, definition, "name");
            match (definition.kind(), definition.child_by_field_name("body")) {
                ("class_definition", Some(body)) => open.push((body, around.within(name, marks))),
                ("function_definition", Some(body)) => {
                    found.push(around.draft(name, marks, name.starts_with("test"), definition, body));
                }
                // Definitions may be nested in a condition.
                ("if_statement" | "else_clause" | "block" | "try_statement", _) => {
                    open.push((definition, around.clone()));
                }
                _ => {}
            }
        }
    }
    found.sort_by_key(|draft| draft.line);
    found
}

fn decorated(source: &ParsedSource<'_>, node: Node<'_>) -> Marks {
    let mut marks = Marks::default();
    for decorator in children(node).into_iter().filter(|child| child.kind() == "decorator") {
        let written: String = source.text_of(decorator).split_whitespace().collect::<Vec<_>>().join(" ");
        let name = written.split('(').next().unwrap_or_default();
        match name.rsplit('.').next().unwrap_or_default().trim_start_matches('@') {
            "skip" | "skipif" | "skipIf" | "skipUnless" => marks.off.push(written),
            "xfail" | "expectedFailure" => marks.inverted.push(written),
            _ => {}
        }
    }
    marks
}

/// Marks for all tests of a file: `pytestmark`, and a top-level skip.
fn of_module(source: &ParsedSource<'_>) -> Marks {
    let mut marks = Marks::default();
    for child in children(source.root()) {
        let text = source.text_of(child);
        let is_mark = text.starts_with("pytestmark") && text.contains("skip");
        let is_call = ["pytest.skip(", "pytest.importorskip("].iter().any(|call| text.starts_with(call));
        if is_mark || is_call || (text.starts_with("raise ") && text.contains("SkipTest")) {
            marks.off.push(text.lines().next().unwrap_or_default().to_string());
        }
    }
    marks
}
