//! Test-only regions of Rust source: modules under `#[cfg(test)]`.
//!
//! A test module inside a macro, or in an item with syntax errors, is not recognised and counts as code.

use crate::attribute::is_test_only;
use crate::{Language, ParsedSource};
use std::ops::Range;
use tree_sitter::Node;

/// The byte ranges of the test modules in Rust source, with their attributes, in order. A nested module is part of the
/// outer one.
pub fn test_regions(text: &str) -> Vec<Range<usize>> {
    let Some(source) = ParsedSource::parse(Language::Rust, text) else {
        return Vec::new();
    };
    let mut regions = Vec::new();
    let mut pending = vec![source.root()];
    while let Some(scope) = pending.pop() {
        let mut cursor = scope.walk();
        let mut attributes: Vec<Node<'_>> = Vec::new();
        for child in scope.named_children(&mut cursor) {
            match child.kind() {
                "attribute_item" => attributes.push(child),
                "line_comment" | "block_comment" => {}
                "mod_item" => {
                    let is_test_module =
                        attributes.iter().any(|attribute| is_test_only(source.text_of(*attribute)));
                    let is_valid =
                        !child.has_error() && attributes.iter().all(|attribute| !attribute.has_error());
                    match attributes.first() {
                        Some(first) if is_test_module && is_valid => {
                            regions.push(first.start_byte()..child.end_byte());
                        }
                        Some(_) | None => pending.extend(child.child_by_field_name("body")),
                    }
                    attributes.clear();
                }
                _ => attributes.clear(),
            }
        }
    }
    regions.sort_by_key(|region| region.start);
    regions
}

/// Whether two versions of Rust source differ only in their test modules and in blank lines between items.
pub fn same_outside_tests(before: &str, after: &str) -> bool {
    let (before, after) = (without_tests(before), without_tests(after));
    lines(&before).eq(lines(&after)) && multiline_literals(&before) == multiline_literals(&after)
}

/// Whether two versions of Rust source have the same test modules.
pub fn same_tests(before: &str, after: &str) -> bool {
    let modules = |text: &str| -> Vec<String> {
        test_regions(text).into_iter().map(|region| text[region].to_string()).collect()
    };
    modules(before) == modules(after)
}

/// The Rust source `code` with the test modules of `tests`. They replace the test modules of `code` in order; further ones
/// are appended.
pub fn with_test_modules(code: &str, tests: &str) -> String {
    let mut modules = test_regions(tests).into_iter().map(|region| &tests[region]);
    let mut text = String::with_capacity(code.len() + tests.len());
    let mut at = 0;
    for region in test_regions(code) {
        text.push_str(&code[at..region.start]);
        text.push_str(modules.next().unwrap_or_default());
        at = region.end;
    }
    text.push_str(&code[at..]);
    for module in modules {
        let gap = if text.is_empty() || text.ends_with("\n\n") { "" } else { "\n" };
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        text.push_str(&format!("{end}{gap}{module}\n"));
    }
    text
}

/// The source with each test module replaced by a line break.
fn without_tests(text: &str) -> String {
    let mut rest = String::with_capacity(text.len());
    let mut at = 0;
    for region in test_regions(text) {
        rest.push_str(&text[at..region.start]);
        rest.push('\n');
        at = region.end;
    }
    rest.push_str(&text[at..]);
    rest
}

/// The string literals with several lines, in which blank lines are significant.
fn multiline_literals(text: &str) -> Vec<String> {
    let Some(source) = ParsedSource::parse(Language::Rust, text) else {
        return vec![text.to_string()];
    };
    let mut found = Vec::new();
    let mut pending = vec![source.root()];
    while let Some(node) = pending.pop() {
        match node.kind() {
            "string_literal" | "raw_string_literal" if source.text_of(node).contains('\n') => {
                found.push(source.text_of(node).to_string());
            }
            _ => {
                let mut cursor = node.walk();
                pending.extend(node.children(&mut cursor));
            }
        }
    }
    found
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim_end).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const CODE: &str =
        "fn a() -> u8 {\n    1\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {}\n}\n";

    fn regions(text: &str) -> Vec<&str> {
        test_regions(text).into_iter().map(|region| &text[region]).collect()
    }

    // OT-05
    #[test]
    fn test_modules_are_found_by_their_attributes_not_by_their_names() {
        assert_eq!(regions(CODE), ["#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {}\n}"]);
        assert_eq!(regions("#[cfg(test)]\n#[allow(dead_code)]\n// why\nmod x;\n").len(), 1);
        assert_eq!(regions("mod outer {\n #[cfg(all(unix, test))]\n mod x { mod y {} }\n}\n").len(), 1);
        assert_eq!(regions("#[cfg(all(feature = \"a,test\", all(test)))]\nmod x {}\n").len(), 1);
        for source in [
            "mod tests { #[test] fn t() {} }\n",
            "#[cfg(not(test))]\nmod x {}\n",
            "#[cfg(any(test, unix))]\nmod x {}\n",
            "#[cfg(all(feature = \"test\", unix))]\nmod x {}\n",
            "#[cfg(test)]\nfn f() {}\nmod x {}\n",
            "#[cfg(test)]\nuse a::b;\n",
            "macro_rules! m { () => { #[cfg(test)] mod x { } } }\n",
            "const A: &str = \"#[cfg(test)] mod x {}\";\n",
            "// #[cfg(test)]\nmod x {}\n",
            "#[cfg(test)]\nmod x { fn broken( }\n",
        ] {
            assert_eq!(regions(source), Vec::<&str>::new(), "{source}");
        }
    }

    // OT-16
    #[test]
    fn test_modules_replace_existing_ones_or_are_appended() {
        let module = |body: &str| format!("#[cfg(test)]\nmod tests {{\n    {body}\n}}");
        let (stub, code) = ("fn a() { todo!() }\n", "fn a() { work() }\nfn helper() {}\n");
        let tested = format!("{code}\n{}\n", module("fn t() { super::a() }"));
        assert_eq!(
            with_test_modules(stub, &tested),
            format!("{stub}\n{}\n", module("fn t() { super::a() }"))
        );
        let old = format!("{stub}\n{}\nfn last() {{}}\n", module("fn old() {}"));
        assert_eq!(with_test_modules(&old, &tested), old.replace("fn old() {}", "fn t() { super::a() }"));
        assert_eq!(with_test_modules(&old, code), format!("{stub}\n\nfn last() {{}}\n"));
        assert_eq!(with_test_modules(stub, code), stub);
    }

    // OT-05
    #[test]
    fn only_lines_inside_test_modules_may_differ() {
        let more = CODE.replace("fn t() {}", "fn t() { assert_eq!(super::a(), 2); }\n    fn u() {}");
        assert!(same_outside_tests(CODE, &more));
        assert!(!same_tests(CODE, &more));
        let code = CODE.replace("    1\n", "    2\n");
        assert!(!same_outside_tests(CODE, &code));
        assert!(same_tests(CODE, &code));
        let plain = "fn a() -> u8 {\n    1\n}\n";
        assert!(same_outside_tests(plain, CODE));
        assert!(same_outside_tests(CODE, plain));
        assert!(!same_outside_tests(plain, &CODE.replace("#[cfg(test)]\n", "")));
        assert!(!same_outside_tests(plain, &CODE.replace("cfg(test)", "cfg(not(test))")));
        let long = "const A: &str = \"a\n\nb\";\n";
        assert!(!same_outside_tests(long, "const A: &str = \"a\nb\";\n"));
        let escaped = CODE.replace("fn t() {}\n}", "fn t() {}\n}\nfn b() {}\nmod more {\n}");
        assert!(!same_outside_tests(CODE, &escaped));
    }
}
