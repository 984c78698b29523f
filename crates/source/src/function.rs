//! The functions in source text: names, signatures and bodies.

use crate::attribute::{inner, is_test, is_test_only};
use crate::shape::is_comment;
use crate::{Language, ParsedSource};
use tree_sitter::Node;

/// A named function, method or arrow function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Qualified by the modules, types and classes around it, as in `Cart::total` or `Cart.total`.
    pub name: String,
    /// With normalised whitespace, without visibility.
    pub signature: String,
    pub body: Body,
    /// From 1.
    pub line: usize,
    /// Whether it is a test, or inside an item that is for tests only.
    pub is_for_tests: bool,
}

/// The body of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Exactly the placeholder for unwritten code.
    Stub,
    /// Any other body, as its syntax tree in text form.
    Written(String),
    /// No body: a declaration.
    Absent,
}

impl ParsedSource<'_> {
    /// The functions of the text, in order; empty for languages that are not supported here.
    pub fn functions(&self) -> Vec<Function> {
        let mut found = Vec::new();
        let mut pending = vec![(self.root(), Scope::default())];
        while let Some((node, scope)) = pending.pop() {
            let inner = scope.enter(self, node);
            if let Some(function) = self.function(node, &scope) {
                found.push(function);
            }
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
            pending.extend(children.into_iter().rev().map(|child| (child, inner.clone())));
        }
        found
    }

    fn function<'s>(&'s self, node: Node<'s>, scope: &Scope) -> Option<Function> {
        // An arrow function is named by the variable that it is assigned to.
        let (declaration, function) = match (self.language(), node.kind()) {
            (Language::Rust, "function_item" | "function_signature_item")
            | (Language::Python, "function_definition")
            | (
                Language::JavaScript | Language::TypeScript | Language::Tsx,
                "function_declaration" | "generator_function_declaration" | "method_definition",
            ) => (node, node),
            (Language::JavaScript | Language::TypeScript | Language::Tsx, "variable_declarator") => {
                let value = node.child_by_field_name("value")?;
                matches!(value.kind(), "arrow_function" | "function_expression").then_some((node, value))?
            }
            (_, _) => return None,
        };
        let name = self.text_of(declaration.child_by_field_name("name")?);
        let body = function.child_by_field_name("body");
        let end = body.map_or(function.end_byte(), |body| body.start_byte());
        let head = self.slice(declaration.start_byte(), end);
        Some(Function {
            name: scope.qualified_name(self.language(), name),
            signature: signature(head),
            body: body.map_or(Body::Absent, |body| self.body(body)),
            line: declaration.start_position().row + 1,
            is_for_tests: scope.is_for_tests || is_test_item(self, node),
        })
    }

    fn body<'s>(&'s self, body: Node<'s>) -> Body {
        let mut cursor = body.walk();
        let mut statements: Vec<Node<'_>> =
            body.named_children(&mut cursor).filter(|child| !is_comment(*child)).collect();
        // A docstring may precede the placeholder.
        if self.language() == Language::Python
            && statements.len() == 2
            && statements[0].named_child(0).is_some_and(|child| child.kind() == "string")
        {
            statements.remove(0);
        }
        let placeholder = match self.language() {
            Language::Rust => "todo!()",
            Language::Python => "raise NotImplementedError",
            Language::JavaScript | Language::TypeScript | Language::Tsx => {
                "throw new Error(\"not implemented\")"
            }
            Language::Go
            | Language::C
            | Language::Cpp
            | Language::Java
            | Language::Yaml
            | Language::Json
            | Language::Toml => "",
        };
        let is_stub = |node: &Node<'_>| {
            let text = self.text_of(*node).trim_end_matches(';').replace('\'', "\"");
            !placeholder.is_empty() && text == placeholder
        };
        match statements.as_slice() {
            [only] if is_stub(only) => Body::Stub,
            _ => Body::Written(self.shape_of(body).join(" ")),
        }
    }
}

/// The scope around a function.
#[derive(Clone, Debug, Default)]
struct Scope {
    names: Vec<String>,
    is_for_tests: bool,
}

impl Scope {
    fn enter(&self, source: &ParsedSource<'_>, node: Node<'_>) -> Scope {
        let name = match node.kind() {
            "impl_item" => node.child_by_field_name("type"),
            "mod_item"
            | "trait_item"
            | "class_definition"
            | "class_declaration"
            | "function_item"
            | "function_definition"
            | "function_declaration"
            | "method_definition" => node.child_by_field_name("name"),
            _ => None,
        };
        let mut scope = self.clone();
        scope.names.extend(name.map(|name| source.text_of(name).to_string()));
        scope.is_for_tests |= is_test_item(source, node);
        scope
    }

    fn qualified_name(&self, language: Language, name: &str) -> String {
        let separator = if language == Language::Rust { "::" } else { "." };
        self.names.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join(separator)
    }
}

/// Whether an item has `#[test]`, `#[cfg(test)]` or a similar attribute.
pub(crate) fn is_test_item(source: &ParsedSource<'_>, node: Node<'_>) -> bool {
    let mut before = node.prev_sibling();
    while let Some(attribute) =
        before.filter(|before| before.kind() == "attribute_item" || is_comment(*before))
    {
        if attribute.kind() == "attribute_item" {
            let text = source.text_of(attribute);
            if is_test(&inner(text)) || is_test_only(text) {
                return true;
            }
        }
        before = attribute.prev_sibling();
    }
    false
}

/// A signature for comparison: normalised whitespace, no visibility, no trailing punctuation.
pub fn signature(text: &str) -> String {
    let mut normalised = String::new();
    for word in text.split_whitespace() {
        let is_attached = normalised.is_empty()
            || normalised.ends_with(['(', '<', '['])
            || word.starts_with([')', ',', '>', ']', ':', ';']) && !word.starts_with("->");
        if !is_attached {
            normalised.push(' ');
        }
        normalised.push_str(word);
    }
    let normalised = normalised.replace(",)", ")").replace(" (", "(");
    let mut rest =
        normalised.split("=>").next().unwrap_or(&normalised).trim_end_matches([';', '{', ':', '=', ',', ' ']);
    for visibility in ["pub(crate) ", "pub(super) ", "pub ", "export default ", "export ", "public "] {
        rest = rest.strip_prefix(visibility).unwrap_or(rest);
    }
    rest.to_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn functions(language: Language, text: &str) -> Vec<Function> {
        ParsedSource::parse(language, text).unwrap().functions()
    }

    fn stubs(language: Language, text: &str) -> Vec<(String, bool)> {
        let name_and_stub = |function: Function| (function.name, function.body == Body::Stub);
        functions(language, text).into_iter().map(name_and_stub).collect()
    }

    // OT-13
    #[test]
    fn a_stub_is_exactly_the_placeholder_for_unwritten_code() {
        let rust = "struct A;\nimpl A {\n    /// Adds.\n    pub fn a(&self) -> u8 {\n        todo!()\n    }\n}\n\
                    fn b() { todo!(\"later\") }\nfn c() -> u8 { todo!(); 1 }\nfn d() { let _x = 1; todo!() }\n";
        let expected = [("A::a", true), ("b", false), ("c", false), ("d", false)];
        let expected: Vec<_> = expected.map(|(name, is_stub)| (name.to_string(), is_stub)).to_vec();
        assert_eq!(stubs(Language::Rust, rust), expected);

        let python = "class A:\n    def a(self) -> int:\n        \"\"\"Adds.\"\"\"\n        raise NotImplementedError\n\n\
                      def b():\n    raise NotImplementedError(\"b\")\n\ndef c():\n    pass\n";
        let expected = [("A.a", true), ("b", false), ("c", false)];
        let expected: Vec<_> = expected.map(|(name, is_stub)| (name.to_string(), is_stub)).to_vec();
        assert_eq!(stubs(Language::Python, python), expected);

        let script = "export class A {\n  a(): number {\n    throw new Error('not implemented');\n  }\n}\n\
                      export const b = (x: number): number => {\n  throw new Error(\"not implemented\");\n};\n\
                      function c() { return 1; }\n";
        let expected = [("A.a", true), ("b", true), ("c", false)];
        let expected: Vec<_> = expected.map(|(name, is_stub)| (name.to_string(), is_stub)).to_vec();
        assert_eq!(stubs(Language::TypeScript, script), expected);
    }

    #[test]
    fn signatures_are_compared_without_whitespace_and_visibility() {
        let text = "pub fn total<T>(\n    items: &[T],\n    tax: u32,\n) -> Result<u32, Error>\nwhere\n    T: Price,\n{\n    todo!()\n}\n";
        let found = functions(Language::Rust, text);
        let planned = "fn total<T>(items: &[T], tax: u32) -> Result<u32, Error> where T: Price;";
        assert_eq!(found[0].signature, signature(planned));
        let found =
            functions(Language::Python, "def total(items: list[int], tax: int = 0) -> int:\n    return 1\n");
        assert_eq!(found[0].signature, signature("def total(items: list[int], tax: int = 0) -> int"));
        let found =
            functions(Language::TypeScript, "export function total(items: number[]): number { return 1; }\n");
        assert_eq!(found[0].signature, signature("function total(items: number[]): number"));
    }

    #[test]
    fn functions_of_test_modules_are_recognised() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn helper() {}\n    #[test]\n    fn b() {}\n}\n\
                    #[cfg(not(test))]\nfn c() {}\n";
        let found: Vec<_> = functions(Language::Rust, text)
            .into_iter()
            .map(|function| (function.name, function.is_for_tests))
            .collect();
        let expected = [("a", false), ("tests::helper", true), ("tests::b", true), ("c", false)];
        assert_eq!(found, expected.map(|(name, is_for_tests)| (name.to_string(), is_for_tests)));
        let text = "#[tokio::test(flavor = \"current_thread\")]\nasync fn d() {}\n#[test_case(1)]\nfn e(_: u8) {}\n\
                    #[cfg(all(test, any(unix, windows)))]\nmod more { fn f() {} }\n\
                    #[cfg(any(test, unix))]\nfn g() {}\n#[cfg_attr(test, derive(Debug))]\nfn h() {}\n";
        let found: Vec<_> = functions(Language::Rust, text)
            .into_iter()
            .map(|function| (function.name, function.is_for_tests))
            .collect();
        let expected = [("d", true), ("e", true), ("more::f", true), ("g", false), ("h", false)];
        assert_eq!(found, expected.map(|(name, is_for_tests)| (name.to_string(), is_for_tests)));
    }
}
