//! Tricks in JavaScript and TypeScript tests.

use super::{TrickKind, arguments, compact, imported_names, nodes, unquoted};
use crate::ParsedSource;
use std::collections::BTreeSet;
use tree_sitter::Node;

/// Functions of assertion libraries and runners.
const RUNNER: [&str; 8] = ["expect", "assert", "test", "it", "describe", "suite", "should", "chai"];
/// Matchers and assertions that libraries define.
const MATCHERS: [&str; 26] = [
    "toBe",
    "toEqual",
    "toStrictEqual",
    "toBeCloseTo",
    "toBeDefined",
    "toBeNull",
    "toBeTruthy",
    "toBeFalsy",
    "toBeUndefined",
    "toContain",
    "toContainEqual",
    "toHaveLength",
    "toMatch",
    "toMatchObject",
    "toThrow",
    "toBeGreaterThan",
    "toBeLessThan",
    "toHaveBeenCalled",
    "toMatchSnapshot",
    "equal",
    "strictEqual",
    "deepEqual",
    "deepStrictEqual",
    "ok",
    "throws",
    "rejects",
];

pub fn is_matcher(name: &str) -> bool {
    MATCHERS.contains(&name)
}

pub fn in_tests(
    source: &ParsedSource<'_>,
    node: Node<'_>,
    asserted: &BTreeSet<String>,
) -> Option<(TrickKind, String)> {
    match node.kind() {
        "assignment_expression" => {
            let left = compact(source, node.child_by_field_name("left")?);
            if left == "process.exitCode" {
                return Some((TrickKind::EndsProcess, left));
            }
            let path: Vec<&str> = left.split(['.', '[']).collect();
            let is_global = ["globalThis", "global", "window"].contains(&path[0]);
            let root = if is_global { path.get(1).copied().unwrap_or_default() } else { path[0] };
            RUNNER.contains(&root).then(|| (TrickKind::RedefinesAssertion, left.clone()))
        }
        "variable_declarator" => {
            let name = source.text_of(node.child_by_field_name("name")?);
            let value = node.child_by_field_name("value")?;
            let is_own =
                matches!(value.kind(), "arrow_function" | "function_expression" | "object" | "class")
                    || compact(source, value).starts_with("newProxy(");
            (is_own && RUNNER.contains(&name)).then(|| (TrickKind::RedefinesAssertion, name.to_string()))
        }
        "function_declaration" | "class_declaration" => {
            let name = source.text_of(node.child_by_field_name("name")?);
            RUNNER.contains(&name).then(|| (TrickKind::RedefinesAssertion, name.to_string()))
        }
        "call_expression" => call(source, node, asserted),
        _ => None,
    }
}

fn call(
    source: &ParsedSource<'_>,
    node: Node<'_>,
    asserted: &BTreeSet<String>,
) -> Option<(TrickKind, String)> {
    let function = compact(source, node.child_by_field_name("function")?);
    let arguments = arguments(node);
    let first = arguments.first().copied();
    let first_text = first.map(|first| unquoted(source, first)).unwrap_or_default();
    match function.as_str() {
        "process.exit" | "process.reallyExit" | "process.abort" | "process.kill" => {
            return Some((TrickKind::EndsProcess, function));
        }
        "process.on" | "process.once" | "process.prependListener" => {
            let ends = ["exit", "beforeExit", "uncaughtException", "unhandledRejection"];
            return ends
                .contains(&first_text)
                .then(|| (TrickKind::EndsProcess, format!("{function} {first_text}")));
        }
        "expect.extend" => {
            let keys = nodes(first?).filter(|inner| {
                matches!(inner.kind(), "property_identifier" | "shorthand_property_identifier")
            });
            let name = keys.map(|key| source.text_of(key)).find(|key| MATCHERS.contains(key))?;
            return Some((TrickKind::RedefinesAssertion, name.to_string()));
        }
        "Object.defineProperty"
        | "Object.defineProperties"
        | "Object.assign"
        | "Reflect.set"
        | "jest.spyOn"
        | "vi.spyOn"
        | "mock.method"
        | "t.mock.method"
        | "sinon.stub"
        | "sinon.replace" => {
            let name = arguments.get(1).filter(|name| name.kind() == "string");
            let name = name.map(|name| unquoted(source, *name)).unwrap_or("*");
            let object = first_text.split('.').next().unwrap_or_default();
            if RUNNER.contains(&object) {
                return Some((TrickKind::RedefinesAssertion, format!("{first_text}.{name}")));
            }
            let is_own = is_project_import(source, object);
            return (is_own && asserted.contains(name) && replaces_result(source, node))
                .then(|| (TrickKind::PatchesSubject, name.to_string()));
        }
        "jest.mock"
        | "vi.mock"
        | "jest.doMock"
        | "vi.doMock"
        | "mock.module"
        | "t.mock.module"
        | "jest.unstable_mockModule" => {}
        _ => return None,
    }
    if [
        "assert",
        "node:assert",
        "assert/strict",
        "node:assert/strict",
        "chai",
        "vitest",
        "@jest/globals",
        "node:test",
    ]
    .contains(&first_text)
    {
        return Some((TrickKind::RedefinesAssertion, first_text.to_string()));
    }
    let factory = arguments.get(1).map(|factory| source.text_of(*factory)).unwrap_or_default();
    let imports = nodes(source.root()).filter(|inner| {
        matches!(inner.kind(), "import_statement" | "variable_declarator")
            && nodes(*inner).any(|text| text.kind() == "string" && unquoted(source, text) == first_text)
    });
    let names: Vec<String> = imports.flat_map(|import| imported_names(source, import)).collect();
    // Without a factory, the runner replaces every function of the module.
    let replaces =
        |name: &&String| asserted.contains(*name) && (factory.is_empty() || factory.contains(name.as_str()));
    let name = names.iter().find(replaces)?;
    Some((TrickKind::PatchesSubject, name.clone()))
}

/// Whether a name is imported from a file of the project.
fn is_project_import(source: &ParsedSource<'_>, name: &str) -> bool {
    nodes(source.root()).any(|node| {
        matches!(node.kind(), "import_statement" | "variable_declarator")
            && nodes(node).any(|text| text.kind() == "string" && unquoted(source, text).starts_with('.'))
            && nodes(node).any(|inner| inner.kind() == "identifier" && source.text_of(inner) == name)
    })
}

/// Whether a spy also replaces the result of the function, or the value is assigned at once.
fn replaces_result(source: &ParsedSource<'_>, call: Node<'_>) -> bool {
    let function = compact(source, call);
    let is_spy = ["jest.spyOn(", "vi.spyOn("].iter().any(|start| function.starts_with(start));
    let chained = call.parent().map(|parent| source.text_of(parent)).unwrap_or_default();
    !is_spy || chained.contains(".mock")
}
