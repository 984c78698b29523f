//! What the body of a test does: assertions, its own and those of called functions, and early returns.

use super::item::{Assertion, Strength, TestItem};
use super::strength::{assess, assess_failure};
use super::test_function::{TestFunction, children};
use super::tokens::tokens;
use crate::{Language, ParsedSource};
use std::collections::BTreeMap;
use tree_sitter::Node;

/// The depth to which calls within the same file are followed.
const DEPTH: usize = 3;
/// The maximum number of assertions counted.
const MAX_ASSERTIONS: usize = 2_000;

const CALLS: [&str; 3] = ["call_expression", "call", "method_invocation"];
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
const SKIPS: [&str; 10] = [
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

pub fn helpers(source: &ParsedSource<'_>, drafts: &[TestFunction<'_>]) -> Helpers {
    let plain = drafts.iter().filter(|draft| !draft.is_test);
    let named = plain.filter_map(|draft| Some((draft.path.last()?.clone(), read(source, draft.body).steps)));
    Helpers(named.collect())
}

pub fn item(source: &ParsedSource<'_>, draft: &TestFunction<'_>, helpers: &Helpers) -> TestItem {
    let read = read(source, draft.body);
    let mut assertions = Vec::new();
    helpers.expand(&read.steps, DEPTH, &mut assertions);
    let statements = statements(draft.body);
    let first_return = statements.iter().find(|statement| is_return(**statement));
    TestItem {
        path: draft.path.clone(),
        line: draft.line,
        off: draft.marks.off.iter().cloned().chain(read.skips).collect(),
        inverted: draft.marks.inverted.clone(),
        alone: draft.marks.alone.clone(),
        assertions,
        statements: statements.len(),
        leaves_early: first_return.is_some_and(|node| node.end_byte() <= read.last_assertion),
        tokens: tokens(source, draft.body),
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

/// The statements of a block; some grammars have a list node in between.
fn statements(body: Node<'_>) -> Vec<Node<'_>> {
    let is_code = |node: &Node<'_>| !node.kind().contains("comment");
    let inside: Vec<Node<'_>> = children(body).into_iter().filter(is_code).collect();
    match inside.as_slice() {
        [list] if list.kind() == "statement_list" => children(*list).into_iter().filter(is_code).collect(),
        _ => inside
            .into_iter()
            .filter(|node| !matches!(node.kind(), "pass_statement" | "empty_statement"))
            .collect(),
    }
}

fn is_return(statement: Node<'_>) -> bool {
    let is = |node: Node<'_>| matches!(node.kind(), "return_statement" | "return_expression");
    is(statement) || statement.kind() == "expression_statement" && statement.named_child(0).is_some_and(is)
}

/// Reads a body. Unreachable assertions, and those whose failure is caught, do not count.
fn read(source: &ParsedSource<'_>, body: Node<'_>) -> BodyContents {
    let mut read = BodyContents::default();
    let mut open = vec![(body, Reach::Plain)];
    while let Some((node, reach)) = open.pop() {
        if let Some((whole, mut assertion)) = assertion(source, node) {
            if reach == Reach::Void {
                assertion.strength = Strength::Void;
            }
            read.last_assertion = read.last_assertion.max(whole.start_byte());
            read.steps.push(Step::Asserts(assertion));
            continue;
        }
        if CALLS.contains(&node.kind()) {
            let name = callee_name(source, node);
            if is_skip(source, node, &name) {
                read.skips.push(tokens(source, node).concat().chars().take(60).collect());
            } else {
                if looks_like_assertion(&name) {
                    read.last_assertion = read.last_assertion.max(node.start_byte());
                }
                read.steps.push(Step::Calls(name));
            }
        }
        let mut cursor = node.walk();
        let inside: Vec<Node<'_>> = node.children(&mut cursor).collect();
        let void = void_part(source, node);
        for (at, child) in inside.iter().enumerate().rev() {
            let reach = if void == Some(*child) { Reach::Void } else { reach };
            open.push((*child, reach));
            if let Some(assertion) = loose(source, &inside, at) {
                read.last_assertion = read.last_assertion.max(child.start_byte());
                read.steps.push(Step::Asserts(assertion));
            }
        }
    }
    read
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Plain,
    Void,
}

/// The part of a node whose assertions cannot fail a test.
fn void_part<'t>(source: &ParsedSource<'_>, node: Node<'t>) -> Option<Node<'t>> {
    match node.kind() {
        "if_statement" | "if_expression" => {
            let condition = source.text_of(node.child_by_field_name("condition")?);
            let never = matches!(condition.trim_matches(['(', ')', ' ']), "false" | "False" | "0");
            node.child_by_field_name("consequence").filter(|_| never)
        }
        "try_statement" => {
            let swallows = |clause: &Node<'_>| {
                let last = children(*clause).into_iter().next_back();
                last.is_some_and(|block| block.kind().contains("block") && statements(block).is_empty())
            };
            let clauses = children(node)
                .into_iter()
                .filter(|child| matches!(child.kind(), "except_clause" | "catch_clause"));
            let catches = |clause: &Node<'_>| {
                let text = source.text_of(*clause);
                let head = text.split([':', '{']).next().unwrap_or_default();
                head.trim() == "except"
                    || !head.starts_with("except")
                    || head.contains("Exception")
                    || head.contains("AssertionError")
            };
            let silent = clauses.into_iter().any(|clause| swallows(&clause) && catches(&clause));
            node.child_by_field_name("body").filter(|_| silent)
        }
        _ => None,
    }
}

/// The assertion at a node, with its whole text.
fn assertion<'t>(source: &ParsedSource<'_>, node: Node<'t>) -> Option<(Node<'t>, Assertion)> {
    match (source.language(), node.kind()) {
        (Language::Rust, "macro_invocation") => {
            let name = source.text_of(node.child_by_field_name("macro")?);
            is_macro(name.rsplit("::").next()?).then(|| (node, assess(&tokens(source, node))))
        }
        (Language::Python, "assert_statement") => Some((node, assess(&tokens(source, node)))),
        (_, kind) if CALLS.contains(&kind) => {
            let whole = chain(node);
            let first = first_call(whole);
            let name = callee_name(source, first);
            let object = object(source, first);
            match source.language() {
                Language::Go if GO_FAILURES.contains(&name.as_str()) && object.len() <= 2 => {
                    Some((node, go_failure(source, node)))
                }
                Language::Go if ["assert", "require", "is"].contains(&object.as_str()) => {
                    Some((whole, assess(&tokens(source, whole))))
                }
                Language::Go => None,
                Language::JavaScript | Language::TypeScript | Language::Tsx => {
                    let is = name == "expect"
                        || name == "assert"
                        || object.starts_with("assert")
                        || object.starts_with("expect")
                        || (["t", "assert"].contains(&object.as_str())
                            && JS_ASSERTIONS.contains(&name.as_str()));
                    is.then(|| (whole, assess(&tokens(source, whole))))
                }
                Language::Python => {
                    let is = (name.starts_with("assert") && !object.is_empty())
                        || (object == "self" && name == "fail")
                        || (object == "pytest" && ["raises", "warns", "fail"].contains(&name.as_str()));
                    is.then(|| (node, assess(&tokens(source, node))))
                }
                Language::Java => {
                    let is =
                        name.starts_with("assert") || name == "fail" || name == "verify" || name == "expect";
                    is.then(|| (whole, assess(&tokens(source, whole))))
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

fn is_macro(name: &str) -> bool {
    ["assert", "debug_assert", "prop_assert"].iter().any(|start| name.starts_with(start))
        || ["panic", "unreachable", "fail"].contains(&name)
}

/// An assertion among the loose tokens of another macro, such as `proptest!`.
fn loose(source: &ParsedSource<'_>, inside: &[Node<'_>], at: usize) -> Option<Assertion> {
    let [name, sign, tree] = inside.get(at..at + 3)? else { return None };
    let is = name.kind() == "identifier"
        && is_macro(source.text_of(*name))
        && source.text_of(*sign) == "!"
        && tree.kind() == "token_tree";
    is.then(|| {
        let all: Vec<String> =
            [name, sign, tree].into_iter().flat_map(|node| tokens(source, *node)).collect();
        assess(&all)
    })
}

/// In Go, the condition around a failure is the assertion.
fn go_failure(source: &ParsedSource<'_>, node: Node<'_>) -> Assertion {
    let mut around = node.parent();
    while let Some(outer) = around {
        match outer.kind() {
            "if_statement" => {
                let condition = outer.child_by_field_name("condition");
                return assess_failure(&condition.map(|node| tokens(source, node)).unwrap_or_default());
            }
            "function_declaration" | "func_literal" => break,
            _ => around = outer.parent(),
        }
    }
    Assertion { text: tokens(source, node).concat(), strength: Strength::Loose, tolerance: None }
}

/// The whole chain of calls that starts with a call: `expect(a).toBe(b)`.
fn chain(node: Node<'_>) -> Node<'_> {
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
    let (mut first, mut at) = (whole, Some(whole));
    while let Some(node) = at {
        if CALLS.contains(&node.kind()) {
            first = node;
        }
        at = ["function", "object", "operand"].iter().find_map(|name| node.child_by_field_name(name));
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
fn object(source: &ParsedSource<'_>, node: Node<'_>) -> String {
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
    if !SKIPS.contains(&name) {
        return false;
    }
    let object = object(source, node);
    match source.language() {
        Language::Go => name.starts_with("Skip") && object.len() <= 2,
        Language::Python => object == "pytest" || object == "self",
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            name == "skip" && ["this", "t", "ctx", "context"].contains(&object.as_str())
        }
        Language::Java => name.starts_with("assume") || object == "Assumptions",
        Language::Rust | Language::C | Language::Cpp | Language::Yaml | Language::Json | Language::Toml => {
            false
        }
    }
}
