//! Tests in Go: functions `TestX(t *testing.T)`, with their subtests.

use super::test_function::{Around, Marks, TestFunction, children, field};
use crate::ParsedSource;

pub fn drafts<'t>(source: &'t ParsedSource<'_>) -> Vec<TestFunction<'t>> {
    let around = Around { path: Vec::new(), marks: constraints(source) };
    let mut found = Vec::new();
    for child in children(source.root()) {
        if !matches!(child.kind(), "function_declaration" | "method_declaration") {
            continue;
        }
        let Some(body) = child.child_by_field_name("body") else { continue };
        let name = field(source, child, "name");
        let takes_a_test = field(source, child, "parameters").contains("testing.");
        let is_test = takes_a_test && (name.starts_with("Test") || name.starts_with("Fuzz"));
        found.push(around.draft(name, Marks::default(), is_test, child, body));
    }
    found
}

/// A build constraint disables a whole file.
fn constraints(source: &ParsedSource<'_>) -> Marks {
    let comments = children(source.root()).into_iter().take_while(|child| child.kind() == "comment");
    let off = comments.map(|comment| source.text_of(comment).to_string());
    Marks { off: off.filter(|text| text.starts_with("//go:build")).collect(), ..Marks::default() }
}
