//! What the engine understands of source text, by syntax trees and without running anything.
//!
//! Everything here is a function of a path and a text. What it says about a language is as good as that language's
//! grammar: a construct that the grammar does not know is no error of the author's, and callers treat it so.

mod attribute;
mod error;
mod function;
mod language;
mod region;
mod shape;
pub mod tests;
mod tree;

pub use error::SyntaxError;
pub use function::{Body, Function, signature};
pub use language::Language;
pub use region::{same_outside_tests, same_tests, test_regions, with_test_modules};
pub use tree::Source;
