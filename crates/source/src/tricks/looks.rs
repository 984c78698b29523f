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
/// Variables that show a build script whether it builds for tests or for a release.
const BUILD_VARIABLES: [&str; 3] = ["PROFILE", "OPT_LEVEL", "CARGO_CFG_DEBUG_ASSERTIONS"];
/// Modules of Python that are loaded only while tests run.
const MODULES: [&str; 7] = ["unittest", "pytest", "_pytest", "nose", "nose2", "doctest", "xdist"];
/// Globals that exist only while JavaScript tests run.
const GLOBALS: [&str; 8] = ["jest", "vi", "describe", "it", "test", "expect", "beforeEach", "afterEach"];

/// Names of test runners, as parts of words.
const RUNNERS: [&str; 9] =
    ["pytest", "unittest", "vitest", "jest", "mocha", "jasmine", "nextest", "libtest", "node_test"];

/// What tells apart a process of a test runner whatever it is compared with.
const STRICT: [&str; 14] = [
    "thread::current().name",
    "Backtrace::",
    "env::vars",
    "extract_stack",
    "walk_stack",
    "format_stack",
    "currentframe",
    "inspect.stack",
    "_getframe",
    "get_objects",
    "__main__",
    "newError().stack",
    "Error().stack",
    "captureStackTrace",
];

/// Parts of the process that tell it apart if they are compared with a name.
const LOOSE: [&str; 14] = [
    "env::args",
    "current_dir",
    "Path::new(",
    "fs::metadata",
    "sys.argv",
    "orig_argv",
    "getcwd",
    "os.path.",
    "Path(",
    "process.argv",
    "process.execArgv",
    "process.cwd",
    "process.title",
    "existsSync",
];

/// Words that a name of a test file, folder or program has.
const TEST_WORDS: [&str; 6] = ["test", "tests", "spec", "specs", "deps", "__tests__"];

/// The sign that a node looks for.
pub fn in_production(source: &ParsedSource<'_>, node: Node<'_>) -> Option<(TrickKind, String)> {
    let sign = match source.language() {
        Language::Rust => rust(source, node),
        Language::Python => python(source, node),
        Language::JavaScript | Language::TypeScript | Language::Tsx => script(source, node),
        Language::Go => go(source, node),
        _ => None,
    };
    let sign = sign.or_else(|| variable(source, node)).or_else(|| surroundings(source, node))?;
    Some((TrickKind::LooksForTests, sign))
}

/// A part of the process that code compares with something, and that differs under a test runner.
fn surroundings(source: &ParsedSource<'_>, node: Node<'_>) -> Option<String> {
    if !is_reading(node) || !is_compared(source, node) {
        return None;
    }
    let text = compact(source, node).replace('\'', "\"");
    let strict = STRICT.iter().find(|part| text.contains(*part));
    if let Some(part) = strict {
        return Some((*part).trim_end_matches(':').to_string());
    }
    if enumerates(source, node) {
        return Some("all variables or modules".to_string());
    }
    let is_loose = LOOSE.iter().any(|part| text.contains(part));
    let outer = comparison(source, node)?;
    let word = nodes(outer).find_map(|inner| {
        let text = literal(source, inner)?.to_lowercase();
        let is_word = text
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| TEST_WORDS.contains(&word) || RUNNERS.iter().any(|name| word.contains(name)));
        is_word.then_some(text)
    });
    word.filter(|_| is_loose)
}

/// Whether a node is the outermost part of an expression that reads something.
fn is_reading(node: Node<'_>) -> bool {
    let is_read = |kind: &str| {
        matches!(
            kind,
            "call_expression"
                | "call"
                | "member_expression"
                | "attribute"
                | "subscript"
                | "subscript_expression"
                | "field_expression"
                | "list_comprehension"
                | "generator_expression"
        )
    };
    is_read(node.kind()) && !node.parent().is_some_and(|outer| is_read(outer.kind()))
}

/// The expression that compares a node with something, or branches on it.
fn comparison<'t>(source: &ParsedSource<'_>, node: Node<'t>) -> Option<Node<'t>> {
    const ASKING: [&str; 12] = [
        "contains",
        "includes",
        "some",
        "any",
        "startswith",
        "endswith",
        "starts_with",
        "ends_with",
        "is_some_and",
        "is_some",
        "startsWith",
        "endsWith",
    ];
    let mut inner = node;
    for outer in std::iter::successors(Some(node), Node::parent).take(8) {
        let is_branch = match outer.kind() {
            "if_expression"
            | "if_statement"
            | "while_statement"
            | "conditional_expression"
            | "ternary_expression" => {
                // The condition counts, and not what depends on it.
                outer.child_by_field_name("condition").is_some_and(|it| it == inner)
                    || (outer.kind() == "conditional_expression" && outer.named_child(1) == Some(inner))
            }
            "match_expression" => outer.child_by_field_name("value") == Some(inner),
            "binary_expression" | "comparison_operator" | "boolean_operator" | "let_condition" => true,
            "call_expression" | "call" => {
                let function = outer.child_by_field_name("function").map(|it| compact(source, it));
                let name = function.unwrap_or_default();
                let asks = name.rsplit(['.', ':']).next().is_some_and(|last| ASKING.contains(&last));
                asks || ["is_dir", "is_file", "exists", "existsSync", "isdir", "isfile"]
                    .iter()
                    .any(|end| name.ends_with(end))
            }
            "block" | "statement_block" | "function_item" | "function_definition" | "module" | "program" => {
                return None;
            }
            _ => false,
        };
        if is_branch {
            return Some(outer);
        }
        inner = outer;
    }
    None
}

fn is_compared(source: &ParsedSource<'_>, node: Node<'_>) -> bool {
    comparison(source, node).is_some()
}

/// Whether an expression goes through all variables or loaded modules.
fn enumerates(source: &ParsedSource<'_>, node: Node<'_>) -> bool {
    let text = compact(source, node);
    ["insys.modules", "inos.environ", "Object.keys(process.env)", "Object.entries(process.env)"].iter().any(
        |part| {
            text.match_indices(part).any(|(at, part)| {
                // One module or variable by its name is no enumeration.
                let after = text[at + part.len()..].chars().next();
                !matches!(after, Some('[' | '.')) || text[at + part.len()..].starts_with(".items()")
            })
        },
    ) && text.contains("for")
        || text.contains("Object.keys(process.env)")
        || text.contains("Object.entries(process.env)")
}

/// The text of a literal, or of literals that are joined.
fn literal(source: &ParsedSource<'_>, node: Node<'_>) -> Option<String> {
    match node.kind() {
        "string"
        | "string_literal"
        | "interpreted_string_literal"
        | "raw_string_literal"
        | "template_string" => Some(unquoted(source, node).to_string()),
        "binary_operator" | "binary_expression" => {
            let operator = node.child_by_field_name("operator").map(|it| source.text_of(it));
            let part = |name| literal(source, node.child_by_field_name(name)?);
            (operator == Some("+")).then(|| Some(part("left")? + &part("right")?))?
        }
        "concatenated_string" => {
            let mut cursor = node.walk();
            node.named_children(&mut cursor).map(|part| literal(source, part)).collect()
        }
        "macro_invocation" if source.text_of(node).starts_with("concat!") => {
            let parts = nodes(node).filter(|inner| inner.kind() == "string_literal");
            Some(parts.map(|part| unquoted(source, part)).collect())
        }
        _ => None,
    }
}

/// A variable of a test runner, as text or as a property.
fn variable(source: &ParsedSource<'_>, node: Node<'_>) -> Option<String> {
    let name = match node.kind() {
        "property_identifier" => source.text_of(node).to_string(),
        _ => literal(source, node)?,
    };
    let is_joined = !matches!(
        node.kind(),
        "string"
            | "string_literal"
            | "interpreted_string_literal"
            | "raw_string_literal"
            | "property_identifier"
    );
    let is_part = node.parent().is_some_and(|outer| literal(source, outer).is_some());
    // Nobody joins the name of a runner from parts except to hide it.
    let is_hidden = is_joined
        && node.kind() != "template_string"
        && RUNNERS.iter().any(|runner| name.to_lowercase().contains(runner));
    // A global that a runner leaves for its own use.
    let is_internal =
        name.starts_with("__vitest") || name.starts_with("__jest") || name.starts_with("__mocha");
    let is_known = VARIABLES.contains(&name.as_str()) || is_cargo_variable(source, node, &name);
    (!is_part && (is_known || is_hidden || is_internal)).then_some(name)
}

/// Whether a running program asks for a variable that cargo sets for tests. What a compiler or a build script reads is
/// another thing.
fn is_cargo_variable(source: &ParsedSource<'_>, node: Node<'_>, name: &str) -> bool {
    let asks = || {
        node.parent().and_then(|arguments| arguments.parent()).is_some_and(|call| {
            call.kind() == "call_expression" && compact(source, call).contains("env::var")
        })
    };
    let starts = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_EXE_", "CARGO_CRATE_"];
    let is_known = BUILD_VARIABLES.contains(&name) || starts.iter().any(|start| name.starts_with(start));
    source.language() == Language::Rust && is_known && asks()
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
            if let Some(name) = text.strip_suffix("inglobalThis").or_else(|| text.strip_suffix("inglobal")) {
                let name = name.trim_matches('"');
                if GLOBALS.contains(&name) {
                    return Some(format!("the global {name}"));
                }
            }
            let is_mode = text.contains("NODE_ENV") || text.contains("import.meta.env");
            if is_mode && text.contains("\"test\"") && !has_inner_comparison(source, node) {
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
            && (source.text_of(inner).contains("NODE_ENV") || source.text_of(inner).contains("import.meta"))
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
