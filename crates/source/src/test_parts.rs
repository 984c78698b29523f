//! The parts of a production file that belong to the side of the tests, and a file composed of the production code of one
//! version and the test parts of another.
//!
//! In Rust these are test-only items and documentation examples, in JavaScript and TypeScript blocks under
//! `import.meta.vitest`.

use crate::attribute::{inner, is_test, is_test_only};
use crate::{Language, ParsedSource};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use tree_sitter::Node;

/// A file composed of two versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComposedFile {
    pub text: String,
    /// Tests that have no place in the production code: the module, type or item around them is gone.
    pub unplaced: Vec<String>,
}

/// Whether a file has a part that belongs to the side of the tests.
pub fn has_test_parts(language: Language, text: &str) -> bool {
    Parts::find(language, text).is_some_and(|parts| !parts.items.is_empty() || !parts.examples.is_empty())
}

/// Whether a whole file is compiled for tests only, by an attribute at its start.
pub fn is_for_tests_only(language: Language, text: &str) -> bool {
    let Some(source) = ParsedSource::parse(language, text).filter(|_| language == Language::Rust) else {
        return false;
    };
    let mut cursor = source.root().walk();
    let mut attributes =
        source.root().named_children(&mut cursor).filter(|child| child.kind() == "inner_attribute_item");
    attributes.any(|attribute| is_test_only(&source.text_of(attribute).replacen("#!", "#", 1)))
}

/// The modules in other files that Rust source declares for tests only: `mod name;` under `#[cfg(test)]`.
pub fn test_modules(text: &str) -> BTreeSet<String> {
    let Some(parts) = Parts::find(Language::Rust, text) else { return BTreeSet::new() };
    let declaration = |item: &Item| item.declares.clone();
    parts.items.iter().filter_map(declaration).collect()
}

/// The production code of `code` with the test parts of `tests`. All test parts of `code` are removed first.
pub fn with_test_parts(language: Language, code: &str, tests: &str) -> ComposedFile {
    let (Some(code_parts), Some(test_parts)) = (Parts::find(language, code), Parts::find(language, tests))
    else {
        return ComposedFile { text: code.to_string(), unplaced: Vec::new() };
    };
    let mut edits = Edits::default();
    let unplaced = [
        edits.exchange_items((code, &code_parts), (tests, &test_parts), language),
        edits.exchange_examples((code, &code_parts), (tests, &test_parts)),
    ];
    ComposedFile { text: edits.apply(code), unplaced: unplaced.concat() }
}

/// The names of the modules and types around an item, outermost first.
type Scope = Vec<String>;

/// Everything in one version of a file that matters for a composition.
struct Parts {
    items: Vec<Item>,
    /// The end of each scope, where further items are inserted.
    scopes: BTreeMap<Scope, usize>,
    /// Documentation with examples, by the item that it describes.
    examples: BTreeMap<Documented, Range<usize>>,
    /// All documentation, with or without examples.
    documents: BTreeMap<Documented, Range<usize>>,
    /// The first byte of each item, with its attributes.
    starts: BTreeMap<Documented, usize>,
}

struct Item {
    scope: Scope,
    range: Range<usize>,
    /// The module in another file that the item declares.
    declares: Option<String>,
}

/// The item that a documentation comment describes; without a name for the file itself.
type Documented = (Scope, String);

impl Parts {
    fn find(language: Language, text: &str) -> Option<Parts> {
        let mut parts = Parts {
            items: Vec::new(),
            scopes: BTreeMap::from([(Scope::new(), text.len())]),
            examples: BTreeMap::new(),
            documents: BTreeMap::new(),
            starts: BTreeMap::new(),
        };
        match language {
            Language::Rust => {
                let source = ParsedSource::parse(language, text)?;
                parts.find_rust(&source, source.root(), &Scope::new());
                parts.examples = parts
                    .documents
                    .iter()
                    .filter(|(_, range)| text.get((*range).clone()).is_some_and(has_example))
                    .map(|(item, range)| (item.clone(), range.clone()))
                    .collect();
            }
            Language::JavaScript | Language::TypeScript | Language::Tsx
                if text.contains("import.meta.vitest") =>
            {
                let source = ParsedSource::parse(language, text)?;
                parts.find_script(&source);
            }
            Language::JavaScript
            | Language::TypeScript
            | Language::Tsx
            | Language::Python
            | Language::Go
            | Language::Java
            | Language::C
            | Language::Cpp
            | Language::Yaml
            | Language::Json
            | Language::Toml => {}
        }
        Some(parts)
    }

    fn find_rust(&mut self, source: &ParsedSource<'_>, node: Node<'_>, scope: &Scope) {
        let mut cursor = node.walk();
        // Attributes and documentation in front of the next item.
        let mut before: Vec<Node<'_>> = Vec::new();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "attribute_item" => before.push(child),
                "line_comment" | "block_comment" => {
                    let text = source.text_of(child);
                    if text.starts_with("//!") || text.starts_with("/*!") {
                        let range =
                            self.documents.entry((scope.clone(), String::new())).or_insert(range(child));
                        range.end = child.end_byte();
                    } else if text.starts_with("///") || text.starts_with("/**") {
                        before.push(child);
                    }
                }
                _ => {
                    self.add_rust_item(source, child, &before, scope);
                    before.clear();
                }
            }
        }
    }

    fn add_rust_item(
        &mut self,
        source: &ParsedSource<'_>,
        item: Node<'_>,
        before: &[Node<'_>],
        scope: &Scope,
    ) {
        let start = before.first().map_or(item.start_byte(), |first| first.start_byte());
        let attributes = || before.iter().filter(|node| node.kind() == "attribute_item");
        let is_for_tests = attributes().any(|attribute| {
            let text = source.text_of(*attribute);
            is_test(&inner(text)) || is_test_only(text)
        });
        let name = item.child_by_field_name("name").map(|name| source.text_of(name).to_string());
        let body = item.child_by_field_name("body");
        if is_for_tests || is_test_module(source, item, name.as_deref()) {
            let is_declaration = item.kind() == "mod_item" && body.is_none();
            let declares = name.clone().filter(|_| is_declaration);
            self.items.push(Item { scope: scope.clone(), range: start..item.end_byte(), declares });
            return;
        }
        let documents: Vec<&Node<'_>> =
            before.iter().filter(|node| node.kind() != "attribute_item").collect();
        let documented = (scope.clone(), named(source, item, name.as_deref()));
        self.starts.entry(documented.clone()).or_insert(start);
        if let (Some(first), Some(last)) = (documents.first(), documents.last()) {
            // An attribute between two comments would be lost.
            let is_apart = attributes()
                .any(|node| range(*node).start > first.start_byte() && range(*node).end < last.end_byte());
            if !is_apart {
                self.documents.entry(documented.clone()).or_insert(first.start_byte()..last.end_byte());
            }
        }
        if let Some(body) = body.filter(|_| matches!(item.kind(), "mod_item" | "impl_item" | "trait_item")) {
            let inside: Scope = scope.iter().cloned().chain([documented.1]).collect();
            self.scopes.entry(inside.clone()).or_insert(body.end_byte().saturating_sub(1));
            self.find_rust(source, body, &inside);
        } else if let Some(body) = body.filter(|_| matches!(item.kind(), "struct_item" | "enum_item")) {
            let inside: Scope = scope.iter().cloned().chain([documented.1]).collect();
            self.find_rust(source, body, &inside);
        }
    }

    fn find_script(&mut self, source: &ParsedSource<'_>) {
        let mut cursor = source.root().walk();
        for child in source.root().named_children(&mut cursor) {
            let condition = child.child_by_field_name("condition").filter(|_| child.kind() == "if_statement");
            if condition.is_some_and(|condition| source.text_of(condition).contains("import.meta.vitest")) {
                self.items.push(Item { scope: Scope::new(), range: range(child), declares: None });
            }
        }
    }
}

/// Replacements of parts of a text.
#[derive(Default)]
struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    /// Replaces the test items of the code, scope by scope, and returns the tests that have no scope in the code.
    fn exchange_items(
        &mut self,
        (code, code_parts): (&str, &Parts),
        (tests, test_parts): (&str, &Parts),
        language: Language,
    ) -> Vec<String> {
        let by_scope = |parts: &Parts| {
            let mut found: BTreeMap<Scope, Vec<Range<usize>>> = BTreeMap::new();
            for item in &parts.items {
                found.entry(item.scope.clone()).or_default().push(item.range.clone());
            }
            found
        };
        let (mut old, new) = (by_scope(code_parts), by_scope(test_parts));
        let mut unplaced = Vec::new();
        for (scope, items) in new {
            let texts: Vec<&str> = items.into_iter().filter_map(|range| tests.get(range)).collect();
            let replaced = old.remove(&scope).unwrap_or_default();
            let Some(end) = code_parts.scopes.get(&scope) else {
                unplaced.extend(texts.iter().flat_map(|text| test_names(language, text)));
                continue;
            };
            if replaced.len() == texts.len() {
                self.0.extend(replaced.into_iter().zip(texts.iter().map(|text| text.to_string())));
                continue;
            }
            // Macros must stay in front of the items that use them, so the order of the tests counts.
            let at = replaced.last().map_or(*end, |last| last.start);
            self.0.extend(replaced.into_iter().map(|range| (range, String::new())));
            let is_at_line_start = code.get(..at).is_some_and(|text| text.is_empty() || text.ends_with('\n'));
            let gap = if is_at_line_start { "" } else { "\n" };
            self.0.push((at..at, format!("{gap}{}\n", texts.join("\n\n"))));
        }
        self.0.extend(old.into_values().flatten().map(|range| (range, String::new())));
        unplaced
    }

    /// Replaces documentation that has examples in either version, and returns the examples whose item is gone.
    fn exchange_examples(
        &mut self,
        (code, code_parts): (&str, &Parts),
        (tests, test_parts): (&str, &Parts),
    ) -> Vec<String> {
        let mut unplaced = Vec::new();
        for (item, range) in &test_parts.examples {
            let text = tests.get(range.clone()).unwrap_or_default();
            let current = code_parts.documents.get(item);
            match (current, code_parts.starts.get(item)) {
                (Some(now), _) if code.get(now.clone()).map(str::trim_end) == Some(text.trim_end()) => {}
                (Some(now), _) => {
                    let end = code.get(now.clone()).filter(|now| now.ends_with('\n')).map_or("", |_| "\n");
                    self.0.push((now.clone(), format!("{}{end}", text.trim_end())));
                }
                (None, Some(start)) => self.0.push((*start..*start, format!("{}\n", text.trim_end()))),
                (None, None) if item.1.is_empty() && item.0.is_empty() => {
                    self.0.push((0..0, format!("{}\n", text.trim_end())));
                }
                (None, None) => {
                    unplaced.push(item.0.iter().chain([&item.1]).cloned().collect::<Vec<_>>().join("::"))
                }
            }
        }
        // Examples that only the code has are not among the tests.
        for (item, range) in
            code_parts.examples.iter().filter(|(item, _)| !test_parts.examples.contains_key(*item))
        {
            let text = match test_parts.documents.get(item) {
                Some(before) => tests.get(before.clone()).unwrap_or_default().trim_end().to_string(),
                None => String::new(),
            };
            let end = if text.is_empty() { "" } else { "\n" };
            self.0.push((range.clone(), format!("{text}{end}")));
        }
        unplaced
    }

    /// Applies the edits. Of edits that overlap, the first one counts.
    fn apply(mut self, code: &str) -> String {
        self.0.sort_by_key(|(range, _)| (range.start, range.end));
        let mut text = String::with_capacity(code.len());
        let mut at = 0;
        for (range, replacement) in self.0 {
            if range.start < at {
                continue;
            }
            text.push_str(code.get(at..range.start).unwrap_or_default());
            text.push_str(&replacement);
            at = range.end;
        }
        text.push_str(code.get(at..).unwrap_or_default());
        text
    }
}

/// Whether an item is a module with tests and a name for tests, without `#[cfg(test)]`.
fn is_test_module(source: &ParsedSource<'_>, item: Node<'_>, name: Option<&str>) -> bool {
    let is_named = item.kind() == "mod_item" && name.is_some_and(|name| name.starts_with("test"));
    let has_test = |body: Node<'_>| {
        let mut cursor = body.walk();
        let mut attributes =
            body.named_children(&mut cursor).filter(|child| child.kind() == "attribute_item");
        attributes.any(|attribute| is_test(&inner(source.text_of(attribute))))
    };
    is_named && item.child_by_field_name("body").is_some_and(has_test)
}

/// What identifies an item in its scope: its kind and its name, or the head of an `impl`.
fn named(source: &ParsedSource<'_>, item: Node<'_>, name: Option<&str>) -> String {
    match (item.kind(), name) {
        ("impl_item", _) => {
            let end = item.child_by_field_name("body").map_or(item.end_byte(), |body| body.start_byte());
            source.slice(item.start_byte(), end).split_whitespace().collect::<Vec<_>>().join(" ")
        }
        (_, Some(name)) => name.to_string(),
        (kind, None) => format!("{kind} {}", source.text_of(item)),
    }
}

/// The names of the tests in a part of a file; the start of the part if it has none.
fn test_names(language: Language, text: &str) -> Vec<String> {
    let tests = ParsedSource::parse(language, text).map(|source| source.tests()).unwrap_or_default();
    tests.iter().map(|test| test.path.join("::")).collect()
}

/// Whether documentation contains an example.
fn has_example(text: &str) -> bool {
    text.contains("```") || text.contains("~~~")
}

fn range(node: Node<'_>) -> Range<usize> {
    node.byte_range()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn composed(code: &str, tests: &str) -> String {
        let composed = with_test_parts(Language::Rust, code, tests);
        assert_eq!(composed.unplaced, Vec::<String>::new());
        composed.text
    }

    const BASE: &str = "pub fn a() -> u8 {\n    1\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() { assert_eq!(super::a(), 2); }\n}\n";

    // TE-02
    #[test]
    fn test_only_items_of_any_kind_are_test_parts() {
        for text in [
            "#[cfg(test)]\nuse std::mem;\n",
            "#[cfg(test)]\nmacro_rules! assert_eq { ($a:expr, $b:expr) => {} }\n",
            "#[cfg(all(test, unix))]\nfn helper() {}\n",
            "#[tokio::test]\nasync fn t() {}\n",
            "struct A;\nimpl A {\n    #[cfg(test)]\n    fn hidden(&self) {}\n}\n",
            "mod tests {\n    #[test]\n    fn t() {}\n}\n",
            "/// ```\n/// demo::a();\n/// ```\npub fn a() {}\n",
            "//! ```\n//! demo::a();\n//! ```\n",
        ] {
            assert!(has_test_parts(Language::Rust, text), "{text}");
        }
        for text in [
            "#[cfg(not(test))]\nfn a() {}\n",
            "fn a() { if cfg!(test) {} }\n",
            "/// Plain words.\npub fn a() {}\n",
            "mod testing { pub fn helper() {} }\n",
        ] {
            assert!(!has_test_parts(Language::Rust, text), "{text}");
        }
        assert!(has_test_parts(Language::TypeScript, "if (import.meta.vitest) { it('a', () => {}) }\n"));
        assert!(!has_test_parts(Language::Python, "def test_a():\n    pass\n"));
        assert!(is_for_tests_only(Language::Rust, "#![cfg(test)]\nfn a() {}\n"));
        assert!(!is_for_tests_only(Language::Rust, "#![allow(dead_code)]\n#[cfg(test)]\nmod a;\n"));
        assert_eq!(test_modules("#[cfg(test)]\nmod a;\nmod b;\n"), BTreeSet::from(["a".to_string()]));
    }

    // TE-01
    #[test]
    fn tests_of_one_version_replace_those_of_the_other() {
        let head = BASE.replace("    1\n", "    3\n").replace("2);", "3);");
        assert_eq!(composed(&head, BASE), BASE.replace("    1\n", "    3\n"));
        let redefined =
            format!("#[cfg(test)]\nmacro_rules! assert_eq {{ ($a:expr, $b:expr) => {{}} }}\n{BASE}");
        assert_eq!(composed(&redefined, BASE).trim(), BASE.trim());
        assert_eq!(composed("pub fn a() -> u8 {\n    1\n}\n\n", BASE).trim(), BASE.trim());
        assert_eq!(
            composed(BASE, "pub fn a() -> u8 {\n    1\n}\n").trim_end(),
            "pub fn a() -> u8 {\n    1\n}"
        );
    }

    // TE-01
    #[test]
    fn items_return_to_the_module_or_type_around_them() {
        let base = "mod m {\n    pub fn a() {}\n    #[test]\n    fn t() {}\n}\nstruct S;\nimpl S {\n    #[cfg(test)]\n    fn h(&self) {}\n}\n";
        let head = "mod m {\n    pub fn a() { work() }\n}\nstruct S;\nimpl S {\n    fn new() {}\n}\n";
        let text = composed(head, base);
        assert!(text.contains("pub fn a() { work() }\n#[test]\n    fn t() {}"), "{text}");
        assert!(text.contains("fn new() {}\n#[cfg(test)]\n    fn h(&self) {}"), "{text}");
        let gone = with_test_parts(Language::Rust, "struct S;\n", base);
        assert_eq!(gone.unplaced, ["t"]);
    }

    // TE-01
    #[test]
    fn examples_in_documentation_are_tests() {
        let base = "/// Adds.\n/// ```\n/// assert_eq!(demo::a(), 2);\n/// ```\n#[must_use]\npub fn a() -> u8 {\n    1\n}\n";
        let head = "/// Adds.\n/// ```ignore\n/// assert_eq!(demo::a(), 2);\n/// ```\n#[must_use]\npub fn a() -> u8 {\n    3\n}\n";
        assert_eq!(composed(head, base), base.replace("    1\n", "    3\n"));
        let bare = "#[must_use]\npub fn a() -> u8 {\n    3\n}\n";
        assert_eq!(composed(bare, base), base.replace("    1\n", "    3\n"));
        assert_eq!(with_test_parts(Language::Rust, "pub fn b() {}\n", base).unplaced, ["a"]);
        // A new example belongs to the new tests.
        let more = format!("{base}/// ```\n/// demo::b();\n/// ```\npub fn b() {{}}\n");
        assert_eq!(composed(&more, base), format!("{base}pub fn b() {{}}\n"));
    }

    // TE-01
    #[test]
    fn blocks_of_vitest_are_exchanged_in_scripts() {
        let file = |value: u8, expected: u8| {
            format!(
                "export const a = () => {value};\nif (import.meta.vitest) {{\n  it('a', () => expect(a()).toBe({expected}));\n}}\n"
            )
        };
        let composed = with_test_parts(Language::TypeScript, &file(3, 3), &file(1, 2));
        assert_eq!(composed.text, file(3, 2));
    }
}
