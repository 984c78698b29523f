//! Reads the body of a test: its assertions, those of the functions it calls, and early returns.

use super::dead::{leaves_by_environment, void_part};
use super::item::{Assertion, Strength, TestItem};
use super::statements::{is_return, statements};
use super::strength::{assess, assess_failure};
use super::test_function::TestFunction;
use super::tokens::tokens;
use crate::{Language, ParsedSource};
use std::collections::BTreeMap;
use tree_sitter::Node;

/// The depth to which calls within the same file are followed.
const MAX_CALL_DEPTH: usize = 3;
/// The maximum number of assertions counted.
const MAX_ASSERTIONS: usize = 2_000;

const CALL_KINDS: [&str; 3] = ["call_expression", "call", "method_invocation"];
const ASSERTION_PREFIXES: [&str; 7] =
    ["assert", "expect_", "expectThat", "check_", "verify", "ensure_", "require"];
/// Methods of `testing.T` that fail a Go test.
const GO_FAILURES: [&str; 6] = ["Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"];
/// Methods of the object that JavaScript runners pass to a test.
const JS_ASSERTIONS: [&str; 17] = [
    "is",
    "not",
    "deepEqual",
    "notDeepEqual",
    "equal",
    "notEqual",
    "same",
    "strictSame",
    "true",
    "false",
    "truthy",
    "falsy",
    "ok",
    "throws",
    "rejects",
    "regex",
    "snapshot",
];
/// Functions that skip a test.
const SKIP_FUNCTIONS: [&str; 10] = [
    "Skip",
    "Skipf",
    "SkipNow",
    "skipTest",
    "skip",
    "xfail",
    "assumeTrue",
    "assumeFalse",
    "assumeThat",
    "abort",
];

/// An assertion or a call in a body.
enum Step {
    Asserts(Assertion),
    Calls(String),
}

/// The contents of a body.
#[derive(Default)]
struct BodyContents {
    /// In order.
    steps: Vec<Step>,
    /// Calls that skip the test.
    skips: Vec<String>,
    /// The byte offset of the last assertion.
    last_assertion: usize,
}

/// The functions of a file that are not tests, by name.
pub struct Helpers(BTreeMap<String, Vec<Step>>);

pub fn helpers(source: &ParsedSource<'_>, functions: &[TestFunction<'_>]) -> Helpers {
    let helpers = functions.iter().filter(|function| !function.is_test);
    let steps = |function: &TestFunction<'_>| {
        Some((function.path.last()?.clone(), read_body(source, function.body).steps))
    };
    Helpers(helpers.filter_map(steps).collect())
}

pub fn test_item(source: &ParsedSource<'_>, test: &TestFunction<'_>, helpers: &Helpers) -> TestItem {
    let contents = read_body(source, test.body);
    let mut assertions = Vec::new();
    helpers.expand(&contents.steps, MAX_CALL_DEPTH, &mut assertions);
    let statements = statements(test.body);
    let leaves = |node: &&Node<'_>| is_return(**node) || leaves_by_environment(source, **node);
    let first_return = statements.iter().find(leaves);
    TestItem {
        path: test.path.clone(),
        line: test.line,
        off: test.markers.off.iter().cloned().chain(contents.skips).collect(),
        inverted: test.markers.inverted.clone(),
        alone: test.markers.alone.clone(),
        assertions,
        statements: statements.len(),
        leaves_early: first_return.is_some_and(|node| node.end_byte() <= contents.last_assertion),
        tokens: tokens(source, test.body),
    }
}

impl Helpers {
    fn expand(&self, steps: &[Step], depth: usize, found: &mut Vec<Assertion>) {
        for step in steps {
            if found.len() >= MAX_ASSERTIONS {
                return;
            }
            match step {
                Step::Asserts(assertion) => found.push(assertion.clone()),
                Step::Calls(name) => match self.0.get(name) {
                    Some(steps) if depth > 0 => self.expand(steps, depth - 1, found),
                    Some(_) => {}
                    None if looks_like_assertion(name) => found.push(Assertion {
                        text: name.clone(),
                        strength: Strength::Loose,
                        tolerance: None,
                    }),
                    None => {}
                },
            }
        }
    }
}

/// Reads a body. Unreachable assertions, and those whose failure is caught, are void.
fn read_body(source: &ParsedSource<'_>, body: Node<'_>) -> BodyContents {
    let mut contents = BodyContents::default();
    let mut pending = vec![(body, Effect::CanFail)];
    while let Some((node, effect)) = pending.pop() {
        if let Some((whole, mut assertion)) = assertion(source, node) {
            if effect == Effect::Void {
                assertion.strength = Strength::Void;
            }
            contents.last_assertion = contents.last_assertion.max(whole.start_byte());
            contents.steps.push(Step::Asserts(assertion));
            continue;
        }
        if CALL_KINDS.contains(&node.kind()) {
            let name = callee_name(source, node);
            if is_skip(source, node, &name) {
                contents.skips.push(tokens(source, node).concat().chars().take(60).collect());
            } else {
                if looks_like_assertion(&name) {
                    contents.last_assertion = contents.last_assertion.max(node.start_byte());
                }
                contents.steps.push(Step::Calls(name));
            }
        }
        let mut cursor = node.walk();
        let inside: Vec<Node<'_>> = node.children(&mut cursor).collect();
        let void = void_part(source, node);
        for (at, child) in inside.iter().enumerate().rev() {
            let effect = if void == Some(*child) { Effect::Void } else { effect };
            pending.push((*child, effect));
            if let Some(assertion) = macro_assertion(source, &inside, at) {
                contents.last_assertion = contents.last_assertion.max(child.start_byte());
                contents.steps.push(Step::Asserts(assertion));
            }
        }
    }
    contents
}

/// Whether an assertion can fail the test.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    CanFail,
    Void,
}

/// The assertion at a node, and the node that covers its whole text.
fn assertion<'t>(source: &ParsedSource<'_>, node: Node<'t>) -> Option<(Node<'t>, Assertion)> {
    match (source.language(), node.kind()) {
        (Language::Rust, "macro_invocation") => {
            let name = source.text_of(node.child_by_field_name("macro")?);
            is_assertion_macro(name.rsplit("::").next()?).then(|| (node, assess(&tokens(source, node))))
        }
        (Language::Python, "assert_statement") => Some((node, assess(&tokens(source, node)))),
        (_, kind) if CALL_KINDS.contains(&kind) => {
            let whole = whole_chain(node);
            let first = first_call(whole);
            let name = callee_name(source, first);
            let receiver = receiver(source, first);
            match source.language() {
                Language::Go if GO_FAILURES.contains(&name.as_str()) && receiver.len() <= 2 => {
                    Some((node, go_failure(source, node)))
                }
                Language::Go if ["assert", "require", "is"].contains(&receiver.as_str()) => {
                    Some((whole, assess(&tokens(source, whole))))
                }
                Language::Go => None,
                Language::JavaScript | Language::TypeScript | Language::Tsx => {
                    let is_assertion = name == "expect"
                        || name == "assert"
                        || receiver.starts_with("assert")
                        || receiver.starts_with("expect")
                        || (["t", "assert"].contains(&receiver.as_str())
                            && JS_ASSERTIONS.contains(&name.as_str()));
                    is_assertion.then(|| (whole, assess(&tokens(source, whole))))
                }
                Language::Python => {
                    let is_assertion = (name.starts_with("assert") && !receiver.is_empty())
                        || (receiver == "self" && name == "fail")
                        || (receiver == "pytest" && ["raises", "warns", "fail"].contains(&name.as_str()));
                    is_assertion.then(|| (node, assess(&tokens(source, node))))
                }
                Language::Java => {
                    let is_assertion =
                        name.starts_with("assert") || name == "fail" || name == "verify" || name == "expect";
                    is_assertion.then(|| (whole, assess(&tokens(source, whole))))
                }
                Language::Rust
                | Language::C
                | Language::Cpp
                | Language::Yaml
                | Language::Json
                | Language::Toml => None,
            }
        }
        _ => None,
    }
}

fn is_assertion_macro(name: &str) -> bool {
    ["assert", "debug_assert", "prop_assert"].iter().any(|start| name.starts_with(start))
        || ["panic", "unreachable", "fail"].contains(&name)
}

/// The assertion that starts at this index among the tokens of another macro, such as `proptest!`.
fn macro_assertion(source: &ParsedSource<'_>, inside: &[Node<'_>], at: usize) -> Option<Assertion> {
    let [name, bang, tree] = inside.get(at..at + 3)? else { return None };
    let is_assertion = name.kind() == "identifier"
        && is_assertion_macro(source.text_of(*name))
        && source.text_of(*bang) == "!"
        && tree.kind() == "token_tree";
    is_assertion.then(|| {
        let all: Vec<String> =
            [name, bang, tree].into_iter().flat_map(|node| tokens(source, *node)).collect();
        assess(&all)
    })
}

/// The assertion of a Go test: the condition around the call that fails the test.
fn go_failure(source: &ParsedSource<'_>, node: Node<'_>) -> Assertion {
    let mut ancestor = node.parent();
    while let Some(outer) = ancestor {
        match outer.kind() {
            "if_statement" => {
                let condition = outer.child_by_field_name("condition");
                return assess_failure(&condition.map(|node| tokens(source, node)).unwrap_or_default());
            }
            "function_declaration" | "func_literal" => break,
            _ => ancestor = outer.parent(),
        }
    }
    Assertion { text: tokens(source, node).concat(), strength: Strength::Loose, tolerance: None }
}

/// The whole chain that a call is part of: `expect(a).toBe(b)` for `expect(a)`.
fn whole_chain(node: Node<'_>) -> Node<'_> {
    let mut whole = node;
    while let Some(outer) = whole.parent() {
        let continues = match outer.kind() {
            "member_expression" | "method_invocation" => outer.child_by_field_name("object") == Some(whole),
            "selector_expression" => outer.child_by_field_name("operand") == Some(whole),
            "call_expression" => outer.child_by_field_name("function") == Some(whole),
            _ => false,
        };
        if !continues {
            break;
        }
        whole = outer;
    }
    whole
}

/// The first call of a chain.
fn first_call(whole: Node<'_>) -> Node<'_> {
    let (mut first, mut next) = (whole, Some(whole));
    while let Some(node) = next {
        if CALL_KINDS.contains(&node.kind()) {
            first = node;
        }
        next = ["function", "object", "operand"].iter().find_map(|name| node.child_by_field_name(name));
    }
    first
}

/// The callee without its receiver or path.
fn callee_name(source: &ParsedSource<'_>, node: Node<'_>) -> String {
    let function = node.child_by_field_name("name").or_else(|| node.child_by_field_name("function"));
    let text = function.map_or("", |function| source.text_of(function));
    let text = text.split(['(', '<', '[']).next().unwrap_or_default();
    text.rsplit(['.', ':']).next().unwrap_or_default().trim().to_string()
}

/// The receiver of a call; empty if it has none.
fn receiver(source: &ParsedSource<'_>, node: Node<'_>) -> String {
    if let Some(object) = node.child_by_field_name("object") {
        return source.text_of(object).to_string();
    }
    let text = node.child_by_field_name("function").map_or("", |function| source.text_of(function));
    text.rsplit_once('.').map_or("", |(object, _)| object).to_string()
}

fn looks_like_assertion(name: &str) -> bool {
    ASSERTION_PREFIXES.iter().any(|start| name.starts_with(start))
}

fn is_skip(source: &ParsedSource<'_>, node: Node<'_>, name: &str) -> bool {
    if !SKIP_FUNCTIONS.contains(&name) {
        return false;
    }
    let receiver = receiver(source, node);
    match source.language() {
        Language::Go => name.starts_with("Skip") && receiver.len() <= 2,
        Language::Python => receiver == "pytest" || receiver == "self",
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            name == "skip" && ["this", "t", "ctx", "context"].contains(&receiver.as_str())
        }
        Language::Java => name.starts_with("assume") || receiver == "Assumptions",
        Language::Rust | Language::C | Language::Cpp | Language::Yaml | Language::Json | Language::Toml => {
            false
        }
    }
}
