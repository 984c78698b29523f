//! Production code that replaces parts of other modules, which the tests then use too, or ends their process.

use super::ambient::Imports;
use super::{FileSide, TrickKind, arguments, compact, nodes, script, unquoted};
use crate::{Language, ParsedSource};
use tree_sitter::Node;

/// Objects that every script has.
const BUILTINS: [&str; 27] = [
    "Object",
    "Array",
    "String",
    "Number",
    "Boolean",
    "JSON",
    "Math",
    "Promise",
    "Function",
    "RegExp",
    "Map",
    "Set",
    "WeakMap",
    "Symbol",
    "Reflect",
    "Error",
    "TypeError",
    "Date",
    "Iterator",
    "Buffer",
    "process",
    "globalThis",
    "global",
    "console",
    "assert",
    "setTimeout",
    "queueMicrotask",
];
/// What ends a process, or decides how it ends.
const ENDS: [&str; 11] = [
    "process::exit",
    "process::abort",
    "panic::set_hook",
    "panic::take_hook",
    "libc::_exit",
    "libc::exit",
    "libc::atexit",
    "os._exit",
    "os.abort",
    "process.reallyExit",
    "process.abort",
];

/// Functions of Python by which code watches or changes everything that the process runs.
const WATCHES: [&str; 8] = [
    "sys.setprofile",
    "sys.settrace",
    "threading.setprofile",
    "threading.settrace",
    "sys.addaudithook",
    "sys.meta_path.insert",
    "sys.meta_path.append",
    "sys.path_hooks.insert",
];

/// What a node of production code does to other modules or to the process.
pub fn in_production(
    source: &ParsedSource<'_>,
    imports: &Imports,
    side: FileSide,
    node: Node<'_>,
) -> Option<(TrickKind, String)> {
    let replaced = |subject: String| Some((TrickKind::ReplacesForeign, subject));
    match (source.language(), node.kind()) {
        (Language::Python, "assignment") => {
            let left = node.child_by_field_name("left")?;
            let value = node.child_by_field_name("right")?;
            if is_stream_of_process(source, node, left) {
                return replaced(compact(source, left));
            }
            let target = if left.kind() == "subscript" { left.child_by_field_name("value")? } else { left };
            // `vars(module)["name"] = function`
            if target.kind() == "call" && compact(source, target).starts_with("vars(") {
                let of = *arguments(target).first()?;
                let is_replaced = belongs_elsewhere(source, imports, of) && is_python_function(source, value);
                return is_replaced.then(|| compact(source, left)).and_then(replaced);
            }
            let is_replaced = matches!(target.kind(), "attribute")
                && (left.kind() != "subscript" || compact(source, left).contains("__dict__"))
                && belongs_elsewhere(source, imports, target)
                && is_python_function(source, value);
            is_replaced.then(|| compact(source, left)).and_then(replaced)
        }
        (Language::Python, "call") => {
            let function = compact(source, node.child_by_field_name("function")?);
            if ENDS.contains(&function.as_str()) {
                return Some((TrickKind::EndsProcess, function));
            }
            if WATCHES.contains(&function.as_str()) {
                return replaced(function);
            }
            let target = *arguments(node).first()?;
            (function == "setattr" && belongs_elsewhere(source, imports, target))
                .then(|| compact(source, target))
                .and_then(replaced)
        }
        (Language::Rust, "call_expression") => {
            let function = compact(source, node.child_by_field_name("function")?);
            let ends = ENDS.iter().any(|end| function.ends_with(end));
            let is_end_of_program =
                function.ends_with("process::exit") && side == FileSide::Program && is_in_entry(source, node);
            (ends && !is_end_of_program).then_some((TrickKind::EndsProcess, function))
        }
        (Language::Go, "call_expression") => {
            let function = compact(source, node.child_by_field_name("function")?);
            let ends = ["os.Exit", "syscall.Exit", "runtime.Goexit"].contains(&function.as_str());
            let is_end_of_program = side == FileSide::Program && is_in_entry(source, node);
            (ends && !is_end_of_program).then_some((TrickKind::EndsProcess, function))
        }
        (Language::Go, "assignment_statement") => {
            let left = compact(source, node.child_by_field_name("left")?);
            let streams = ["os.Stdout", "os.Stderr", "os.Args"];
            streams.contains(&left.as_str()).then_some(left).and_then(replaced)
        }
        (Language::JavaScript | Language::TypeScript | Language::Tsx, "assignment_expression") => {
            let left = node.child_by_field_name("left")?;
            if !matches!(left.kind(), "member_expression" | "subscript_expression") {
                return None;
            }
            let text = compact(source, left);
            if text == "process.exitCode"
                || ["process.env", "process.title", "module."].iter().any(|it| text.starts_with(it))
            {
                return None;
            }
            // A variable of the project's own.
            let is_own_global = ["globalThis", "global"].contains(&text.split('.').next()?)
                && text.split('.').nth(1).is_some_and(|name| !BUILTINS.contains(&name))
                && text.split('.').count() == 2;
            let is_polyfill = is_missing(source, node, &text);
            (!is_own_global && !is_polyfill && belongs_elsewhere(source, imports, left))
                .then_some(text)
                .and_then(replaced)
        }
        (Language::JavaScript | Language::TypeScript | Language::Tsx, "call_expression") => {
            script_call(source, imports, node)
        }
        _ => None,
    }
}

fn script_call(source: &ParsedSource<'_>, imports: &Imports, node: Node<'_>) -> Option<(TrickKind, String)> {
    let function = compact(source, node.child_by_field_name("function")?).replace("?.", ".");
    if ENDS.contains(&function.as_str()) {
        return Some((TrickKind::EndsProcess, function));
    }
    let arguments = arguments(node);
    let first = *arguments.first()?;
    match function.as_str() {
        "Object.defineProperty"
        | "Object.defineProperties"
        | "Object.assign"
        | "Object.setPrototypeOf"
        | "Reflect.set"
        | "Reflect.defineProperty" => {
            let text = compact(source, first);
            belongs_elsewhere(source, imports, first).then_some((TrickKind::ReplacesForeign, text))
        }
        "process.on" | "process.once" | "process.prependListener" => {
            let event = unquoted(source, first);
            ["exit", "beforeExit"]
                .contains(&event)
                .then(|| (TrickKind::EndsProcess, format!("{function} {event}")))
        }
        // Whatever the object is called: nothing but an assertion has these names.
        name if name.ends_with(".extend") => {
            let keys = nodes(first).filter(|it| it.kind() == "property_identifier");
            let name = keys.map(|key| source.text_of(key)).find(|key| script::is_matcher(key))?;
            Some((TrickKind::RedefinesAssertion, name.to_string()))
        }
        _ => None,
    }
}

/// Whether a node is in the entry of a program itself, which nothing in the file calls: a program ends itself.
fn is_in_entry(source: &ParsedSource<'_>, node: Node<'_>) -> bool {
    let is_function = |outer: &Node<'_>| matches!(outer.kind(), "function_item" | "function_declaration");
    let Some(function) = std::iter::successors(node.parent(), Node::parent).find(is_function) else {
        return false;
    };
    let is_main = function.child_by_field_name("name").is_some_and(|name| source.text_of(name) == "main")
        && function.parent().is_some_and(|outer| outer == source.root());
    let names_main = |it: Node<'_>| {
        it.kind() == "identifier"
            && source.text_of(it) == "main"
            && it
                .parent()
                .is_none_or(|outer| outer.child_by_field_name("name") != Some(it) || !is_function(&outer))
    };
    is_main && !nodes(source.root()).any(names_main)
}

/// Whether a module replaces a stream or a handler of the process as soon as it is loaded.
fn is_stream_of_process(source: &ParsedSource<'_>, assignment: Node<'_>, left: Node<'_>) -> bool {
    const STREAMS: [&str; 6] =
        ["sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__", "sys.excepthook", "sys.displayhook"];
    let is_loaded = !std::iter::successors(assignment.parent(), Node::parent)
        .any(|outer| matches!(outer.kind(), "function_definition" | "lambda"));
    is_loaded && STREAMS.contains(&compact(source, left).as_str())
}

/// Whether a value is a function: settings of other modules are numbers and text.
fn is_python_function(source: &ParsedSource<'_>, value: Node<'_>) -> bool {
    match value.kind() {
        "lambda" | "attribute" => true,
        "identifier" => nodes(source.root()).any(|it| {
            it.kind() == "function_definition"
                && it
                    .child_by_field_name("name")
                    .is_some_and(|name| source.text_of(name) == source.text_of(value))
        }),
        "call" => {
            let function =
                value.child_by_field_name("function").map(|it| compact(source, it)).unwrap_or_default();
            let last = function.rsplit('.').next().unwrap_or_default();
            ["classmethod", "staticmethod", "property", "partial", "wraps", "Mock", "MagicMock"]
                .contains(&last)
        }
        _ => false,
    }
}

/// Whether an expression is part of another module: its first name is imported, built in, or read from one of these.
fn belongs_elsewhere(source: &ParsedSource<'_>, imports: &Imports, node: Node<'_>) -> bool {
    let root = root_name(source, node);
    let Some(root) = root else { return false };
    if ["self", "this", "cls"].contains(&root) {
        return false;
    }
    let is_script = source.language() != Language::Python;
    if imports.has(root) || (is_script && BUILTINS.contains(&root)) || root == "builtins" {
        // Something of the project itself may change its own parts.
        return !imports.full_name(root).starts_with('.') || !is_script;
    }
    imports.is_looked_up(root)
}

fn root_name<'s>(source: &ParsedSource<'s>, node: Node<'_>) -> Option<&'s str> {
    match node.kind() {
        "identifier" => Some(source.text_of(node)),
        _ => {
            let object =
                ["object", "value", "function"].iter().find_map(|name| node.child_by_field_name(name))?;
            root_name(source, object)
        }
    }
}

/// Whether a member is only defined where it is missing.
fn is_missing(source: &ParsedSource<'_>, node: Node<'_>, member: &str) -> bool {
    std::iter::successors(node.parent(), Node::parent).take(4).any(|outer| {
        outer.kind() == "if_statement"
            && outer.child_by_field_name("condition").is_some_and(|it| {
                let text = compact(source, it);
                text == format!("(!{member})")
                    || text.starts_with(&format!("(typeof{member}===\"undefined\""))
            })
    })
}
