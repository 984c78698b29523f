//! Definitions of equality that ignore what they compare with: every assertion of equality then holds.

use crate::function::function_at;
use crate::source_file::AlteredSource;
use remand_source::{Language, ParsedSource};
use std::collections::BTreeSet;
use tree_sitter::Node;

/// A definition of equality that cannot be false for the right reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlindEquality {
    /// Qualified by the type around it, as far as the source shows it.
    pub name: String,
    /// From 1.
    pub line: usize,
}

/// The changed definitions of equality in a file that never use one of the two values.
pub fn blind_equalities(file: &AlteredSource<'_>) -> Vec<BlindEquality> {
    let Some(source) = Language::of(file.path).and_then(|language| ParsedSource::parse(language, file.text))
    else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut pending = vec![(source.root(), String::new())];
    while let Some((node, owner)) = pending.pop() {
        let of_type = match node.kind() {
            "impl_item" => node.child_by_field_name("type"),
            "class_definition" | "class_declaration" => node.child_by_field_name("name"),
            _ => None,
        };
        let owner = of_type.map_or(owner, |name| source.text_of(name).to_string());
        let lines = node.start_position().row + 1..=node.end_position().row + 1;
        if !lines.clone().any(|line| file.lines.contains(&line)) {
            continue;
        }
        if let Some(function) = function_at(&source, node)
            && is_equality(source.text_of(function.name))
            && ignores_a_side(&source, function.code, &owner)
        {
            let name = source.text_of(function.name);
            let name = if owner.is_empty() { name.to_string() } else { format!("{owner}.{name}") };
            found.push(BlindEquality { name, line: *lines.start() });
        }
        let mut cursor = node.walk();
        pending.extend(node.named_children(&mut cursor).map(|child| (child, owner.clone())));
    }
    found.sort_by_key(|equality| equality.line);
    found
}

/// The changed lines of definitions that decide what a value equals: they are no evidence that anybody looks at the value.
pub fn comparing_lines(file: &AlteredSource<'_>) -> BTreeSet<usize> {
    let Some(source) = Language::of(file.path).and_then(|language| ParsedSource::parse(language, file.text))
    else {
        return BTreeSet::new();
    };
    let mut found = BTreeSet::new();
    let mut pending = vec![source.root()];
    while let Some(node) = pending.pop() {
        let lines = node.start_position().row + 1..=node.end_position().row + 1;
        if let Some(function) = function_at(&source, node)
            && decides_equality(source.text_of(function.name))
        {
            found.extend(lines.filter(|line| file.lines.contains(line)));
            continue;
        }
        let mut cursor = node.walk();
        pending.extend(node.named_children(&mut cursor));
    }
    found
}

fn decides_equality(name: &str) -> bool {
    let name = name.trim_start_matches("[Symbol.").trim_end_matches(']');
    is_equality(name)
        || matches!(
            name,
            "ne" | "__ne__"
                | "cmp"
                | "partial_cmp"
                | "__cmp__"
                | "__contains__"
                | "valueOf"
                | "toString"
                | "toPrimitive"
                | "toJSON"
                | "asymmetricMatch"
                | "compareTo"
                | "hashCode"
        )
}

fn is_equality(name: &str) -> bool {
    matches!(name, "eq" | "__eq__" | "equals" | "isEqual" | "Equal" | "Equals")
}

/// A value that is equal to all others of its own type may ignore itself.
fn ignores_a_side(source: &ParsedSource<'_>, function: Node<'_>, owner: &str) -> bool {
    let (Some(parameters), Some(body)) =
        (function.child_by_field_name("parameters"), function.child_by_field_name("body"))
    else {
        return false;
    };
    let mut cursor = parameters.walk();
    let Some(last) = parameters.named_children(&mut cursor).last() else { return false };
    let Some(name) =
        identifiers(source, last).into_iter().next().filter(|name| !matches!(*name, "self" | "cls"))
    else {
        return false;
    };
    let used = identifiers(source, body);
    let itself = match source.language() {
        Language::Rust => Some("self"),
        Language::Python => {
            let mut cursor = parameters.walk();
            let first = parameters.named_children(&mut cursor).next();
            first
                .and_then(|first| identifiers(source, first).into_iter().next())
                .filter(|first| *first != name)
        }
        Language::JavaScript | Language::TypeScript | Language::Tsx => Some("this"),
        _ => None,
    };
    let is_method = !owner.is_empty();
    let ignores_itself = itself.is_some_and(|itself| !used.contains(&itself)) && !used.contains(&owner);
    !used.contains(&name) || (is_method && ignores_itself)
}

fn identifiers<'s>(source: &ParsedSource<'s>, node: Node<'_>) -> Vec<&'s str> {
    let mut found = Vec::new();
    let mut pending = vec![node];
    while let Some(node) = pending.pop() {
        if node.child_count() == 0
            && matches!(node.kind(), "identifier" | "type_identifier" | "self" | "this")
        {
            found.push(source.text_of(node));
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        pending.extend(children.into_iter().rev());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn blind(path: &str, text: &str) -> Vec<String> {
        let lines: BTreeSet<usize> = (1..=text.lines().count()).collect();
        let file = AlteredSource { path: Path::new(path), text, lines: &lines };
        blind_equalities(&file).into_iter().map(|equality| equality.name).collect()
    }

    // TE-05
    #[test]
    fn an_equality_that_ignores_the_other_value_is_blind() {
        assert_eq!(
            blind("a.py", "class A:\n    def __eq__(self, other):\n        return True\n"),
            ["A.__eq__"]
        );
        assert_eq!(
            blind("a.rs", "impl PartialEq for A {\n    fn eq(&self, _other: &A) -> bool { true }\n}\n"),
            ["A.eq"]
        );
        assert_eq!(blind("a.ts", "class A { equals(other: A) { return true; } }\n"), ["A.equals"]);
        assert_eq!(blind("a.go", "package a\n\nfunc (a A) Equal(b A) bool { return true }\n"), ["Equal"]);
        assert_eq!(
            blind(
                "a.py",
                "class A(str):\n    def __eq__(self, other):\n        return isinstance(other, str)\n"
            ),
            ["A.__eq__"]
        );
        for (path, honest) in [
            ("a.py", "class A:\n    def __eq__(self, other):\n        return isinstance(other, A)\n"),
            ("a.ts", "class A { equals(other: A) { return this.a === other.a; } }\n"),
            ("a.py", "class A:\n    def __eq__(self, other):\n        return self.a == other.a\n"),
            (
                "a.rs",
                "impl PartialEq for A {\n    fn eq(&self, other: &A) -> bool { self.0 == other.0 }\n}\n",
            ),
            ("a.py", "def test_eq(self, other):\n    return True\n"),
        ] {
            assert_eq!(blind(path, honest), Vec::<String>::new(), "{honest}");
        }
    }
}
