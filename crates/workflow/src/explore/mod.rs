//! The whole transition system of a workflow: every phase, every signal, every budget.
//!
//! `machine.rs` says what can follow a node, using the kernel's own resolution; `ways.rs` looks at it without
//! counters; `graph.rs` builds all that can be reached; `tasks.rs` explores a sub-flow; `bound.rs` counts dispatches;
//! `guarantee.rs` looks for paths that must not exist.

pub mod bound;
pub mod graph;
pub mod guarantee;
pub mod machine;
pub mod tasks;
pub mod ways;

pub use bound::{Bound, Bounds, bound};
pub use machine::World;
