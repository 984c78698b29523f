//! Mutants: small alterations of changed source text. A test that passes on every mutant proves nothing about the change.
//!
//! Mutants are made from syntax trees, of changed lines only, and never of test code. A mutant returns a value near the
//! original one, not an empty one: a test that only demands some value must not count as a test of the value. Nothing
//! is run here.

mod mutant;
mod proposal;

mod calls;
mod conditions;
mod literals;
mod operators;
mod removal;
mod returned;

mod source_file;

mod order;

#[cfg(test)]
mod mutants_tests;

pub use mutant::{Mutant, MutantKind};
pub use order::mutants;
pub use source_file::{AlteredSource, can_mutate};
