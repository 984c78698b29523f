//! The parts of a file that are test code although the file may be production code.

use crate::function::is_test_item;
use crate::{Language, ParsedSource};
use std::ops::Range;

impl ParsedSource<'_> {
    /// The byte ranges of test functions and of items that are compiled only for tests, in order. Helper functions
    /// without a test attribute count as production code.
    pub fn test_code(&self) -> Vec<Range<usize>> {
        let mut ranges = self.test_bodies();
        if self.language() == Language::Rust {
            let mut pending = vec![self.root()];
            while let Some(node) = pending.pop() {
                if is_test_item(self, node) {
                    ranges.push(node.byte_range());
                } else {
                    let mut cursor = node.walk();
                    pending.extend(node.named_children(&mut cursor));
                }
            }
        }
        ranges.sort_by_key(|range| (range.start, range.end));
        ranges
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn test_code(language: Language, text: &str) -> Vec<&str> {
        let source = ParsedSource::parse(language, text).unwrap();
        source.test_code().into_iter().map(|range| &text[range]).collect()
    }

    // TE-04
    #[test]
    fn tests_inside_production_files_are_test_code() {
        let rust = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() {} }\n#[cfg(not(test))]\nfn c() {}\n#[cfg(test)]\nfn d() {}\n";
        assert_eq!(test_code(Language::Rust, rust), ["mod tests { fn b() {} }", "fn d() {}"]);
        let python = "def a():\n    return 1\n\ndef test_a():\n    assert a() == 1\n";
        assert_eq!(test_code(Language::Python, python), ["assert a() == 1"]);
        let script =
            "const a = () => 1;\nif (import.meta.vitest) { it('a', () => { expect(a()).toBe(1); }); }\n";
        assert_eq!(test_code(Language::TypeScript, script), ["{ expect(a()).toBe(1); }"]);
    }
}
