//! The pure kernel: a program, a state and an event give rulings and commands, and nothing else happens.
//!
//! No clock, no randomness, no files, no threads: the crate is `no_std`, so the compiler proves it.
//! Read on in `step/` for what one event does, and in `resolve.rs` for what one signal means.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod ids;
mod name;
pub mod signal;

pub mod change;
pub mod finding;

pub mod program;
pub mod resolve;

pub mod command;
pub mod event;
pub mod ruling;
pub mod state;
pub mod step;

pub mod criteria;
pub mod detect;
pub mod evidence;
pub mod gaps;
mod row_text;

pub mod view;

pub use command::Command;
pub use event::{Event, Outcome, Report};
pub use program::Program;
pub use ruling::Ruling;
pub use state::State;
pub use step::{Refusal, Step, step};
