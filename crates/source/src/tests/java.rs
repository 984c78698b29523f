//! Tests in Java: methods with a test annotation, and methods of a `TestCase` whose names start with `test`.

use super::test_function::{Markers, TestFunction, TestScope, children, field};
use crate::ParsedSource;
use tree_sitter::Node;

const TEST_ANNOTATIONS: [&str; 6] =
    ["Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate", "Property"];

pub fn test_functions<'t>(source: &'t ParsedSource<'_>) -> Vec<TestFunction<'t>> {
    let mut found = Vec::new();
    let mut pending = vec![(source.root(), TestScope::default(), false)];
    while let Some((node, scope, is_in_test_case)) = pending.pop() {
        for child in children(node) {
            let body = child.child_by_field_name("body");
            let name = field(source, child, "name");
            match (child.kind(), body) {
                ("class_declaration" | "record_declaration" | "interface_declaration", Some(body)) => {
                    let is_test_case = field(source, child, "superclass").contains("TestCase");
                    pending.push((
                        body,
                        scope.inner(name, markers(&annotations(source, child))),
                        is_test_case,
                    ));
                }
                ("method_declaration", Some(body)) => {
                    let annotations = annotations(source, child);
                    let is_test = (is_in_test_case && name.starts_with("test"))
                        || annotations
                            .iter()
                            .any(|annotation| TEST_ANNOTATIONS.contains(&annotation_name(annotation)));
                    found.push(scope.function(name, markers(&annotations), is_test, child, body));
                }
                _ => {}
            }
        }
    }
    found.sort_by_key(|function| function.line);
    found
}

fn annotations(source: &ParsedSource<'_>, node: Node<'_>) -> Vec<String> {
    let modifiers = children(node).into_iter().filter(|child| child.kind() == "modifiers");
    let annotations = modifiers.flat_map(children).filter(|child| child.kind().contains("annotation"));
    annotations.map(|annotation| source.text_of(annotation).split_whitespace().collect()).collect()
}

/// The name of an annotation: `Test` for `@org.junit.Test(timeout=5)`.
fn annotation_name(annotation: &str) -> &str {
    let path = annotation.trim_start_matches('@').split('(').next().unwrap_or_default();
    path.rsplit('.').next().unwrap_or_default()
}

fn markers(annotations: &[String]) -> Markers {
    let mut markers = Markers::default();
    for annotation in annotations {
        let name = annotation_name(annotation);
        let is_off = matches!(name, "Disabled" | "Ignore")
            || name.starts_with("DisabledOn")
            || name.starts_with("DisabledIf")
            || name.starts_with("EnabledOn")
            || name.starts_with("EnabledIf")
            || annotation.contains("enabled=false");
        if is_off {
            markers.off.push(annotation.clone());
        } else if annotation.contains("expected=") {
            markers.inverted.push(annotation.clone());
        }
    }
    markers
}
