//! Tests in Go: functions `TestX(t *testing.T)`, with their subtests.

use super::test_function::{Markers, TestFunction, TestScope, children, field};
use crate::ParsedSource;

pub fn test_functions<'t>(source: &'t ParsedSource<'_>) -> Vec<TestFunction<'t>> {
    let scope = TestScope { path: Vec::new(), markers: constraints(source) };
    let mut found = Vec::new();
    for child in children(source.root()) {
        if !matches!(child.kind(), "function_declaration" | "method_declaration") {
            continue;
        }
        let Some(body) = child.child_by_field_name("body") else { continue };
        let name = field(source, child, "name");
        let has_testing_parameter = field(source, child, "parameters").contains("testing.");
        let is_test = has_testing_parameter && (name.starts_with("Test") || name.starts_with("Fuzz"));
        found.push(scope.function(name, Markers::default(), is_test, child, body));
    }
    found
}

/// The build constraints of a file, which can disable all its tests.
fn constraints(source: &ParsedSource<'_>) -> Markers {
    let comments = children(source.root()).into_iter().take_while(|child| child.kind() == "comment");
    let off = comments.map(|comment| source.text_of(comment).to_string());
    Markers { off: off.filter(|text| text.starts_with("//go:build")).collect(), ..Markers::default() }
}
