//! The results that agents return: finding, validating and rendering them.
//!
//! `find` locates the one document in an agent's output and `read` validates it against the contract. A valid document
//! becomes an [`AcceptedResult`]; an invalid one becomes a list of [`ContractProblem`]s that goes back to the agent.

mod limits;
mod problem;

mod clean;
mod parse;

mod find;

pub mod schema;

mod shape;

mod spelling;

mod validate;

mod expectation;

mod gaps;
mod payload;
mod read;
mod rules;
mod waves;

pub mod pointers;

mod order;
mod yaml;

mod dispatch_schema;
mod outline;
mod typed;

pub mod markdown;
mod render;

pub use dispatch_schema::schema_for;
pub use expectation::{
    ApproachRule, CitedSections, Expectation, FailureFacts, FindingField, FindingsRule, RunFacts,
};
pub use find::{FoundResult, RawResult, ResultOrigin, find};
pub use gaps::{engineer_output, new_gaps, reviewer_output};
pub use limits::ResultLimits;
pub use outline::{outline, outline_for};
pub use parse::parse;
pub use payload::{Payload, decision_note};
pub use problem::{ContractProblem, Shortfall, fence_for, too_short};
pub use read::{AcceptedResult, Rejection, problems, read};
pub use render::{rendered, rendered_report, rendered_words};
pub use schema::plan::SplitTask;
pub use schema::{Schema, SchemaId, schema, schemas};
pub use typed::typed_payload;
pub use waves::{CircularDependency, waves};
pub use yaml::to_yaml;

#[cfg(test)]
mod find_tests;
#[cfg(test)]
mod pointers_tests;
#[cfg(test)]
mod read_tests;
#[cfg(test)]
mod render_tests;
#[cfg(test)]
mod rules_tests;
#[cfg(test)]
mod schema_tests;
