//! The configuration, in five layers: built-in values, the user's file, the repository's file, the environment, flags.
//!
//! `keys.rs` is the only list of keys; the decoder, the template and the reference page use it.

pub mod keys;

mod value;

mod layer;
mod outbound;
mod problem;

mod effective;
mod page;
mod restrictions;
mod role_choice;
mod sources;
mod table;

#[cfg(test)]
mod config_tests;

pub use effective::{Config, ConfigLimits, EffectiveValue, NewNames, RunMode, Sandbox, Secrets};
pub use outbound::{NotifySettings, TelemetrySettings, host_of};
pub use problem::{ConfigError, ConfigProblem, FilePosition, ValueOrigin};
pub use role_choice::RoleChoice;
pub use sources::{FILE, Flag, Sources};
