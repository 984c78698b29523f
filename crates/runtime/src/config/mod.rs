//! The configuration: built-in values, the user's file, the repository's file, the environment, flags, in this order.
//!
//! `keys.rs` is the one list of what can be said; the decoder, the template and the guide are made from it.

pub mod keys;

mod amount;
mod value;

mod layer;
mod problem;

mod brought;
mod effective;
mod page;
mod sources;
mod table;

#[cfg(test)]
mod config_tests;

pub(crate) use amount::{duration_text, money as micros};
pub use effective::{CheckChoice, Config, Effective, Limits, Mode, RoleChoice, Sandbox, Secrets};
pub use problem::{At, ConfigError, Origin, Problem};
pub use sources::{Flag, Sources};
pub use value::CommandLine;
