//! Old test files adapted to code of which names changed. Without this, one missing name would hide what the other tests of
//! the file show.

use crate::{Language, ParsedSource};
use std::collections::BTreeSet;
use std::ops::Range;
use tree_sitter::Node;

/// A text with other names in place of its identifiers, also in paths and in documentation. Other text in quotes stays.
pub fn with_renamed(language: Language, text: &str, names: &[(String, String)]) -> String {
    let Some(source) = ParsedSource::parse(language, text).filter(|_| !names.is_empty()) else {
        return text.to_string();
    };
    let mut edits = Edits::default();
    let mut pending = vec![source.root()];
    while let Some(node) = pending.pop() {
        let (kind, content) = (node.kind(), source.text_of(node));
        let is_path = kind.contains("string") && is_path(content);
        if is_path || (kind.contains("comment") && is_documentation(content)) {
            edits.replace(node, content, |text| {
                names.iter().fold(text.to_string(), |text, (old, new)| replace_word(&text, old, new))
            });
        } else if node.child_count() == 0 {
            if let Some((_, new)) =
                names.iter().find(|(old, _)| kind.contains("identifier") && old == content)
            {
                edits.0.push((node.byte_range(), new.clone()));
            }
        } else {
            let mut cursor = node.walk();
            pending.extend(node.children(&mut cursor));
        }
    }
    edits.apply(text)
}

/// A text that no longer imports these names.
pub fn without_imports(language: Language, text: &str, names: &BTreeSet<String>) -> String {
    let Some(source) = ParsedSource::parse(language, text).filter(|_| !names.is_empty()) else {
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
    names: &'i BTreeSet<String>,
}

impl Imports<'_, '_> {
    fn is_gone(&self, node: Node<'_>) -> bool {
        self.names.contains(self.source.text_of(node))
    }

    /// Whether a part of a path is gone.
    fn has_gone_part(&self, path: &str) -> bool {
        path.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
            .any(|part| self.names.contains(part))
    }

    fn rust(&self, node: Node<'_>) -> String {
        let tree = node.child_by_field_name("argument").and_then(|tree| self.rust_tree(tree));
        let head = self.source.text_of(node).split("use").next().unwrap_or_default();
        tree.map_or_else(String::new, |tree| format!("{head}use {tree};"))
    }

    fn rust_tree(&self, node: Node<'_>) -> Option<String> {
        let text = self.source.text_of(node).to_string();
        let path = node.child_by_field_name("path").map(|path| self.source.text_of(path));
        let is_path_gone = path.is_some_and(|path| self.has_gone_part(path));
        match node.kind() {
            "identifier" => (!self.is_gone(node)).then_some(text),
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
            "scoped_identifier" | "use_wildcard" => (!self.has_gone_part(&text)).then_some(text),
            "use_as_clause" => (!is_path_gone).then_some(text),
            _ => Some(text),
        }
    }

    fn python(&self, node: Node<'_>) -> String {
        let nothing = || "pass".to_string();
        let module = node.child_by_field_name("module_name");
        if module.is_some_and(|module| self.has_gone_part(self.source.text_of(module))) {
            return nothing();
        }
        let mut cursor = node.walk();
        let names: Vec<Node<'_>> = node.children_by_field_name("name", &mut cursor).collect();
        if names.is_empty() {
            return self.source.text_of(node).to_string();
        }
        let is_kept = |name: &Node<'_>| {
            let imported = name.child_by_field_name("name").unwrap_or(*name);
            !self.has_gone_part(self.source.text_of(imported))
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
        if self.has_gone_part(from) && is_relative(from) {
            return String::new();
        }
        let mut edits = Edits::default();
        let mut pending = vec![node];
        while let Some(inside) = pending.pop() {
            if inside.kind() == "named_imports" {
                let mut cursor = inside.walk();
                let is_kept = |specifier: &Node<'_>| {
                    specifier.child_by_field_name("name").is_none_or(|name| !self.is_gone(name))
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
        let renames = [("slug".to_string(), "slugify".to_string())];
        let cases = [
            (
                Language::Rust,
                "use demo::slug;\n#[test]\nfn t() {\n    assert_eq!(slug(\"slug\"), \"slug a\");\n}\n",
                "use demo::slugify;\n#[test]\nfn t() {\n    assert_eq!(slugify(\"slug\"), \"slug a\");\n}\n",
            ),
            (
                Language::Python,
                "from demo import slug\n@patch('demo.slug')\ndef test_slug():\n    assert demo.slug('slug') == 'slug'\n",
                "from demo import slugify\n@patch('demo.slugify')\ndef test_slug():\n    assert demo.slugify('slug') == 'slug'\n",
            ),
            (
                Language::JavaScript,
                "import { slug } from \"../src/slug.js\";\ntest(\"slug\", () => equal(slug(`slug`), \"slug\"));\n",
                "import { slugify } from \"../src/slugify.js\";\ntest(\"slug\", () => equal(slugify(`slug`), \"slug\"));\n",
            ),
        ];
        for (language, text, expected) in cases {
            assert_eq!(with_renamed(language, text, &renames), expected);
        }
    }

    // TE-01
    #[test]
    fn names_that_are_gone_are_not_imported() {
        let gone = BTreeSet::from(["old".to_string(), "gone".to_string()]);
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
                "import { a, old as b } from \"./demo\";\nimport x from \"./gone.js\";\n",
                "import { a } from \"./demo\";\n\n",
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
