//! Finds the tests in source text, whether they run, and their assertions.
//!
//! This uses syntax alone: calls into other files are not followed, and two differently written assertions count as different.
//! `WeakeningKind` lists what a comparison of tests can show.

mod body;
mod dead;
mod go;
mod java;
mod python;
mod rust;
mod script;
mod statements;
mod strength;
mod test_function;
mod tokens;

mod compare;
mod item;

#[cfg(test)]
mod tests_tests;

pub use compare::{TestFile, Weakening, WeakeningKind, compare};
pub use item::{Assertion, Strength, TestItem};
pub use tokens::tokens;

use crate::{Language, ParsedSource};
use std::ops::Range;
use test_function::TestFunction;

impl ParsedSource<'_> {
    /// The tests of the text, in order; empty for languages that are not supported here.
    pub fn tests(&self) -> Vec<TestItem> {
        let functions = self.test_functions();
        let helpers = body::helpers(self, &functions);
        let tests = functions.iter().filter(|function| function.is_test);
        tests.map(|test| body::test_item(self, test, &helpers)).collect()
    }

    /// The byte ranges of the bodies of tests.
    pub(crate) fn test_bodies(&self) -> Vec<Range<usize>> {
        let functions = self.test_functions();
        functions.iter().filter(|function| function.is_test).map(|test| test.body.byte_range()).collect()
    }

    /// The names of the tests, each with the byte range of its body.
    pub(crate) fn tests_with_bodies(&self) -> Vec<(Vec<String>, Range<usize>)> {
        let functions = self.test_functions().into_iter().filter(|function| function.is_test);
        functions.map(|test| (test.path, test.body.byte_range())).collect()
    }

    fn test_functions(&self) -> Vec<TestFunction<'_>> {
        match self.language() {
            Language::Rust => rust::test_functions(self),
            Language::Python => python::test_functions(self),
            Language::JavaScript | Language::TypeScript | Language::Tsx => script::test_functions(self),
            Language::Go => go::test_functions(self),
            Language::Java => java::test_functions(self),
            Language::C | Language::Cpp | Language::Yaml | Language::Json | Language::Toml => Vec::new(),
        }
    }
}
