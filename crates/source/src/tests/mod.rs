//! Tests in a source text: which there are, whether they run, and what they assert (CORE-21).
//!
//! Everything here is told from syntax alone. What a test calls in other files is not followed, and whether two
//! assertions mean the same is not known; what the reader may conclude is said with each kind of `Weakening`.

mod body;
mod draft;
mod go;
mod java;
mod python;
mod rust;
mod script;
mod strength;
mod tokens;

mod compare;
mod item;

#[cfg(test)]
mod tests_tests;

pub use compare::{TestFile, Weakening, WeakeningKind, compare};
pub use item::{Assertion, Strength, TestItem};

use crate::{Language, Source};
use draft::Draft;

impl Source<'_> {
    /// The tests of the text, in its order. None of a language whose tests are not known here.
    pub fn tests(&self) -> Vec<TestItem> {
        let drafts = self.drafts();
        let helpers = body::helpers(self, &drafts);
        drafts.iter().filter(|draft| draft.is_test).map(|draft| body::item(self, draft, &helpers)).collect()
    }

    fn drafts(&self) -> Vec<Draft<'_>> {
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
