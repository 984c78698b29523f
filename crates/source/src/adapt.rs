//! Old test files adapted to code of which names changed. Without this, one missing name would hide what the other tests of
//! the file show.

use crate::{Language, ParsedSource};
use std::collections::BTreeSet;
use std::ops::Range;
use tree_sitter::Node;

/// Names that differ between two versions of production code: `T` is what is known about each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherNames<T> {
    /// Functions, types and constants.
    pub definitions: T,
    /// Source files, by the name under which code imports them.
    pub files: T,
}

/// A text with other names in place of its identifiers, also in paths and in documentation. Other text in quotes stays.
pub fn with_renamed(language: Language, text: &str, names: &OtherNames<Vec<(String, String)>>) -> String {
    let is_empty = names.definitions.is_empty() && names.files.is_empty();
    let Some(source) = ParsedSource::parse(language, text).filter(|_| !is_empty) else {
        return text.to_string();
    };
    let renamed = |list: &[(String, String)], name: &str| {
        list.iter().find(|(old, _)| old == name).map(|(_, new)| new.clone())
    };
    let mut edits = Edits::default();
    let mut pending = vec![source.root()];
    while let Some(node) = pending.pop() {
        let (kind, content) = (node.kind(), source.text_of(node));
        if kind.contains("string") && is_path(content) {
            edits.replace(node, content, |text| {
                with_parts(text, |part, is_last| {
                    let is_definition = is_last && !text.contains('/');
                    let definition = renamed(&names.definitions, part).filter(|_| is_definition);
                    definition.or_else(|| renamed(&names.files, part).filter(|_| !is_definition))
                })
            });
        } else if kind.contains("comment") && is_documentation(content) {
            edits.replace(node, content, |text| {
                let all = names.definitions.iter().chain(&names.files);
                all.fold(text.to_string(), |text, (old, new)| replace_word(&text, old, new))
            });
        } else if node.child_count() == 0 {
            let rest = text.get(node.end_byte()..).unwrap_or_default();
            // A module may have the name of a function in it.
            let is_module = content.starts_with(|c: char| !c.is_uppercase())
                && (rest.starts_with("::") || rest.starts_with('.') || is_imported_module(node));
            let definition = renamed(&names.definitions, content).filter(|_| !is_module && !is_defined(node));
            let new = definition.or_else(|| renamed(&names.files, content));
            edits.0.extend(new.filter(|_| kind.contains("identifier")).map(|new| (node.byte_range(), new)));
        } else {
            let mut cursor = node.walk();
            pending.extend(node.children(&mut cursor));
        }
    }
    edits.apply(text)
}

/// Whether a name is that of a function that the file defines, such as a test.
fn is_defined(node: Node<'_>) -> bool {
    node.parent().is_some_and(|parent| {
        parent.kind().contains("function")
            && parent.child_by_field_name("name").is_some_and(|name| name == node)
    })
}

/// Whether a name in Python is a part of the path of an imported module.
fn is_imported_module(node: Node<'_>) -> bool {
    let Some(path) = node.parent().filter(|parent| parent.kind() == "dotted_name") else { return false };
    let Some(statement) = path.parent() else { return false };
    statement.kind() == "import_statement"
        || statement.child_by_field_name("module_name").is_some_and(|module| module == path)
}

/// A text that no longer imports names that are gone.
pub fn without_imports(language: Language, text: &str, names: &OtherNames<BTreeSet<String>>) -> String {
    let is_empty = names.definitions.is_empty() && names.files.is_empty();
    let Some(source) = ParsedSource::parse(language, text).filter(|_| !is_empty) else {
        return text.to_string();
    };
    let imports = Imports { source: &source, names };
    let mut edits = Edits::default();
    let mut pending = vec![source.root()];
    while let Some(node) = pending.pop() {
        let rest = match (language, node.kind()) {
            (Language::Rust, "use_declaration") => imports.rust(node),
            (Language::Python, "import_from_statement" | "import_statement") => imports.python(node),
            (Language::JavaScript | Language::TypeScript | Language::Tsx, "import_statement") => {
                imports.script(node)
            }
            _ => {
                let mut cursor = node.walk();
                pending.extend(node.named_children(&mut cursor));
                continue;
            }
        };
        edits.replace(node, source.text_of(node), |_| rest.clone());
    }
    edits.apply(text)
}

/// A text in which the tests at these lines fail at once, so that their bodies need not compile. `None` if a line is
/// outside the bodies of tests, or if the language has no form for this.
pub fn with_failing_tests(
    language: Language,
    text: &str,
    lines: &BTreeSet<usize>,
) -> Option<(String, Vec<Vec<String>>)> {
    let source = ParsedSource::parse(language, text).filter(|_| language == Language::Rust)?;
    let line_of = |byte: usize| text.get(..byte).unwrap_or_default().matches('\n').count() + 1;
    let tests: Vec<(Vec<String>, Range<usize>)> = source.tests_with_bodies();
    let mut edits = Edits::default();
    let mut failing = Vec::new();
    for line in lines {
        let holds = |body: &Range<usize>| (line_of(body.start)..=line_of(body.end)).contains(line);
        let (path, body) = tests.iter().find(|(_, body)| holds(body))?;
        if !failing.contains(path) {
            failing.push(path.clone());
            edits.0.push((body.clone(), "{ panic!(\"it does not compile with the new code\") }".to_string()));
        }
    }
    Some((edits.apply(text), failing))
}

/// Import statements without names that no longer exist. Each method returns the statement that is left.
struct Imports<'i, 't> {
    source: &'i ParsedSource<'t>,
    names: &'i OtherNames<BTreeSet<String>>,
}

impl Imports<'_, '_> {
    fn is_gone(&self, name: &str) -> bool {
        self.names.definitions.contains(name) || self.names.files.contains(name)
    }

    /// Whether a path leads through a file or a type that is gone.
    fn leads_nowhere(&self, path: &str) -> bool {
        let mut parts = path
            .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
            .filter(|part| !part.is_empty());
        let is_type =
            |part: &str| part.starts_with(char::is_uppercase) && self.names.definitions.contains(part);
        parts.any(|part| self.names.files.contains(part) || is_type(part))
    }

    /// Whether a path leads to a name that is gone.
    fn ends_nowhere(&self, path: &str) -> bool {
        let last = path.rsplit([':', '.', '/']).next().unwrap_or(path);
        self.leads_nowhere(path) || self.is_gone(last)
    }

    fn rust(&self, node: Node<'_>) -> String {
        let tree = node.child_by_field_name("argument").and_then(|tree| self.rust_tree(tree));
        let head = self.source.text_of(node).split("use").next().unwrap_or_default();
        tree.map_or_else(String::new, |tree| format!("{head}use {tree};"))
    }

    fn rust_tree(&self, node: Node<'_>) -> Option<String> {
        let text = self.source.text_of(node).to_string();
        let path = node.child_by_field_name("path").map(|path| self.source.text_of(path));
        let is_path_gone = path.is_some_and(|path| self.leads_nowhere(path));
        match node.kind() {
            "identifier" => (!self.is_gone(&text)).then_some(text),
            "use_list" => {
                let mut cursor = node.walk();
                let kept: Vec<String> =
                    node.named_children(&mut cursor).filter_map(|child| self.rust_tree(child)).collect();
                (!kept.is_empty()).then(|| format!("{{{}}}", kept.join(", ")))
            }
            "scoped_use_list" => {
                let list = self.rust_tree(node.child_by_field_name("list")?)?;
                let list = path.map_or_else(|| list.clone(), |path| format!("{path}::{list}"));
                (!is_path_gone).then_some(list)
            }
            "scoped_identifier" => (!self.ends_nowhere(&text)).then_some(text),
            "use_wildcard" => (!self.ends_nowhere(text.trim_end_matches("::*"))).then_some(text),
            "use_as_clause" => (!path.is_some_and(|path| self.ends_nowhere(path))).then_some(text),
            _ => Some(text),
        }
    }

    fn python(&self, node: Node<'_>) -> String {
        let nothing = || "pass".to_string();
        let module = node.child_by_field_name("module_name");
        if module.is_some_and(|module| self.leads_nowhere(self.source.text_of(module))) {
            return nothing();
        }
        let mut cursor = node.walk();
        let names: Vec<Node<'_>> = node.children_by_field_name("name", &mut cursor).collect();
        if names.is_empty() {
            return self.source.text_of(node).to_string();
        }
        let is_kept = |name: &Node<'_>| {
            let imported = name.child_by_field_name("name").unwrap_or(*name);
            !self.ends_nowhere(self.source.text_of(imported))
        };
        let kept: Vec<&str> =
            names.iter().filter(|name| is_kept(name)).map(|name| self.source.text_of(*name)).collect();
        match (kept.is_empty(), module) {
            (true, _) => nothing(),
            (false, Some(module)) => {
                format!("from {} import {}", self.source.text_of(module), kept.join(", "))
            }
            (false, None) => format!("import {}", kept.join(", ")),
        }
    }

    fn script(&self, node: Node<'_>) -> String {
        let text = self.source.text_of(node);
        let from = node.child_by_field_name("source").map_or("", |from| self.source.text_of(from));
        if is_relative(from) && self.leads_nowhere(from) {
            return String::new();
        }
        let mut edits = Edits::default();
        let mut pending = vec![node];
        while let Some(inside) = pending.pop() {
            if inside.kind() == "named_imports" {
                let mut cursor = inside.walk();
                let is_kept = |specifier: &Node<'_>| {
                    specifier
                        .child_by_field_name("name")
                        .is_none_or(|name| !self.is_gone(self.source.text_of(name)))
                };
                let kept: Vec<&str> = inside
                    .named_children(&mut cursor)
                    .filter(is_kept)
                    .map(|specifier| self.source.text_of(specifier))
                    .collect();
                let start = inside.start_byte() - node.start_byte();
                edits
                    .0
                    .push((start..start + inside.byte_range().len(), format!("{{ {} }}", kept.join(", "))));
            } else {
                let mut cursor = inside.walk();
                pending.extend(inside.named_children(&mut cursor));
            }
        }
        edits.apply(text)
    }
}

/// Replacements of parts of a text that do not overlap.
#[derive(Default)]
struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    fn replace(&mut self, node: Node<'_>, text: &str, change: impl Fn(&str) -> String) {
        let changed = change(text);
        if changed != text {
            self.0.push((node.byte_range(), changed));
        }
    }

    fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(range, _)| range.start);
        let (mut result, mut at) = (String::with_capacity(text.len()), 0);
        for (range, replacement) in self.0 {
            result.push_str(text.get(at..range.start).unwrap_or_default());
            result.push_str(&replacement);
            at = range.end;
        }
        result.push_str(text.get(at..).unwrap_or_default());
        result
    }
}

/// Whether a literal names a file or a module rather than being a value.
fn is_path(literal: &str) -> bool {
    let inside = literal.trim_matches(|c: char| c.is_alphabetic() || matches!(c, '"' | '\'' | '`'));
    let is_word =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '@' | '"' | '\'' | '`');
    (inside.contains('/') || inside.contains("::") || inside.contains('.')) && literal.chars().all(is_word)
}

fn is_relative(literal: &str) -> bool {
    literal.trim_start_matches(['"', '\'', '`']).starts_with('.')
}

fn is_documentation(comment: &str) -> bool {
    ["///", "//!", "/**", "/*!"].iter().any(|start| comment.starts_with(start))
}

/// A path with other names in place of its parts. The extension of a file is not a part.
fn with_parts(path: &str, other: impl Fn(&str, bool) -> Option<String>) -> String {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let last =
        path.trim_end_matches(|c: char| !is_word(c)).rfind(|c: char| !is_word(c)).map_or(0, |at| at + 1);
    let (mut result, mut at) = (String::new(), 0);
    while at < path.len() {
        let rest = path.get(at..).unwrap_or_default();
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let part = &rest[..end];
        let next = rest[end..].chars().next().map_or(0, char::len_utf8);
        result.push_str(&other(part, at == last).unwrap_or_else(|| part.to_string()));
        result.push_str(&rest[end..end + next]);
        at += end + next;
    }
    result
}

fn replace_word(text: &str, old: &str, new: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut result, mut at) = (String::new(), 0);
    for (found, _) in text.match_indices(old).filter(|_| !old.is_empty()) {
        let (before, after) = (&text[..found], &text[found + old.len()..]);
        if found >= at && !before.ends_with(is_word) && !after.starts_with(is_word) {
            result.push_str(&text[at..found]);
            result.push_str(new);
            at = found + old.len();
        }
    }
    result.push_str(&text[at..]);
    result
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    // TE-01
    #[test]
    fn a_renamed_function_is_renamed_in_code_and_paths_and_not_in_values() {
        let renames = OtherNames {
            definitions: vec![("slug".to_string(), "slugify".to_string())],
            files: vec![("lru".to_string(), "cache".to_string())],
        };
        let cases = [
            (
                Language::Rust,
                "use demo::slug::slug;\n#[test]\nfn slug() {\n    assert_eq!(slug(\"slug\"), \"slug a\");\n}\n",
                "use demo::slug::slugify;\n#[test]\nfn slug() {\n    assert_eq!(slugify(\"slug\"), \"slug a\");\n}\n",
            ),
            (
                Language::Python,
                "from slug import slug\n@patch('demo.slug')\ndef test_slug():\n    assert demo.slug('slug') == 'slug'\n",
                "from slug import slugify\n@patch('demo.slugify')\ndef test_slug():\n    assert demo.slugify('slug') == 'slug'\n",
            ),
            (
                Language::JavaScript,
                "import { slug } from \"../src/slug.js\";\nimport \"./lru.js\";\ntest(\"slug\", () => equal(slug(`slug`), \"slug\"));\n",
                "import { slugify } from \"../src/slug.js\";\nimport \"./cache.js\";\ntest(\"slug\", () => equal(slugify(`slug`), \"slug\"));\n",
            ),
        ];
        for (language, text, expected) in cases {
            assert_eq!(with_renamed(language, text, &renames), expected);
        }
    }

    // TE-01
    #[test]
    fn names_that_are_gone_are_not_imported() {
        let one = |name: &str| BTreeSet::from([name.to_string()]);
        let gone = OtherNames { definitions: one("old"), files: one("gone") };
        let cases = [
            (Language::Rust, "use demo::{a, b::old, c::{old, d}};\n", "use demo::{a, c::{d}};\n"),
            (Language::Rust, "use demo::old;\nuse demo::gone::*;\nuse super::*;\n", "\n\nuse super::*;\n"),
            (Language::Python, "from demo import a, old as b, c\n", "from demo import a, c\n"),
            (
                Language::Python,
                "from demo import old\nimport demo.gone\nimport os\n",
                "pass\npass\nimport os\n",
            ),
            (
                Language::TypeScript,
                "import { a, old as b } from \"./old\";\nimport x from \"./gone.js\";\n",
                "import { a } from \"./old\";\n\n",
            ),
        ];
        for (language, text, expected) in cases {
            assert_eq!(without_imports(language, text, &gone), expected, "{text}");
        }
    }

    // TE-01
    #[test]
    fn tests_that_do_not_compile_fail_by_name_and_the_others_stay() {
        let text = "#[test]\nfn a() {\n    one(1);\n}\n\nmod m {\n    #[test]\n    fn b() { two() }\n}\n";
        let (failing, names) = with_failing_tests(Language::Rust, text, &BTreeSet::from([3])).unwrap();
        assert_eq!(names, [["a"]]);
        assert!(failing.contains("fn a() { panic!(") && failing.contains("fn b() { two() }"), "{failing}");
        assert_eq!(with_failing_tests(Language::Rust, text, &BTreeSet::from([6])), None);
    }
}
