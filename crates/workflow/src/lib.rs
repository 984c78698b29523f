//! The workflow language: text to a program that is proven to end, or diagnostics that say why not.
//!
//! Pure: nothing here reads a file or a clock. `yaml.rs` makes a tree, `decode.rs` a file, `compile/` a program;
//! `rules/` holds one static rule a file, and `explore/` walks the whole transition system.

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
pub mod roles;
pub mod shipped;

pub mod compile;
mod producible;

pub mod check;
pub mod explore;
pub mod rules;

pub use check::{Checked, check, check_bytes, shipped as check_shipped};
pub mod walk;

pub mod keys;
pub mod reference;
