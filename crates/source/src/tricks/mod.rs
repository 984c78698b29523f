//! Tricks by which tests say yes without the work: redefined assertions, replaced subjects, ended processes, and code that
//! looks whether it is being tested.
//!
//! Syntax alone decides, so each trick has an honest twin that must pass: a new matcher, a patched clock, a test module. What
//! a file contained before the change is not new.

mod ambient;
mod choices;
mod equality;
mod foreign;
mod go;
mod literals;
mod looks;
mod python;
mod rust;
mod script;
mod values;

#[cfg(test)]
mod production_tests;
#[cfg(test)]
mod tricks_tests;

use crate::{Language, ParsedSource};
use ambient::Imports;
pub use literals::new_literals;
use std::collections::{BTreeMap, BTreeSet};
use tree_sitter::Node;

/// Assertions of Python's `unittest`, and what reports their failures.
const PYTHON_ASSERTIONS: [&str; 34] = [
    "assertEqual",
    "assertNotEqual",
    "assertTrue",
    "assertFalse",
    "assertIs",
    "assertIsNot",
    "assertIsNone",
    "assertIsNotNone",
    "assertIn",
    "assertNotIn",
    "assertIsInstance",
    "assertRaises",
    "assertRaisesRegex",
    "assertWarns",
    "assertLogs",
    "assertAlmostEqual",
    "assertGreater",
    "assertGreaterEqual",
    "assertLess",
    "assertLessEqual",
    "assertRegex",
    "assertCountEqual",
    "assertMultiLineEqual",
    "assertSequenceEqual",
    "assertListEqual",
    "assertTupleEqual",
    "assertSetEqual",
    "assertDictEqual",
    "failureException",
    "addFailure",
    "addError",
    "wasSuccessful",
    "AssertionError",
    "_baseAssertEqual",
];

/// A trick in source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trick {
    pub kind: TrickKind,
    /// From 1.
    pub line: usize,
    /// The name or expression that the trick is about.
    pub subject: String,
    /// How else people may call it.
    pub names: Vec<String>,
}

/// What a trick does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrickKind {
    /// Defines an assertion, a matcher or a function of the test runner anew.
    RedefinesAssertion,
    /// Defines what the tests are about anew, next to the tests.
    ReplacesSubject,
    /// Patches what the tests are about.
    PatchesSubject,
    /// Ends the process, or handles its end, while tests run.
    EndsProcess,
    /// Makes every comparison equal.
    AlwaysEqual,
    /// Makes values equal that differ.
    LoosensEquality,
    /// Adds a hook that decides which tests run.
    HooksRunner,
    /// Looks whether the code is being tested.
    LooksForTests,
    /// Lets something around the program decide what a function that existed before does.
    ChoosesBySurroundings,
    /// Replaces a part of another module, for the tests too.
    ReplacesForeign,
    /// Names data of the tests.
    NamesTestData,
}

/// What a file contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSide {
    Tests,
    /// Production code; it may contain tests.
    Production,
    /// Production code that is the root of a program.
    Program,
}

/// The tricks that a change brings into a file, in order of lines. Functions that existed before use the names in `in_use` from
/// other files.
pub fn new_tricks(
    language: Language,
    side: FileSide,
    before: &str,
    after: &str,
    in_use: &BTreeSet<String>,
) -> Vec<Trick> {
    let parse = |text| ParsedSource::parse(language, text);
    let (Some(before), Some(after)) = (parse(before), parse(after)) else { return Vec::new() };
    let mut functions = choices::function_names(&before);
    functions.extend(in_use.iter().cloned());
    let mut known: BTreeMap<(TrickKind, String), usize> = BTreeMap::new();
    for trick in tricks(&before, side, &functions) {
        *known.entry((trick.kind, trick.subject)).or_default() += 1;
    }
    let mut found = tricks(&after, side, &functions);
    found.extend(replaced_imports(&before, &after));
    found.retain(|trick| match known.get_mut(&(trick.kind, trick.subject.clone())) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        Some(_) | None => true,
    });
    found.sort_by_key(|trick| trick.line);
    found
}

/// A changed file with production code.
#[derive(Clone, Copy, Debug)]
pub struct ChangedCode<'t> {
    pub path: &'t str,
    pub language: Language,
    pub before: &'t str,
    pub after: &'t str,
}

/// The names that functions which existed before use from each changed file, by its path.
pub fn names_in_use<'t>(changed: &[ChangedCode<'t>]) -> BTreeMap<&'t str, BTreeSet<String>> {
    let parsed: Vec<(&ChangedCode<'t>, ParsedSource<'t>, BTreeSet<String>)> = changed
        .iter()
        .filter_map(|file| {
            let before = ParsedSource::parse(file.language, file.before)?;
            Some((file, ParsedSource::parse(file.language, file.after)?, choices::function_names(&before)))
        })
        .collect();
    let files: Vec<&ChangedCode<'t>> = parsed.iter().map(|(file, _, _)| *file).collect();
    let (modules, packages) = places(&files);
    let known_files: Vec<BTreeSet<&str>> =
        files.iter().map(|user| known_files(user, &modules, &packages)).collect();
    let mut in_use: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut judged: Vec<usize> = vec![0; parsed.len()];
    // A file may hand names on to another one, and that to the next; in each round by one file.
    for _ in 0..3 {
        let earlier = in_use.clone();
        for (at, (user, source, functions)) in parsed.iter().enumerate() {
            let mut known = functions.clone();
            known.extend(earlier.get(user.path).into_iter().flatten().cloned());
            if known.len() == judged[at] || known_files[at].is_empty() {
                continue;
            }
            judged[at] = known.len();
            let used = choices::used_names(source, &known);
            for file in &known_files[at] {
                in_use.entry(file).or_default().extend(used.iter().cloned());
            }
        }
    }
    in_use
}

type PathsByPlace<'t> = BTreeMap<&'t str, Vec<&'t str>>;

/// The files by the name of their module, and those of Go by their folder.
fn places<'t>(files: &[&ChangedCode<'t>]) -> (PathsByPlace<'t>, PathsByPlace<'t>) {
    let (mut modules, mut packages) = (PathsByPlace::new(), PathsByPlace::new());
    for file in files {
        let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", file.path));
        let module = match name.split('.').next().unwrap_or_default() {
            "mod" | "index" | "__init__" => folder.rsplit('/').next().unwrap_or_default(),
            stem => stem,
        };
        modules.entry(module).or_default().push(file.path);
        if file.language == Language::Go {
            packages.entry(folder).or_default().push(file.path);
        }
    }
    (modules, packages)
}

/// The other files whose definitions a file may use: it names them, or belongs to the same package.
fn known_files<'t>(
    user: &ChangedCode<'t>,
    modules: &PathsByPlace<'t>,
    packages: &PathsByPlace<'t>,
) -> BTreeSet<&'t str> {
    let words = user.after.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
    let words: BTreeSet<&str> = words.collect();
    let folder = user.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let named = words.iter().filter_map(|word| modules.get(word));
    let all = named.chain(packages.get(folder)).flatten();
    all.copied().filter(|path| *path != user.path).collect()
}

/// The tricks of a file; `known` functions existed before the change.
fn tricks(source: &ParsedSource<'_>, side: FileSide, known: &BTreeSet<String>) -> Vec<Trick> {
    let test_code = source.test_code();
    let is_test = |node: Node<'_>| {
        side == FileSide::Tests
            || test_code.iter().any(|range| range.start <= node.start_byte() && node.end_byte() <= range.end)
    };
    let asserted = asserted_names(source);
    let imports = Imports::of(source);
    let mut found: Vec<Trick> = Vec::new();
    for node in nodes(source.root()) {
        let trick = match (source.language(), is_test(node)) {
            (Language::Rust, true) => rust::in_tests(source, node),
            (Language::Python, true) => python::in_tests(source, node, &asserted),
            (Language::JavaScript | Language::TypeScript | Language::Tsx, true) => {
                script::in_tests(source, node, &asserted)
            }
            (Language::Go, true) => go::in_tests(source, node),
            (_, false) => looks::in_production(source, node)
                .or_else(|| foreign::in_production(source, &imports, side, node)),
            (_, true) => None,
        };
        let trick = trick.or_else(|| equality::loose(source, node));
        let Some((kind, subject)) = trick else { continue };
        // The parts of an expression say the same as the whole.
        let is_known = |known: &Trick| known.kind == kind && known.line == line(node);
        if kind != TrickKind::LooksForTests || !found.last().is_some_and(is_known) {
            found.push(Trick { kind, line: line(node), names: vec![subject.clone()], subject });
        }
    }
    if side != FileSide::Tests {
        let lines: BTreeSet<usize> = found.iter().map(|trick| trick.line).collect();
        let choices = choices::choices(source, &imports, known, is_test);
        found.extend(choices.into_iter().filter(|choice| !lines.contains(&choice.line)));
    }
    found
}

/// What the tests imported before, and define themselves now.
fn replaced_imports(before: &ParsedSource<'_>, after: &ParsedSource<'_>) -> Vec<Trick> {
    let imported: BTreeSet<String> =
        nodes(before.root()).flat_map(|node| imported_names(before, node)).collect();
    let used = asserted_names(after);
    let replaces = |node: Node<'_>| {
        let name = defined_name(after, node)?;
        (imported.contains(&name) && used.contains(&name)).then(|| Trick {
            kind: TrickKind::ReplacesSubject,
            line: line(node),
            names: vec![name.clone()],
            subject: name,
        })
    };
    nodes(after.root()).filter_map(replaces).collect()
}

/// The names that an import brings in.
fn imported_names(source: &ParsedSource<'_>, node: Node<'_>) -> Vec<String> {
    let is_import = match source.language() {
        Language::Rust => node.kind() == "use_declaration",
        Language::Python => node.kind() == "import_from_statement",
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            node.kind() == "import_statement"
                || (node.kind() == "variable_declarator"
                    && node.child_by_field_name("value").is_some_and(|value| {
                        let text = source.text_of(value);
                        text.starts_with("require(") || text.starts_with("await import(")
                    }))
        }
        _ => false,
    };
    if !is_import {
        return Vec::new();
    }
    let is_name = |inner: &Node<'_>| {
        matches!(inner.kind(), "identifier" | "type_identifier" | "shorthand_property_identifier_pattern")
    };
    nodes(node).filter(is_name).map(|inner| source.text_of(inner).to_string()).collect()
}

/// The name that a node defines with a body or value of its own.
fn defined_name(source: &ParsedSource<'_>, node: Node<'_>) -> Option<String> {
    let is_definition = match node.kind() {
        "function_item"
        | "function_definition"
        | "class_definition"
        | "function_declaration"
        | "class_declaration"
        | "struct_item" => true,
        "variable_declarator" => node.child_by_field_name("value").is_some_and(|value| {
            matches!(value.kind(), "arrow_function" | "function_expression" | "class" | "object")
        }),
        // In Python, a name that is bound to a lambda is a function.
        "assignment" => node.child_by_field_name("right").is_some_and(|right| right.kind() == "lambda"),
        _ => false,
    };
    let name = node.child_by_field_name("name").or_else(|| node.child_by_field_name("left"))?;
    is_definition.then(|| source.text_of(name).to_string())
}

/// The functions that assertions call.
fn asserted_names(source: &ParsedSource<'_>) -> BTreeSet<String> {
    let tests = source.tests();
    let tokens = tests.iter().flat_map(|test| &test.tokens);
    let all: Vec<&String> = tokens.collect();
    all.windows(2).filter(|pair| pair[1] == "(").map(|pair| pair[0].clone()).collect()
}

/// A node and everything inside it, in order.
fn nodes(root: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut pending = vec![root];
    std::iter::from_fn(move || {
        let node = pending.pop()?;
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        pending.extend(children.into_iter().rev());
        Some(node)
    })
}

/// The text of a node without white space.
fn compact(source: &ParsedSource<'_>, node: Node<'_>) -> String {
    source.text_of(node).split_whitespace().collect()
}

/// A string literal without quotes.
fn unquoted<'s>(source: &ParsedSource<'s>, node: Node<'_>) -> &'s str {
    source.text_of(node).trim_start_matches(['b', 'f', 'r', 'u']).trim_matches(['"', '\'', '`'])
}

/// The arguments of a call.
fn arguments<'t>(call: Node<'t>) -> Vec<Node<'t>> {
    let Some(arguments) = call.child_by_field_name("arguments") else { return Vec::new() };
    let mut cursor = arguments.walk();
    arguments.named_children(&mut cursor).collect()
}

fn line(node: Node<'_>) -> usize {
    node.start_position().row + 1
}
