//! The schemas of results: Rust types, from which the JSON Schema, the outline and the reading are made.
//!
//! `words.rs` and `header.rs` are what all share; one file for each kind of payload.

pub mod decision;
pub mod design;
pub mod diagnosis;
pub mod document;
pub mod failure;
pub mod finding;
pub mod gaps;
pub mod header;
pub mod implementation;
pub mod knowledge;
pub mod plan;
pub mod research;
pub mod review;
pub mod spec;
pub mod verification;
pub mod words;

mod catalogue;

pub use catalogue::{MAJOR, Schema, SchemaId, VERSION, schema, schemas};
