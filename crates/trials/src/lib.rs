//! Trials of the whole program: demonstrations, the gauntlet, and measurements, all with scripted agents.
//!
//! The demonstrations and the gauntlet are data, embedded by the build; everything else about them is real.

pub mod bench;
pub mod demo;
pub mod gauntlet;

mod embedded;
