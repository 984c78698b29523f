//! Production code that looks for signs of being tested.

use super::{TrickKind, compact, nodes, unquoted};
use crate::{Language, ParsedSource};
use tree_sitter::Node;

/// Environment variables that test runners set.
const VARIABLES: [&str; 14] = [
    "PYTEST_CURRENT_TEST",
    "PYTEST_VERSION",
    "PYTEST_XDIST_WORKER",
    "UNITTEST",
    "VITEST",
    "VITEST_WORKER_ID",
    "VITEST_POOL_ID",
    "JEST_WORKER_ID",
    "NODE_TEST_CONTEXT",
    "NEXTEST",
    "NEXTEST_RUN_ID",
    "NEXTEST_EXECUTION_MODE",
    "RUST_TEST_THREADS",
    "CARGO_TARGET_TMPDIR",
];
/// Modules of Python that are loaded only while tests run.
const MODULES: [&str; 7] = ["unittest", "pytest", "_pytest", "nose", "nose2", "doctest", "xdist"];
/// Globals that exist only while JavaScript tests run.
const GLOBALS: [&str; 8] = ["jest", "vi", "describe", "it", "test", "expect", "beforeEach", "afterEach"];

/// The sign that a node looks for.
pub fn in_production(source: &ParsedSource<'_>, node: Node<'_>) -> Option<(TrickKind, String)> {
    let sign = match source.language() {
        Language::Rust => rust(source, node),
        Language::Python => python(source, node),
        Language::JavaScript | Language::TypeScript | Language::Tsx => script(source, node),
        Language::Go => go(source, node),
        _ => None,
    };
    let sign = sign.or_else(|| variable(source, node))?;
    Some((TrickKind::LooksForTests, sign))
}

/// A variable of a test runner, as text or as a property.
fn variable(source: &ParsedSource<'_>, node: Node<'_>) -> Option<String> {
    let name = match node.kind() {
        "string" | "string_literal" | "interpreted_string_literal" | "raw_string_literal" => {
            unquoted(source, node)
        }
        "property_identifier" => source.text_of(node),
        _ => return None,
    };
    VARIABLES.contains(&name).then(|| name.to_string())
}

fn rust(source: &ParsedSource<'_>, node: Node<'_>) -> Option<String> {
    let text = match node.kind() {
        "attribute_item" | "inner_attribute_item" | "macro_invocation" => compact(source, node),
        "call_expression" => {
            let function = compact(source, node.child_by_field_name("function")?);
            // The binary of a test has another name and place.
            let is_path = function.ends_with("env::current_exe") && is_condition(node);
            return is_path.then_some(function);
        }
        _ => return None,
    };
    let condition = text
        .strip_prefix("#[cfg(")
        .or_else(|| text.strip_prefix("#![cfg("))
        .or_else(|| text.strip_prefix("cfg!(").or_else(|| text.strip_prefix("std::cfg!(")))?;
    let is_macro = !text.starts_with('#');
    if condition.contains("not(test)") {
        return Some("cfg(not(test))".to_string());
    }
    if is_macro && condition.split(['(', ')', ',']).any(|word| word == "test") {
        return Some("cfg!(test)".to_string());
    }
    ["debug_assertions", "overflow_checks"]
        .into_iter()
        .find(|profile| condition.contains(profile))
        .map(|profile| format!("cfg({profile})"))
}

/// Whether something depends on the value of a node.
fn is_condition(node: Node<'_>) -> bool {
    std::iter::successors(node.parent(), Node::parent).take(8).any(|outer| {
        matches!(outer.kind(), "if_expression" | "match_expression" | "let_condition" | "binary_expression")
    })
}

fn python(source: &ParsedSource<'_>, node: Node<'_>) -> Option<String> {
    match node.kind() {
        // `"unittest" in sys.modules`
        "comparison_operator" | "call" | "subscript" => {
            let text = compact(source, node);
            if !text.contains("sys.modules") && !text.contains("sys.argv") {
                return None;
            }
            let looks_up =
                node.kind() != "call" || text.starts_with("sys.modules.get(") || text.starts_with("any(");
            let is_module = |inner: &Node<'_>| {
                inner.kind() == "string"
                    && MODULES.iter().any(|module| {
                        let text = unquoted(source, *inner);
                        text == *module || (text.contains(module) && compact(source, node).contains("argv"))
                    })
            };
            let module = nodes(node).find(is_module).filter(|_| looks_up)?;
            let place = if text.contains("sys.modules") { "sys.modules" } else { "sys.argv" };
            Some(format!("{} in {place}", unquoted(source, module)))
        }
        "identifier" if source.text_of(node) == "__debug__" => Some("__debug__".to_string()),
        "attribute" => {
            let text = compact(source, node);
            let is_frame = ["sys._getframe", "sys.gettrace", "inspect.stack", "sys.getprofile"];
            is_frame.contains(&text.as_str()).then_some(text)
        }
        _ => None,
    }
}

fn script(source: &ParsedSource<'_>, node: Node<'_>) -> Option<String> {
    match node.kind() {
        "binary_expression" => {
            let text = compact(source, node).replace(['\'', '`'], "\"");
            if text.len() > 200 {
                return None;
            }
            if text.contains("NODE_ENV") && text.contains("\"test\"") && !has_inner_comparison(source, node) {
                return Some("NODE_ENV is test".to_string());
            }
            let name = text.strip_prefix("typeof").or_else(|| text.strip_prefix("\"undefined\"!==typeof"));
            let name = name.map(|name| name.split(['=', '!']).next().unwrap_or_default())?;
            let name = name.trim_start_matches("globalThis.").trim_start_matches("global.");
            GLOBALS.contains(&name).then(|| format!("typeof {name}"))
        }
        "member_expression" => {
            let text = compact(source, node);
            let name = text.strip_prefix("globalThis.").or_else(|| text.strip_prefix("global."));
            if let Some(name) = name.filter(|name| GLOBALS.contains(name)) {
                return Some(format!("the global {name}"));
            }
            // The block below it holds the tests of the file.
            (text == "import.meta.vitest" && !guards_tests(source, node)).then_some(text)
        }
        _ => None,
    }
}

/// Whether another comparison inside says the same.
fn has_inner_comparison(source: &ParsedSource<'_>, node: Node<'_>) -> bool {
    nodes(node).skip(1).any(|inner| {
        inner.kind() == "binary_expression"
            && source.text_of(inner).contains("NODE_ENV")
            && compact(source, inner).replace(['\'', '`'], "\"").contains("\"test\"")
    })
}

/// Whether a node is the condition of a block with tests, or inside that block.
fn guards_tests(source: &ParsedSource<'_>, node: Node<'_>) -> bool {
    let tests = source.test_code();
    std::iter::successors(node.parent(), Node::parent).any(|outer| {
        outer.kind() == "if_statement"
            && tests.iter().any(|test| outer.start_byte() <= test.start && test.end <= outer.end_byte())
    })
}

fn go(source: &ParsedSource<'_>, node: Node<'_>) -> Option<String> {
    if node.kind() != "call_expression" {
        return None;
    }
    let text = compact(source, node);
    let is_test_binary = text.contains("os.Args[0]") && text.contains(".test\"");
    if text.starts_with("testing.Testing(") || text.starts_with("flag.Lookup(\"test.") {
        return Some(text);
    }
    is_test_binary.then(|| "the name of the test binary".to_string())
}
