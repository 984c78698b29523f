//! Explores the whole transition system of a workflow: every phase, every signal, every budget.
//!
//! `machine.rs` computes what can follow a node, using the kernel's own resolution; `liveness.rs` says which parts of a
//! node still matter; `ways.rs` computes what follows without counters; `graph.rs` builds everything reachable; `tasks.rs`
//! explores sub-flows; `bound.rs` counts dispatches; `guarantee.rs` searches for paths that must not exist.

pub mod bound;
pub mod graph;
pub mod guarantee;
mod liveness;
pub mod machine;
pub mod tasks;
pub mod ways;

pub use bound::{Bound, BoundCalculator, bound};
pub use machine::Scenario;
