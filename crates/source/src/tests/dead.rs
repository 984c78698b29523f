//! Parts of a test whose assertions cannot fail it: they do not run, or their failure is swallowed.

use super::statements::{is_return, statements};
use super::test_function::children;
use crate::ParsedSource;
use tree_sitter::Node;

/// Ways to read the environment.
const ENVIRONMENT: [&str; 10] = [
    "env::var",
    "option_env!",
    "cfg!(feature",
    "os.environ",
    "os.getenv",
    "getenv(",
    "process.env",
    "import.meta.env",
    "os.Getenv",
    "os.LookupEnv",
];
/// What a loop can go over without running once.
const NOTHING: [&str; 10] =
    ["[]", "()", "{}", "set()", "list()", "dict()", "range(0)", "0..0", "iter([])", "std::iter::empty()"];
/// Words of a handler that lets a failure through, or makes one.
const PASSES_ON: [&str; 9] =
    ["raise", "throw", "assert", "expect(", "fail(", "panic", "done(", "reject(", "resume_unwind"];
/// Failures of assertions.
const FAILURES: [&str; 4] = ["AssertionError", "Exception", "failureException", "Throwable"];

/// The part of a node whose assertions cannot fail a test.
pub fn void_part<'t>(source: &ParsedSource<'_>, node: Node<'t>) -> Option<Node<'t>> {
    let field = |name: &str| node.child_by_field_name(name);
    let text = |node: Node<'_>| -> String { source.text_of(node).split_whitespace().collect() };
    match node.kind() {
        "if_statement" | "if_expression" => {
            let condition = text(field("condition")?);
            let is_false = matches!(condition.trim_matches(['(', ')']), "false" | "False" | "0");
            field("consequence").filter(|_| is_false || reads_environment(&condition))
        }
        "binary_expression" | "boolean_operator" => {
            let operator = source.text_of(field("operator")?);
            let is_guard = ["&&", "and", "||", "or"].contains(&operator);
            field("right")
                .filter(|_| is_guard && field("left").is_some_and(|left| reads_environment(&text(left))))
        }
        "while_statement" | "while_expression" => {
            let condition = text(field("condition")?);
            let is_false = matches!(condition.trim_matches(['(', ')']), "false" | "False" | "0");
            field("body").filter(|_| is_false)
        }
        "for_statement" | "for_in_statement" | "for_expression" => {
            let over = text(field("right").or_else(|| field("value"))?);
            field("body").filter(|_| is_nothing(&over))
        }
        "try_statement" => field("body").filter(|_| swallows(source, node)),
        "with_statement" => {
            let body = field("body")?;
            let head: String =
                source.slice(node.start_byte(), body.start_byte()).split_whitespace().collect();
            let is_caught = ["suppress(", "raises(", "assertRaises("].iter().any(|call| head.contains(call));
            Some(body).filter(|_| is_caught && FAILURES.iter().any(|failure| catches(&head, failure)))
        }
        "call_expression" | "call" => void_argument(source, node),
        "function_definition" | "function_item" | "function_declaration" => {
            let name = source.text_of(field("name")?);
            field("body").filter(|_| is_named_once(source, node, name))
        }
        "variable_declarator" | "let_declaration" | "assignment" => {
            let name = source.text_of(field("name").or_else(|| field("pattern")).or_else(|| field("left"))?);
            let value = field("value").or_else(|| field("right"))?;
            let is_function = matches!(
                value.kind(),
                "arrow_function" | "function_expression" | "closure_expression" | "lambda"
            );
            Some(value).filter(|_| is_function && is_named_once(source, node, name))
        }
        _ => None,
    }
}

/// Whether a statement leaves the test if the environment says so.
pub fn leaves_by_environment(source: &ParsedSource<'_>, statement: Node<'_>) -> bool {
    let is_if = |node: &Node<'_>| matches!(node.kind(), "if_statement" | "if_expression");
    let branch = Some(statement).filter(is_if).or_else(|| statement.named_child(0).filter(is_if));
    branch.is_some_and(|branch| {
        let condition = branch.child_by_field_name("condition");
        let body = branch.child_by_field_name("consequence");
        condition.is_some_and(|condition| reads_environment(source.text_of(condition)))
            && body.is_some_and(|body| is_return(body) || statements(body).into_iter().any(is_return))
    })
}

fn reads_environment(text: &str) -> bool {
    ENVIRONMENT.iter().any(|way| text.contains(way))
}

fn is_nothing(text: &str) -> bool {
    NOTHING.contains(&text.trim_start_matches('&'))
}

/// Whether the head of a `with` statement catches this kind of failure, and not one of the code under test.
fn catches(head: &str, failure: &str) -> bool {
    head.match_indices(failure).any(|(at, _)| {
        let before = head[..at].chars().next_back();
        !before.is_some_and(|before| before.is_alphanumeric() || before == '_')
            || head[..at].ends_with("Base")
    })
}

/// Whether a handler of a `try` statement swallows failures of assertions.
fn swallows(source: &ParsedSource<'_>, node: Node<'_>) -> bool {
    let passes_on = |text: &str| PASSES_ON.iter().any(|word| text.contains(word));
    children(node).into_iter().any(|clause| match clause.kind() {
        "except_clause" => {
            let text = source.text_of(clause);
            let (head, handler) = text.split_once(':').unwrap_or((text, ""));
            let catches_all =
                head.trim() == "except" || FAILURES.iter().any(|failure| catches(head, failure));
            catches_all && !passes_on(handler)
        }
        "catch_clause" => {
            let body = clause.child_by_field_name("body").map_or("", |body| source.text_of(body));
            !passes_on(body)
        }
        // A return in `finally` discards the failure.
        "finally_clause" => {
            let block = children(clause).into_iter().next_back();
            block.is_some_and(|block| children(block).into_iter().any(is_return))
        }
        _ => false,
    })
}

/// The part of a call in which failures are swallowed, or that does not run.
fn void_argument<'t>(source: &ParsedSource<'_>, call: Node<'t>) -> Option<Node<'t>> {
    let function = call.child_by_field_name("function")?;
    let name: String = source.text_of(function).split_whitespace().collect();
    let arguments = call.child_by_field_name("arguments")?;
    if name.ends_with("catch_unwind") {
        return Some(arguments).filter(|_| is_discarded(source, call));
    }
    if name.ends_with(".catch") {
        let handler = source.text_of(arguments);
        return Some(function).filter(|_| !PASSES_ON.iter().any(|word| handler.contains(word)));
    }
    let is_loop = [".forEach", ".map", ".every", ".some"].iter().any(|end| name.ends_with(end));
    Some(arguments).filter(|_| is_loop && name.starts_with("[]."))
}

/// Whether nobody looks at the result of a call.
fn is_discarded(source: &ParsedSource<'_>, call: Node<'_>) -> bool {
    let mut node = call;
    loop {
        let Some(outer) = node.parent() else { return false };
        match outer.kind() {
            // `.ok()` and `.is_err()` alone hand the result on to nobody yet.
            "field_expression" | "call_expression" | "try_expression" => node = outer,
            "expression_statement" => return true,
            "let_declaration" => {
                let pattern = outer.child_by_field_name("pattern");
                return pattern.is_some_and(|pattern| source.text_of(pattern).starts_with('_'));
            }
            "arguments" => {
                let call = outer.parent();
                let function = call.and_then(|call| call.child_by_field_name("function"));
                return function.is_some_and(|function| source.text_of(function).ends_with("drop"));
            }
            _ => return false,
        }
    }
}

/// Whether a name that is defined inside a test is used nowhere else in it.
fn is_named_once(source: &ParsedSource<'_>, definition: Node<'_>, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let Some(around) = definition.parent().and_then(|parent| match parent.kind() {
        "lexical_declaration" | "variable_declaration" | "expression_statement" | "decorated_definition" => {
            parent.parent()
        }
        _ => Some(parent),
    }) else {
        return false;
    };
    // A definition outside of functions may be used by the runner.
    let is_inside = std::iter::successors(Some(around), Node::parent).any(|outer| {
        matches!(
            outer.kind(),
            "function_definition"
                | "function_item"
                | "arrow_function"
                | "function_expression"
                | "func_literal"
                | "closure_expression"
        )
    });
    let uses = source.text_of(around).split(|c: char| !is_word(c)).filter(|word| *word == name).count();
    is_inside && (name == "_" || uses <= 1)
}
