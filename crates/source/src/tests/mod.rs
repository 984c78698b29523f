//! Finds the tests in a source text, whether they run, and what they assert.
//!
//! This uses syntax alone: calls into other files are not followed, and two differently written assertions count as different.
//! Each kind of `Weakening` says what it proves.

mod body;
mod go;
mod java;
mod python;
mod rust;
mod script;
mod strength;
mod test_function;
mod tokens;

mod compare;
mod item;

#[cfg(test)]
mod tests_tests;

pub use compare::{TestFile, Weakening, WeakeningKind, compare};
pub use item::{Assertion, Strength, TestItem};

use crate::{Language, ParsedSource};
use test_function::TestFunction;

impl ParsedSource<'_> {
    /// The tests of the text, in order; none for languages that are not supported here.
    pub fn tests(&self) -> Vec<TestItem> {
        let drafts = self.drafts();
        let helpers = body::helpers(self, &drafts);
        drafts.iter().filter(|draft| draft.is_test).map(|draft| body::item(self, draft, &helpers)).collect()
    }

    fn drafts(&self) -> Vec<TestFunction<'_>> {
        match self.language() {
            Language::Rust => rust::drafts(self),
            Language::Python => python::drafts(self),
            Language::JavaScript | Language::TypeScript | Language::Tsx => script::drafts(self),
            Language::Go => go::drafts(self),
            Language::Java => java::drafts(self),
            Language::C | Language::Cpp | Language::Yaml | Language::Json | Language::Toml => Vec::new(),
        }
    }
}
