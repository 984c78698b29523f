//! Mutants: small alterations of changed source text. A test that passes on every mutant proves nothing about the change.
//!
//! Mutants are made from syntax trees, of changed lines only, and never of test code. A mutant returns a value near the
//! original one, not an empty one: a test that only demands some value must not count as a test of the value. Nothing
//! is run here.

mod change;
mod function;

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
mod probe;

mod equality;

#[cfg(test)]
mod mutants_tests;

pub use change::{ChangedSource, added_names, behaviour_lines};
pub use equality::{BlindEquality, blind_equalities, comparing_lines};
pub use mutant::{Mutant, MutantKind};
pub use order::mutants;
pub use probe::probe;
pub use source_file::{AlteredSource, can_mutate};
