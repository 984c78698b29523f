//! Simulates workflows: the real kernel with random agents, many times, before anything is paid.
//!
//! The crate is pure: no files, no clock, no processes. Start with `simulation.rs`; `run.rs` is one run, `agents.rs` and
//! `operations.rs` are what happens in it, and `defaults.rs` has every number with its source.

mod agents;
mod board;
mod chart;
mod comparison;
pub mod defaults;
mod defects;
mod draws;
mod edits;
mod fit;
mod model;
mod observed;
mod operations;
mod parameters;
mod run;
mod sensitivity;
mod simulation;
mod statistics;
mod variants;
mod variation;

pub use chart::{ChartText, ChartVariant, chart};
pub use comparison::{MeanDifference, VariantDifference, compare};
pub use edits::EditError;
pub use fit::{FitError, FittedParameters, FittedPhase, MIN_RUNS, MeanInterval, fit};
pub use model::SEVERITIES;
pub use observed::{ObservedDispatch, ObservedOperation, ObservedRun};
pub use parameters::{ParameterBasis, ParameterError, ParameterSet, ParameterValue};
pub use run::{LIMITS, RunSample, SampleEnd, SimulationError};
pub use sensitivity::{ParameterEffect, RAISE, sensitivity};
pub use simulation::{
    BudgetShare, ConfidenceShares, EndShares, LimitShare, SeverityCount, SimulationPlan, SimulationSummary,
    observe, simulate,
};
pub use statistics::Spread;
pub use variants::{SimulationVariant, VariantError};
pub use variation::{FeedbackPolicy, VariantChange, Variation, VariationError, combinations};
