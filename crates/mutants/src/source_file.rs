//! A changed file, and the alterations that are proposed in it.

use crate::proposal::{Alteration, Spot, lines, parts};
use crate::{Mutant, calls, conditions, literals, operators, removal, returned};
use remand_source::{Language, ParsedSource, is_test_file};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;
use tree_sitter::Node;

/// A file as it is after a change.
#[derive(Clone, Copy, Debug)]
pub struct AlteredSource<'f> {
    pub path: &'f Path,
    pub text: &'f str,
    /// The changed lines, from 1.
    pub lines: &'f BTreeSet<usize>,
}

/// Whether mutants can be made of a file: production code in a supported language.
pub fn can_mutate(path: &Path) -> bool {
    language(path).is_some()
}

fn language(path: &Path) -> Option<Language> {
    let name = path.file_name()?.to_str()?;
    // Declarations of types have no behaviour.
    if is_test_file(path) || name.ends_with(".pyi") || name.ends_with(".d.ts") {
        return None;
    }
    Language::of(path).filter(|language| match language {
        Language::Rust
        | Language::Python
        | Language::JavaScript
        | Language::TypeScript
        | Language::Tsx
        | Language::Go => true,
        Language::C | Language::Cpp | Language::Java | Language::Yaml | Language::Json | Language::Toml => {
            false
        }
    })
}

/// The function around a node.
#[derive(Clone, Default)]
struct Around<'s> {
    names: Vec<&'s str>,
    result: Option<Node<'s>>,
    shows_literals: bool,
}

impl AlteredSource<'_> {
    /// The mutants of the changed lines, in the order of the text. Not all of them need parse.
    pub(crate) fn proposals(&self) -> Vec<Mutant> {
        let Some(source) = language(self.path).and_then(|language| ParsedSource::parse(language, self.text))
        else {
            return Vec::new();
        };
        let separator = if source.language() == Language::Rust { "::" } else { "." };
        let tests = source.test_code();
        let mut found = Vec::new();
        let mut pending =
            vec![(source.root(), Rc::new(Around { shows_literals: true, ..Around::default() }))];
        while let Some((node, around)) = pending.pop() {
            if !lines(node).any(|line| self.lines.contains(&line)) || is_left_alone(&source, node, &tests) {
                continue;
            }
            let around = around.enter(&source, node).map_or(around, Rc::new);
            let spot = Spot { source: &source, changed: self.lines, node, result: around.result };
            let mut altered = Vec::new();
            returned::propose(&spot, &mut altered);
            conditions::propose(&spot, &mut altered);
            operators::propose(&spot, &mut altered);
            removal::propose(&spot, &mut altered);
            calls::propose(&spot, &mut altered);
            let hides = literals::hides_literals(&spot);
            if around.shows_literals {
                literals::propose(&spot, &mut altered);
            }
            let function = around.names.join(separator);
            found.extend(altered.into_iter().map(|altered| self.mutant(&function, altered)));
            let inner = if hides && around.shows_literals {
                Rc::new(Around { shows_literals: false, ..(*around).clone() })
            } else {
                around
            };
            pending.extend(parts(node).into_iter().rev().map(|child| (child, Rc::clone(&inner))));
        }
        found
    }

    fn mutant(&self, function: &str, altered: Alteration) -> Mutant {
        let Alteration { kind, range, replacement, words, line } = altered;
        let (path, function) = (self.path.to_path_buf(), function.to_string());
        Mutant { path, kind, function, line, alteration: words, range, replacement }
    }
}

impl<'s> Around<'s> {
    /// The context of a node's children, if it differs from that of the node.
    fn enter(&self, source: &'s ParsedSource<'_>, node: Node<'s>) -> Option<Around<'s>> {
        let field = |name: &str| node.child_by_field_name(name);
        let named = match node.kind() {
            "impl_item" => field("type"),
            "mod_item"
            | "trait_item"
            | "class_definition"
            | "class_declaration"
            | "function_item"
            | "function_definition"
            | "function_declaration"
            | "generator_function_declaration"
            | "method_definition"
            | "method_declaration" => field("name"),
            "variable_declarator" => {
                let value = field("value")?;
                matches!(value.kind(), "arrow_function" | "function_expression").then(|| field("name"))?
            }
            "closure_expression" | "async_block" | "func_literal" => {
                return Some(Around { result: field("result"), ..self.clone() });
            }
            _ => None,
        }?;
        let mut inner = self.clone();
        inner.names.push(source.text_of(named));
        inner.result = field("return_type").or_else(|| field("result"));
        Some(inner)
    }
}

/// Whether a node has no behaviour that a test could notice, or belongs to the tests.
fn is_left_alone(source: &ParsedSource<'_>, node: Node<'_>, tests: &[Range<usize>]) -> bool {
    let is_for_tests =
        tests.iter().any(|range| range.start <= node.start_byte() && node.end_byte() <= range.end);
    is_for_tests
        || match node.kind() {
            "attribute_item"
            | "inner_attribute_item"
            | "use_declaration"
            | "extern_crate_declaration"
            | "macro_definition"
            | "array_type"
            | "type_arguments"
            | "type_parameters"
            | "type"
            | "type_annotation"
            | "type_item"
            | "type_alias_declaration"
            | "interface_declaration"
            | "literal_type"
            | "import_statement"
            | "import_from_statement"
            | "future_import_statement"
            | "import_declaration"
            | "package_clause"
            | "type_declaration"
            | "assert_statement" => true,
            "export_statement" => node.child_by_field_name("source").is_some(),
            // This code runs only if the file is started as a program.
            "if_statement" => node
                .child_by_field_name("condition")
                .is_some_and(|condition| source.text_of(condition).starts_with("__name__")),
            _ => false,
        }
}
