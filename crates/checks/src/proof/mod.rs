//! Whether the tests of a change can fail.
//!
//! `tests_in_question` finds new and changed tests, and tests that failed before. `at_base` judges them by their results on
//! the code before the change. A `MutantHunt` decides which mutants of the change are tried for the rest, and what each one
//! shows. It starts no process.

mod at_base;
mod hunt;
mod question;

#[cfg(test)]
mod proof_tests;

pub use at_base::at_base;
pub use hunt::{HuntEnd, HuntedChange, MutantHunt, MutantTrial, asserts_in_test_code};
pub use question::{TestInQuestion, tests_in_question};
