//! What agents return: how it is found, validated, kept and shown.
//!
//! `find` looks for the one document in what an agent left, `read` holds it against its contract. What passes is a
//! [`Reading`]; what does not is a list of [`Problem`]s that goes back to the agent.

mod limits;
mod problem;

mod clean;
mod parse;

mod find;

pub mod schema;

mod shape;
mod shortfall;

mod spelling;

mod validate;

mod expectation;

mod content;
mod gaps;
mod read;
mod rules;
mod waves;

pub mod pointers;

mod order;
mod yaml;

mod outline;
mod whole;

pub(crate) mod markdown;
mod render;

pub use clean::clean;
pub use content::Content;
pub use expectation::{ApproachRule, Blocked, Cited, Expectation, FindingField, FindingsRule, Known};
pub use find::{Found, Origin, RawResult, find};
pub use gaps::{engineer_output, new_gaps, reviewer_output};
pub use limits::Limits;
pub use outline::{outline, outline_for};
pub use parse::parse;
pub use problem::{Problem, fence_for, problems_text};
pub use read::{Reading, Unread, read};
pub use render::render;
pub use schema::plan::SplitTask;
pub use schema::{Schema, SchemaId, schema, schemas};
pub use shortfall::{Shortfall, too_short};
pub use waves::{Circular, waves};
pub use whole::schema_for;
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
