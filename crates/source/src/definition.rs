//! The named definitions in source text, each with its own tokens.

use crate::shape::is_comment;
use crate::tests::tokens;
use crate::{Language, ParsedSource};
use std::collections::{BTreeMap, BTreeSet};
use tree_sitter::Node;

/// A named definition: a function, a type, or a constant of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    pub name: String,
    /// The type or class that it belongs to, or an empty string.
    pub owner: String,
    /// Without comments, and without the tokens of definitions inside it.
    pub tokens: Vec<String>,
    pub kind: DefinitionKind,
    /// The byte at which it starts.
    pub start: usize,
}

/// What a definition defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DefinitionKind {
    /// Something that runs or has a value: a function, a method, a constant.
    Value,
    Type,
}

/// A definition that a change adds, removes or edits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangedDefinition {
    /// The type or class that it belongs to, or an empty string.
    pub owner: String,
    pub name: String,
    pub kind: DefinitionKind,
}

impl ParsedSource<'_> {
    /// The definitions of the text, in order. Local variables and local functions belong to the function around them.
    pub fn definitions(&self) -> Vec<Definition> {
        let mut found = Vec::new();
        let mut pending = vec![(self.root(), String::new())];
        while let Some((node, owner)) = pending.pop() {
            let name = definition_name(self, node);
            let mut inner = owner.clone();
            if let Some(name) = name.filter(|name| !name.is_empty()) {
                let (tokens, start) = (own_tokens(self, node), node.start_byte());
                let kind = if is_type(node.kind()) { DefinitionKind::Type } else { DefinitionKind::Value };
                found.push(Definition { name: name.clone(), owner, tokens, kind, start });
                if is_function(node.kind()) {
                    continue;
                }
                inner = name;
            } else if node.kind() == "impl_item" {
                inner = node.child_by_field_name("type").map_or(inner, |of| base_name(self.text_of(of)));
            }
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
            pending.extend(children.into_iter().rev().map(|child| (child, inner.clone())));
        }
        found
    }
}

/// The definitions that differ between two texts of one file. A comment is not a difference.
pub fn changed_definitions(language: Language, before: &str, after: &str) -> BTreeSet<ChangedDefinition> {
    let (old, new) = (by_identity(language, before), by_identity(language, after));
    let all: BTreeSet<&ChangedDefinition> = old.keys().chain(new.keys()).collect();
    all.into_iter().filter(|one| old.get(*one) != new.get(*one)).cloned().collect()
}

fn by_identity(language: Language, text: &str) -> BTreeMap<ChangedDefinition, Vec<Vec<String>>> {
    let mut found: BTreeMap<ChangedDefinition, Vec<Vec<String>>> = BTreeMap::new();
    let source = ParsedSource::parse(language, text);
    for Definition { name, owner, tokens, kind, .. } in
        source.map(|source| source.definitions()).unwrap_or_default()
    {
        found.entry(ChangedDefinition { owner, name, kind }).or_default().push(tokens);
    }
    found
}

/// The name of a type without its parameters and its path.
fn base_name(text: &str) -> String {
    let text = text.split(['<', ' ']).next().unwrap_or(text);
    text.rsplit("::").next().unwrap_or(text).to_string()
}

fn is_function(kind: &str) -> bool {
    matches!(
        kind,
        "function_item"
            | "function_signature_item"
            | "function_definition"
            | "function_declaration"
            | "generator_function_declaration"
            | "method_definition"
            | "method_declaration"
            | "constructor_declaration"
            | "variable_declarator"
            | "macro_definition"
    )
}

fn is_type(kind: &str) -> bool {
    matches!(
        kind,
        "struct_item"
            | "enum_item"
            | "union_item"
            | "trait_item"
            | "type_item"
            | "class_definition"
            | "class_declaration"
            | "abstract_class_declaration"
            | "interface_declaration"
            | "type_alias_declaration"
            | "enum_declaration"
            | "record_declaration"
            | "type_spec"
            | "struct_specifier"
            | "class_specifier"
    )
}

fn definition_name(source: &ParsedSource<'_>, node: Node<'_>) -> Option<String> {
    let kind = node.kind();
    let field = |name: &str| node.child_by_field_name(name).map(|child| source.text_of(child).to_string());
    match source.language() {
        Language::Rust => match kind {
            "function_item"
            | "function_signature_item"
            | "struct_item"
            | "enum_item"
            | "union_item"
            | "trait_item"
            | "const_item"
            | "static_item"
            | "type_item"
            | "macro_definition" => field("name"),
            _ => None,
        },
        Language::Python => match kind {
            "function_definition" | "class_definition" => field("name"),
            "assignment" if is_of_module(node) => field("left").filter(|name| is_identifier(name)),
            _ => None,
        },
        Language::JavaScript | Language::TypeScript | Language::Tsx => match kind {
            "function_declaration"
            | "generator_function_declaration"
            | "class_declaration"
            | "abstract_class_declaration"
            | "interface_declaration"
            | "type_alias_declaration"
            | "enum_declaration"
            | "method_definition" => field("name"),
            "variable_declarator" if is_of_module(node) => field("name").filter(|name| is_identifier(name)),
            _ => None,
        },
        Language::Go => match kind {
            "function_declaration" | "method_declaration" | "type_spec" => field("name"),
            "const_spec" | "var_spec" if is_of_module(node) => field("name"),
            _ => None,
        },
        Language::Java => match kind {
            "class_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "record_declaration"
            | "method_declaration"
            | "constructor_declaration" => field("name"),
            _ => None,
        },
        Language::C | Language::Cpp => match kind {
            "function_definition" => declared_name(source, node),
            "struct_specifier" | "class_specifier" if node.child_by_field_name("body").is_some() => {
                field("name")
            }
            _ => None,
        },
        Language::Yaml | Language::Json | Language::Toml => None,
    }
}

/// The name in the declarator of a C function.
fn declared_name(source: &ParsedSource<'_>, node: Node<'_>) -> Option<String> {
    let mut declarator = node.child_by_field_name("declarator")?;
    while let Some(inner) = declarator.child_by_field_name("declarator") {
        declarator = inner;
    }
    Some(base_name(source.text_of(declarator)))
}

/// Whether no function and no class is around a node.
fn is_of_module(node: Node<'_>) -> bool {
    let mut around = node.parent();
    while let Some(parent) = around {
        let kind = parent.kind();
        if is_function(kind) || kind.contains("class") || kind.contains("arrow_function") || kind == "lambda"
        {
            return false;
        }
        around = parent.parent();
    }
    true
}

fn is_identifier(name: &str) -> bool {
    name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}

/// The tokens of a definition. Those of a function include everything inside it; those of a type exclude its methods.
fn own_tokens(source: &ParsedSource<'_>, node: Node<'_>) -> Vec<String> {
    if is_function(node.kind()) {
        return tokens(source, node);
    }
    let is_other = |inner: Node<'_>| {
        inner != node && (inner.kind() == "decorated_definition" || definition_name(source, inner).is_some())
    };
    let mut found = Vec::new();
    let mut pending = vec![node];
    while let Some(inner) = pending.pop() {
        if is_other(inner) || is_comment(inner) {
            continue;
        }
        if inner.child_count() == 0 {
            found.push(source.text_of(inner).to_string());
        }
        let mut cursor = inner.walk();
        let children: Vec<Node<'_>> = inner.children(&mut cursor).collect();
        pending.extend(children.into_iter().rev());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(language: Language, before: &str, after: &str) -> Vec<String> {
        let named = |ChangedDefinition { owner, name, .. }| {
            if owner.is_empty() { name } else { format!("{owner}.{name}") }
        };
        changed_definitions(language, before, after).into_iter().map(named).collect()
    }

    #[test]
    fn only_the_definition_whose_code_differs_is_changed() {
        let rust = "/// Adds.\npub fn add(a: u8) -> u8 {\n    a + 1\n}\n\nstruct A;\nimpl A {\n    fn x(&self) {}\n}\n";
        assert!(changed(Language::Rust, rust, &rust.replace("/// Adds.", "/// Sums.")).is_empty());
        assert_eq!(changed(Language::Rust, rust, &rust.replace("a + 1", "a + 2")), ["add"]);
        assert_eq!(changed(Language::Rust, rust, &rust.replace("{}", "{ f() }")), ["A.x"]);
        let python = "UNITS = {1: 2}\n\nclass Cart:\n    tax = 1\n\n    def total(self):\n        return 1\n\n\ndef add(a):\n    b = a\n    return b\n";
        assert_eq!(changed(Language::Python, python, &python.replace("{1: 2}", "{1: 3}")), ["UNITS"]);
        assert_eq!(
            changed(Language::Python, python, &python.replace("return 1", "return 2")),
            ["Cart.total"]
        );
        assert_eq!(changed(Language::Python, python, &python.replace("tax = 1", "tax = 2")), ["Cart"]);
        assert_eq!(changed(Language::Python, python, &python.replace("b = a", "b = 2")), ["add"]);
        let added = python.replace(
            "\n\n\ndef add",
            "\n\n    @property\n    def discount(self):\n        return 0\n\n\ndef add",
        );
        assert_eq!(changed(Language::Python, python, &added), ["Cart.discount"]);
        let script =
            "export class Lru {\n  get(key) {\n    return key;\n  }\n}\nexport const add = (a) => a;\n";
        assert_eq!(
            changed(Language::JavaScript, script, &script.replace("return key", "return 1")),
            ["Lru.get"]
        );
        assert_eq!(changed(Language::JavaScript, script, &script.replace("=> a;", "=> 1;")), ["add"]);
        assert!(changed(Language::JavaScript, script, &format!("{script}\n// Works.\n")).is_empty());
        let go = "package a\n\nfunc Add(a int) int {\n\treturn a\n}\n";
        assert_eq!(changed(Language::Go, go, &go.replace("return a", "return 1")), ["Add"]);
        let c = "int add(int a) {\n  return a;\n}\n";
        assert_eq!(changed(Language::C, c, &c.replace("return a", "return 1")), ["add"]);
    }
}
