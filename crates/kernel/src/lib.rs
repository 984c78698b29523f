//! The pure kernel: it computes rulings and commands from a program, a state and an event, without side effects.
//!
//! It has no clock, no randomness, no files and no threads: the crate is `no_std`, so the compiler proves it. `step/`
//! shows what an event does, `resolve.rs` what a signal means.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod ids;
mod name;
pub mod signal;

pub mod change;
pub mod finding;

pub mod operation;
pub mod program;
pub mod resolve;

pub mod brief;
pub mod command;
mod end;
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
pub use operation::EngineOperation;
pub use program::Program;
pub use ruling::Ruling;
pub use state::State;
pub use step::{Refusal, Step, step};
