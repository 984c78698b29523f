//! Tricks in Python tests.

use super::{PYTHON_ASSERTIONS, TrickKind, arguments, compact, unquoted};
use crate::ParsedSource;
use std::collections::BTreeSet;
use tree_sitter::Node;

/// Functions of pytest by which tests fail.
const PYTEST_ASSERTIONS: [&str; 3] = ["raises", "fail", "warns"];
/// Modules that tests patch to get rid of the world around the code.
const WORLD: [&str; 20] = [
    "time",
    "datetime",
    "os",
    "sys",
    "random",
    "socket",
    "requests",
    "httpx",
    "builtins",
    "logging",
    "subprocess",
    "uuid",
    "secrets",
    "urllib",
    "smtplib",
    "boto3",
    "shutil",
    "pathlib",
    "asyncio",
    "threading",
];

pub fn in_tests(
    source: &ParsedSource<'_>,
    node: Node<'_>,
    asserted: &BTreeSet<String>,
) -> Option<(TrickKind, String)> {
    match node.kind() {
        "assignment" => assignment(source, node, asserted),
        "function_definition" | "class_definition" => {
            let name = source.text_of(node.child_by_field_name("name")?);
            if PYTHON_ASSERTIONS.contains(&name) {
                return Some((TrickKind::RedefinesAssertion, name.to_string()));
            }
            is_hook(name).then(|| (TrickKind::HooksRunner, name.to_string()))
        }
        "call" => call(source, node, asserted),
        "import_from_statement" => {
            let text = source.text_of(node);
            let names = text.split(" import ").nth(1).unwrap_or_default();
            let hook = names.split([',', ' ', '(', ')', '\n']).find(|name| is_hook(name))?;
            Some((TrickKind::HooksRunner, hook.to_string()))
        }
        _ => None,
    }
}

fn is_hook(name: &str) -> bool {
    name == "load_tests"
        || name.starts_with("pytest_collect")
        || name.starts_with("pytest_runtest")
        || name.starts_with("pytest_pyfunc")
        || name.starts_with("pytest_itemcollected")
        || name.starts_with("pytest_sessionfinish")
        || name.starts_with("pytest_report")
        || name.starts_with("pytest_ignore_collect")
        || name.starts_with("pytest_deselected")
        || name.starts_with("pytest_configure")
        || name.starts_with("pytest_unconfigure")
        || name.starts_with("pytest_exception")
}

fn assignment(
    source: &ParsedSource<'_>,
    node: Node<'_>,
    asserted: &BTreeSet<String>,
) -> Option<(TrickKind, String)> {
    let left = node.child_by_field_name("left")?;
    if left.kind() == "identifier" {
        let name = source.text_of(left);
        if is_hook(name) {
            return Some((TrickKind::HooksRunner, name.to_string()));
        }
        return PYTHON_ASSERTIONS.contains(&name).then(|| (TrickKind::RedefinesAssertion, name.to_string()));
    }
    if left.kind() != "attribute" {
        return None;
    }
    let name = source.text_of(left.child_by_field_name("attribute")?);
    let object = source.text_of(left.child_by_field_name("object")?);
    if PYTHON_ASSERTIONS.contains(&name) || (object == "pytest" && PYTEST_ASSERTIONS.contains(&name)) {
        return Some((TrickKind::RedefinesAssertion, compact(source, left)));
    }
    let is_world = WORLD.contains(&object.split('.').next().unwrap_or_default());
    let is_module = !["self", "cls"].contains(&object) && !is_world && is_imported(source, object);
    (is_module && asserted.contains(name)).then(|| (TrickKind::PatchesSubject, name.to_string()))
}

fn call(
    source: &ParsedSource<'_>,
    node: Node<'_>,
    asserted: &BTreeSet<String>,
) -> Option<(TrickKind, String)> {
    let function = compact(source, node.child_by_field_name("function")?);
    let last = function.rsplit('.').next().unwrap_or_default();
    let arguments = arguments(node);
    let text = |at: usize| {
        arguments.get(at).filter(|node| node.kind() == "string").map(|node| unquoted(source, *node))
    };
    match function.as_str() {
        "os._exit" | "os.abort" | "atexit.register" | "pytest.exit" | "os.kill" => {
            return Some((TrickKind::EndsProcess, function));
        }
        "sys.exit" | "exit" | "quit" if !is_main(source, node) => {
            return Some((TrickKind::EndsProcess, function));
        }
        _ => {}
    }
    let patches = last == "setattr" || last == "patch" || function.ends_with("patch.object");
    if !patches {
        return None;
    }
    // The target is one text, or an object and a name.
    let (owner, name) = match (text(0), text(1)) {
        (Some(target), _) => target.rsplit_once('.')?,
        (None, Some(name)) => (source.text_of(*arguments.first()?), name),
        (None, None) => return None,
    };
    if PYTHON_ASSERTIONS.contains(&name) || (owner == "pytest" && PYTEST_ASSERTIONS.contains(&name)) {
        return Some((TrickKind::RedefinesAssertion, format!("{owner}.{name}")));
    }
    let is_world = WORLD.contains(&owner.split('.').next().unwrap_or_default());
    let is_subject = asserted.contains(name) || (asserted.is_empty() && is_automatic(source, node));
    (!is_world && is_subject).then(|| (TrickKind::PatchesSubject, name.to_string()))
}

/// Whether a name is imported in this file.
fn is_imported(source: &ParsedSource<'_>, name: &str) -> bool {
    let root = source.root();
    let mut cursor = root.walk();
    root.named_children(&mut cursor).any(|statement| {
        statement.kind().starts_with("import")
            && source
                .text_of(statement)
                .split([' ', ',', '\n', '(', ')'])
                .any(|word| word == name || word.rsplit('.').next() == Some(name))
    })
}

/// Whether a node is below `if __name__ == "__main__"`.
fn is_main(source: &ParsedSource<'_>, node: Node<'_>) -> bool {
    std::iter::successors(node.parent(), Node::parent).any(|outer| {
        outer.kind() == "if_statement"
            && outer
                .child_by_field_name("condition")
                .is_some_and(|it| source.text_of(it).contains("__name__"))
    })
}

/// Whether a node is in a fixture that every test uses, or outside all functions.
fn is_automatic(source: &ParsedSource<'_>, node: Node<'_>) -> bool {
    let function = std::iter::successors(node.parent(), Node::parent)
        .find(|outer| outer.kind() == "function_definition");
    function.is_none_or(|function| {
        let decorated = function.parent().filter(|outer| outer.kind() == "decorated_definition");
        decorated.is_some_and(|outer| compact(source, outer).contains("autouse=True"))
    })
}
