//! Tests in Java: methods with a test annotation, or named so in a `TestCase`.

use super::test_function::{Around, Marks, TestFunction, children, field};
use crate::ParsedSource;
use tree_sitter::Node;

const TESTS: [&str; 6] =
    ["Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate", "Property"];

pub fn drafts<'t>(source: &'t ParsedSource<'_>) -> Vec<TestFunction<'t>> {
    let mut found = Vec::new();
    let mut open = vec![(source.root(), Around::default(), false)];
    while let Some((node, around, in_case)) = open.pop() {
        for child in children(node) {
            let body = child.child_by_field_name("body");
            let name = field(source, child, "name");
            match (child.kind(), body) {
                ("class_declaration" | "record_declaration" | "interface_declaration", Some(body)) => {
                    let is_case = field(source, child, "superclass").contains("TestCase");
                    open.push((body, around.within(name, marks(&annotations(source, child))), is_case));
                }
                ("method_declaration", Some(body)) => {
                    let annotations = annotations(source, child);
                    let is_test = (in_case && name.starts_with("test"))
                        || annotations.iter().any(|annotation| TESTS.contains(&word(annotation)));
                    found.push(around.draft(name, marks(&annotations), is_test, child, body));
                }
                _ => {}
            }
        }
    }
    found.sort_by_key(|draft| draft.line);
    found
}

fn annotations(source: &ParsedSource<'_>, node: Node<'_>) -> Vec<String> {
    let modifiers = children(node).into_iter().filter(|child| child.kind() == "modifiers");
    let annotations = modifiers.flat_map(children).filter(|child| child.kind().contains("annotation"));
    annotations.map(|annotation| source.text_of(annotation).split_whitespace().collect()).collect()
}

/// `@org.junit.Test(timeout=5)` as `Test`.
fn word(annotation: &str) -> &str {
    let path = annotation.trim_start_matches('@').split('(').next().unwrap_or_default();
    path.rsplit('.').next().unwrap_or_default()
}

fn marks(annotations: &[String]) -> Marks {
    let mut marks = Marks::default();
    for annotation in annotations {
        let name = word(annotation);
        let is_off = matches!(name, "Disabled" | "Ignore")
            || name.starts_with("DisabledOn")
            || name.starts_with("DisabledIf")
            || name.starts_with("EnabledOn")
            || name.starts_with("EnabledIf")
            || annotation.contains("enabled=false");
        if is_off {
            marks.off.push(annotation.clone());
        } else if annotation.contains("expected=") {
            marks.inverted.push(annotation.clone());
        }
    }
    marks
}
