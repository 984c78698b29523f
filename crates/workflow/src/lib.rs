//! The workflow language: turns text into a program that is proven to end, or into diagnostics.
//!
//! The crate is pure: it reads no files and no clock. `yaml.rs` builds a tree, `decode.rs` a file, `compile/` a program;
//! `rules/` has one file per static rule, and `explore/` explores the whole transition system.

pub mod diagnostic;
pub mod source;

pub mod fields;
pub mod yaml;

mod decode;
pub mod file;
pub mod phrase;

pub mod operations;
pub mod permissions;

mod front;
mod prompt;

pub mod foreign;
pub mod needs;
pub mod roles;
pub mod shipped;

pub mod compile;

pub mod check;
pub mod explore;
mod routes;
pub mod rules;

pub use check::{CheckedWorkflow, check, check_bytes, check_changed, check_shipped};
pub mod briefs;
pub mod walk;

pub mod keys;
pub mod reference;
