//! Explores the whole transition system of a workflow: every phase, every signal, every budget.
//!
//! `machine.rs` computes the successors of a node with the kernel's resolution of signals; `liveness.rs` describes
//! which parts of a node still matter; `transitions.rs` computes the transitions without counters; `graph.rs` builds
//! the graph of reachable nodes; `tasks.rs` explores sub-flows; `bound.rs` counts dispatches; `guarantee.rs` searches
//! for paths that violate a guarantee; `ways.rs` computes which earlier results each phase is given.

pub mod bound;
pub mod graph;
pub mod guarantee;
mod liveness;
pub mod machine;
pub mod tasks;
pub mod transitions;
pub mod ways;

pub use bound::{Bound, BoundCalculator, bound};
pub use machine::Scenario;
