//! Values that production code takes from what tells a test apart: arguments, loaded modules, the stack, files of the tree.
//!
//! What merely differs from machine to machine, or is a setting with a name of its own, is not in the lists.

use super::ambient::{self, Imports};
use super::{arguments, compact, nodes, unquoted};
use crate::{Language, ParsedSource};
use tree_sitter::Node;

/// A runner, the way of starting, or the tree with the tests shows in these.
const PYTHON: [&str; 48] = [
    "sys.argv",
    "sys.orig_argv",
    "sys.modules",
    "sys._getframe",
    "sys._current_frames",
    "sys.gettrace",
    "sys.getprofile",
    "sys.flags",
    "sys.warnoptions",
    "sys.meta_path",
    "sys.path_hooks",
    "sys.path_importer_cache",
    "sys.excepthook",
    "sys.displayhook",
    "sys.stdin.isatty",
    "sys.stdout.isatty",
    "sys.stderr.isatty",
    "sys.stdout.__class__",
    "sys.stderr.__class__",
    "inspect.stack",
    "inspect.currentframe",
    "inspect.trace",
    "inspect.getouterframes",
    "inspect.getinnerframes",
    "traceback.extract_stack",
    "traceback.walk_stack",
    "traceback.format_stack",
    "gc.get_objects",
    "gc.get_referrers",
    "gc.callbacks",
    "threading.enumerate",
    "threading.active_count",
    "multiprocessing.current_process",
    "multiprocessing.parent_process",
    "os.getppid",
    "os.isatty",
    "os.listdir",
    "os.scandir",
    "os.walk",
    "os.stat",
    "os.access",
    "os.path.exists",
    "os.path.isfile",
    "os.path.isdir",
    "glob.glob",
    "glob.iglob",
    "warnings.filters",
    "object.__subclasses__",
];
const SCRIPT: [&str; 33] = [
    "process.getActiveResourcesInfo",
    "process._getActiveHandles",
    "process._getActiveRequests",
    "process.report",
    "process.argv",
    "process.argv0",
    "process.execArgv",
    "process.title",
    "process.ppid",
    "process.connected",
    "process.send",
    "process.channel",
    "process.mainModule",
    "process.listeners",
    "process.listenerCount",
    "process.eventNames",
    "process.stdout.isTTY",
    "process.stderr.isTTY",
    "process.stdin.isTTY",
    "module.parent",
    "module.children",
    "require.main",
    "require.cache",
    "arguments.callee",
    "fs.existsSync",
    "fs.readdirSync",
    "fs.statSync",
    "fs.lstatSync",
    "worker_threads.isMainThread",
    "worker_threads.workerData",
    "worker_threads.threadId",
    "inspector.url",
    "import.meta.vitest",
];
const RUST: [&str; 12] = [
    "std.env.args",
    "std.env.args_os",
    "std.env.vars",
    "std.env.vars_os",
    "std.env.current_exe",
    "std.backtrace",
    "std.panic.Location",
    "std.fs.read_dir",
    "std.fs.metadata",
    "std.fs.exists",
    "Backtrace",
    "Location.caller",
];
const GO: [&str; 16] = [
    "os.Args",
    "os.Executable",
    "os.Getppid",
    "os.Stat",
    "os.Lstat",
    "os.ReadDir",
    "runtime.Caller",
    "runtime.Callers",
    "runtime.Stack",
    "runtime.NumGoroutine",
    "debug",
    "flag.Lookup",
    "flag.VisitAll",
    "flag.CommandLine",
    "testing",
    "filepath.Glob",
];

/// Where environment variables are.
const ENVIRONMENT: [&str; 9] = [
    "os.environ",
    "os.environb",
    "os.getenv",
    "process.env",
    "import.meta.env",
    "std.env.var",
    "std.env.var_os",
    "os.Getenv",
    "os.LookupEnv",
];
/// Starts of the names of variables that runners, package managers and builds set.
const RUNNER_VARIABLES: [&str; 14] = [
    "PYTEST",
    "VITEST",
    "JEST",
    "NODE_TEST",
    "NEXTEST",
    "UNITTEST",
    "CARGO",
    "RUST_TEST",
    "npm_",
    "NODE_ENV",
    "LD_LIBRARY_PATH",
    "INIT_CWD",
    "TEST",
    "__CARGO",
];
/// What vite puts into `import.meta.env`.
const MODES: [&str; 4] = ["MODE", "DEV", "PROD", "SSR"];
/// Calls by which a path shows what is in the tree, or a thread its name.
const ASKING: [&str; 12] = [
    ".exists(",
    ".is_file(",
    ".is_dir(",
    ".glob(",
    ".rglob(",
    ".iterdir(",
    ".try_exists(",
    ".name(",
    ".name.",
    ".getName(",
    ".is_terminal(",
    "/proc/",
];
/// What tells nothing, unless one of these calls follows.
const ASKED: [&str; 15] = [
    "std.env.current_dir",
    "process.cwd",
    "os.getcwd",
    "pathlib.Path",
    "open",
    "threading.current_thread",
    "std.thread.current",
    "std.path.Path.new",
    "std.path.PathBuf.from",
    "Path.new",
    "std.io.stdout",
    "std.io.stderr",
    "std.io.stdin",
    "std.fs.read_to_string",
    "os.ReadFile",
];
/// Whole modules that are handed on or searched by a name.
const MODULES: [&str; 7] = ["sys", "inspect", "gc", "process", "module", "globalThis", "global"];
/// Functions that write messages.
const LOGS: [&str; 22] = [
    "print",
    "log",
    "debug",
    "info",
    "warn",
    "warning",
    "error",
    "exception",
    "trace",
    "eprintln",
    "println",
    "eprint",
    "dbg",
    "Println",
    "Printf",
    "Fprintf",
    "Fprintln",
    "Errorf",
    "group",
    "exit",
    "collect",
    "getLogger",
];
/// Functions that are given nothing else: they read the arguments for the program.
const ENTRIES: [&str; 2] = ["main", "cli"];

/// The expression around a node by which production code takes a value that tells a test apart; `is_given` tells whether
/// anything that the function is given takes part in an expression, `is_ambient` whether a name stands for something around the
/// program.
pub fn taken<'t>(
    source: &ParsedSource<'_>,
    imports: &Imports,
    node: Node<'t>,
    is_given: impl Fn(Node<'t>) -> bool,
    is_ambient: impl Fn(&str) -> bool,
) -> Option<Node<'t>> {
    let chain = chain(node);
    // What a closure inside captures is not what the expression is given.
    let is_leaf = |it: &Node<'t>| {
        let mut outer = std::iter::successors(it.parent(), Node::parent).take_while(|outer| *outer != chain);
        it.named_child_count() == 0 && !outer.any(is_closure)
    };
    if is_unused(source, chain) || nodes(chain).filter(is_leaf).any(&is_given) {
        return None;
    }
    let shows_itself = is_stack(source, node)
        || is_frame(source, node)
        || is_build_condition(source, node)
        || is_absent_name(source, imports, node);
    if shows_itself {
        return Some(chain);
    }
    let is_inner = node.parent().is_some_and(|outer| is_member(outer) && starts_with(outer, node));
    let path = ambient::dotted(source, node).filter(|_| !is_inner)?;
    let (first, rest) = path.split_once('.').unwrap_or((&path, ""));
    if is_given(node) {
        return None;
    }
    let full = match (imports.full_name(first), rest) {
        (full, "") => full.to_string(),
        (full, rest) => format!("{full}.{rest}"),
    };
    let text = compact(source, chain);
    let is_telling = match source.language() {
        Language::Python => is_below(&full, &PYTHON),
        Language::JavaScript | Language::TypeScript | Language::Tsx => is_below(&full, &SCRIPT),
        Language::Rust => is_below(&full, &RUST),
        Language::Go => is_below(&full, &GO),
        _ => return None,
    };
    let is_asked =
        (is_below(&full, &ASKED) || is_ambient(first)) && ASKING.iter().any(|call| text.contains(call));
    let is_module = MODULES.contains(&full.as_str()) && is_handed_on(source, node);
    (is_telling || is_asked || is_module || is_of_runner(source, &full, chain))
        .then_some(chain)
        .filter(|_| !is_argument_of_program(source, &full, node))
}

fn is_below(full: &str, roots: &[&str]) -> bool {
    roots
        .iter()
        .any(|root| full.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

/// The longest expression of calls, members and subscripts that begins with a node.
fn chain(node: Node<'_>) -> Node<'_> {
    let mut whole = node;
    while let Some(outer) = whole.parent().filter(|outer| {
        let is_part = is_member(*outer)
            || matches!(
                outer.kind(),
                "call"
                    | "call_expression"
                    | "subscript"
                    | "subscript_expression"
                    | "index_expression"
                    | "try_expression"
                    | "await_expression"
                    | "await"
                    | "parenthesized_expression"
                    | "non_null_expression"
                    | "reference_expression"
            );
        // Python joins paths with an operator.
        let is_path = outer.kind() == "binary_operator"
            && outer.child_by_field_name("operator").is_some_and(|it| it.kind() == "/");
        (is_part || is_path) && starts_with(*outer, whole)
    }) {
        whole = outer;
    }
    whole
}

fn is_member(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "attribute" | "member_expression" | "field_expression" | "selector_expression" | "scoped_identifier"
    )
}

/// Whether a node is the first part of another one.
fn starts_with(outer: Node<'_>, node: Node<'_>) -> bool {
    outer.named_child(0) == Some(node)
}

/// Whether nothing comes of a value: it is a statement of its own, a part of a message, or a target.
fn is_unused(source: &ParsedSource<'_>, chain: Node<'_>) -> bool {
    let mut inner = chain;
    for outer in std::iter::successors(chain.parent(), Node::parent) {
        match outer.kind() {
            "expression_statement" => {
                let is_whole = outer.named_child_count() == 1 && !is_tail(outer) && inner == chain;
                return is_whole && !nodes(outer).any(is_closure);
            }
            "raise_statement"
            | "throw_statement"
            | "assert_statement"
            | "decorator"
            | "import_statement"
            | "import_from_statement"
            | "use_declaration"
            | "type_annotation"
            | "attribute_item" => return true,
            "assignment" | "assignment_expression" | "augmented_assignment" => {
                return outer.child_by_field_name("left") == Some(inner);
            }
            "call" | "call_expression" | "macro_invocation" => {
                let function =
                    outer.child_by_field_name("function").or_else(|| outer.child_by_field_name("macro"));
                let name = function.map(|it| compact(source, it)).unwrap_or_default();
                if inner != chain.parent().unwrap_or(chain) || function != Some(inner) {
                    let last = name.rsplit(['.', ':']).next().unwrap_or_default();
                    if LOGS.contains(&last) {
                        return true;
                    }
                }
            }
            "block" | "statement_block" | "module" | "program" | "source_file" => return false,
            _ => {}
        }
        inner = outer;
    }
    false
}

/// A function without a name, which hands values on.
fn is_closure(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "arrow_function" | "function_expression" | "closure_expression" | "lambda" | "func_literal"
    )
}

/// Whether a statement of Rust is the value of its block.
fn is_tail(statement: Node<'_>) -> bool {
    statement.child(statement.child_count().saturating_sub(1)).is_some_and(|last| last.kind() != ";")
        && statement.next_named_sibling().is_none()
        && statement.parent().is_some_and(|outer| outer.kind() == "block")
}

/// `new Error().stack` and `error.stack.split(…)`, which name the callers.
fn is_stack(source: &ParsedSource<'_>, node: Node<'_>) -> bool {
    let is_error = |text: &str| text.starts_with("newError(") || text.starts_with("Error(");
    // A stack that is searched, and not only reported.
    let is_searched = chain(node) != node;
    node.kind() == "member_expression"
        && node.child_by_field_name("property").is_some_and(|it| source.text_of(it) == "stack")
        && node.child_by_field_name("object").is_some_and(|it| is_searched || is_error(&compact(source, it)))
}

/// A frame of a caller: `frame.f_back`.
fn is_frame(source: &ParsedSource<'_>, node: Node<'_>) -> bool {
    source.language() == Language::Python
        && node.kind() == "attribute"
        && node.child_by_field_name("attribute").is_some_and(|it| {
            ["f_back", "f_globals", "f_locals", "f_code", "tb_frame"].contains(&source.text_of(it))
        })
}

/// A macro of Rust that is true or false as the build wants.
fn is_build_condition(source: &ParsedSource<'_>, node: Node<'_>) -> bool {
    node.kind() == "macro_invocation"
        && node
            .child_by_field_name("macro")
            .is_some_and(|it| matches!(source.text_of(it), "cfg" | "std::cfg"))
        && !ambient::is_platform_condition(source.text_of(node))
}

/// `typeof describe`, of a name that the file does not know.
fn is_absent_name(source: &ParsedSource<'_>, imports: &Imports, node: Node<'_>) -> bool {
    let Some(name) =
        source.text_of(node).strip_prefix("typeof ").filter(|_| node.kind() == "unary_expression")
    else {
        return false;
    };
    let binds = |it: Node<'_>| {
        matches!(it.kind(), "variable_declarator" | "function_declaration" | "class_declaration")
            && it.child_by_field_name("name").is_some_and(|it| source.text_of(it) == name)
    };
    name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && ambient::is_absent_global(name)
        && !imports.has(name)
        && !nodes(source.root()).any(binds)
}

/// A comparison of nothing but globals and modules: whether both come from the same realm, which runners make.
pub fn is_of_realm(source: &ParsedSource<'_>, imports: &Imports, node: Node<'_>) -> bool {
    const GLOBALS: [&str; 12] = [
        "Object",
        "Function",
        "Array",
        "Error",
        "Symbol",
        "Reflect",
        "Promise",
        "require",
        "globalThis",
        "Map",
        "Set",
        "RegExp",
    ];
    if node.kind() != "binary_expression" || source.language() == Language::Rust {
        return false;
    }
    let operator = node.child_by_field_name("operator").map(|it| source.text_of(it)).unwrap_or_default();
    let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
    else {
        return false;
    };
    let is_comparison = match operator {
        "instanceof" => true,
        // A global that may be missing is compared with nothing.
        "===" | "!==" | "==" | "!=" => ![left, right]
            .iter()
            .any(|it| matches!(it.kind(), "undefined" | "null" | "string" | "number" | "unary_expression")),
        _ => false,
    };
    let names: Vec<&str> =
        nodes(node).filter(|it| it.kind() == "identifier").map(|it| source.text_of(it)).collect();
    let is_global = |name: &&str| GLOBALS.contains(name) || (operator == "instanceof" && imports.has(name));
    is_comparison && !names.is_empty() && names.iter().all(is_global)
}

/// Whether an environment variable is one that a runner sets, or one whose name does not show.
fn is_of_runner(source: &ParsedSource<'_>, full: &str, chain: Node<'_>) -> bool {
    let Some(root) = ENVIRONMENT.iter().find(|root| is_below(full, &[**root])) else { return false };
    let member = full[root.len()..].trim_start_matches('.').split('.').next().unwrap_or_default();
    let is_method = matches!(member, "" | "get" | "items" | "keys" | "values" | "copy");
    let name = if is_method {
        nodes(chain)
            .find(|it| it.kind().contains("string") && !it.kind().contains("content"))
            .map(|it| unquoted(source, it).to_string())
    } else {
        Some(member.to_string())
    };
    match name {
        Some(name) => {
            let is_mode = *root == "import.meta.env" && MODES.contains(&name.as_str());
            is_mode || RUNNER_VARIABLES.iter().any(|start| name.starts_with(start))
        }
        // All of them, or one by a name that is computed.
        None => matches!(member, "items" | "keys" | "values") || !arguments(chain).is_empty(),
    }
}

/// Whether a module is an argument or is searched by a name, so that the text does not show which part of it is read.
fn is_handed_on(source: &ParsedSource<'_>, node: Node<'_>) -> bool {
    let Some(outer) = node.parent() else { return false };
    match outer.kind() {
        "argument_list" | "arguments" => {
            let call = outer.parent().and_then(|call| call.child_by_field_name("function"));
            let name = call.map(|it| compact(source, it)).unwrap_or_default();
            ["getattr", "vars", "dir", "hasattr", "Reflect.get", "Reflect.has", "Reflect.ownKeys"]
                .contains(&name.as_str())
                || name.starts_with("Object.")
        }
        "subscript_expression" | "subscript" => starts_with(outer, node),
        _ => false,
    }
}

/// Whether the entry of a program reads its arguments.
fn is_argument_of_program(source: &ParsedSource<'_>, full: &str, node: Node<'_>) -> bool {
    let is_argument =
        is_below(full, &["sys.argv", "process.argv", "std.env.args", "std.env.args_os", "os.Args"]);
    let is_entry = |outer: Node<'_>| {
        outer.kind().contains("function")
            && outer.child_by_field_name("name").is_some_and(|it| ENTRIES.contains(&source.text_of(it)))
    };
    is_argument && std::iter::successors(node.parent(), Node::parent).any(is_entry)
}
