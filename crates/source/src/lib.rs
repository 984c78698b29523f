//! Static analysis of source text with syntax trees; nothing is run.
//!
//! Results depend only on a path and a text. A construct that a grammar does not know is reported as a syntax error although
//! it may be valid, so callers must not blame the author for it.

mod adapt;
mod attribute;
mod definition;
mod error;
mod function;
mod language;
mod prose;
mod region;
mod shape;
mod test_code;
mod test_file;
mod test_parts;
pub mod tests;
mod tree;
pub mod tricks;

pub use adapt::{with_failing_tests, with_renamed, without_imports};
pub use definition::{ChangedDefinition, Definition, DefinitionKind, changed_definitions};
pub use error::SyntaxError;
pub use function::{Body, Function, signature};
pub use language::Language;
pub use prose::is_prose;
pub use region::{same_outside_tests, same_tests, test_regions, with_test_modules};
pub use test_file::is_test_file;
pub use test_parts::{ComposedFile, has_test_parts, is_for_tests_only, test_modules, with_test_parts};
pub use tree::ParsedSource;
