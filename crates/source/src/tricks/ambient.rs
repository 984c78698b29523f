//! What a program can see around it that nobody gives to its functions: the environment, its arguments, its threads and
//! stack, loaded modules, files.

use super::{nodes, unquoted};
use crate::{Language, ParsedSource};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use tree_sitter::Node;

/// Everything below these names is around the program.
const PYTHON: [&str; 44] = [
    "sys",
    "os.environ",
    "os.environb",
    "os.getenv",
    "os.getcwd",
    "os.getcwdb",
    "os.getpid",
    "os.getppid",
    "os.isatty",
    "os.path",
    "os.listdir",
    "os.scandir",
    "os.walk",
    "os.stat",
    "os.access",
    "os.readlink",
    "os.getlogin",
    "inspect",
    "traceback",
    "gc",
    "threading.current_thread",
    "threading.main_thread",
    "threading.enumerate",
    "threading.active_count",
    "multiprocessing",
    "importlib",
    "pkgutil",
    "warnings.filters",
    "logging.root",
    "builtins",
    "pathlib.Path",
    "linecache",
    "glob",
    "ctypes",
    "subprocess",
    "open",
    "globals",
    "__import__",
    "__builtins__",
    "__file__",
    "__name__",
    "__spec__",
    "__loader__",
    "__package__",
];
/// What differs from machine to machine, and not between a test and anything else.
const PYTHON_PLATFORM: [&str; 16] = [
    "sys.platform",
    "sys.version",
    "sys.version_info",
    "sys.hexversion",
    "sys.implementation",
    "sys.maxsize",
    "sys.maxunicode",
    "sys.byteorder",
    "sys.float_info",
    "sys.int_info",
    "sys.exc_info",
    "sys.getsizeof",
    "sys.getrecursionlimit",
    "sys.intern",
    "inspect.signature",
    "importlib.resources",
];
const SCRIPT: [&str; 21] = [
    "process",
    "globalThis",
    "global",
    "module",
    "require.main",
    "require.cache",
    "require.resolve",
    "import.meta",
    "__filename",
    "__dirname",
    "arguments.callee",
    "Error.captureStackTrace",
    "Error.stackTraceLimit",
    "fs",
    "worker_threads",
    "child_process",
    "inspector",
    "async_hooks",
    "v8",
    "vm",
    "Deno",
];
const SCRIPT_PLATFORM: [&str; 11] = [
    "process.platform",
    "process.arch",
    "process.version",
    "process.versions",
    "process.hrtime",
    "process.nextTick",
    "process.memoryUsage",
    "module.exports",
    "import.meta.hot",
    "globalThis.crypto",
    "globalThis.fetch",
];
const RUST: [&str; 17] = [
    "std.env",
    "std.fs",
    "std.thread.current",
    "std.backtrace",
    "std.panic.Location",
    "std.process.id",
    "std.process.Command",
    "std.path.Path.new",
    "std.path.PathBuf.from",
    "std.path.absolute",
    "std.io.stdin",
    "std.io.stdout",
    "std.io.stderr",
    "std.any.type_name",
    "Backtrace",
    "Location.caller",
    "Path.new",
];
const RUST_PLATFORM: [&str; 2] = ["std.env.consts", "std.env.temp_dir"];
/// Macros of Rust whose value the build decides.
const RUST_MACROS: [&str; 7] =
    ["option_env", "env", "cfg", "file", "module_path", "include_str", "include_bytes"];
const GO: [&str; 16] = [
    "os.Args",
    "os.Getenv",
    "os.LookupEnv",
    "os.Environ",
    "os.Getwd",
    "os.Executable",
    "os.Stat",
    "os.Lstat",
    "os.ReadDir",
    "os.ReadFile",
    "os.Getpid",
    "os.Getppid",
    "runtime.Caller",
    "runtime.Callers",
    "runtime.Stack",
    "debug",
];
/// Globals of JavaScript whose absence shows the platform.
const SCRIPT_GLOBALS: [&str; 14] = [
    "window",
    "document",
    "navigator",
    "self",
    "Symbol",
    "BigInt",
    "fetch",
    "crypto",
    "Intl",
    "structuredClone",
    "performance",
    "require",
    "Buffer",
    "undefined",
];

/// The names of a file that stand for something of another module.
pub struct Imports {
    /// Each with its full name.
    names: BTreeMap<String, String>,
    /// Names whose value is looked up among loaded modules and globals: `runner = sys.modules.get("runner")`.
    looked_up: BTreeSet<String>,
}

/// Where programs look up modules, classes and globals that they do not import.
const REGISTRIES: [&str; 17] = [
    "sys.modules",
    "importlib.import_module",
    "__import__",
    "__subclasses__",
    "__dict__",
    "gc.get_",
    "_getframe",
    "f_globals",
    "inspect.stack",
    "Reflect.get(globalThis",
    "globalThis[",
    "(globalThis)",
    "Symbol.for(",
    "process.mainModule",
    "getBuiltinModule",
    "createRequire",
    "module.constructor",
];

impl Imports {
    pub fn of(source: &ParsedSource<'_>) -> Imports {
        let mut found = BTreeMap::new();
        for node in nodes(source.root()) {
            match node.kind() {
                "import_statement" if source.language() == Language::Python => {
                    python_import(source.text_of(node).trim_start_matches("import "), "", &mut found);
                }
                "import_from_statement" => {
                    if let Some((module, names)) = source.text_of(node).split_once(" import ") {
                        let module = module.trim_start_matches("from ").trim();
                        python_import(names, &format!("{module}."), &mut found);
                    }
                }
                "use_declaration" => {
                    if let Some(tree) = node.child_by_field_name("argument") {
                        rust_use(source, tree, "", &mut found);
                    }
                }
                "import_statement" | "variable_declarator" => script_import(source, node, &mut found),
                _ => {}
            }
        }
        Imports { names: found, looked_up: looked_up(source) }
    }

    /// Whether a name comes from another module.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// Whether the value of a name is looked up among loaded modules and globals.
    pub fn is_looked_up(&self, name: &str) -> bool {
        self.looked_up.contains(name)
    }

    pub fn full_name<'n>(&'n self, name: &'n str) -> &'n str {
        self.names.get(name).map_or(name, String::as_str)
    }
}

/// The names whose value is looked up in a registry, directly or through another such name.
fn looked_up(source: &ParsedSource<'_>) -> BTreeSet<String> {
    let names = |node: Node<'_>| -> Vec<String> {
        let is_name =
            |it: &Node<'_>| matches!(it.kind(), "identifier" | "shorthand_property_identifier_pattern");
        nodes(node).filter(is_name).map(|it| source.text_of(it).to_string()).collect()
    };
    let mut bindings: Vec<(Vec<String>, Vec<String>, bool)> = Vec::new();
    for node in nodes(source.root()) {
        let target = node.child_by_field_name("left").or_else(|| node.child_by_field_name("name"));
        let value = node.child_by_field_name("right").or_else(|| node.child_by_field_name("value"));
        let (Some(target), Some(value)) = (target, value) else { continue };
        if matches!(target.kind(), "attribute" | "member_expression" | "subscript" | "subscript_expression") {
            continue;
        }
        // A function is not what it reads.
        if value.kind().contains("function") || value.kind() == "lambda" || value.kind() == "class" {
            continue;
        }
        let text = source.text_of(value);
        let is_read = REGISTRIES.iter().any(|registry| text.contains(registry));
        bindings.push((names(target), names(value), is_read));
    }
    let mut found = BTreeSet::new();
    for _ in 0..4 {
        for (targets, values, is_read) in &bindings {
            if *is_read || values.iter().any(|value| found.contains(value)) {
                found.extend(targets.iter().cloned());
            }
        }
    }
    found
}

/// `a, b.c, d as e`, each below `module`.
fn python_import(names: &str, module: &str, found: &mut BTreeMap<String, String>) {
    for part in names.split(',') {
        let part = part.trim_matches(|c: char| c.is_whitespace() || "()\\".contains(c));
        let (full, name) = part.split_once(" as ").unwrap_or((part, part.split('.').next().unwrap_or(part)));
        let full = if full == part && module.is_empty() { name } else { full };
        found.insert(name.trim().to_string(), format!("{module}{}", full.trim()));
    }
}

fn rust_use(source: &ParsedSource<'_>, tree: Node<'_>, before: &str, found: &mut BTreeMap<String, String>) {
    let path = |node: Node<'_>| -> String {
        let text: String = source.text_of(node).split_whitespace().collect();
        format!("{before}{}", text.replace("::", "."))
    };
    match tree.kind() {
        "use_list" => {
            let mut cursor = tree.walk();
            tree.named_children(&mut cursor).for_each(|part| rust_use(source, part, before, found));
        }
        "scoped_use_list" => {
            let outer = tree.child_by_field_name("path").map(path).unwrap_or_default();
            if let Some(list) = tree.child_by_field_name("list") {
                rust_use(source, list, &format!("{outer}."), found);
            }
        }
        "use_as_clause" => {
            let (Some(full), Some(name)) =
                (tree.child_by_field_name("path"), tree.child_by_field_name("alias"))
            else {
                return;
            };
            found.insert(source.text_of(name).to_string(), path(full));
        }
        _ => {
            let full = path(tree);
            let name = full.rsplit('.').next().unwrap_or_default().to_string();
            // `use std::{fs::{self, File}}`
            let full = full.strip_suffix(".self").unwrap_or(&full).to_string();
            let name = if name == "self" { full.rsplit('.').next().unwrap_or_default().into() } else { name };
            found.insert(name, full);
        }
    }
}

/// `import x from "m"`, `import { a as b } from "m"`, `const { a } = require("m")`.
fn script_import(source: &ParsedSource<'_>, node: Node<'_>, found: &mut BTreeMap<String, String>) {
    let is_import = node.kind() == "import_statement";
    let is_required = || {
        node.child_by_field_name("value")
            .is_some_and(|value| source.text_of(value).trim_start_matches("await ").starts_with("require("))
    };
    if !is_import && !is_required() {
        return;
    }
    let Some(module) = nodes(node).filter(|inner| inner.kind() == "string").last() else { return };
    let module = unquoted(source, module).trim_start_matches("node:");
    let module = module.split('/').next().filter(|it| !it.starts_with('.')).unwrap_or(module);
    let bound = if is_import { Some(node) } else { node.child_by_field_name("name") };
    for inner in bound.into_iter().flat_map(nodes) {
        match inner.kind() {
            "import_specifier" => {
                let name = inner.child_by_field_name("alias").or(inner.child_by_field_name("name"));
                let full = inner.child_by_field_name("name").map(|it| source.text_of(it)).unwrap_or_default();
                if let Some(name) = name {
                    found.insert(source.text_of(name).to_string(), format!("{module}.{full}"));
                }
            }
            "shorthand_property_identifier_pattern" => {
                let name = source.text_of(inner);
                found.insert(name.to_string(), format!("{module}.{name}"));
            }
            "identifier" if inner.parent().is_none_or(|outer| outer.kind() != "import_specifier") => {
                found.insert(source.text_of(inner).to_string(), module.to_string());
            }
            _ => {}
        }
    }
}

/// Whether a global of JavaScript is missing for another reason than the platform.
pub fn is_absent_global(name: &str) -> bool {
    !SCRIPT_GLOBALS.contains(&name)
}

/// What reads the time.
const CLOCKS: [&str; 18] = [
    "time.time",
    "time.time_ns",
    "time.localtime",
    "time.gmtime",
    "datetime.now",
    "datetime.utcnow",
    "datetime.today",
    "datetime.datetime.now",
    "datetime.datetime.utcnow",
    "datetime.datetime.today",
    "datetime.date.today",
    "Date.now",
    "SystemTime.now",
    "UNIX_EPOCH.elapsed",
    "std.time.SystemTime.now",
    "std.time.UNIX_EPOCH.elapsed",
    "time.Now",
    "chrono.Utc.now",
];

/// Whether an expression is about nothing but the time and literals: a date after which the code does something else.
pub fn compares_clock(source: &ParsedSource<'_>, imports: &Imports, node: Node<'_>) -> bool {
    let reads: Vec<Range<usize>> =
        nodes(node).filter(|it| is_clock(source, imports, *it)).map(|it| it.byte_range()).collect();
    let is_other = |it: Node<'_>| {
        let name = source.text_of(it);
        let is_member = it.parent().is_some_and(|outer| outer.child_by_field_name("attribute") == Some(it));
        it.kind() == "identifier"
            && !is_member
            && !reads.iter().any(|read| read.start <= it.start_byte() && it.end_byte() <= read.end)
            && !imports.has(name)
    };
    !reads.is_empty() && !nodes(node).any(is_other)
}

/// A point in time that code computes with next to the clock.
pub fn fixed_date<'t>(source: &ParsedSource<'_>, imports: &Imports, root: Node<'t>) -> Option<Node<'t>> {
    let is_date = |it: &Node<'t>| {
        let text = source.text_of(*it);
        // Seconds or milliseconds of this century, and no other large number such as a limit.
        let is_of_now = |time: u64| {
            [1, 1_000].iter().any(|unit| (1_500_000_000 * unit..2_140_000_000 * unit).contains(&time))
        };
        let digits: String =
            text.chars().take_while(|c| c.is_ascii_digit() || *c == '_').filter(|c| *c != '_').collect();
        let is_number = it.kind().contains("integer") || matches!(it.kind(), "number" | "int_literal");
        is_number && digits.parse::<u64>().is_ok_and(is_of_now)
    };
    nodes(root).any(|it| is_clock(source, imports, it)).then(|| nodes(root).find(is_date))?
}

fn is_clock(source: &ParsedSource<'_>, imports: &Imports, node: Node<'_>) -> bool {
    if node.kind() == "new_expression" {
        return source.text_of(node).split_whitespace().eq(["new", "Date()"]);
    }
    let Some(path) = dotted(source, node) else { return false };
    let (first, rest) = path.split_once('.').unwrap_or((&path, ""));
    let full = imports.full_name(first);
    let full = if rest.is_empty() { full.to_string() } else { format!("{full}.{rest}") };
    let is_below =
        |clock: &&str| full.strip_prefix(*clock).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    CLOCKS.iter().any(is_below)
}

/// The part of an expression that reads something around the program, or one of the `ambient` names; `given` names are what a
/// function receives.
pub fn reads<'t>(
    source: &ParsedSource<'_>,
    imports: &Imports,
    node: Node<'t>,
    (ambient, given): (&BTreeSet<String>, &BTreeSet<String>),
) -> Option<Node<'t>> {
    let inside = |node: Node<'t>| {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
        children.into_iter().find_map(|child| reads(source, imports, child, (ambient, given)))
    };
    match source.language() {
        Language::Rust if node.kind() == "macro_invocation" => {
            let name = node.child_by_field_name("macro").map(|it| source.text_of(it)).unwrap_or_default();
            let name = name.rsplit("::").next().unwrap_or_default();
            if RUST_MACROS.contains(&name) {
                return (name != "cfg" || !is_platform_condition(source.text_of(node))).then_some(node);
            }
        }
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            if node.kind() == "new_expression" && source.text_of(node).starts_with("new Error()") {
                return Some(node);
            }
            if node.kind() == "unary_expression"
                && let Some(name) = source.text_of(node).strip_prefix("typeof ")
            {
                let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
                let is_known = SCRIPT_GLOBALS.contains(&name) || given.contains(name) || imports.has(name);
                return if is_name && !is_known { Some(node) } else { inside(node) };
            }
        }
        _ => {}
    }
    let Some(path) = dotted(source, node) else { return inside(node) };
    let (first, rest) = path.split_once('.').unwrap_or((&path, ""));
    if given.contains(first) {
        return inside(node);
    }
    if ambient.contains(first) {
        return Some(node);
    }
    let full = imports.full_name(first);
    let full = if rest.is_empty() { full.to_string() } else { format!("{full}.{rest}") };
    let is_below = |root: &&str| {
        let rest = full.strip_prefix(*root);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let (roots, platform): (&[&str], &[&str]) = match source.language() {
        Language::Python => (&PYTHON, &PYTHON_PLATFORM),
        Language::JavaScript | Language::TypeScript | Language::Tsx => (&SCRIPT, &SCRIPT_PLATFORM),
        Language::Rust => (&RUST, &RUST_PLATFORM),
        Language::Go => (&GO, &[]),
        _ => return None,
    };
    if platform.iter().any(is_below) {
        return None;
    }
    if roots.iter().any(is_below) {
        return Some(node);
    }
    inside(node)
}

/// A name with the names of its members: `os.environ.get`.
pub fn dotted(source: &ParsedSource<'_>, node: Node<'_>) -> Option<String> {
    let join = |object: &str, member: &str| {
        let object = dotted(source, node.child_by_field_name(object)?)?;
        Some(format!("{object}.{}", source.text_of(node.child_by_field_name(member)?)))
    };
    match node.kind() {
        "identifier" | "shorthand_property_identifier" => Some(source.text_of(node).to_string()),
        "meta_property" => Some(source.text_of(node).to_string()),
        "attribute" => join("object", "attribute"),
        "member_expression" => join("object", "property"),
        "selector_expression" => join("operand", "field"),
        "field_expression" => join("value", "field"),
        "scoped_identifier" => join("path", "name"),
        _ => None,
    }
}

/// Whether a condition of a Rust build is about the platform, or about tests that are built with the code.
pub fn is_platform_condition(text: &str) -> bool {
    text.split('"').step_by(2).all(|part| {
        part.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).all(|word| {
            word.starts_with("target_")
                || matches!(
                    word,
                    "cfg"
                        | "std"
                        | "not"
                        | "any"
                        | "all"
                        | "unix"
                        | "windows"
                        | "test"
                        | "doc"
                        | "docsrs"
                        | "doctest"
                        | "miri"
                        | "panic"
                        | "debug_assertions"
                        | "overflow_checks"
                        | "proc_macro"
                )
        })
    })
}
